/* query/gl/intel_dialect.h - what an INTEL performance query says of its counters, in our words.
 *
 * The standard GL_INTEL_performance_query and the GL_INTEL_performance_queries before it share the
 * names of their functions and nothing else: enum values, flags and the meaning of some arguments
 * differ, so a dialect is one row of a table and values are looked up in that row alone. Nothing
 * here allocates, blocks, or makes a GL call but for extension names. Any thread.
 */
#ifndef PASSTALLY_QUERY_GL_INTEL_DIALECT_H
#define PASSTALLY_QUERY_GL_INTEL_DIALECT_H

#include "query/gl/api.h"

enum tally_intel_type {
	TALLY_INTEL_UINT32 = 0,
	TALLY_INTEL_UINT64,
	TALLY_INTEL_FLOAT,
	TALLY_INTEL_DOUBLE,
	TALLY_INTEL_BOOL32,
	TALLY_INTEL_N_TYPES,
};

enum tally_intel_kind {
	TALLY_INTEL_EVENT = 0,
	TALLY_INTEL_DURATION_NORM,
	TALLY_INTEL_DURATION_RAW,
	TALLY_INTEL_THROUGHPUT,
	TALLY_INTEL_RAW,
	TALLY_INTEL_TIMESTAMP,
	TALLY_INTEL_N_KINDS,
};

struct tally_intel_dialect {
	const char *extension;                /* the whole token */
	unsigned read_flags;                  /* asks for data without waiting */
	unsigned types[TALLY_INTEL_N_TYPES];  /* 0 = the dialect has none such */
	unsigned kinds[TALLY_INTEL_N_KINDS];
	bool has_limit;    /* the last but one of a query's numbers is how many may be made */
	bool has_caps;     /* the last is PERFQUERY_GLOBAL_CONTEXT or not */
	bool has_raw_max;  /* the last of a counter's is its largest value */
	const char *serialized_by; /* what is known of drivers that speak it; or NULL */
};

/* The dialect of a context, or NULL; the standard one where there are both. */
const struct tally_intel_dialect *tally_intel_dialect_of(const struct tally_gl_api *api);

/* Where a counter lies in a query's data. */
struct tally_intel_field {
	uint32_t offset, size; /* bytes */
	enum tally_intel_type type;
};

/* What the driver says of one counter. */
struct tally_intel_said {
	char name[256], text[1024];
	unsigned offset, size, kind, type;
	uint64_t raw_max;
};

/* Fills the field and the counter, whose strings are those of `said` or static, but not its key.
 * False: of no type that can be decoded, or not of the size that its type has. */
bool tally_intel_describe(const struct tally_intel_dialect *dialect,
			  const struct tally_intel_said *said, struct tally_intel_field *field,
			  struct tally_counter *counter);
/* The value in the first `written` bytes of `data`; false: it lies outside, or is no number. */
bool tally_intel_decode(const struct tally_intel_field *field, const void *data, size_t written,
			struct tally_value *out);

/* Queries by what their names tell: without counters to read; by the pipeline's registers and not
 * by the GPU's observation unit; the most general of those. */
bool tally_intel_is_blob(const char *query);
bool tally_intel_is_pipeline(const char *query);
bool tally_intel_is_basic(const char *query);
/* A counter that is not 0 when the others were disturbed while they counted. */
bool tally_intel_tells_disturbance(const char *counter);
/* Is it the time that its set counted, in Mesa's spelling? */
bool tally_intel_is_elapsed(const char *counter);

#endif
