/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/batch.h - VkSubmitInfo and VkSubmitInfo2 as one type, and copies with
 * intervals around them.
 *
 * Reads what the game passed, never writes to it. No lock, any thread.
 */
#ifndef PASSTALLY_VK_LAYER_BATCH_H
#define PASSTALLY_VK_LAYER_BATCH_H

#include "vk_layer/submit/batch_intervals.h"

/* What one call submits: either `one` or `two` is set. */
struct vk_batches {
	uint32_t n;
	const VkSubmitInfo *one;
	const VkSubmitInfo2 *two;
};

uint32_t vk_batch_n_buffers(const struct vk_batches *b, uint32_t i);
VkCommandBuffer vk_batch_buffer(const struct vk_batches *b, uint32_t i, uint32_t n);
/* Whether it waits for semaphores. */
bool vk_batch_waits(const struct vk_batches *b, uint32_t i);
/* Whether the layer may add its own command buffers. Not if the batch is protected or has
 * device masks. */
bool vk_batch_is_plain(const struct vk_batches *b, uint32_t i);

/* Whether a pNext chain contains a VkFrameBoundaryEXT that ends a frame. */
bool vk_ends_frame(const void *chain);
bool vk_batches_end_frame(const struct vk_batches *b);

/* The same batches with pairs[i] (NULL: none) around the i-th; false on OOM.
 * The caller calls free(*memory). */
bool
vk_batches_surround(const struct vk_batches *b, struct vk_batch_interval *const *pairs,
		    struct vk_batches *out, void **memory);

#endif
