/* SPDX-License-Identifier: MIT */
#include "vk_layer/submit/collect.h"

#include "layer/base/clock.h"
#include "vk_layer/picture/picture.h"
#include "vk_layer/record/slots_read.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/submit/watch.h"

#include <stdlib.h>
#include <string.h>

/* After the fence: results not available by then never come (R34). */
#define MAX_AGE_FRAMES 32
#define MAX_AGE_SUBMISSIONS 1024 /* the same where no frames end */
#define RETRY_SUBMISSIONS 16
#define FENCE_EVERY 16 /* submissions */

/* ---- one slot ---- */

/* If a pass or a workload has only one slot, this is read directly into it. */
#define BEGIN_SAMPLE(of, n_values) \
	((struct tally_sample){ .values = (of)->values, .valid = (of)->valid, .n = (n_values), \
				.has_time = (of)->has_time, .begin_ns = (of)->gpu_begin_ns, \
				.end_ns = (of)->gpu_end_ns })
#define END_SAMPLE(of, sample) \
	((of)->has_time = (sample)->has_time, (of)->gpu_begin_ns = (sample)->begin_ns, \
	 (of)->gpu_end_ns = (sample)->end_ns, (of)->flags |= (sample)->flags)

static enum tally_status
read_pass(struct vk_device *d, const struct vk_slot *slot, uint32_t *left, struct tally_pass *pass)
{
	struct tally_sample sample = BEGIN_SAMPLE(pass, pass->layout->n_counters);
	enum tally_status status = vk_slot_read(d, slot, left, &sample);
	END_SAMPLE(pass, &sample);
	return status;
}

/* The counters that a slot must have for the sum to be valid: timestamps around other slots
 * need none, and counters that may not begin inside render passes are not expected there. */
static void
expect_counters(struct vk_submission *s, const struct vk_pending_slot *unread,
		const struct vk_pending_pass *pending, uint64_t *expected)
{
	const struct vk_device *d = s->queue->device;
	bool inside = unread->role == VK_ROLE_INNER || unread->role == VK_ROLE_WORKLOAD;
	if (unread->role == VK_ROLE_WHOLE ||
	    (unread->role == VK_ROLE_PASS && pending->has_inner)) {
		vk_slots_mask(d, pending->set, unread->slot.sources, expected);
		return;
	}
	uint32_t all = UINT32_MAX;
	if (inside && vk_slots_scope(d, pending->set) != TALLY_SCOPE_WORKLOAD)
		all = ~vk_slots_sources(d, s->queue->family, VK_MEASURE_PERFORMANCE);
	vk_slots_mask(d, pending->set, all, expected);
}

static void
add_counters(struct vk_submission *s, const struct vk_pending_slot *unread,
	     struct vk_pending_pass *pending, const struct tally_sample *sample)
{
	struct tally_pass *pass = pending->pass;
	const struct vk_layout *layout = vk_slots_layout(s->queue->device, pending->set);
	uint64_t expected[VK_MAX_COUNTERS / 64], any = 0;
	expect_counters(s, unread, pending, expected);
	for (uint32_t i = 0; i < (sample->n + 63) / 64; i++)
		any |= sample->valid[i];
	bool had_to = any || unread->role != VK_ROLE_PASS || !pending->has_inner;
	for (uint32_t i = 0; had_to && i < (sample->n + 63) / 64; i++)
		pending->missing[i] |= expected[i] & ~sample->valid[i];
	for (uint32_t i = 0; i < sample->n; i++) {
		uint64_t bit = UINT64_C(1) << (i % 64);
		if (!(sample->valid[i / 64] & bit))
			continue;
		if (pass->valid[i / 64] & layout->levels[i / 64] & bit)
			pending->missing[i / 64] |= bit; /* a second value, and
							 they cannot be added */
		else if (!(pass->valid[i / 64] & bit))
			pass->values[i] = sample->values[i];
		else if (!tally_value_add(&pass->values[i], sample->values[i]))
			pending->missing[i / 64] |= bit; /* the sum is not valid */
		pass->valid[i / 64] |= bit;
	}
}

/* Reads a workload into its place, and into the sum that forms its pass's counters. */
static enum tally_status
read_workload(struct vk_submission *s, struct vk_pending_slot *unread,
	      struct vk_pending_pass *pending, uint32_t n)
{
	struct tally_workload *w = unread->workload;
	struct tally_sample sample = BEGIN_SAMPLE(w, n);
	enum tally_status status = vk_slot_read(s->queue->device, &unread->slot, &unread->left,
						&sample);
	END_SAMPLE(w, &sample);
	if (status == TALLY_OK && n <= VK_MAX_COUNTERS)
		add_counters(s, unread, pending, &sample);
	return status;
}

static bool
has_half(const struct vk_slot *slot, const struct tally_sample *sample, unsigned half)
{
	return sample->has_time || slot->halves == half;
}

static void
add_times(struct vk_pending_pass *pending, const struct vk_slot *slot,
	  const struct tally_sample *sample)
{
	struct tally_pass *pass = pending->pass;
	if (has_half(slot, sample, TALLY_VK_BEGIN) && sample->begin_ns) {
		if (!pending->has_begin || sample->begin_ns < pass->gpu_begin_ns)
			pass->gpu_begin_ns = sample->begin_ns;
		pending->has_begin = true;
	}
	if (has_half(slot, sample, TALLY_VK_END) && sample->end_ns) {
		if (!pending->has_end || sample->end_ns > pass->gpu_end_ns)
			pass->gpu_end_ns = sample->end_ns;
		pending->has_end = true;
	}
}

/* One of several slots: read only when all of it is available. */
static enum tally_status
read_summand(struct vk_submission *s, struct vk_pending_slot *unread,
	     struct vk_pending_pass *pending, uint32_t n)
{
	struct tally_value values[VK_MAX_COUNTERS];
	uint64_t valid[VK_MAX_COUNTERS / 64] = { 0 };
	if (n > VK_MAX_COUNTERS)
		return TALLY_LOST;
	struct tally_sample sample = { .values = values, .valid = valid, .n = n };
	uint32_t left = unread->slot.sources;
	enum tally_status status = vk_slot_read(s->queue->device, &unread->slot, &left, &sample);
	if (status == TALLY_NOT_READY)
		return status;
	pending->pass->flags |= sample.flags;
	add_counters(s, unread, pending, &sample);
	if (unread->role != VK_ROLE_INNER)
		add_times(pending, &unread->slot, &sample);
	return status;
}

/* False: not available yet. */
static bool
try_slot(struct vk_submission *s, struct vk_pending_slot *unread)
{
	struct vk_pending_pass *pending = vk_pending_pass_of(s, unread);
	enum tally_status status = TALLY_OK;
	uint32_t n = pending->pass ? pending->pass->layout->n_counters : 0;
	if (!pending->pass)
		; /* given up */
	else if (unread->role == VK_ROLE_WORKLOAD)
		status = read_workload(s, unread, pending, n);
	else if (pending->sums)
		status = read_summand(s, unread, pending, n);
	else
		status = read_pass(s->queue->device, &unread->slot, &unread->left, pending->pass);
	if (status == TALLY_NOT_READY)
		return false;
	if (status != TALLY_OK)
		vk_pending_slot_give_up(s, unread, TALLY_FLAG(LOST));
	else
		vk_pending_slot_done(s, unread);
	return true;
}

/* ---- rows ---- */

/* Reads all of the row at once, none of which has answered. */
static void
read_row(struct vk_device *d, struct vk_pending_slot *row)
{
	struct tally_sample samples[TALLY_VK_MAX_ROWS];
	struct vk_slot first = row->slot;
	uint32_t n = first.views;
	first.views = 1;
	for (uint32_t k = 0; k < n; k++) {
		const struct tally_pass *pass = &row->row[k];
		samples[k] = BEGIN_SAMPLE(pass, pass->layout->n_counters);
	}
	uint64_t complete = vk_slots_read(d, &first, n, samples);
	for (uint32_t k = 0; k < n; k++) {
		struct tally_pass *pass = &row->row[k];
		if (complete & UINT64_C(1) << k) {
			END_SAMPLE(pass, &samples[k]);
			pass->done = true;
		} else {
			pass->slot = first.sources;
		}
	}
	row->unread &= ~complete;
	row->apart = true;
}

/* Reads those that are left one by one. */
static void
read_apart(struct vk_device *d, struct vk_pending_slot *row)
{
	for (uint64_t left = row->unread; left; left &= left - 1) {
		uint32_t k = (uint32_t)__builtin_ctzll(left);
		struct tally_pass *pass = &row->row[k];
		struct vk_slot slot = vk_row_slot(row, k);
		enum tally_status status = read_pass(d, &slot, &pass->slot, pass);
		if (status == TALLY_NOT_READY)
			continue;
		pass->flags |= status == TALLY_OK ? 0 : TALLY_FLAG(LOST);
		pass->done = true;
		row->unread &= ~(left & -left);
	}
}

static bool
try_row(struct vk_submission *s, struct vk_pending_slot *row)
{
	if (!row->apart)
		read_row(s->queue->device, row);
	read_apart(s->queue->device, row);
	if (row->unread)
		return false;
	vk_pending_slot_done(s, row);
	return true;
}

/* False: not all of it is available yet. */
static bool
try_read(struct vk_submission *s, struct vk_pending_slot *unread)
{
	return unread->role == VK_ROLE_ROW ? try_row(s, unread) : try_slot(s, unread);
}

/* ---- completed submissions ---- */

static void
mark_completed(struct vk_queue *q)
{
	struct vk_device *d = q->device;
	for (struct vk_submission *s = q->oldest; s && s->serial <= q->completed;
	     s = s->next) {
		if (s->completed)
			continue;
		s->completed = true;
		s->completed_frame = vk_open_frame(d);
		s->completed_serial = q->serial;
	}
}

void
vk_collect_completed(struct vk_queue *q, uint64_t serial)
{
	if (serial > q->completed)
		q->completed = serial;
	mark_completed(q);
}

void
vk_collect_fence_signalled(struct vk_device *d, VkFence fence)
{
	for (struct vk_queue *q = d->queues; q; q = q->next) {
		uint64_t serial = 0;
		for (const struct vk_submission *s = q->oldest; s && !q->unordered; s = s->next)
			if (s->game_fence == fence)
				serial = s->serial;
		if (serial)
			vk_collect_completed(q, serial);
	}
}

static bool
is_signalled(struct vk_device *d, const struct vk_fence *fence)
{
	VkResult result = d->next.use.GetFenceStatus(d->handle, fence->handle);
	if (result == VK_ERROR_DEVICE_LOST)
		vk_device_stop(d, "the device was lost");
	return result == VK_SUCCESS;
}

static void
poll_fences(struct vk_queue *q)
{
	struct vk_device *d = q->device;
	while (q->n_fences && vk_device_runs(d)) {
		const struct vk_fence *head = &q->fences[q->fence_first];
		if (!(head->watched ? vk_watch_completed(q, head) : is_signalled(d, head)))
			break;
		vk_collect_completed(q, head->serial);
		q->fence_first = (q->fence_first + 1) % VK_FENCE_RING;
		q->n_fences--;
	}
	if (d->results_fail)
		vk_watch_drop(q);
}

/* ---- reading ---- */

static bool
is_overdue(const struct vk_submission *s)
{
	struct vk_device *d = s->queue->device;
	return vk_open_frame(d) - s->completed_frame > MAX_AGE_FRAMES ||
	       s->queue->serial - s->completed_serial > MAX_AGE_SUBMISSIONS;
}

/* Whether it is time to query the results of the submission. */
static bool
may_read(const struct vk_submission *s)
{
	return s->completed &&
	       !(s->tried_serial && s->tried_frame == vk_open_frame(s->queue->device) &&
		 s->queue->serial - s->tried_serial < RETRY_SUBMISSIONS);
}

/* Adds what is left of the slot to the next round. */
static void
request(struct vk_device *d, const struct vk_pending_slot *unread)
{
	if (!unread->apart) {
		vk_slot_request(d, &unread->slot, unread->left);
		return;
	}
	for (uint64_t left = unread->unread; left; left &= left - 1) {
		uint32_t k = (uint32_t)__builtin_ctzll(left);
		struct vk_slot slot = vk_row_slot(unread, k);
		vk_slot_request(d, &slot, unread->row[k].slot);
	}
}

static void
request_all(struct vk_submission *s)
{
	for (uint32_t i = 0; i < s->n_slots && s->n_unread; i++)
		if (!s->slots[i].done)
			request(s->queue->device, &s->slots[i]);
	s->requested = true;
}

static void
read_all(struct vk_submission *s)
{
	s->requested = false;
	for (uint32_t i = 0; i < s->n_slots && s->n_unread; i++)
		if (!s->slots[i].done)
			try_read(s, &s->slots[i]);
	s->tried_frame = vk_open_frame(s->queue->device);
	s->tried_serial = s->queue->serial;
}

/* Removes every submission that has been read from the list. */
static void
sweep(struct vk_queue *q)
{
	struct vk_submission **link = &q->oldest, *last = NULL;
	while (*link) {
		struct vk_submission *s = *link;
		if (s->n_unread || (!s->completed && (s->pairs || s->pictures))) {
			last = s;
			link = &s->next;
			continue;
		}
		*link = s->next;
		q->n_unread--;
		vk_submission_recycle(s);
	}
	q->newest = last;
}

static void
read_queue(struct vk_queue *q)
{
	bool any = false;
	for (struct vk_submission *s = q->oldest; s; s = s->next) {
		if (s->requested)
			read_all(s);
		if (s->n_unread && s->completed && is_overdue(s))
			vk_submission_give_up(s, TALLY_FLAG(INCOMPLETE));
		any |= !s->n_unread;
	}
	if (any)
		sweep(q);
	if (q->stream)
		tally_stream_publish(q->stream);
}

void
vk_collect_poll(struct vk_device *d)
{
	for (struct vk_queue *q = d->queues; q; q = q->next)
		poll_fences(q);
	for (struct vk_queue *q = d->queues; q && vk_device_runs(d); q = q->next)
		for (struct vk_submission *s = q->oldest; s; s = s->next)
			if (s->n_unread && may_read(s))
				request_all(s);
	vk_slots_fetch(d);
	for (struct vk_queue *q = d->queues; q && vk_device_runs(d); q = q->next)
		read_queue(q);
}

void
vk_collect_harvest(struct vk_device *d, struct vk_recording *r)
{
	struct vk_submission *s = r->pending;
	if (s) {
		uint32_t first = s->uses[r->pending_use].first, next;
		for (uint32_t i = first; i != VK_NONE; i = s->slots[i].next)
			if (!s->slots[i].done)
				request(d, &s->slots[i]);
		vk_slots_fetch(d);
		for (uint32_t i = first; i != VK_NONE; i = next) {
			struct vk_pending_slot *unread = &s->slots[i];
			next = unread->next;
			if (!unread->done && !try_read(s, unread))
				vk_pending_slot_give_up(s, unread, TALLY_FLAG(LOST));
		}
	}
	if (r->ran && r->runs.n)
		vk_slots_reset(d, &r->runs);
}

void
vk_collect_give_up(struct vk_device *d, uint64_t flag, bool try)
{
	/* Without a fence, a slot that the command buffer resets itself may still have the
	 * results of an earlier use, and one that is copied a part of them. */
	bool alone = d->enabled.host_reset && !vk_slots_read_waits(d);
	for (struct vk_queue *q = try ? d->queues : NULL; q; q = q->next)
		for (struct vk_submission *s = q->oldest; s; s = s->next)
			if (s->completed || alone)
				request_all(s);
	vk_slots_fetch(d);
	for (struct vk_queue *q = d->queues; q; q = q->next) {
		struct vk_submission *s;
		for (s = q->oldest; s; s = s->next) {
			if (s->requested)
				read_all(s);
			vk_submission_give_up(s, flag);
			s->pairs =
				NULL; /* the GPU may still use them: batch_intervals.c frees them */
			vk_pictures_completed(s);
		}
		sweep(q);
		if (q->frame_pass)
			vk_frame_pass_release(q->frame_pass);
		q->frame_pass = NULL;
	}
}

/* ---- fences ---- */

bool
vk_collect_due(const struct vk_queue *q)
{
	const struct vk_submission *newest = q->newest;
	if (!newest || newest->serial <= q->fenced || newest->completed || q->fencing)
		return false;
	return q->fence_frame != vk_open_frame(q->device) ||
	       (q->serial - q->fenced) % FENCE_EVERY == 0;
}

bool
vk_collect_wants_fence(struct vk_queue *q)
{
	if (!vk_collect_due(q) || q->n_fences == VK_FENCE_RING)
		return false;
	if (!vk_watch_can(q))
		return true;
	vk_watch_newest(q);
	return false;
}

VkFence
vk_fence_renew(struct vk_device *d, VkFence old)
{
	static const VkFenceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO
	};
	if (old) {
		if (d->next.use.ResetFences(d->handle, 1, &old) == VK_SUCCESS)
			return old;
		/* Mesa 22.3's drivers on a kernel stub return VK_ERROR_UNKNOWN. */
		d->next.use.DestroyFence(d->handle, old, NULL);
	}
	VkFence fence = VK_NULL_HANDLE;
	if (d->next.use.CreateFence(d->handle, &info, NULL, &fence) != VK_SUCCESS)
		return VK_NULL_HANDLE;
	return fence;
}

void
vk_collect_fence(struct vk_queue *q)
{
	struct vk_device *d = q->device;
	pthread_mutex_lock(&d->lock);
	if (!q->fencing)
		vk_watch_drop(q);
	bool wanted = q->newest && !q->fencing && q->n_fences < VK_FENCE_RING &&
		      vk_device_runs(d);
	struct vk_fence *at = &q->fences[(q->fence_first + q->n_fences) % VK_FENCE_RING];
	uint64_t serial = q->serial;
	VkFence fence = at->handle;
	q->fencing |= wanted;
	pthread_mutex_unlock(&d->lock);
	if (!wanted)
		return;
	fence = vk_fence_renew(d, fence);
	VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
	if (fence)
		result = d->next.use.QueueSubmit(q->handle, 0, NULL, fence);
	if (result == VK_ERROR_DEVICE_LOST)
		vk_device_stop(d, "the device was lost");
	pthread_mutex_lock(&d->lock);
	at->handle = fence;
	q->fencing = false;
	if (result == VK_SUCCESS) {
		at->serial = serial;
		at->watched = false;
		q->n_fences++;
		q->fenced = serial;
		q->fence_frame = vk_open_frame(d);
	}
	vk_pictures_unlock(d, true);
}

void
vk_collect_finish(struct vk_queue *q, bool calls)
{
	struct vk_device *d = q->device;
	for (uint32_t i = 0; i < VK_FENCE_RING; i++) {
		/* A fence that is still to be signaled must not be destroyed. */
		bool busy = (i + VK_FENCE_RING - q->fence_first) % VK_FENCE_RING <
			    q->n_fences;
		if (q->fences[i].handle && calls && !busy)
			d->next.use.DestroyFence(d->handle, q->fences[i].handle, NULL);
		q->fences[i].handle = VK_NULL_HANDLE;
	}
	q->n_fences = 0;
	while (q->spare) {
		struct vk_submission *s = q->spare;
		q->spare = s->next;
		free(s->passes);
		free(s->slots);
		free(s->uses);
		free(s);
	}
}
