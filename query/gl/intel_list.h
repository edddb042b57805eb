/* SPDX-License-Identifier: MIT */
/* query/gl/intel_list.h - the INTEL performance queries of a context that count what
 * was requested.
 *
 * Each type of query with requested counters becomes a set; the positions of its counters in
 * the driver's data are kept with it. Used by intel.c while it opens, inside the guard of its
 * GL errors; the only allocations are here. Owner thread.
 */
#ifndef PASSTALLY_QUERY_GL_INTEL_LIST_H
#define PASSTALLY_QUERY_GL_INTEL_LIST_H

#include "query/gl/intel_dialect.h"

#define TALLY_INTEL_NONE UINT32_MAX
#define TALLY_INTEL_MAX_HANDLES 8192 /* in one set */

/* A counter that is decoded. */
struct tally_intel_place {
	struct tally_intel_field field;
	/* Its index among the set's values; NONE: it only shows whether the values are
	 * valid. */
	uint32_t value;
	bool disturbs;
	bool elapsed; /* how long the GPU counted: 0 when it did not */
};

/* One type of query. */
struct tally_intel_set {
	unsigned query; /* the driver's number */
	bool pipeline;
	uint32_t data_size;
	uint32_t limit; /* the largest number of handles */
	uint32_t first, n_places; /* in `places` */
	/* Used by intel.c: */
	uint32_t free, n_handles;
	uint32_t pending; /* begun and not read */
	uint64_t refused_until; /* no handle is requested before this gap */
};

/* What a context offers of the requested counters. Zeroed is empty. */
struct tally_intel_offer {
	struct tally_intel_set *sets;
	const struct tally_counter_set **layouts; /* of each set */
	uint32_t n_sets, room_sets;
	struct tally_intel_place *places;
	uint32_t n_places, room_places;
	const struct tally_counter **counters; /* of all sets, each once */
	uint32_t n_counters, room_counters;
	uint32_t data_size; /* of the largest set */
};

/* Fills a zeroed offer with what src->wanted and src->pinned request; src->reason has the
 * reason if it is empty. False only on OOM; call finish() in any case. */
bool tally_intel_list(struct tally_intel_offer *offer, const struct tally_gl_api *api,
		      const struct tally_intel_dialect *dialect, struct tally_source *src);
void tally_intel_offer_finish(struct tally_intel_offer *offer);
/* What would allow this user to count, to be appended to a sentence; "" when nothing forbids
 * it. Reads the kernel's settings: only when a source opens or gives up. */
void tally_intel_explain_permission(char *out, size_t size);

#endif
