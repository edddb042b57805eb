/* SPDX-License-Identifier: MIT */
/* tests/fake_gl/perf.h - a driver's performance queries: GL_INTEL_performance_query, its
 * pre-standard dialect and GL_AMD_performance_monitor, with Mesa's behavior.
 *
 * Counters follow a script or the work that is reported to fake_perf_work(). Time is counted in
 * ticks: a swap, flush or finish is one. A result is available `late` ticks after the end of
 * its query; with `shuffle` some results arrive after later ones. Where a driver would wait,
 * the fake only counts; it also counts GL errors, misuse and objects that are left over.
 * perf_egl.c puts it below a real program, unit tests call fake_perf_function(). One context;
 * one thread at a time.
 */
#ifndef PASSTALLY_TESTS_FAKE_GL_PERF_H
#define PASSTALLY_TESTS_FAKE_GL_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which extensions are offered. */
enum { FAKE_PERF_INTEL = 1, FAKE_PERF_OLD = 2, FAKE_PERF_AMD = 4 };

/* FAKE_PERF=key=value,...: the key is the member's name, unless stated otherwise. */
struct fake_perf_config {
	unsigned ext;         /* ext=intel+old+amd, all, none */
	unsigned late;        /* ticks until a result is available, at least 1; 0 = never */
	unsigned shuffle;     /* every other result takes this many more ticks */
	unsigned sets;        /* INTEL: hardware sets; AMD: counters that exclude each other */
	unsigned paranoid;    /* INTEL: only the pipeline set is offered */
	unsigned exclusive;   /* INTEL: another program holds the stream, begins fail later */
	unsigned one_set;     /* no begin while results of another set are unread, as on Intel */
	unsigned defer_every; /* INTEL: every N-th begin fails later */
	unsigned short_write; /* INTEL: bytesWritten ends with the last counter */
	unsigned ignore_size; /* write everything regardless of dataSize, as Mesa does */
	unsigned instances;   /* INTEL: noInstances is the number of active ones, as in Mesa */
	unsigned stall_begin; /* a begin waits while the last result is missing, as in Mesa */
	unsigned no_nul;      /* AMD: text that fills its buffer is not terminated */
	unsigned conflict;    /* AMD: counters of two groups cannot begin together */
	unsigned backwards;   /* AMD: records come in reverse order */
	unsigned error_at;    /* the N-th call of an extension is an error and does nothing */
	unsigned error_every; /* every N-th begin is an error too */
	unsigned idle_dies;   /* an end before the program's first work crashes */
	/* Lies that no reader can detect in a single result, or at once. */
	unsigned unequal;     /* half of the results add this to each whole number */
	unsigned negative;    /* numbers of 64 bits are below 0: the counter was reset */
	unsigned cut;         /* results end before the last counter */
	unsigned absurd;      /* percentages are multiplied by this */
	unsigned adreno;      /* AMD: one more group, with the names of freedreno's */
	char vendor[32];      /* GL_VENDOR; empty = the real one */
};

/* What happened, as written to FAKE_PERF_REPORT at exit, one "name value" per line. */
struct fake_perf_tally {
	unsigned waits, errors, misuse, leaks;
	unsigned most; /* most objects at one time */
	unsigned calls, created, begun, ended, reads, ready_reads, deferred, nested, flushes;
	char last_misuse[160];
};

/* The work and the ticks so far. */
struct fake_perf_totals {
	uint64_t draws, vertices, tick;
};

enum fake_perf_type {
	FAKE_PERF_U32,
	FAKE_PERF_U64,
	FAKE_PERF_FLOAT,
	FAKE_PERF_DOUBLE,
	FAKE_PERF_BOOL,
	FAKE_PERF_PERCENT,
};

enum fake_perf_meaning {
	FAKE_PERF_SCRIPT, /* fake_perf_script() of the seed and of the tick of the begin */
	FAKE_PERF_WRAP,   /* the same, as two 32-bit readings with a wrap in between */
	FAKE_PERF_DRAWS,
	FAKE_PERF_VERTICES,
};

struct fake_perf_counter {
	const char *name;
	enum fake_perf_type type;
	enum fake_perf_meaning meaning;
	unsigned seed;
	unsigned category; /* INTEL: 0 to 5, in the order of the specification */
	unsigned offset;   /* INTEL */
};

/* One query object or monitor. */
struct fake_perf_object {
	bool alive, active, ended, was_read, deferred;
	unsigned kind;  /* INTEL: query id */
	uint64_t serial; /* of its end */
	uint64_t ready; /* tick; UINT64_MAX = never */
	struct fake_perf_totals begin, end;
	uint64_t selected[8]; /* AMD: bit per counter, one word per group */
	uint64_t counted[8];  /* as it was at the begin */
};
#define FAKE_PERF_MAX_OBJECTS 4096

struct fake_perf {
	struct fake_perf_config config;
	struct fake_perf_tally tally;
	struct fake_perf_totals now;
	bool worked; /* the program has drawn or cleared something */
	unsigned error; /* glGetError's */
	uint64_t serial;
	struct fake_perf_object queries[FAKE_PERF_MAX_OBJECTS], monitors[FAKE_PERF_MAX_OBJECTS];
};
extern struct fake_perf fake_perf;

/* Starts over with this configuration. False: a key or value is unknown (reported on
 * stderr). */
bool fake_perf_configure(const char *text);
void fake_perf_tick(void);
void fake_perf_work(uint64_t draws, uint64_t vertices);
/* A GL function of an extension that is offered, or the fake's part of glGetError; NULL
 * otherwise. */
void *fake_perf_function(const char *name);
unsigned fake_perf_get_error(void);
struct tally_gl_api;
/* The functions of the extensions that are offered; perf_api.c, for unit tests. */
void fake_perf_fill_api(struct tally_gl_api *api);
/* The n-th extension that is offered, NULL past the last. */
const char *fake_perf_extension(unsigned n);
/* Destroys the context, and its objects with it. */
void fake_perf_destroy_context(void);
/* Objects that still exist are counted as `leaks`; then the report, if `path` is not NULL. */
void fake_perf_report(const char *path);

/* An integer below 2^31 that depends on both; floats are an eighth, doubles a sixteenth of it,
 * percentages an eighth of it modulo 801, booleans its lowest bit; 64 bits have the seed above. */
uint64_t fake_perf_script(unsigned seed, uint64_t tick);

/* For the other parts of the fake. */
void fake_perf_error(unsigned error, const char *what);
void fake_perf_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
void fake_perf_wait(const char *what);
/* Counts a call; false: this call is the one that fails. */
bool fake_perf_call(const char *name);
unsigned fake_perf_create(struct fake_perf_object *objects);
struct fake_perf_object *fake_perf_object(struct fake_perf_object *objects, unsigned name);
void fake_perf_begin(struct fake_perf_object *o);
void fake_perf_end(struct fake_perf_object *o);
bool fake_perf_is_ready(const struct fake_perf_object *o);
/* A counter's value as the driver writes it; returns its size. */
size_t fake_perf_value(const struct fake_perf_counter *counter, const struct fake_perf_object *o,
		       void *out);
void *fake_perf_intel_function(const char *name);
void *fake_perf_amd_function(const char *name);

#endif
