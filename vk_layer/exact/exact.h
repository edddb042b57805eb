/* vk_layer/exact/exact.h - `--snapshot exact`: submissions in pieces, with totals read between
 * them.
 *
 * In a captured frame a batch goes down one command buffer at a time; before the first and after
 * each this waits, 2 s at most, for a fence of ours and takes a sample, whose numbers go into the
 * passes of the piece. Only where all that comes before it will end without the game's doing
 * (resolve.h); what is not sampled is flagged UNSAMPLED, and each reason is told once. No lock is
 * held while it waits: other queues go on, and what they do meanwhile is the attribution's to see.
 * After a wait that ran out, or a refused submission, the device goes on without.
 */
#ifndef PASSTALLY_VK_LAYER_EXACT_H
#define PASSTALLY_VK_LAYER_EXACT_H

#include "vk_layer/submit/batch.h"
#include "vk_layer/submit/collect.h"
#include "vk_layer/exact/resolve.h"

struct vk_exact_call {
	struct vk_queue *q;
	struct vk_submission *s;
	bool logged; /* passes of it are in the log: `s` is there */
	struct vk_batches game, down; /* what the game passed; the same with brackets */
	VkFence fence;
	PFN_vkQueueSubmit one; /* `next` of the spelling that was called, or NULL */
	PFN_vkQueueSubmit2 two;
	uint64_t serial;	  /* that it gets */
	/* Set by vk_exact_submit() */
	uint64_t overhead_ns; /* our waits and samples */
	bool through;	      /* all of it has ended */
};

/* At the device's creation: follow semaphores if `exact` is asked for. Nothing fails: without
 * memory nothing is sampled. */
void vk_exact_create(struct vk_device *d);
void vk_exact_destroy(struct vk_device *d);
/* The queue's fence, unless the driver still has it. */
void vk_exact_finish(struct vk_queue *q, bool calls);

/* Forward the call, in pieces where it is to be sampled. Without the lock. */
VkResult vk_exact_submit(struct vk_exact_call *x);

/* ---- semaphores.c ---- */

/* What a batch waits for and signals; NULL on OOM. */
struct vk_op *vk_batch_op(const struct vk_batches *b, uint32_t i);
/* Presents and sparse binds that the driver took: they are of their queue's order too. */
void vk_exact_presented(struct vk_queue *q, const VkPresentInfoKHR *info);
void vk_exact_bound(struct vk_queue *q, uint32_t n, const VkBindSparseInfo *infos);

#endif
