/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/batch_intervals.h - timestamps around a batch whose command buffers may not
 * contain the layer's queries.
 *
 * A command buffer with SIMULTANEOUS_USE may execute twice at once, so queries inside it
 * would be begun twice (R30). Its batch gets two additional one-time command buffers, first
 * and last, with one timestamp each. Where results are copied (slots_copy.h) the last one
 * also copies those of a command buffer that ends where a render pass is suspended, and so
 * cannot do it itself. They are never added to a protected submission, to one with a device
 * mask, or on a queue without timestamps. Callers hold the device's lock, except for the
 * calls that allocate and record, which are made without it.
 */
#ifndef PASSTALLY_VK_LAYER_BATCH_INTERVALS_H
#define PASSTALLY_VK_LAYER_BATCH_INTERVALS_H

#include "vk_layer/record/slots.h"

struct vk_batch_interval {
	VkCommandBuffer first, last; /* recorded once; used again after a release */
	struct vk_slot slot;
	struct vk_slot_runs runs;
	struct vk_batch_interval *next;
	bool copies_only; /* its timestamps are not needed */
};

bool vk_batch_intervals_create(struct vk_device *d);
/* Frees pools and their command buffers: the device is idle. */
void vk_batch_intervals_destroy(struct vk_device *d);
/* Without the lock; NULL when none is available: the batch then has no pair. */
struct vk_batch_interval *vk_batch_intervals_take(struct vk_device *d, uint32_t family);
/* Where results are copied the last command buffer is recorded again for each batch,
 * without the lock: what is recorded between these two runs after the batch. False: it may
 * not be submitted. */
bool vk_batch_interval_begin_last(struct vk_device *d, struct vk_batch_interval *pair);
bool vk_batch_interval_end_last(struct vk_device *d, struct vk_batch_interval *pair);
/* Its results were read, or given up: it may be used again. The caller holds the lock. */
void vk_batch_intervals_release(struct vk_device *d, uint32_t family,
				struct vk_batch_interval *pair);

#endif
