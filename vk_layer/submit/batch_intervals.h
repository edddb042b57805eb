/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/batch_intervals.h - timestamps around a batch whose command buffers may not
 * contain the layer's queries.
 *
 * A command buffer with SIMULTANEOUS_USE may execute twice at once, so queries inside it would
 * be begun twice (R30). Its batch gets two additional one-time command buffers, first and last,
 * with one timestamp each. They are never added to a protected submission, to one with a device
 * mask, or on a queue without timestamps. Callers hold the device's lock, except for the calls
 * that allocate and record, which vk_batch_intervals_take() makes without it.
 */
#ifndef PASSTALLY_VK_LAYER_BATCH_INTERVALS_H
#define PASSTALLY_VK_LAYER_BATCH_INTERVALS_H

#include "vk_layer/record/slots.h"

struct vk_batch_interval {
	VkCommandBuffer first, last; /* recorded once; used again after a release */
	struct vk_slot slot;
	struct vk_slot_runs runs;
	struct vk_batch_interval *next;
};

bool vk_batch_intervals_create(struct vk_device *d);
/* Frees pools and their command buffers: the device is idle. */
void vk_batch_intervals_destroy(struct vk_device *d);
/* Without the lock; NULL when none is available: the batch then has no pair. */
struct vk_batch_interval *vk_batch_intervals_take(struct vk_device *d, uint32_t family);
/* Its results were read, or given up: it may be used again. The caller holds the lock. */
void vk_batch_intervals_release(struct vk_device *d, uint32_t family,
				struct vk_batch_interval *pair);

#endif
