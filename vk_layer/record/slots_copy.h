/* SPDX-License-Identifier: MIT */
/* vk_layer/record/slots_copy.h - results that command buffers copy into memory of the layer,
 * on a driver that waits where it is asked for them: vk_slots_read_waits().
 *
 * Each page has a buffer, which is mapped as long as the page exists and has the rows of all
 * its slots. A command buffer copies what it and its secondaries took at its end; from when
 * it has completed until its slots are reset its results are in the rows, with their
 * availability. What was not copied is not available.
 */
#ifndef PASSTALLY_VK_LAYER_RECORD_SLOTS_COPY_H
#define PASSTALLY_VK_LAYER_RECORD_SLOTS_COPY_H

#include "vk_layer/record/recording.h"

/* Records the copies of these runs, outside a render pass: what was begun there has ended,
 * the slot `last` as the last one. Nothing is recorded where results are asked for. */
void vk_slots_copy(struct vk_device *d, VkCommandBuffer cb, const struct vk_slot_runs *runs,
		   const struct vk_slot *last);
/* The same for all that the recording has and executes. */
void vk_recording_copy(struct vk_device *d, VkCommandBuffer cb,
		       const struct vk_recording *r);

/* ---- for slots.c ---- */

/* Makes a page's rows in its `mapped`. False: out of memory. Without the device's lock. */
bool vk_page_map(struct vk_device *d, struct vk_page *page);

#endif
