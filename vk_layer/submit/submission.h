/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/submission.h - the submissions of a queue, and reading their results.
 *
 * One call of vkQueueSubmit is one struct vk_submission: the passes of its command buffers in
 * order, each with the entry in the log's frame that it fills. That frame is the one open at
 * submit time (R36). Results are read when one of the layer's fences shows that the submission
 * has completed, or when the game submits the same recording again (R27), which it may do only
 * after completion. Fences follow a frame's end and every 16th submission, on the queues that
 * have something new. All of it with the device's lock; nothing here waits, except
 * vk_device_finish(). The hooks are declared in vk_next.h.
 */
#ifndef PASSTALLY_VK_LAYER_SUBMISSION_H
#define PASSTALLY_VK_LAYER_SUBMISSION_H

#include "vk_layer/record/recording.h"

/* Called before a Vulkan call that destroys the device; waits at most 2 s for one of the
 * layer's fences. */
void vk_device_finish(struct vk_device *d);
/* Called at the end of the process: hands over everything, and reads only
 * results that are ready. */
void vk_submissions_exit(void);
/* The game's own wait shows that something has completed: reads what is
 * ready. Takes the lock. */
void vk_drain(struct vk_device *d);

#endif
