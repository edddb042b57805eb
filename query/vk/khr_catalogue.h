/* SPDX-License-Identifier: MIT */
/* query/vk/khr_catalogue.h - what VK_KHR_performance_query offers, put into sets of
 * one pass each.
 *
 * The driver lists counters for each queue family and reports how many times the same work
 * would have to run to count some of them together. A game's work runs once, so a set is what
 * needs one run. The catalogue is created once when the source opens and read by any thread
 * afterwards. Creating it calls the physical device only.
 */
#ifndef PASSTALLY_QUERY_VK_KHR_CATALOGUE_H
#define PASSTALLY_QUERY_VK_KHR_CATALOGUE_H

#include "query/vk/source.h"

#define TALLY_KHR_NAME "vk-khr"
#define TALLY_KHR_MAX_FAMILIES 16u
#define TALLY_KHR_MAX_COUNTERS 4096u
#define TALLY_KHR_MAX_SETS 256u
/* Counters of one set: with all statistics, as many as can be added up. */
#define TALLY_KHR_MAX_SET 112u

/* Counters that are counted together, with their indices on each queue family. */
struct tally_khr_set {
	uint32_t n;
	enum tally_scope scope; /* of all its counters */
	VkPerformanceCounterStorageKHR *storages; /* in the order of the set's layout */
	bool *adds_up; /* whether a sum of its values is meaningful */
	/* In the same order; NULL: not on that family. */
	uint32_t *indices[TALLY_KHR_MAX_FAMILIES];
};

/* The counters and sets of one device. */
struct tally_khr_catalogue {
	/* Of all sets; each lives as long as the process. */
	const struct tally_counter **counters;
	uint32_t n_counters;
	struct tally_khr_set *sets;
	const struct tally_counter_set **set_list; /* the same sets, as the log names them */
	uint32_t n_sets;
	uint32_t widest; /* number of counters in the largest set */
};

/* What src->wanted selects of what the driver offers. NULL: nothing, and src->reason says why;
 * *status is TALLY_UNSUPPORTED or TALLY_NO_MEMORY. Otherwise src->reason may name limitations.
 * src->api must have the extension's functions. */
struct tally_khr_catalogue *
tally_khr_catalogue_create(struct tally_vk_source *src, enum tally_status *status);
/* Accepts NULL. */
void tally_khr_catalogue_destroy(struct tally_khr_catalogue *catalogue);

#endif
