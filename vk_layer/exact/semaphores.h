/* SPDX-License-Identifier: MIT */
/* vk_layer/exact/semaphores.h - whether a batch ends without further action of the game.
 *
 * What signals a binary semaphore was submitted before what waits for it, with everything that it
 * depends on in turn (VUID-vkQueueSubmit-pWaitSemaphores-03238). A timeline has to have reached
 * the value, or a batch that ends by itself signals it. Behind one that may not, a queue is not
 * waited for until that will be so.
 */
#ifndef PASSTALLY_VK_LAYER_EXACT_SEMAPHORES_H
#define PASSTALLY_VK_LAYER_EXACT_SEMAPHORES_H

#include "vk_layer/exact/exact.h"

void vk_exact_created(struct vk_device *d, const VkSemaphoreCreateInfo *info,
		      VkSemaphore semaphore);
void vk_exact_destroyed(struct vk_device *d, VkSemaphore semaphore);
void vk_timelines_forget(struct vk_device *d);
/* Why the batch, or what is before it in the queue, may not end without the game; NULL: it will.
 * For the thread that may use the queue. */
const char *vk_batch_stuck(struct vk_queue *q, const struct vk_batches *b, uint32_t i);
/* It is the queue's next batch, of a call with that serial. */
void vk_batch_submitted(struct vk_queue *q, const struct vk_batches *b, uint32_t i,
			uint64_t serial);
/* For the table (sampling.h). */
void vk_exact_bound(struct vk_queue *q, uint32_t n, const VkBindSparseInfo *infos);

#endif
