/* SPDX-License-Identifier: MIT */
/* query/gl/amd_catalogue.h - what GL_AMD_performance_monitor offers, put into sets;
 * its results.
 *
 * Creating a catalogue asks the driver for names and types, a few calls for each counter, so the
 * context must be current; nothing is begun, and nothing waits. Create it inside a guard, because
 * these calls may fail. A catalogue belongs to one source of one context.
 */
#ifndef PASSTALLY_QUERY_GL_AMD_CATALOGUE_H
#define PASSTALLY_QUERY_GL_AMD_CATALOGUE_H

#include "query/gl/api.h"

#define TALLY_AMD_MAX_COUNTERS 4096u
#define TALLY_AMD_MAX_SETS 1024u

/* The type of a counter, as the driver reports it. */
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
	bool ranged;      /* min and max come from the driver */
	uint64_t largest; /* integers: the largest value that the counter holds */
	uint64_t least;
	double min, max; /* floats */
	const struct tally_counter *counter;
};

/* Counters of one group that one call selects. */
struct tally_amd_run {
	unsigned group;
	uint32_t first, n; /* indices into ids */
};

/* Counters that are counted together. */
struct tally_amd_set {
	const struct tally_amd_counter **counters; /* in the order of the set's layout */
	uint32_t n;
	unsigned *ids;
	struct tally_amd_run *runs;
	uint32_t n_runs;
};

/* The counters and sets of one context. */
struct tally_amd_catalogue {
	/* Of all sets; each lives as long as the process. */
	const struct tally_counter **counters;
	uint32_t n_counters;
	struct tally_amd_set *sets;
	const struct tally_counter_set **set_list; /* the same sets, as the log names them */
	uint32_t n_sets;
	uint32_t widest; /* number of counters in the largest set */
	struct tally_amd_counter *all;
};

/* What src->wanted selects of what the driver offers. NULL: nothing, and src->reason says why;
 * *status is TALLY_UNSUPPORTED or TALLY_NO_MEMORY. Otherwise src->reason may name what was left
 * out. The api must have all functions of the extension. */
struct tally_amd_catalogue *tally_amd_catalogue_create(struct tally_gl_api *api,
						       struct tally_source *src,
						       enum tally_status *status);
/* Accepts NULL. */
void tally_amd_catalogue_destroy(struct tally_amd_catalogue *catalogue);

/* Selects counters of a set, `n` from `first` on, or deselects them. */
void tally_amd_select(const struct tally_gl_api *api, unsigned monitor,
		      const struct tally_amd_set *set, uint32_t first, uint32_t n, bool enable);
/* Where to divide these counters, at least two, so that both parts have some: where a group
 * begins, if one does in the second half. */
uint32_t tally_amd_middle(const struct tally_amd_set *set, uint32_t first, uint32_t n);

#endif
