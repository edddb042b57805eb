/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/sampling.h - what submit/ asks of `--snapshot exact`: one table of functions.
 *
 * exact/ cuts and samples submissions, and so has to know what one is; submit/ only calls it by
 * this table, vk_device.exact, which is NULL without `--snapshot exact`: then a call is forwarded
 * as it is. Called without the device's lock.
 */
#ifndef PASSTALLY_VK_LAYER_SAMPLING_H
#define PASSTALLY_VK_LAYER_SAMPLING_H

#include "vk_layer/submit/batch.h"
#include "vk_layer/submit/submission_list.h"

struct vk_exact_call {
	struct vk_queue *q;
	struct vk_submission *s;
	bool logged; /* passes of it are in the log: `s` is set */
	struct vk_batches game, down; /* the game's; the same with intervals around */
	VkFence fence;
	PFN_vkQueueSubmit one; /* `next` of the spelling that was called, or NULL */
	PFN_vkQueueSubmit2 two;
	uint64_t serial;	  /* the serial that the call gets */
	/* Set by submit(). */
	uint64_t overhead_ns; /* our waits and samples */
	bool completed; /* all of it has completed */
};

struct vk_exact_functions {
	/* Forwards the call, in slices where it is to be sampled. */
	VkResult (*submit)(struct vk_exact_call *x);
	/* Sparse binds that the driver accepted: they are part of the queue's order too. */
	void (*bound)(struct vk_queue *q, uint32_t n, const VkBindSparseInfo *infos);
};

#endif
