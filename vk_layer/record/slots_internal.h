/* vk_layer/record/slots_internal.h - what slots.c (query pools), slots_read.c (their results)
 * and slots_sources.c (sources) share.
 *
 * Sources are opened when the device is made and constant from then on; which of their sets has
 * its turn changes from frame to frame. Pages belong to a kind: what queues of some families can
 * do, with one set or none. Threads: as vk_layer/record/slots.h says.
 */
#ifndef PASSTALLY_VK_LAYER_SLOTS_INTERNAL_H
#define PASSTALLY_VK_LAYER_SLOTS_INTERNAL_H

#include "vk_layer/record/slots.h"

#include "query/source/harvest.h"

#define PAGE_SLOTS 256u
/* Runs consist of units. Reading goes by them, too: all of a unit belongs to one recording, and was
 * reset when the recording took it, so that it may be read whatever of it was used. */
#define UNIT_SLOTS 4u
#define UNITS (PAGE_SLOTS / UNIT_SLOTS)

struct vk_page {
	struct vk_page *all_next;
	struct vk_page *next; /* with free units, of the same kind */
	bool listed;
	uint32_t kind;
	uint32_t sources; /* that have a pool */
	uint64_t free; /* bit per unit */
	VkQueryPool pools[TALLY_MAX_SOURCES];
	/* Without host reset, by the first unit of what was taken at once: how many units its first
	 * begin has to reset. The recording thread's. */
	uint8_t unreset[UNITS];
	/* With the lock: units to be fetched; those that were in `round`, and of them those that
	 * the driver failed; a row for each slot, NULL where the source has none. */
	struct vk_page *wanted_next;
	bool is_wanted;
	uint64_t round;
	uint64_t wanted[TALLY_MAX_SOURCES], fetched[TALLY_MAX_SOURCES], lost[TALLY_MAX_SOURCES];
	void *rows[TALLY_MAX_SOURCES];
};

/* Families whose pools are alike, with one set. */
struct page_kind {
	struct tally_vk_family family; /* one of them */
	uint32_t sources;
	VkQueryPipelineStatisticFlags statistics;
	struct vk_page *pages; /* that have free units */
};

struct vk_slots {
	struct tally_vk_api api;
	struct tally_vk_source *sources[TALLY_MAX_SOURCES]; /* open, in value order: their bits */
	uint32_t first[TALLY_MAX_SOURCES]; /* of their counters among all */
	uint32_t n;
	uint32_t with_time, with_halves; /* bits of sources */
	struct tally_vk_source *statistics, *performance; /* NULL when not open */
	uint32_t statistics_bit, performance_bit; /* 0 when not open */
	const struct tally_counter **counters; /* of all sources, of all sets */
	uint32_t n_counters;
	uint64_t *scratch; /* valid bits of one source; with the lock */

	/* layouts[0]: what is always counted; the others with a set each. */
	struct vk_layout *layouts;
	uint32_t n_sets;
	atomic_uint set; /* that has its turn: a number of layouts */

	/* For people: sources that could not open (they keep the reason), or were not wanted. */
	struct tally_vk_source *closed[TALLY_MAX_SOURCES];
	uint32_t n_closed;
	const char *left_out[TALLY_MAX_SOURCES];
	uint32_t n_left_out;

	struct page_kind *kinds; /* of class k with set s: kinds[k * (n_sets + 1) + s] */
	uint32_t n_classes;
	uint32_t class_of[VK_MAX_FAMILIES];
	uint32_t covering[VK_MAX_FAMILIES]; /* sources that count there, with whatever set */

	/* With the lock. */
	struct vk_page *all;
	uint32_t n_pages; /* made, or being made */
	struct vk_page *wanted; /* pages of the round that begins */
	uint64_t round;
	bool full; /* no more pages: said once */
	bool no_performance; /* the driver makes no such pools: said once */
};

static inline uint32_t
vk_kind_of(const struct vk_slots *s, uint32_t family, uint32_t set)
{
	return s->class_of[family] * (s->n_sets + 1) + set;
}

/* What is to be counted for `what`; `inside` a render pass. */
uint32_t vk_sources_for(const struct vk_device *d, uint32_t family, uint32_t set, unsigned what,
			bool inside);
void vk_page_destroy(struct vk_slots *s, struct vk_page *page);

#endif
