/* SPDX-License-Identifier: MIT */
/* vk_layer/exact/exact.h - `--snapshot exact`: submissions in slices, with totals read between
 * them.
 *
 * In a captured frame a batch is submitted one command buffer at a time. Before the first and
 * after each command buffer this waits, 2 s at most, for its own fence and takes a sample,
 * whose numbers go into the passes of the slice. It does so only where everything before it
 * will end without any action of the game (resolve.h); passes that are not sampled are flagged
 * UNSAMPLED, and each reason is logged once. No lock is held while it waits: other queues
 * continue, and the attribution has to account for what they do meanwhile. After a wait that
 * timed out, or a refused submission, the device continues without samples.
 */
#ifndef PASSTALLY_VK_LAYER_EXACT_H
#define PASSTALLY_VK_LAYER_EXACT_H

#include "vk_layer/submit/batch.h"
#include "vk_layer/submit/collect.h"
#include "vk_layer/exact/resolve.h"

struct vk_exact_call {
	struct vk_queue *q;
	struct vk_submission *s;
	bool logged; /* passes of it are in the log: `s` is set */
	struct vk_batches game, down; /* the game's; the same with intervals around */
	VkFence fence;
	PFN_vkQueueSubmit one; /* `next` of the spelling that was called, or NULL */
	PFN_vkQueueSubmit2 two;
	uint64_t serial;	  /* the serial that the call gets */
	/* Set by vk_exact_submit(). */
	uint64_t overhead_ns; /* our waits and samples */
	bool completed; /* all of it has completed */
};

/* Called at the device's creation: follows semaphores if `exact` is configured. It cannot fail:
 * without memory nothing is sampled. */
void vk_exact_create(struct vk_device *d);
void vk_exact_destroy(struct vk_device *d);
/* Destroys the queue's fence, unless the driver is still using it. */
void vk_exact_finish(struct vk_queue *q, bool calls);

/* Forwards the call, in slices where it is to be sampled. Without the lock. */
VkResult vk_exact_submit(struct vk_exact_call *x);

/* ---- semaphores.c ---- */

void vk_exact_created(struct vk_device *d, const VkSemaphoreCreateInfo *info,
		      VkSemaphore semaphore);
/* What a batch waits for and signals; NULL on OOM. */
struct vk_op *vk_batch_op(const struct vk_batches *b, uint32_t i);
/* Presents and sparse binds that the driver accepted: they are part of
 * the queue's order too. */
void vk_exact_presented(struct vk_queue *q, const VkPresentInfoKHR *info);
void vk_exact_bound(struct vk_queue *q, uint32_t n, const VkBindSparseInfo *infos);

#endif
