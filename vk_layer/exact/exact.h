/* SPDX-License-Identifier: MIT */
/* vk_layer/exact/exact.h - `--snapshot exact`: submissions in slices, with totals read between
 * them.
 *
 * In a captured frame a batch is submitted one command buffer at a time. Before the first and
 * after each command buffer this waits, 2 s at most, for its own fence and takes a sample,
 * whose numbers go into the passes of the slice. It does so only where everything before it
 * will end without any action of the game; passes that are not sampled are flagged
 * UNSAMPLED, and each reason is logged once. No lock is held while it waits: other queues
 * continue, and the attribution has to account for what they do meanwhile. After a wait that
 * timed out, or a refused submission, the device continues without samples.
 */
#ifndef PASSTALLY_VK_LAYER_EXACT_H
#define PASSTALLY_VK_LAYER_EXACT_H

#include "vk_layer/submit/sampling.h"

/* Called at the device's creation: if `exact` is configured, sets vk_device.exact, by which submit/
 * calls the rest (sampling.h). */
void vk_exact_create(struct vk_device *d);
void vk_exact_destroy(struct vk_device *d);
/* Destroys the queue's fence, unless the driver is still using it. */
void vk_exact_finish(struct vk_queue *q, bool calls);

#endif
