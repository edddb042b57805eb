/* SPDX-License-Identifier: MIT */
#include "vk_layer/submit/watch.h"

#include "vk_layer/record/slots_read.h"
#include "vk_layer/record/slots_sources.h"

#define WATCH_FRAMES 8
#define WATCH_SUBMISSIONS 256 /* the same where no frames end */

/* The slot of the submission that is begun last; false: it has none that is unread. */
static bool
last_slot(const struct vk_submission *s, struct vk_slot *slot)
{
	for (uint32_t i = s->n_slots; i > 0; i--) {
		const struct vk_pending_slot *unread = &s->slots[i - 1];
		if (unread->done || !unread->slot.page)
			continue;
		*slot = unread->slot;
		if (unread->role == VK_ROLE_ROW)
			*slot = vk_row_slot(unread,
					    63u - (uint32_t)__builtin_clzll(unread->unread));
		return true;
	}
	return false;
}

bool
vk_watch_can(const struct vk_queue *q)
{
	const struct vk_device *d = q->device;
	struct vk_slot slot;
	if (d->results_fail || q->unordered || !d->enabled.host_reset || vk_slots_read_waits(d))
		return false;
	for (const struct vk_submission *s = q->oldest; s; s = s->next)
		if ((s->pairs || s->pictures) && !s->completed)
			return false;
	return q->newest && last_slot(q->newest, &slot);
}

void
vk_watch_newest(struct vk_queue *q)
{
	struct vk_fence *at = &q->fences[(q->fence_first + q->n_fences++) % VK_FENCE_RING];
	at->serial = q->newest->serial;
	at->watched = true;
	q->fenced = at->serial;
	q->fence_frame = vk_open_frame(q->device);
}

bool
vk_watch_completed(struct vk_queue *q, const struct vk_fence *watched)
{
	const struct vk_submission *s = q->oldest;
	struct vk_slot slot;
	while (s && s->serial < watched->serial)
		s = s->next;
	/* Without anything unread it was read before it ran again. */
	if (!s || s->serial != watched->serial || !last_slot(s, &slot) ||
	    vk_slot_is_ready(q->device, &slot))
		return true;
	if (vk_open_frame(q->device) - s->frame > WATCH_FRAMES ||
	    q->serial - s->serial > WATCH_SUBMISSIONS)
		q->device->results_fail = true;
	return false;
}

void
vk_watch_drop(struct vk_queue *q)
{
	while (q->n_fences &&
	       q->fences[(q->fence_first + q->n_fences - 1) % VK_FENCE_RING].watched) {
		q->n_fences--;
		q->fenced = q->completed;
	}
}
