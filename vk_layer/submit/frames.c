/* SPDX-License-Identifier: MIT */
#include "vk_layer/submit/frames.h"

#include "layer/base/clock.h"
#include "layer/capture/capture.h"
#include "layer/log.h"
#include "layer/session/session.h"
#include "vk_layer/record/slots.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/submit/collect.h"
#include "vk_layer/submit/describe.h"

#include <string.h>

#define MOST_GENERATED 9 /* for one that is rendered */

static struct tally_stream *
any_stream(const struct vk_device *d, const struct vk_queue *q)
{
	if (q && q->stream)
		return q->stream;
	for (q = d->queues; q; q = q->next)
		if (q->stream)
			return q->stream;
	return NULL;
}

/* Whether pictures were read in the open frame, or the GPU was still making some. */
static bool
reads_pictures(struct vk_device *d)
{
	bool any = d->pictures_read;
	d->pictures_read = false;
	for (const struct vk_queue *q = d->queues; q && !any; q = q->next)
		for (const struct vk_submission *s = q->oldest; s && !any; s = s->next)
			any = s->pictures;
	return any;
}

static void
end_frame(struct vk_device *d, struct vk_queue *q, struct tally_presented presented,
	  uint64_t flags)
{
	struct tally_stream *stream = any_stream(d, q);
	d->submits_in_frame = d->passes_in_frame = 0;
	if (!stream)
		return; /* nothing has been submitted: frame 0 has not begun */
	struct tally_frame_end end = { .presented = presented, .flags = flags };
	if (d->config->pictures.kind != TALLY_TRIGGER_NONE && reads_pictures(d))
		end.flags |= TALLY_FLAG(PICTURED);
	if (!vk_device_idles(d))
		end.now_ns = tally_clock_now_ns();
	tally_stream_end_frame(stream, &end);
	vk_frame_update_idle(d);
	for (struct vk_queue *each = d->queues; each; each = each->next) {
		if (each->frame_pass)
			vk_frame_pass_release(each->frame_pass);
		each->frame_pass = NULL;
	}
	if (!vk_device_idles(d))
		vk_slots_tick(d, end.now_ns ? end.now_ns : tally_clock_now_ns());
	/* The GL context on top of zink opens its first pass only
	 * after its first submission. */
	if (d->is_zink)
		vk_describe_beneath(d);
}

void
vk_frame_end_partial(struct vk_device *d)
{
	if (d->passes_in_frame)
		end_frame(d, NULL, vk_nothing_presented, TALLY_FLAG(PARTIAL));
}

void
vk_frame_label(struct vk_device *d, struct vk_queue *q, const char *name)
{
	const struct tally_config *config = d->config;
	if (!name)
		return;
	tally_session_saw_label(name, strlen(name));
	if (config->frame == TALLY_FRAME_LABEL && config->frame_label &&
	    strcmp(config->frame_label, name) == 0)
		end_frame(d, q, vk_nothing_presented, 0);
}

/* Settings that do not apply to Vulkan are treated as the default. */
static bool
ends_at_presents(const struct vk_device *d)
{
	switch (d->config->frame) {
	case TALLY_FRAME_FLUSH:
	case TALLY_FRAME_TERMINATOR:
		tally_log_say(
			TALLY_LEVEL_WARNING, "vulkan",
			"frame=flush and frame=terminator are OpenGL's: Vulkan frames "
			"end at "
			"presents; frame=submit:N, label:NAME and idle are the others");
		return true;
	case TALLY_FRAME_PRESENT:
		return true;
	default:
		return false;
	}
}

void
vk_frame_marked(struct vk_device *d, struct vk_queue *q, struct tally_presented presented)
{
	if (!ends_at_presents(d))
		return;
	d->marks_frames = true;
	end_frame(d, q, presented, 0);
}

/* A present out of band between others is of a generated frame. Where there are no others, or no
 * more, nobody says which are generated. */
static bool
is_generated(struct vk_device *d, const struct vk_queue *q)
{
	if (!q->out_of_band)
		d->generated_left = MOST_GENERATED;
	return q->out_of_band && d->generated_left && d->generated_left--;
}

void
vk_frame_presented(struct vk_device *d, struct vk_queue *q, struct tally_presented presented)
{
	if (ends_at_presents(d) && !d->marks_frames && !is_generated(d, q))
		end_frame(d, q, presented, 0);
}

void
vk_frame_submitted(struct vk_device *d, struct vk_queue *q)
{
	if (d->config->frame == TALLY_FRAME_SUBMIT && d->config->frame_every &&
	    ++d->submits_in_frame >= d->config->frame_every)
		end_frame(d, q, vk_nothing_presented, 0);
}

void
vk_frame_idle(struct vk_device *d, struct vk_queue *q)
{
	if (d->config->frame == TALLY_FRAME_IDLE ||
	    d->config->frame == TALLY_FRAME_FINISH)
		end_frame(d, q, vk_nothing_presented, 0);
}

void
vk_frame_update_idle(struct vk_device *d)
{
	bool idle = d->tally ? tally_device_idles(d->tally)
			     : tally_capture_idles(0, TALLY_NO_FRAME);
	atomic_store_explicit(&d->idle, idle, memory_order_relaxed);
}

uint64_t
vk_overhead_begin(const struct vk_device *d)
{
	return vk_device_idles(d) ? 0 : tally_clock_now_ns();
}

struct tally_clock_wait
vk_wait_begin(const struct vk_device *d)
{
	vk_calls_down++;
	return vk_device_idles(d) ? (struct tally_clock_wait){ 0 } : tally_clock_wait_begin();
}

bool
vk_wait_end(struct vk_device *d, const struct tally_clock_wait *wait, VkResult result,
	    enum tally_event_kind kind, const char *call)
{
	vk_calls_down--;
	if (kind < TALLY_N_EVENTS)
		tally_event_wait_end(kind, call, wait);
	else
		tally_clock_wait_end(wait);
	if (result == VK_ERROR_DEVICE_LOST)
		vk_device_stop(d, "the device was lost");
	return vk_device_runs(d);
}

uint64_t
vk_overhead_since(uint64_t begin_ns)
{
	return begin_ns ? tally_clock_now_ns() - begin_ns : 0;
}

void
vk_frame_overhead(struct vk_queue *q, uint64_t ns)
{
	if (q->stream)
		tally_stream_add_overhead(q->stream, ns);
}
