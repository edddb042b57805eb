/* query/gl/amd_catalogue.h - what GL_AMD_performance_monitor offers, put into sets; its results.
 *
 * Asking makes the driver calls of a probe, a few for each counter, so the context is current; it
 * waits for nothing. Belongs to one source of one context. Errors that asking causes are taken off
 * the driver again: ask inside a guard.
 */
#ifndef PASSTALLY_QUERY_GL_AMD_CATALOGUE_H
#define PASSTALLY_QUERY_GL_AMD_CATALOGUE_H

#include "query/gl/api.h"

#define TALLY_AMD_MAX_COUNTERS 4096u
#define TALLY_AMD_MAX_SETS 1024u

enum tally_amd_type {
	TALLY_AMD_U32 = 0,
	TALLY_AMD_U64,
	TALLY_AMD_FLOAT,
	TALLY_AMD_PERCENTAGE,
};

/* One counter as results name it. */
struct tally_amd_counter {
	unsigned group, id;
	enum tally_amd_type type;
	bool ranged;      /* min and max are the driver's */
	uint64_t largest; /* integers: what it holds at most */
	uint64_t least;
	double min, max; /* floats */
	const struct tally_counter *counter;
};

/* Counters of one group that are selected by one call. */
struct tally_amd_run {
	unsigned group;
	uint32_t first, n; /* in ids */
};

struct tally_amd_set {
	const struct tally_amd_counter **counters; /* in the order of the set's layout */
	uint32_t n;
	unsigned *ids;
	struct tally_amd_run *runs;
	uint32_t n_runs;
};

struct tally_amd_catalogue {
	const struct tally_counter **counters; /* of all sets; each lives as long as the process */
	uint32_t n_counters;
	struct tally_amd_set *sets;
	const struct tally_counter_set **set_list; /* the same, as the log speaks of them */
	uint32_t n_sets;
	uint32_t widest; /* counters of the largest set */
	struct tally_amd_counter *all;
};

/* What src->wanted takes of what the driver offers. NULL: nothing, and src->reason says why;
 * *status is TALLY_UNSUPPORTED or TALLY_NO_MEMORY. Otherwise src->reason may name what was left
 * out. The api has all functions of the extension. */
struct tally_amd_catalogue *tally_amd_catalogue_create(struct tally_gl_api *api,
						       struct tally_source *src,
						       enum tally_status *status);
/* Accepts NULL. */
void tally_amd_catalogue_destroy(struct tally_amd_catalogue *catalogue);

/* Is it a driver of Intel's GPUs, by GL_VENDOR? */
bool tally_amd_is_intel(const struct tally_gl_api *api);

/* Select all counters of a set, or deselect them. */
void tally_amd_select(const struct tally_gl_api *api, unsigned monitor,
		      const struct tally_amd_set *set, bool enable);

/* One result of `len` bytes into values in the order of the set's layout, with their flags. */
void tally_amd_decode(const struct tally_amd_set *set, const void *result, size_t len,
		      struct tally_sample *out);

#endif
