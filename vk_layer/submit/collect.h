/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/collect.h - reads submissions once they have completed.
 *
 * Callers hold the device's lock, except for vk_collect_fence(), which takes it. Nothing
 * here waits for the GPU.
 */
#ifndef PASSTALLY_VK_LAYER_COLLECT_H
#define PASSTALLY_VK_LAYER_COLLECT_H

#include "vk_layer/submit/submission_list.h"

/* The recording is about to execute again: reads the results of its last use,
 * then resets its slots. */
void vk_collect_harvest(struct vk_device *d, struct vk_recording *r);
/* Queries the fences, reads what has completed, publishes it. */
void vk_collect_poll(struct vk_device *d);
/* The game's own wait shows that submissions up to `serial` have completed. */
void vk_collect_completed(struct vk_queue *q, uint64_t serial);
void vk_collect_fence_signalled(struct vk_device *d, VkFence fence);
/* Everything unread is done, with `flag`; `try` first reads what is available. */
void vk_collect_give_up(struct vk_device *d, uint64_t flag, bool try);
/* Whether it is time for one of the layer's fences after the newest submission, and therefore
 * for querying earlier ones. */
bool vk_collect_due(const struct vk_queue *q);
/* ... and whether that has to be a fence, for which there is room: false where the submission's own
 * results show it, which are then watched (watch.h). */
bool vk_collect_wants_fence(struct vk_queue *q);
/* Returns an unsignaled fence: `old` reset, or a new one; NULL when the driver creates none.
 * Takes over `old`, which may be NULL. Without the lock. */
VkFence vk_fence_renew(struct vk_device *d, VkFence old);
/* Without the lock, by a thread that may use the queue. */
void vk_collect_fence(struct vk_queue *q);
/* Destroys fences and frees spare memory; nothing is unread. Without the lock; `calls`: the
 * device still accepts calls. */
void vk_collect_finish(struct vk_queue *q, bool calls);

#endif
