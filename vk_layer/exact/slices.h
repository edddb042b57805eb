/* SPDX-License-Identifier: MIT */
/* vk_layer/exact/slices.h - one batch of a submission, cut between its command buffers.
 *
 * The game may rely on the order of submission but not on that of batches, so a batch may be
 * submitted in slices: the first has the waits, the last the signals (R39).
 * Only batches without other structures than a timeline's values are cut.
 * Reads what the game passed, never writes to it, allocates nothing. No lock, any thread.
 */
#ifndef PASSTALLY_VK_LAYER_SLICES_H
#define PASSTALLY_VK_LAYER_SLICES_H

#include "vk_layer/submit/batch.h"

struct vk_slice {
	uint32_t batch;	     /* index in the call */
	uint32_t first, n;   /* its command buffers */
	bool waits, signals; /* it has the waits, or signals, of the batch */
	bool last;	     /* nothing of the batch follows */
};

/* A slice as it is submitted; points into itself and into the game's structures. */
struct vk_slice_info {
	struct vk_batches batches; /* has one batch */
	VkSubmitInfo one;
	VkSubmitInfo2 two;
	VkTimelineSemaphoreSubmitInfo timeline;
};

/* Whether its chain is empty or has that structure alone. */
bool vk_batch_may_cut(const struct vk_batches *b, uint32_t i);
/* Only for a batch that may be cut. */
void vk_slice_build(const struct vk_batches *b, const struct vk_slice *slice,
		    struct vk_slice_info *out);

#endif
