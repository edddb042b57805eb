/* SPDX-License-Identifier: MIT */
/* vk_layer/record/slots_sources.h - the sources of a device: which are open, what they count, on
 * which queues, and which set.
 */
#ifndef PASSTALLY_VK_LAYER_RECORD_SLOTS_SOURCES_H
#define PASSTALLY_VK_LAYER_RECORD_SLOTS_SOURCES_H

#include "vk_layer/record/slots.h"

/* Creates and opens the sources that the configuration requests. False: out of memory. */
bool vk_slots_create(struct vk_device *d);
/* Destroys all pools; the device is idle or lost. */
void vk_slots_destroy(struct vk_device *d);

/* Entries for the device line, `api` first; `rows` has room for TALLY_MAX_SOURCES + 1. */
uint32_t vk_slots_describe(struct vk_device *d, struct tally_source_info *rows);
/* All counters of all sets, for the device line. */
const struct tally_counter *const *vk_slots_counters(struct vk_device *d, uint32_t *n);
/* Where the counters of a set may begin and end: query/vk/source.h. WORKLOAD for no set. */
enum tally_scope vk_slots_scope(const struct vk_device *d, uint32_t set);
const struct vk_layout *vk_slots_layout(const struct vk_device *d, uint32_t set);
uint32_t vk_slots_max_values(const struct vk_device *d);
/* The values of a layout that come from these sources: VK_MAX_COUNTERS bits. */
void vk_slots_mask(const struct vk_device *d, uint32_t set, uint32_t sources, uint64_t *mask);
/* The sets of the rotation, in order; `*n` is 0 where there is none. */
const struct tally_counter_set *const *vk_slots_sets(struct vk_device *d, uint32_t *n);
/* What makes the driver execute passes one after the other, or NULL. */
const char *vk_slots_serialized_by(const struct vk_device *d);
/* What secondaries have to inherit while one of our statistics queries is active (R24). */
VkQueryPipelineStatisticFlags vk_slots_inherited(struct vk_device *d, uint32_t family);
/* The sources that would count, with any set: bits for vk_slot.sources. */
uint32_t vk_slots_sources(const struct vk_device *d, uint32_t family, unsigned what);
/* The counting sources that a pass of a recording has, where nothing prevents it. */
uint32_t vk_slots_expected(const struct vk_device *d, uint32_t family,
			   const struct vk_slot_runs *runs);
/* Whether anything, or at least timestamps, can be measured on this family. */
bool vk_slots_cover(struct vk_device *d, uint32_t family, unsigned what);
/* Whether vkGetQueryPoolResults() waits until the whole device is idle, regardless of its
 * flags: true on lavapipe, see quirks.c. It is not called there (but for vk-khr, which
 * lavapipe lacks): slots_copy.h. Host reset, fences and the rest do not wait. */
bool vk_slots_read_waits(const struct vk_device *d);
/* The caller holds the lock. Once per frame: selects the next set. */
void vk_slots_tick(struct vk_device *d, uint64_t now_ns);

#endif
