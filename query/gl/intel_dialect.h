/* SPDX-License-Identifier: MIT */
/* query/gl/intel_dialect.h - translates what an INTEL performance query reports of its counters
 * into this project's terms.
 *
 * The standard GL_INTEL_performance_query and the GL_INTEL_performance_queries before it
 * share the names of their functions and nothing else: enum values, flags and the meaning
 * of some arguments differ, so a dialect is one row of a table and values are looked up in
 * that row alone. Nothing here allocates, blocks, or makes a GL call except for extension
 * names. Any thread.
 */
#ifndef PASSTALLY_QUERY_GL_INTEL_DIALECT_H
#define PASSTALLY_QUERY_GL_INTEL_DIALECT_H

#include "query/gl/api.h"

/* The data types of counters in all dialects. */
enum tally_intel_type {
	TALLY_INTEL_UINT32 = 0,
	TALLY_INTEL_UINT64,
	TALLY_INTEL_FLOAT,
	TALLY_INTEL_DOUBLE,
	TALLY_INTEL_BOOL32,
	TALLY_INTEL_N_TYPES,
};

/* The kinds of counters in all dialects. */
enum tally_intel_kind {
	TALLY_INTEL_EVENT = 0,
	TALLY_INTEL_DURATION_NORM,
	TALLY_INTEL_DURATION_RAW,
	TALLY_INTEL_THROUGHPUT,
	TALLY_INTEL_RAW,
	TALLY_INTEL_TIMESTAMP,
	TALLY_INTEL_N_KINDS,
};

/* The enum values and properties of one dialect. */
struct tally_intel_dialect {
	const char *extension;                /* the whole token */
	unsigned read_flags;                  /* requests data without waiting */
	unsigned types[TALLY_INTEL_N_TYPES];  /* 0 = the dialect has no such type */
	unsigned kinds[TALLY_INTEL_N_KINDS];
	bool has_limit;    /* the second to last number of a query is how many may be created */
	bool has_caps;     /* the last is PERFQUERY_GLOBAL_CONTEXT or not */
	bool has_raw_max;  /* the last number of a counter is its largest value */
	const char *serialized_by; /* what is known of drivers that implement it; or NULL */
};

/* The dialect of a context, or NULL; the standard one where there are both. */
const struct tally_intel_dialect *tally_intel_dialect_of(const struct tally_gl_api *api);

/* The position of a counter in a query's data. */
struct tally_intel_field {
	uint32_t offset, size; /* bytes */
	enum tally_intel_type type;
};

/* What the driver reports of one counter. */
struct tally_intel_said {
	char name[256], text[1024];
	unsigned offset, size, kind, type;
	uint64_t raw_max;
};

/* Fills the field and the counter, except for its key; the counter's strings are those of
 * `said` or static. False: the type cannot be decoded, or the size is not that of the type. */
bool tally_intel_describe(const struct tally_intel_dialect *dialect,
			  const struct tally_intel_said *said, struct tally_intel_field *field,
			  struct tally_counter *counter);
/* The value in the first `written` bytes of `data`; false: it lies outside, or is
 * not a number. */
bool tally_intel_decode(const struct tally_intel_field *field, const void *data, size_t written,
			struct tally_value *out);

/* The meaning of a query's name: it has no counters to read; it uses the pipeline's registers
 * and not the GPU's observation unit; it is the most general of the latter. */
bool tally_intel_is_blob(const char *query);
bool tally_intel_is_pipeline(const char *query);
bool tally_intel_is_basic(const char *query);
/* A counter that is not 0 if the others were disturbed while they counted. */
bool tally_intel_reports_disturbance(const char *counter);
/* Whether it is the time that its set counted, in Mesa's spelling. */
bool tally_intel_is_elapsed(const char *counter);
/* Whether the overview has it, of its sets that have TALLY_INTEL_OVERVIEW of these; of others, with
 * other spellings, it has all. */
#define TALLY_INTEL_OVERVIEW 4
bool tally_intel_in_overview(const char *counter);

#endif
