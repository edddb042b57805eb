/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/watch.h - a submission that is known to have completed because its last query
 * has a result, without a fence of ours.
 *
 * A fence of the layer's needs a submission of its own, which a driver makes one more of each
 * frame. Where reading does not wait and the host resets queries, so that no result is of an
 * earlier use, the newest submission's last query shows the same: a timestamp is written when all
 * commands before it are complete. Entries are in the queue's ring of fences. All functions are
 * for holders of the device's lock; none waits.
 */
#ifndef PASSTALLY_VK_LAYER_WATCH_H
#define PASSTALLY_VK_LAYER_WATCH_H

#include "vk_layer/submit/submission_list.h"

/* The number of the frame that is open. */
static inline uint64_t
vk_open_frame(const struct vk_device *d)
{
	return d->tally ? tally_device_frame(d->tally) : 0;
}

/* The slot of the k-th pass of a row. */
static inline struct vk_slot
vk_row_slot(const struct vk_pending_slot *row, uint32_t k)
{
	struct vk_slot slot = row->slot;
	slot.index = (uint16_t)(slot.index + k);
	slot.views = 1;
	return slot;
}

/* Whether the newest submission can be watched: false where it has nothing unread, where results
 * say too little (see above; intervals around a batch, whose command buffers are used again), or
 * after results did not come. */
bool vk_watch_can(const struct vk_queue *q);
/* Adds the newest submission to the ring, which has room. */
void vk_watch_newest(struct vk_queue *q);
/* Whether a watched submission has completed. One that is watched for too long shows that the
 * driver delivers nothing: from then on the device has fences. */
bool vk_watch_completed(struct vk_queue *q, const struct vk_fence *watched);
/* Removes watched submissions from the end of the ring: a fence follows. */
void vk_watch_drop(struct vk_queue *q);

#endif
