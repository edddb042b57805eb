/* SPDX-License-Identifier: MIT */
#include "gl_shim/pass/frames.h"

#include <string.h>

#include "gl_shim/context/describe.h"
#include "gl_shim/context/probe.h"
#include "gl_shim/image/drawable.h"
#include "gl_shim/image/picture.h"
#include "gl_shim/pass/passes.h"
#include "gl_shim/pass/workloads.h"
#include "layer/event/event.h"
#include "query/source/statistics_catalogue.h"

/* Results that are not available this many frames later are given up. */
#define MAX_AGE_FRAMES 32
/* A program that submits nothing itself for so many frames: then asking does. */
#define MAX_UNSUBMITTED_FRAMES 4

/* Queries a pass's results once. False: not all are available, and they should be queried
 * again. With `lost`, a flag, they are given up without a GL call. */
static bool
read_pass(struct gl_context_state *s, struct tally_pass *pass, uint64_t age, uint64_t lost)
{
	bool give_up = age >= MAX_AGE_FRAMES;
	s->counting.gave_up |= give_up;
	if (pass->workloads)
		return gl_workloads_read(s, pass, give_up, lost);
	pass->flags |= lost;
	if (lost)
		return true;
	struct tally_sample sample = {
		.values = pass->values,
		.valid = pass->valid,
		.has_time = pass->has_time,
		.begin_ns = pass->gpu_begin_ns,
		.end_ns = pass->gpu_end_ns,
	};
	sample.n = pass->layout->n_counters;
	bool done = tally_harvest_read(s->harvest, pass->slot, &sample) != TALLY_NOT_READY;
	if (!done && give_up)
		tally_harvest_give_up(s->harvest, pass->slot, &sample);
	pass->has_time = sample.has_time;
	pass->gpu_begin_ns = sample.begin_ns;
	pass->gpu_end_ns = sample.end_ns;
	pass->flags |= sample.flags;
	return done || give_up;
}

#define NEED_NOT_RUN \
	(TALLY_FLAG(CONDITIONAL) | TALLY_FLAG(SELECT) | TALLY_FLAG(INDIRECT) | TALLY_FLAG(YIELDED))

/* Draws take time: where they took none, the GPU's clock stands still. After a reset that the game
 * does not query, drivers return 0 for every query. The time of such a pass is one in which its
 * draws did not run. */
static void
refute_zeros(struct tally_pass *pass)
{
	static const char source[] = "gl-statistics";
	const struct tally_call_counts *calls = &pass->call_counts;
	const struct tally_counter *const *counters = pass->layout->counters;
	uint32_t n = pass->layout->n_counters;
	bool no_time = pass->has_time && pass->gpu_begin_ns == pass->gpu_end_ns &&
		       !(pass->flags & TALLY_FLAG(SHARED_TIME));
	if ((!no_time && !n) || !calls->draws || calls->vertices < 3 * calls->draws ||
	    pass->flags & NEED_NOT_RUN)
		return;
	if (no_time)
		pass->flags |= TALLY_FLAG(BAD_TIME);
	pass->has_time &= !no_time;
	if (!n ||
	    !tally_statistics_refute_zeros(source, counters, n, pass->values, pass->valid))
		return;
	pass->flags |= TALLY_FLAG(LOST);
	pass->has_time = false;
	for (struct tally_workload *l = pass->workloads; l; l = l->next)
		if (tally_statistics_refute_zeros(source, counters, n, l->values, l->valid))
			l->has_time = false;
}

__attribute__((hot)) void
gl_submitted(struct gl_context *c)
{
	if (c->state->harvest)
		tally_harvest_submitted(c->state->harvest);
}

static inline void
guard_once(struct gl_context *c, bool *guarded)
{
	if (!*guarded)
		gl_guard_begin(c);
	*guarded = true;
}

__attribute__((hot)) void
gl_collect(struct gl_context *c, uint64_t lost)
{
	struct gl_context_state *s = c->state;
	if (!s || !s->stream)
		return;
	gl_worker = s;
	s->scene.n = 0; /* these passes may go to the log now */
	uint64_t age;
	struct tally_pass *pass;
	bool guarded = false;
	while ((pass = tally_stream_pending(s->stream, &age)) && pass != s->now.pass) {
		if (age >= MAX_UNSUBMITTED_FRAMES)
			gl_submitted(c);
		bool measured = pass->slot != TALLY_NO_SLOT || pass->workloads;
		if (measured && !lost)
			guard_once(c, &guarded);
		if (measured && !read_pass(s, pass, age, lost))
			break;
		if (measured && !lost)
			refute_zeros(pass);
		pass->slot = TALLY_NO_SLOT;
		pass->done = true;
	}
	if (s->counting.gave_up && !lost) {
		guard_once(c, &guarded);
		s->counting.gave_up = tally_harvest_retry(s->harvest);
	}
	if (guarded)
		gl_guard_end(c);
	tally_stream_publish(s->stream);
}

__attribute__((hot)) void
gl_frame_end(struct gl_context *c, struct tally_presented presented)
{
	struct gl_context_state *s = c->state;
	if (!gl_measures(c) || (gl_no_query_zone(s) && !s->zone.lost))
		return;
	gl_pass_close(c);
	uint64_t t0 = tally_stream_captures(s->stream) ? tally_clock_now_ns() : 0;
	gl_gap(s);
	struct tally_frame_end end = { .now_ns = t0, .presented = presented };
	if (s->pictures_read)
		end.flags = TALLY_FLAG(PICTURED);
	tally_stream_end_frame(s->stream, &end);
	gl_collect(c, s->zone.lost ? TALLY_FLAG(LOST) : 0);
	if (s->pictures && !s->zone.lost)
		s->pictures_read = gl_pictures_collect(c);
	if (!s->zone.lost)
		tally_harvest_frame_end(s->harvest);
	if (tally_harvest_n_off(s->harvest) != s->counting.n_off)
		gl_describe_again(s);
	if (t0)
		tally_stream_add_overhead(s->stream, tally_clock_now_ns() - t0);
}

static const struct tally_presented nothing_presented;

static bool
frame_is(const struct gl_context_state *s, enum tally_frame_boundary boundary)
{
	return s->config && s->config->frame == boundary && !gl_no_query_zone(s);
}

void
gl_frame_presented_elsewhere(struct gl_context *c, uint64_t n)
{
	struct gl_context_state *s = c->state;
	if (gl_no_query_zone(s) && !s->zone.lost)
		return; /* the next work after it asks */
	s->presented = n;
	if (c->live == GL_MEASURED && frame_is(s, TALLY_FRAME_PRESENT) && s->stream &&
	    tally_stream_was_presented(s->stream))
		gl_frame_end(c, nothing_presented);
}

/* For --frame submit:N: whether the N-th submission (glFlush, glFinish,
 * swap) has just been counted. */
static bool
submits_end_frame(const struct gl_context_state *s)
{
	return frame_is(s, TALLY_FRAME_SUBMIT) && s->config->frame_every &&
	       s->submits % s->config->frame_every == 0;
}

bool
gl_pass_may_end(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (c->live != GL_MEASURED || gl_no_query_zone(s))
		return false;
	gl_workload_end(c);
	gl_worker = s;
	if (gl_pass_is_last(s)) {
		s->last.closed = true;
		gl_pass_close(c);
	}
	tally_harvest_gap(s->harvest);
	s->gap = true;
	c->open = 0; /* the next draw shows whether the pass continues */
	return true;
}

void
gl_wait(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (!gl_pass_may_end(c))
		return;
	s->scene.n = 0;
	/* Mesa 22.3's llvmpipe draws the following commands in one scene with the
	 * queries that ended here, and with the uniform buffers as they are now: it
	 * would miss what the program writes through a mapping after its wait. */
	if (s->api.timestamps_in_tiles && s->api.Flush)
		s->api.Flush();
}

GLenum
gl_client_wait(struct gl_context *c, GLenum (*next)(GLsync, GLbitfield, GLuint64), GLsync sync,
	       GLbitfield flags, GLuint64 timeout)
{
	gl_wait(c);
	struct tally_clock_wait wait = tally_clock_wait_begin();
	GLenum result = next(sync, flags, timeout);
	tally_event_wait_end(TALLY_EVENT_FENCE, "glClientWaitSync", &wait);
	if (flags & GL_SYNC_FLUSH_COMMANDS_BIT)
		gl_submitted(c);
	return result;
}

/* The call that follows submits the commands issued so far to the GPU. If a frame ends there,
 * closes the pass. Returns whether one does. */
static bool
submits(struct gl_context *c, enum tally_frame_boundary boundary)
{
	struct gl_context_state *s = c->state;
	s->submits++;
	c->open = 0; /* the next draw checks whether another context ended the frame */
	bool ends = frame_is(s, boundary) || submits_end_frame(s) ||
		    (boundary == TALLY_FRAME_FINISH && frame_is(s, TALLY_FRAME_IDLE));
	if (ends || (s->config && s->config->granularity == TALLY_GRANULARITY_SUBMIT))
		gl_pass_close(c);
	return ends;
}

void
gl_flush(struct gl_context *c, void (*next)(void))
{
	bool ends = submits(c, TALLY_FRAME_FLUSH);
	if (!ends)
		gl_pass_may_end(c);
	next();
	gl_submitted(c);
	if (ends)
		gl_frame_end(c, nothing_presented);
}

static void
collect_early(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	uint64_t t0 = gl_frame_captured(s) ? tally_clock_now_ns() : 0;
	gl_collect(c, 0);
	if (t0)
		tally_stream_add_overhead(s->stream, tally_clock_now_ns() - t0);
}

void
gl_finish(struct gl_context *c, void (*next)(void))
{
	bool ends = submits(c, TALLY_FRAME_FINISH);
	if (!ends)
		gl_wait(c);
	struct tally_clock_wait wait = tally_clock_wait_begin();
	next();
	tally_event_wait_end(TALLY_EVENT_IDLE, "glFinish", &wait);
	gl_submitted(c);
	if (ends)
		gl_frame_end(c, nothing_presented);
	else if (c->live == GL_MEASURED && !gl_no_query_zone(c->state))
		collect_early(c); /* no other call may follow that ends a frame */
}

void
gl_terminator(struct gl_context *c)
{
	if (frame_is(c->state, TALLY_FRAME_TERMINATOR))
		gl_frame_end(c, nothing_presented);
}

/* A context that was reset no longer has results. */
GLenum
gl_reset_status(struct gl_context *c, GLenum (*next)(void))
{
	GLenum status = next();
	if (status != GL_NO_ERROR && !c->state->zone.lost) {
		gl_pass_close_silent(c);
		c->state->zone.lost = true;
		c->open = 0;
		gl_collect(c, TALLY_FLAG(LOST));
	}
	return status;
}

/* ---- swaps ---- */

__attribute__((hot)) void
gl_swap_end(struct gl_context *c, bool ends_frame, struct tally_presented presented)
{
	gl_current = c;
	if (c->live && c->state->zone.perhaps_ended)
		c->state->zone.in_begin = c->state->zone.perhaps_ended = false;
	if (!c->live || !ends_frame)
		return;
	struct gl_context_state *s = c->state;
	struct gl_drawable_size known = gl_drawable_size(s->drawable.draw);
	s->submits++;
	if (!known.pbuffer || s->caps.works_at_once)
		gl_submitted(c);
	if (known.interval != s->group->interval && known.interval != GL_INTERVAL_UNKNOWN &&
	    s->stream)
		gl_describe_interval(s, known.interval);
	if ((s->config && s->config->frame == TALLY_FRAME_PRESENT) || submits_end_frame(s))
		gl_frame_end(c, presented);
}

/* ---- labels ---- */

static bool
is_frame_label(const struct gl_context_state *s, const GLchar *text, size_t len)
{
	const struct tally_config *config = s->config;
	return config && config->frame == TALLY_FRAME_LABEL && config->frame_label &&
	       strlen(config->frame_label) == len && memcmp(config->frame_label, text, len) == 0;
}

void
gl_marker(struct gl_context *c, const GLchar *text, GLsizei n)
{
	struct gl_context_state *s = c->state;
	size_t len = gl_label_length(text, n);
	if (!text || s->zone.in_list)
		return;
	tally_session_saw_label(text, len);
	if (is_frame_label(s, text, len) && !s->zone.in_begin)
		gl_frame_end(c, nothing_presented);
}

void
gl_debug_message(struct gl_context *c, GLenum type, const GLchar *text, GLsizei len)
{
	if (type == GL_DEBUG_TYPE_MARKER)
		gl_marker(c, text, len);
}
