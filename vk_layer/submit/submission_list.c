/* SPDX-License-Identifier: MIT */
#include "vk_layer/submit/submission_list.h"

#include "vk_layer/picture/picture.h"
#include "vk_layer/record/slots_sources.h"

#include <stdlib.h>
#include <string.h>

#define MAX_UNREAD 4096 /* submissions of one queue; beyond that the oldest is given up */

struct vk_submission *
vk_submission_take(struct vk_queue *q)
{
	struct vk_submission *s = q->spare;
	if (s)
		q->spare = s->next;
	else
		s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct vk_submission){
		.queue = q,
		.frame = q->device->tally ? tally_device_frame(q->device->tally) : 0,
		.passes = s->passes,
		.room_passes = s->room_passes,
		.slots = s->slots,
		.room_slots = s->room_slots,
		.uses = s->uses,
		.room_uses = s->room_uses,
	};
	return s;
}

void
vk_submission_recycle(struct vk_submission *s)
{
	while (s->pairs) {
		struct vk_batch_interval *pair = s->pairs;
		s->pairs = pair->next;
		vk_batch_intervals_release(s->queue->device, s->queue->family, pair);
	}
	vk_pictures_completed(s);
	s->next = s->queue->spare;
	s->queue->spare = s;
}

/* ---- pending passes ---- */

struct vk_pending_pass *
vk_frame_pass_create(struct tally_pass *pass)
{
	struct vk_pending_pass *pending = malloc(sizeof(*pending));
	if (pending)
		*pending = (struct vk_pending_pass){ .pass = pass, .n_left = 1, .sums = true };
	return pending;
}

static void
finish_sums(struct vk_pending_pass *pending)
{
	struct tally_pass *pass = pending->pass;
	pass->has_time = pending->has_begin && pending->has_end;
	uint32_t n = pass->layout->n_counters;
	n = n < VK_MAX_COUNTERS ? n : VK_MAX_COUNTERS;
	uint64_t missing = 0;
	for (uint32_t i = 0; i < (n + 63) / 64; i++) {
		uint64_t mine = n - 64 * i < 64 ? (UINT64_C(1) << n % 64) - 1 : UINT64_MAX;
		missing |= pending->missing[i] & mine;
		pass->valid[i] &= ~pending->missing[i];
	}
	if (missing && !(pass->flags & VK_FLAGS_UNCOUNTED))
		pass->flags |= TALLY_FLAG(UNCOUNTED);
}

/* Draws on a driver that draws tile by tile: the only one of a pass has the pass's time, others
 * have none. */
static void
drop_times_of_tiles(struct tally_pass *pass)
{
	for (struct tally_workload *w = pass->workloads; w; w = w->next) {
		if (!(w->flags & TALLY_FLAG(NO_TIMESTAMPS)))
			continue;
		w->has_time = pass->has_time && pass->n_workloads == 1;
		if (!w->has_time)
			continue;
		w->flags &= ~TALLY_FLAG(NO_TIMESTAMPS);
		w->gpu_begin_ns = pass->gpu_begin_ns;
		w->gpu_end_ns = pass->gpu_end_ns;
	}
}

/* Removes one claim; with the last one the pass is done. */
static inline void
release(struct vk_pending_pass *pending)
{
	if (--pending->n_left || !pending->pass)
		return;
	if (pending->sums)
		finish_sums(pending);
	drop_times_of_tiles(pending->pass);
	pending->pass->done = true;
	pending->pass = NULL;
}

void
vk_frame_pass_release(struct vk_pending_pass *pending)
{
	release(pending);
	if (!pending->n_left)
		free(pending);
}

/* ---- reads ---- */

bool
vk_submission_use(struct vk_submission *s, struct vk_recording *r)
{
	if (!tally_array_fit(&s->uses, s->n_uses, &s->room_uses, sizeof(*s->uses)))
		return false;
	s->uses[s->n_uses] = (struct vk_recording_use){ vk_recording_ref(r), VK_NONE, 0 };
	r->pending = s;
	r->pending_use = s->n_uses++;
	return true;
}

void
vk_pending_slot_done(struct vk_submission *s, struct vk_pending_slot *unread)
{
	unread->done = true;
	s->n_unread--;
	if (unread->role == VK_ROLE_ROW)
		; /* each pass was done when it was read */
	else if (unread->pending == VK_NONE)
		vk_frame_pass_release(unread->frame);
	else
		release(&s->passes[unread->pending]);
	if (unread->use == VK_NONE)
		return;
	struct vk_recording_use *use = &s->uses[unread->use];
	if (--use->n_left)
		return;
	struct vk_recording *r = use->recording;
	use->recording = NULL;
	if (r->pending == s)
		r->pending = NULL;
	vk_recording_unref(r, true);
}

static void
give_up_row(struct vk_pending_slot *unread, uint64_t flag)
{
	for (; unread->unread; unread->unread &= unread->unread - 1) {
		struct tally_pass *pass = &unread->row[__builtin_ctzll(unread->unread)];
		pass->flags |= flag;
		pass->done = true;
	}
}

void
vk_pending_slot_give_up(struct vk_submission *s, struct vk_pending_slot *unread,
			uint64_t flag)
{
	if (unread->role == VK_ROLE_ROW) {
		give_up_row(unread, flag);
		vk_pending_slot_done(s, unread);
		return;
	}
	struct vk_pending_pass *pending = vk_pending_pass_of(s, unread);
	if (unread->role == VK_ROLE_WORKLOAD)
		unread->workload->flags |= flag;
	if (pending->pass) {
		pending->pass->flags |= flag;
		vk_pending_pass_miss(pending);
	}
	vk_pending_slot_done(s, unread);
}

void
vk_pending_pass_miss(struct vk_pending_pass *pending)
{
	memset(pending->missing, 0xff, sizeof(pending->missing));
}

void
vk_pending_pass_miss_set(const struct vk_device *d, struct vk_pending_pass *pending)
{
	uint32_t n = vk_slots_layout(d, pending->set)->n_always;
	for (; n < VK_MAX_COUNTERS; n++)
		pending->missing[n / 64] |= UINT64_C(1) << (n % 64);
}

/* ---- the queue's list ---- */

/* Everything unread in it is done. */
void
vk_submission_give_up(struct vk_submission *s, uint64_t flag)
{
	for (uint32_t i = 0; i < s->n_slots && s->n_unread; i++)
		if (!s->slots[i].done)
			vk_pending_slot_give_up(s, &s->slots[i], flag);
}

/* Nothing more is added to them, and those without a slot are done. */
static void
release_passes(struct vk_submission *s)
{
	for (uint32_t i = 0; i < s->n_passes; i++)
		release(&s->passes[i]);
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (!s->slots[i].slot.page && !s->slots[i].done)
			vk_pending_slot_give_up(s, &s->slots[i], 0);
}

static void
append(struct vk_submission *s)
{
	struct vk_queue *q = s->queue;
	s->serial = ++q->serial;
	release_passes(s);
	if (!s->n_unread && !s->pairs && !s->pictures) {
		vk_submission_recycle(s);
		return;
	}
	if (q->newest)
		q->newest->next = s;
	else
		q->oldest = s;
	q->newest = s;
	if (++q->n_unread <= MAX_UNREAD)
		return;
	struct vk_submission *oldest = q->oldest;
	while (oldest && !oldest->n_unread)
		oldest = oldest->next;
	if (oldest)
		vk_submission_give_up(oldest, TALLY_FLAG(LOST));
}

static void
fail(struct vk_submission *s)
{
	for (uint32_t i = 0; i < s->n_passes; i++)
		s->passes[i].pass->flags |= TALLY_FLAG(LOST);
	vk_submission_give_up(s, TALLY_FLAG(LOST));
	release_passes(s);
	vk_submission_recycle(s);
}

void
vk_submission_end(struct vk_queue *q, struct vk_submission *s, VkResult result)
{
	if (!s)
		q->serial++;
	else if (result == VK_SUCCESS && !q->device->given_up)
		append(s);
	else /* also where another thread found the device lost, and gave up what was listed */
		fail(s);
}
