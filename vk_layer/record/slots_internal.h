/* SPDX-License-Identifier: MIT */
/* vk_layer/record/slots_internal.h - what slots.c (query pools), slots_read.c (their results)
 * and slots_sources.c (sources) share.
 *
 * Sources are opened when the device is created and constant from then on; which of their sets
 * is current changes from frame to frame. Each page has a kind: what queues of a family can do,
 * with one set or none. Threads: as in vk_layer/record/slots.h.
 */
#ifndef PASSTALLY_VK_LAYER_SLOTS_INTERNAL_H
#define PASSTALLY_VK_LAYER_SLOTS_INTERNAL_H

#include "vk_layer/record/slots.h"

#include "query/source/harvest.h"
#include "vk_layer/record/mapped.h"

#define PAGE_SLOTS 256u
/* Runs consist of units. Reading uses them too: all of a unit belongs to one recording
 * and was reset when the recording took it, so that it may be read no matter which of
 * its slots were used. */
#define UNIT_SLOTS 4u
#define UNITS (PAGE_SLOTS / UNIT_SLOTS)

struct page_kind;

struct vk_page {
	struct vk_page *all_next;
	struct vk_page *next; /* the next page of the same kind with free units */
	bool listed;
	struct page_kind *kind;
	uint32_t sources; /* the sources that have a pool */
	uint64_t free; /* one bit per unit */
	VkQueryPool pools[TALLY_MAX_SOURCES];
	/* Without host reset, at the first unit of a newly taken run: how many units its first
	 * begin has to reset. For the recording thread. */
	uint8_t unreset[UNITS];
	/* Under the lock: units to be fetched; those that were in `round`, and among them those
	 * for which the driver failed; one row per slot, NULL where the source has none. */
	struct vk_page *requested_next;
	bool is_requested;
	uint64_t round;
	uint64_t requested[TALLY_MAX_SOURCES], fetched[TALLY_MAX_SOURCES], lost[TALLY_MAX_SOURCES];
	void *rows[TALLY_MAX_SOURCES];
	/* Where results are copied to (slots_copy.h), else none: all rows are in it. */
	struct vk_mapped mapped;
	uint32_t offsets[TALLY_MAX_SOURCES];
};

/* The pools of a queue family, with one set. */
struct page_kind {
	struct tally_vk_family family;
	uint32_t sources;
	uint32_t row_bytes[TALLY_MAX_SOURCES]; /* of one row; 0: none */
	bool copied; /* results that have rows are copied (slots_copy.h), not asked for */
	/* Those that count for a set of VK_MEASURE_ bits, outside and inside a render pass. */
	uint32_t counting[VK_MEASURE_SETS][2];
	VkQueryPipelineStatisticFlags statistics;
	struct vk_page *pages; /* those with free units */
};

struct vk_slots {
	struct tally_vk_api api;
	struct tally_vk_source *sources[TALLY_MAX_SOURCES]; /* open, in value order; the
							       index is the bit */
	uint32_t first[TALLY_MAX_SOURCES]; /* index of each source's first counter among all */
	uint32_t n;
	uint32_t with_time, with_halves; /* bits of sources */
	struct tally_vk_source *statistics, *performance; /* NULL when not open */
	uint32_t statistics_bit, performance_bit; /* 0 when not open */
	bool times_by_view; /* TALLY_QUIRK_TIMES_BY_VIEW */
	const struct tally_counter **counters; /* of all sources and all sets */
	uint32_t n_counters;
	uint64_t *scratch; /* valid bits of one source; with the lock */

	/* layouts[0]: the counters that are always counted; each of the others has one set. */
	struct vk_layout *layouts;
	uint32_t n_sets;
	atomic_uint set; /* the current set: an index into layouts */

	/* For people to read: sources that could not be opened (they keep the reason),
	 * or were not requested. */
	struct tally_vk_source *closed[TALLY_MAX_SOURCES];
	uint32_t n_closed;
	const struct tally_vk_source_row *left_out[TALLY_MAX_SOURCES];
	uint32_t n_left_out;

	struct page_kind *kinds; /* of family f with set s: kinds[f * (n_sets + 1) + s] */
	uint32_t covering[VK_MAX_FAMILIES]; /* sources that count there, with any set */

	/* Under the device's lock. */
	struct vk_page *all;
	uint32_t n_pages; /* including those being created */
	struct vk_page *requested; /* pages of the next round */
	uint64_t round;
	bool full; /* no more pages: logged once */
};

static inline uint32_t
vk_kind_of(const struct vk_slots *s, uint32_t family, uint32_t set)
{
	return family * (s->n_sets + 1) + set;
}

void vk_page_destroy(struct vk_device *d, struct vk_page *page);

#endif
