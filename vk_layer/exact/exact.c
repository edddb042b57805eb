/* SPDX-License-Identifier: MIT */
#include "vk_layer/exact/exact.h"

#include "layer/base/clock.h"
#include "layer/log.h"
#include "query/sampler/sampler.h"
#include "vk_layer/exact/semaphores.h"
#include "vk_layer/exact/slices.h"
#include "vk_layer/submit/collect.h"
#include "vk_layer/submit/replay.h"

#define WAIT_NS UINT64_C(2000000000)

/* A slice of the call, with the command buffers that it covers. */
struct part {
	struct vk_slice slice;
	bool begins; /* its batch */
	bool sampled, whole; /* `whole`: the batch is not cut */
	uint32_t from, to; /* the game's command buffers in it, counted over the call */
};

void
vk_exact_finish(struct vk_queue *q, bool calls)
{
	struct vk_device *d = q->device;
	if (!q->exact_fence || !calls)
		return;
	if (q->exact_waits &&
	    d->next.use.GetFenceStatus(d->handle, q->exact_fence) != VK_SUCCESS)
		return; /* a fence that is still to be signaled must not be destroyed */
	d->next.use.DestroyFence(d->handle, q->exact_fence, NULL);
	q->exact_fence = VK_NULL_HANDLE;
}

/* ---- waiting ---- */

static void
give_up(struct vk_device *d, const char *why)
{
	if (!atomic_exchange(&d->exact_over, true))
		tally_log_say(TALLY_LEVEL_WARNING, "vulkan",
			      "%s: --snapshot exact ends on this device, and its passes are no "
			      "longer sampled",
			      why);
}

static bool
is_over(struct vk_device *d)
{
	return atomic_load(&d->exact_over) || !vk_device_runs(d);
}

/* Provides an unsignaled fence in q->exact_fence. */
static bool
ready_fence(struct vk_queue *q)
{
	if (q->exact_waits)
		return false;
	q->exact_fence = vk_fence_renew(q->device, q->exact_fence);
	return q->exact_fence != VK_NULL_HANDLE;
}

/* Waits until everything that was submitted to the queue has ended. */
static bool
drain(struct vk_queue *q)
{
	struct vk_device *d = q->device;
	VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
	if (ready_fence(q))
		result = d->next.use.QueueSubmit(q->handle, 0, NULL, q->exact_fence);
	q->exact_waits = result == VK_SUCCESS;
	if (result == VK_SUCCESS)
		result = d->next.use.WaitForFences(d->handle, 1, &q->exact_fence, VK_TRUE,
						   WAIT_NS);
	if (result == VK_SUCCESS)
		q->exact_waits = false;
	else if (result == VK_TIMEOUT)
		give_up(d, "work of the GPU took more than 2 s");
	else if (result == VK_ERROR_DEVICE_LOST)
		vk_device_stop(d, "the device was lost");
	else
		give_up(d, "no fence to wait for");
	return result == VK_SUCCESS;
}

/* Takes a sample of the totals after everything before it has ended. */
static uint64_t
sample(struct vk_exact_call *x)
{
	uint64_t t0 = tally_clock_now_ns();
	x->completed = drain(x->q);
	uint64_t number = x->completed ? tally_snapshot_take() : TALLY_NO_SNAPSHOT;
	x->overhead_ns += tally_clock_now_ns() - t0;
	return number;
}

/* ---- storing the numbers of samples ---- */

static void
set_unsampled(struct tally_pass *pass)
{
	pass->flags |= TALLY_FLAG(UNSAMPLED);
	pass->snapshot_from = pass->snapshot_to = TALLY_NO_SNAPSHOT;
}

/* For --granularity frame: another thread may end the frame while this one waits. */
static void
doubt_frame(struct vk_exact_call *x)
{
	struct vk_device *d = x->q->device;
	pthread_mutex_lock(&d->lock);
	struct vk_pending_pass *pending = x->q->frame_pass;
	if (pending && pending->pass)
		set_unsampled(pending->pass);
	pthread_mutex_unlock(&d->lock);
}

/* Sets the sample number before its first submission and the one after its last. */
static void
set_frame(struct vk_exact_call *x, uint64_t from, uint64_t to)
{
	struct vk_pending_pass *pending = x->q->frame_pass;
	if (!pending || !pending->pass)
		return;
	pending->unsampled |= !from || !to;
	if (pending->unsampled) {
		set_unsampled(pending->pass);
		return;
	}
	pending->pass->flags &= ~TALLY_FLAG(UNSAMPLED);
	if (!pending->snapshot_from)
		pending->snapshot_from = from;
	pending->pass->snapshot_from = pending->snapshot_from;
	pending->pass->snapshot_to = to;
}

/* Sets the numbers of the passes in command buffers first to end - 1. */
static void
set_numbers(struct vk_exact_call *x, uint32_t first, uint32_t end, uint64_t from,
	    uint64_t to)
{
	struct vk_device *d = x->q->device;
	pthread_mutex_lock(&d->lock);
	for (uint32_t i = 0; i < x->s->n_passes; i++) {
		struct vk_pending_pass *pending = &x->s->passes[i];
		if (!pending->pass || pending->buffer < first || pending->buffer >= end ||
		    pending->pass->unattributed)
			continue;
		if (from && to) {
			pending->pass->snapshot_from = from;
			pending->pass->snapshot_to = to;
		} else {
			pending->pass->flags |= TALLY_FLAG(UNSAMPLED);
		}
	}
	set_frame(x, from, to);
	pthread_mutex_unlock(&d->lock);
}

/* ---- cutting a call into parts ---- */

static const struct vk_recording *
recording_at(const struct vk_batches *b, uint32_t batch, uint32_t n)
{
	return vk_recording_submitted(vk_batch_buffer(b, batch, n));
}

/* The number of command buffers from `first` on that have to stay together: a render pass that
 * one suspends is resumed in the next. */
static uint32_t
joined(const struct vk_batches *b, uint32_t batch, uint32_t first)
{
	uint32_t n = vk_batch_n_buffers(b, batch), end = first + 1;
	for (; end < n; end++) {
		const struct vk_recording *r = recording_at(b, batch, end - 1);
		const struct vk_recording *next = recording_at(b, batch, end);
		if (!(r && r->ends_suspended) && !(next && next->starts_resuming))
			break;
	}
	if (end > first + 1)
		tally_log_say(TALLY_LEVEL_INFO, "vulkan",
			      "command buffers that share a suspended render pass are sampled "
			      "together");
	return end - first;
}

static bool
is_coarse(const struct vk_exact_call *x)
{
	return x->q->device->config->granularity <= TALLY_GRANULARITY_SUBMIT;
}

/* A batch that stays whole: its own structures, or our timestamps around it, cannot be cut. */
static bool
stays_whole(const struct vk_exact_call *x, uint32_t batch)
{
	if (vk_batch_n_buffers(&x->down, batch) != vk_batch_n_buffers(&x->game, batch))
		return true;
	if (vk_batch_may_cut(&x->game, batch))
		return false;
	if (vk_batch_n_buffers(&x->game, batch) > 1)
		tally_log_say(TALLY_LEVEL_WARNING, "vulkan",
			      "a batch carries a structure that cannot be cut: its "
			      "command buffers are sampled together");
	return true;
}

/* The part after *p; false: that was the call's last. */
static bool
next_part(const struct vk_exact_call *x, struct part *p)
{
	struct part next = { .begins = p->slice.last, .from = p->to };
	struct vk_slice *s = &next.slice;
	s->batch = p->slice.batch + next.begins;
	if (s->batch == x->game.n)
		return false;
	uint32_t n = vk_batch_n_buffers(&x->game, s->batch);
	if (next.begins && (!n || stays_whole(x, s->batch))) {
		s->n = n;
		s->last = next.whole = true;
		next.sampled = n;
	} else if (next.begins && vk_batch_waits(&x->game, s->batch)) {
		/* The waits are a separate part, so that the totals are read after them. */
		s->waits = true;
	} else {
		s->first = next.begins ? 0 : p->slice.first + p->slice.n;
		s->n = joined(&x->game, s->batch, s->first);
		s->signals = s->last = s->first + s->n == n;
		next.whole = next.begins && s->last;
		next.sampled = true;
	}
	next.to = next.from + s->n;
	*p = next;
	return true;
}

/* ---- sending ---- */

static VkResult
send(const struct vk_exact_call *x, const struct vk_batches *b, VkFence fence)
{
	if (x->one)
		return x->one(x->q->handle, b->n, b->one, fence);
	return x->two(x->q->handle, b->n, b->two, fence);
}

/* Submits `n` batches from `first` on unchanged. */
static VkResult
send_whole(const struct vk_exact_call *x, uint32_t first, uint32_t n, VkFence fence)
{
	struct vk_batches some = { .n = n };
	if (x->one)
		some.one = x->down.one + first;
	else
		some.two = x->down.two + first;
	return send(x, &some, fence);
}

static VkResult
send_rest(const struct vk_exact_call *x, uint32_t first)
{
	return send_whole(x, first, x->down.n - first, x->fence);
}

/* Submits all parts from this one on, none of which is sampled. */
static VkResult
send_unsampled(const struct vk_exact_call *x, const struct part *part)
{
	const struct vk_slice *at = &part->slice;
	if (part->begins)
		return send_rest(x, at->batch);
	bool last = at->batch + 1 == x->game.n;
	struct vk_slice rest = {
		.batch = at->batch,
		.first = at->first,
		.n = vk_batch_n_buffers(&x->game, at->batch) - at->first,
		.signals = true,
		.last = true,
	};
	struct vk_slice_info info;
	vk_slice_build(&x->game, &rest, &info);
	VkResult result = send(x, &info.batches, last ? x->fence : VK_NULL_HANDLE);
	return last || result != VK_SUCCESS ? result : send_rest(x, at->batch + 1);
}

static VkResult
send_part(const struct vk_exact_call *x, const struct part *part)
{
	bool last = part->slice.last && part->slice.batch + 1 == x->game.n;
	VkFence fence = last ? x->fence : VK_NULL_HANDLE;
	if (part->whole)
		return send_whole(x, part->slice.batch, 1, fence);
	struct vk_slice_info info;
	vk_slice_build(&x->game, &part->slice, &info);
	return send(x, &info.batches, fence);
}

/* ---- whether waiting is allowed ---- */

/* The batches from `first` on are submitted at once: records them in order. */
static void
submitted(const struct vk_exact_call *x, uint32_t first)
{
	for (uint32_t i = first; i < x->game.n && !is_over(x->q->device); i++)
		vk_batch_submitted(x->q, &x->game, i, x->serial);
}

static bool
may_wait(const struct vk_exact_call *x, uint32_t batch)
{
	const char *why = vk_batch_stuck(x->q, &x->game, batch);
	if (why)
		tally_log_say(TALLY_LEVEL_INFO, "vulkan", "a batch was not sampled: %s", why);
	return !why;
}

/* ---- the call ---- */

/* Submits the parts of a call while they can be sampled. False: not this one and what follows. */
static bool
run_parts(struct vk_exact_call *x, struct part *part, VkResult *result)
{
	uint64_t before =
		TALLY_NO_SNAPSHOT; /* the sample after the previous part, if there was one */
	while (next_part(x, part)) {
		if (is_over(x->q->device) || (part->begins && !may_wait(x, part->slice.batch)))
			return false;
		if (part->sampled && !before)
			before = sample(x);
		if (part->sampled && !before && is_over(x->q->device))
			return false;
		/* Recorded before it is submitted: from here on, its signals depend only on the
		 * GPU. */
		if (part->slice.last)
			vk_batch_submitted(x->q, &x->game, part->slice.batch, x->serial);
		*result = send_part(x, part);
		if (*result != VK_SUCCESS)
			return false;
		x->completed = false;
		uint64_t after = TALLY_NO_SNAPSHOT;
		if (part->sampled) {
			after = sample(x);
			set_numbers(x, part->from, part->to, before, after);
		}
		before = after;
	}
	return true;
}

static VkResult
submit_parts(struct vk_exact_call *x)
{
	struct vk_device *d = x->q->device;
	VkResult result = VK_SUCCESS;
	struct part part = { .slice = { .batch = UINT32_MAX, .last = true } }; /* before all */
	if (run_parts(x, &part, &result))
		return result;
	x->completed = false;
	set_numbers(x, part.from, UINT32_MAX, TALLY_NO_SNAPSHOT, TALLY_NO_SNAPSHOT);
	if (result == VK_ERROR_DEVICE_LOST)
		return result;
	if (result != VK_SUCCESS) {
		/* Work that the driver has accepted cannot be taken back: the rest is submitted
		 * as the game requested it, or not at all. */
		give_up(d, "the driver refused a part of a submission");
		return send_unsampled(x, &part);
	}
	result = send_unsampled(x, &part);
	if (result == VK_SUCCESS)
		submitted(x, part.slice.batch);
	return result;
}

/* Granularity frame and submit: the call is one part. */
static VkResult
submit_whole(struct vk_exact_call *x)
{
	struct vk_device *d = x->q->device;
	uint64_t from = TALLY_NO_SNAPSHOT, to = TALLY_NO_SNAPSHOT;
	uint32_t n = 0; /* recorded: one batch may wait for what an earlier one signals */
	for (; n < x->game.n && !is_over(d) && may_wait(x, n); n++)
		vk_batch_submitted(x->q, &x->game, n, x->serial);
	doubt_frame(x);
	if (n == x->game.n)
		from = sample(x);
	x->completed = false;
	VkResult result = send(x, &x->down, x->fence);
	if (result == VK_SUCCESS) {
		submitted(x, n);
		if (from)
			to = sample(x);
	} else if (n) {
		give_up(d, "the driver refused a submission");
	}
	set_numbers(x, 0, UINT32_MAX, from, to);
	return result;
}

static VkResult
submit_call(struct vk_exact_call *x)
{
	if (x->logged && tally_snapshot_exact())
		return is_coarse(x) ? submit_whole(x) : submit_parts(x);
	VkResult result = send(x, &x->down, x->fence);
	if (result == VK_SUCCESS)
		submitted(x, 0);
	return result;
}

/* ---- the device ---- */

static const struct vk_exact_functions functions = {
	.submit = submit_call,
	.bound = vk_exact_bound,
};

void
vk_exact_create(struct vk_device *d)
{
	d->exact = d->config->snapshot == TALLY_SNAPSHOT_EXACT ? &functions : NULL;
}

void
vk_exact_destroy(struct vk_device *d)
{
	vk_timelines_forget(d);
	d->exact = NULL;
}
