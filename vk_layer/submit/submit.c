/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/submit.c - vkQueueSubmit and its variants; the capture of a
 * device, and its end. */
#include <stdlib.h>

#include "json/record_json.h"
#include "layer/log.h"
#include "layer/session/session.h"
#include "query/attribute/annotate.h"
#include "vk_layer/picture/picture.h"
#include "vk_layer/record/slots_copy.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/submit/describe.h"
#include "vk_layer/submit/frames.h"
#include "vk_layer/submit/collect.h"
#include "vk_layer/submit/replay.h"
#include "vk_layer/submit/sampling.h"
#include "vk_layer/submit/submission.h"
#include "vk_layer/submit/watch.h"

#define FINISH_WAIT_NS UINT64_C(2000000000)

/* ---- the capture of a device ---- */

static bool
has_work(const struct vk_batches *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		for (uint32_t k = 0; k < vk_batch_n_buffers(b, i); k++) {
			const struct vk_recording *rec =
				vk_recording_submitted(vk_batch_buffer(b, i, k));
			if (rec && vk_recording_has_work(rec))
				return true;
		}
	}
	return false;
}

/* The caller holds the lock. Called at the first submission with work on the queue. */
static void
set_up(struct vk_device *d, struct vk_queue *q)
{
	if (!d->tally && !d->tally_failed && !vk_describe(d))
		d->tally_failed = true;
	if (d->tally && !q->stream_failed) {
		struct tally_stream_info info = {
			.context = -1,
			.queue_family = (int32_t)q->family,
			.queue_index = (int32_t)q->index,
		};
		info.n_counters = vk_slots_max_values(d); /* each pass has its own layout */
		q->stream = tally_stream_create(d->tally, &info);
	}
	vk_frame_update_idle(d);
	if (q->stream || q->stream_failed)
		return;
	q->stream_failed = true;
	if (!tally_session_running()) /* that, and not memory, is why */
		return;
	tally_log_say(TALLY_LEVEL_ERROR, "vulkan",
		      "out of memory while setting up queue %u.%u: it is not measured",
		      q->family, q->index);
}

static bool
start_session(const struct vk_queue *q, const struct vk_batches *b)
{
	if (q->stream || q->stream_failed)
		return tally_session_running();
	tally_session_use_annotator(&tally_annotator);
	if (!has_work(b) || !tally_session_start(&tally_json_recorder))
		return false;
	tally_session_on_stop(vk_submissions_exit);
	return true;
}

/* ---- timestamps around batches (R30) ---- */

struct wish {
	bool times, copies; /* of what ends where a render pass is suspended */
};

static struct wish
wish_of(const struct vk_queue *q, const struct vk_batches *b, uint32_t i)
{
	struct wish wish = { false, false };
	if (q->is_protected || !vk_batch_is_plain(b, i))
		return wish;
	for (uint32_t k = 0; k < vk_batch_n_buffers(b, i); k++) {
		const struct vk_recording *rec = vk_recording_submitted(
			vk_batch_buffer(b, i, k));
		wish.copies |= rec && rec->ends_suspended;
		wish.times |= rec && (rec->simultaneous || rec->idle) &&
			      vk_recording_has_work(rec);
	}
	wish.copies = wish.copies && vk_slots_read_waits(q->device);
	return wish;
}

/* False: the driver failed. */
static bool
record_copies(struct vk_device *d, const struct vk_batches *b, uint32_t i,
	      struct vk_batch_interval *pair)
{
	if (!vk_slots_read_waits(d))
		return true;
	if (!vk_batch_interval_begin_last(d, pair))
		return false;
	for (uint32_t k = 0; k < vk_batch_n_buffers(b, i); k++) {
		const struct vk_recording *rec = vk_recording_submitted(
			vk_batch_buffer(b, i, k));
		if (rec && rec->ends_suspended)
			vk_recording_copy(d, pair->last, rec);
	}
	return vk_batch_interval_end_last(d, pair);
}

static struct vk_batch_interval *
take_pair(struct vk_queue *q, const struct vk_batches *b, uint32_t i, bool times)
{
	struct vk_device *d = q->device;
	struct vk_batch_interval *pair = vk_batch_intervals_take(d, q->family);
	if (!pair)
		return NULL;
	pair->copies_only = !times;
	if (record_copies(d, b, i, pair))
		return pair;
	pthread_mutex_lock(&d->lock);
	vk_batch_intervals_release(d, q->family, pair);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* NULL: no batch needs one, or no memory. To be freed by free(). */
static struct vk_batch_interval **
take_pairs(struct vk_queue *q, const struct vk_batches *b)
{
	struct vk_batch_interval **pairs = NULL;
	if (vk_device_idles(q->device) ||
	    !vk_slots_cover(q->device, q->family, VK_MEASURE_TIME))
		return NULL;
	for (uint32_t i = 0; i < b->n; i++) {
		struct wish wish = wish_of(q, b, i);
		if (!wish.times && !wish.copies)
			continue;
		if (!pairs)
			pairs = calloc(b->n, sizeof(*pairs));
		if (!pairs)
			return NULL;
		pairs[i] = take_pair(q, b, i, wish.times);
	}
	return pairs;
}

/* ---- one call ---- */

struct call {
	struct vk_device *d;
	struct vk_queue *q;
	struct vk_batches game, down; /* what the game passed; what is submitted */
	VkFence fence;
	struct vk_submission *s;
	struct vk_batch_interval **pairs;
	void *memory; /* used by `down` */
	uint64_t start_ns, overhead_ns;
	uint64_t serial; /* the serial that the call gets */
	bool logged;	 /* passes of it are in the log */
	bool completed; /* all of it has completed */
};

/* What is executed again may have completed meanwhile: its pictures are read first. */
static void
read_pictures(struct vk_device *d)
{
	if (d->config->pictures.kind == TALLY_TRIGGER_NONE)
		return;
	pthread_mutex_lock(&d->lock);
	vk_collect_poll(d);
	vk_pictures_unlock(d, true);
}

static void
before(struct call *c)
{
	struct vk_device *d = c->d;
	struct vk_queue *q = c->q;
	c->start_ns = vk_overhead_begin(d);
	bool started = start_session(q, &c->game);
	if (started)
		c->pairs = take_pairs(q, &c->game);
	read_pictures(d);
	pthread_mutex_lock(&d->lock);
	if (started && !q->stream)
		set_up(d, q);
	c->s = vk_submission_take(q);
	if (c->s)
		c->s->game_fence = c->fence;
	struct vk_replay replay = {
		.d = d,
		.q = q,
		.s = c->s,
		.now_ns = c->start_ns,
		.number = d->submissions++,
	};
	vk_replay(&replay, &c->game, c->pairs);
	c->serial = q->serial + 1;
	c->logged = c->s && q->stream && tally_stream_captures(q->stream) &&
		    (c->s->n_passes || q->frame_pass);
	vk_pictures_unlock(d, true);
	if (c->pairs)
		vk_batches_surround(&c->game, c->pairs, &c->down, &c->memory);
	c->overhead_ns = vk_overhead_since(c->start_ns);
}

static void
add_overhead(const struct call *c)
{
	if (!c->overhead_ns)
		return;
	pthread_mutex_lock(&c->d->lock);
	vk_frame_overhead(c->q, c->overhead_ns);
	pthread_mutex_unlock(&c->d->lock);
}

static void
after(struct call *c, VkResult result)
{
	struct vk_device *d = c->d;
	struct vk_queue *q = c->q;
	uint64_t t0 = vk_overhead_begin(d);
	free(c->memory);
	free(c->pairs);
	if (result == VK_ERROR_DEVICE_LOST)
		vk_device_stop(d, "the device was lost");
	pthread_mutex_lock(&d->lock);
	vk_submission_end(q, c->s, result);
	if (c->s && c->completed && result == VK_SUCCESS && q->serial == c->serial)
		vk_collect_completed(q, c->serial);
	bool ended = d->tally && result == VK_SUCCESS;
	uint64_t frame = ended ? tally_device_frame(d->tally) : 0;
	if (result == VK_SUCCESS && vk_batches_end_frame(&c->game))
		vk_frame_marked(d, q, vk_nothing_presented);
	if (result == VK_SUCCESS)
		vk_frame_submitted(d, q);
	ended = ended && tally_device_frame(d->tally) != frame;
	if (ended || vk_collect_due(q))
		vk_collect_poll(d);
	bool fences = vk_collect_wants_fence(q);
	vk_pictures_unlock(d, true);
	if (fences)
		vk_collect_fence(q);
	c->overhead_ns += vk_overhead_since(t0);
	add_overhead(c);
	if (!vk_device_runs(d))
		vk_give_up(d);
}

/* Makes the call itself. */
static VkResult
go_down(struct call *c, VkQueue queue, PFN_vkQueueSubmit one, PFN_vkQueueSubmit2 two)
{
	VkResult result;
	vk_calls_down++;
	if (c->q && c->d->exact) {
		struct vk_exact_call x = {
			.q = c->q,
			.s = c->s,
			.logged = c->logged,
			.game = c->game,
			.down = c->down,
			.fence = c->fence,
			.one = one,
			.two = two,
			.serial = c->serial,
		};
		result = c->d->exact->submit(&x);
		c->overhead_ns += x.overhead_ns;
		c->completed = x.completed;
	} else if (one) {
		result = one(queue, c->down.n, c->down.one, c->fence);
	} else {
		result = two(queue, c->down.n, c->down.two, c->fence);
	}
	vk_calls_down--;
	return result;
}

/* NULL: the call is only forwarded. */
static struct vk_queue *
followed(struct vk_device *d, VkQueue queue, uint32_t n)
{
	if (!vk_device_runs(d)) {
		vk_give_up(d);
		return NULL;
	}
	struct vk_queue *q = n ? vk_queue_find(queue) : NULL;
	/* Its queries would execute again without a reset. */
	if (n && !q)
		vk_device_stop(d, "work was submitted to a queue that is not known");
	return q;
}

static VkResult
submit(struct call *c, VkQueue queue, PFN_vkQueueSubmit one, PFN_vkQueueSubmit2 two)
{
	c->q = followed(c->d, queue, c->game.n);
	c->down = c->game;
	if (c->q)
		before(c);
	VkResult result = go_down(c, queue, one, two);
	if (c->q)
		after(c, result);
	return result;
}

VkResult
vk_queue_submit(struct vk_device *d, PFN_vkQueueSubmit next, VkQueue queue, uint32_t n,
		const VkSubmitInfo *submits, VkFence fence)
{
	struct call c = { .d = d, .game = { .n = n, .one = submits }, .fence = fence };
	return submit(&c, queue, next, NULL);
}

VkResult
vk_queue_submit2(struct vk_device *d, PFN_vkQueueSubmit2 next, VkQueue queue, uint32_t n,
		 const VkSubmitInfo2 *submits, VkFence fence)
{
	struct call c = { .d = d, .game = { .n = n, .two = submits }, .fence = fence };
	return submit(&c, queue, NULL, next);
}

/* ---- the end ---- */

static void
last_of_device(void *device, void *data)
{
	struct vk_device *d = device;
	(void)data;
	if (pthread_mutex_trylock(&d->lock) != 0)
		return; /* another thread is using it: its results are lost */
	bool calls = vk_device_runs(d) && vk_calls_down == 0;
	if (calls)
		vk_collect_poll(d);
	vk_collect_give_up(d,
			   vk_device_runs(d) ? TALLY_FLAG(INCOMPLETE) : TALLY_FLAG(LOST),
			   calls && vk_device_runs(d));
	for (struct vk_queue *q = d->queues; q; q = q->next)
		if (q->stream)
			tally_stream_publish_last(q->stream);
	vk_pictures_unlock(d, calls);
}

void
vk_submissions_exit(void)
{
	vk_devices_each(last_of_device, NULL);
}

/* Waits, but not for long, until the layer's fences show that the submissions before them have
 * completed. Returns whether there is more that no fence follows, because there were too
 * many. */
static bool
wait_for_rest(struct vk_device *d)
{
	VkFence fences[VK_MAX_FAMILIES];
	uint32_t n = 0;
	bool more = false;
	for (struct vk_queue *q = d->queues; q; q = q->next) {
		pthread_mutex_lock(&d->lock);
		vk_watch_drop(q);
		pthread_mutex_unlock(&d->lock);
		if (q->newest && !q->newest->completed && q->newest->serial > q->fenced) {
			vk_collect_fence(q);
			more |= q->newest && q->newest->serial > q->fenced;
		}
		if (q->n_fences && n < VK_MAX_FAMILIES)
			fences[n++] = q->fences[(q->fence_first + q->n_fences - 1) %
						VK_FENCE_RING]
					      .handle;
	}
	VkResult result = VK_SUCCESS;
	if (n && vk_device_runs(d))
		result = d->next.use.WaitForFences(d->handle, n, fences, VK_TRUE,
						   FINISH_WAIT_NS);
	if (result == VK_ERROR_DEVICE_LOST)
		vk_device_stop(d, "the device was lost");
	return more && result == VK_SUCCESS;
}

void
vk_device_finish(struct vk_device *d)
{
	if (vk_device_runs(d) && wait_for_rest(d)) {
		/* Fences that were waited for are free again. */
		pthread_mutex_lock(&d->lock);
		vk_collect_poll(d);
		vk_pictures_unlock(d, true);
		if (vk_device_runs(d))
			wait_for_rest(d);
	}
	pthread_mutex_lock(&d->lock);
	vk_frame_end_partial(d);
	if (vk_device_runs(d))
		vk_collect_poll(d);
	bool runs = vk_device_runs(d);
	vk_collect_give_up(d, TALLY_FLAG(LOST), runs);
	vk_pictures_unlock(d, true);
	vk_queues_destroy(d, runs);
	tally_device_destroy(d->tally);
	d->tally = NULL;
}
