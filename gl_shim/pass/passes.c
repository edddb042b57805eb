/* SPDX-License-Identifier: MIT */
#include "gl_shim/pass/passes.h"

#include <string.h>

#include "gl_shim/game/queries.h"
#include "gl_shim/pass/workloads.h"
#include "layer/base/clock.h"
#include "layer/frame/black_box.h"
#include "query/sampler/sampler.h"
#include "query/source/statistics_catalogue.h"

/* The only place where the counts of the wrappers become the pass's. */
static void
move_pending_counts(struct gl_context *c, struct tally_pass *pass)
{
	const struct gl_pending_counts *counted = &c->pending;
	int64_t calls = (int64_t)(counted->draws + counted->dispatches + counted->copies +
				  counted->clears) +
			counted->extra_calls;
	pass->call_counts = (struct tally_call_counts){
		.draws = counted->draws,
		.dispatches = counted->dispatches,
		.copies = counted->copies,
		.clears = counted->clears,
		.vertices = counted->vertices,
		.instances = (uint64_t)((int64_t)counted->draws + counted->extra_instances),
		.calls = (uint64_t)calls,
	};
	pass->flags |= counted->flags | c->state->now.flags;
	pass->unknown |= counted->unknown;
}

static inline void
end_queries(struct gl_context_state *s, struct tally_pass *pass, bool usable)
{
	if (usable) {
		gl_worker = s;
		tally_harvest_end(s->harvest, pass->slot);
		return;
	}
	/* The context is no longer usable: its slots are never needed again. */
	pass->slot = TALLY_NO_SLOT;
	pass->flags |= s->zone.lost ? TALLY_FLAG(LOST) : TALLY_FLAG(INCOMPLETE);
}

static __attribute__((hot)) void
close_pass(struct gl_context *c, bool usable)
{
	struct gl_context_state *s = c->state;
	c->open = 0;
	if (!s->now.open)
		return;
	struct tally_pass *pass = s->now.pass;
	if (pass) {
		move_pending_counts(c, pass);
		if (s->now.load)
			gl_workload_close(c, usable);
		if (pass->slot != TALLY_NO_SLOT)
			end_queries(s, pass, usable);
		pass->label = s->now.label;
		if (s->labels.inside.n)
			pass->groups = gl_take_inside(c);
	}
	for (const struct gl_around *const *a = s->around; *a; a++)
		(*a)->pass_ends(c, pass, usable);
	if (pass && !pass->call_counts.calls)
		tally_stream_unlist_pass(pass); /* a list had no command, or all failed */
	if (pass)
		pass->done = pass->slot == TALLY_NO_SLOT && !pass->workloads; /* none is awaited */
	s->now = (struct gl_open_pass){ 0 };
	c->pending = (struct gl_pending_counts){ 0 };
}

__attribute__((hot)) void
gl_pass_close(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (!s || !s->now.open)
		return;
	if (s->zone.lost) {
		gl_pass_close_silent(c);
		return;
	}
	if (gl_no_query_zone(s))
		return; /* the boundary is postponed to the next work command */
	/* The clock is not read for a pass that is not captured. */
	uint64_t t0 = s->now.pass ? tally_clock_now_ns() : 0;
	close_pass(c, true);
	s->snapshots.here = TALLY_NO_SNAPSHOT; /* the game continues in the meantime */
	if (t0 && s->stream)
		tally_stream_add_overhead(s->stream, tally_clock_now_ns() - t0);
}

void
gl_pass_close_silent(struct gl_context *c)
{
	if (c->state)
		close_pass(c, false);
}

/* The name of a pass that no group covers: its target's own label. */
static __attribute__((noinline)) const char *
target_label(struct gl_context *c, const struct gl_framebuffer *fbo)
{
	char text[GL_MAX_PATH];
	gl_framebuffer_label(c, fbo, text, sizeof(text));
	if (!text[0])
		return NULL;
	return tally_stream_intern_label(c->state->stream, text, strlen(text));
}

static inline const char *
pass_label(struct gl_context *c, unsigned depth, const struct gl_framebuffer *fbo)
{
	const struct gl_images *images = &c->state->group->images;
	if (depth > 0)
		return gl_label_path(c, depth);
	if (!fbo || (!fbo->label &&
		     !atomic_load_explicit(&images->labelled, memory_order_relaxed)))
		return NULL;
	return target_label(c, fbo);
}

/* Whether the pass begins with new contents. If there is a color attachment, color decides. */
static bool
clears_target(const struct gl_pass_request *w)
{
	bool depth_only = w->target && w->target->n_color == 0;
	return w->clears & (depth_only ? GL_DEPTH_BUFFER_BIT : GL_COLOR_BUFFER_BIT);
}

/* Flags passes that share their time. If rendering continues in the framebuffer that the driver
 * drew to last, no timestamp since then lies between two scenes, and each shows the time of its
 * last tile (query/gl/api.h). What is done in its call lies before all of them. */
static __attribute__((noinline, cold)) void
flag_shared_times(struct gl_context_state *s, const struct gl_pass_request *w)
{
	struct gl_scene *scene = &s->scene;
	struct tally_pass *pass = s->now.pass;

	bool renders = w->kind == TALLY_PASS_RENDER;
	bool same = renders && (scene->key == w->fbo->key || !scene->key);
	if (scene->n && (same || (w->at_once && s->caps.works_at_once))) {
		for (unsigned i = 0; i < scene->n; i++)
			scene->passes[i]->flags |= TALLY_FLAG(SHARED_TIME);
		if (pass)
			pass->flags |= TALLY_FLAG(SHARED_TIME);
	}
	if (renders) {
		scene->key = w->fbo->key;
		scene->n = 0;
	}
	if (pass && scene->n < GL_SCENE_PASSES)
		scene->passes[scene->n++] = pass;
	else if (pass)
		pass->flags |= TALLY_FLAG(SHARED_TIME); /* no room: may be shared */
}

static void
describe_pass(const struct gl_context_state *s, struct tally_pass *pass,
	      const struct gl_pass_request *w, bool dont_care)
{
	pass->kind = w->kind;
	pass->key = w->key;
	pass->target = w->target;
	if (w->fbo && w->fbo->name == 0)
		pass->surface = (int64_t)s->drawable.draw;
	if (w->kind == TALLY_PASS_COMPUTE && s->caps.intel)
		pass->flags |= TALLY_FLAG(APPROXIMATE);
	if (w->kind != TALLY_PASS_RENDER)
		return;
	bool clears = clears_target(w);
	pass->load = clears      ? TALLY_LOAD_CLEAR
		     : dont_care ? TALLY_LOAD_DONT_CARE
				 : TALLY_LOAD_LOAD;
	pass->store = TALLY_STORE_STORE;
	pass->restarts = clears || dont_care;
}

/* The statistics that a pass of this kind cannot raise. Begun all the same, they would cost: Mesa's
 * Intel driver counts runs of compute shaders in a batch of their own, and submits a batch at each
 * change from one to the other. A dispatch in a display list is part of any pass. */
static uint32_t
impossible(const struct gl_context_state *s, enum tally_pass_kind kind)
{
	const uint32_t compute = UINT32_C(1) << TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS;
	if (kind == TALLY_PASS_OTHER ||
	    atomic_load_explicit(&s->group->lists_dispatch, memory_order_relaxed))
		return 0;
	return kind == TALLY_PASS_COMPUTE ? ~compute : compute;
}

/* ---- the last pass of frames (struct gl_last_pass) ---- */

#define SURE_FRAMES 8 /* that ended alike: no other flush is taken for the last */

static bool
is_as_last(const struct gl_context_state *s)
{
	return s->now.open && s->now.kind == s->last.kind && s->now.key == s->last.key;
}

bool
gl_pass_is_last(const struct gl_context_state *s)
{
	return is_as_last(s) && s->last.frames >= SURE_FRAMES && !s->last.went_on &&
	       s->config->granularity >= TALLY_GRANULARITY_PASS;
}

void
gl_pass_parks(struct gl_context_state *s)
{
	struct gl_last_pass *last = &s->last;
	if (s->now.open) {
		last->frames = !s->gap ? 0 : is_as_last(s) ? last->frames + 1 : 1;
		last->kind = s->now.kind;
		last->key = s->now.key;
	}
	last->closed = false;
}

/* Work follows a flush in the open pass, or in one that was closed there. */
static void
goes_on(struct gl_context_state *s)
{
	if (!is_as_last(s))
		return;
	s->last.frames = 0;
	s->last.went_on |= s->last.closed;
}

/* ---- opening and continuing ---- */

/* There was no room for the pass, but the black box names the last that began. Or the frame is not
 * captured: then further work in it is not a separate pass, unless passes of an earlier frame might
 * share its time. */
static __attribute__((noinline, cold)) void
begin_without_pass(struct gl_context *c, const struct gl_pass_request *w)
{
	struct gl_context_state *s = c->state;
	if (tally_stream_captures(s->stream)) {
		if (s->config->black_box_ns)
			tally_black_box_pass(s->now.frame, pass_label(c, s->labels.depth, w->fbo),
					     w->target, false);
		return;
	}
	/* Unless another context has begun the next frame in the meantime. */
	s->now.idle = !s->scene.n && s->now.frame == gl_frame_now(s);
	if (s->now.idle)
		s->idle_end = s->now.frame + 1;
}

#define OWN_TIME_FIRST 8 /* in a frame with this many passes all are measured */
#define OWN_TIME_EVERY 16

/* The first of the context's passes in a frame that is captured. */
static __attribute__((noinline, cold)) void
begin_frame(struct gl_context_state *s)
{
	bool all = s->by_draw || s->config->snapshot == TALLY_SNAPSHOT_EXACT;
	gl_worker = s;
	s->captured = (struct gl_frame){
		.frame = s->now.frame,
		.layout = tally_harvest_frame(s->harvest, s->now.frame),
		.n_first = all ? UINT32_MAX : OWN_TIME_FIRST,
	};
	if (s->captured.layout->set)
		tally_stream_use_set(s->stream, s->captured.layout->set);
}

static void
begin_queries(struct gl_context_state *s, struct tally_pass *pass)
{
	s->api.impossible = impossible(s, pass->kind);
	if (s->by_draw)
		return; /* workloads are measured instead */
	gl_worker = s;
	pass->slot = tally_harvest_begin(s->harvest);
	if (pass->slot == TALLY_NO_SLOT)
		pass->flags |= TALLY_FLAG(DROPPED);
}

/* None is open: the members that are not set here are 0. */
static void
open_pass(struct gl_context *c, const struct gl_pass_request *w, uint64_t now)
{
	struct gl_context_state *s = c->state;
	bool dont_care = false;
	if (w->fbo && w->fbo->invalidated) {
		dont_care = w->fbo->invalidated > s->idle_end &&
			    gl_invalidates(w->target, w->fbo->invalidated_color);
		w->fbo->invalidated = 0;
	}
	s->now.open = true;
	s->now.kind = w->kind;
	s->now.key = w->key;
	s->now.frame = gl_frame_now(s);
	s->now.label_depth = s->labels.low = s->labels.depth;
	s->now.fbo = w->fbo;
	s->labels.changed = false;
	s->split = false;
	s->gap = false;
	if (s->last.closed)
		goes_on(s);
	if (s->counting.uses_seen != atomic_load_explicit(&gl_game_uses, memory_order_acquire))
		gl_yield_as_elsewhere(c);
	struct tally_pass *pass = tally_stream_open_pass(s->stream, now);
	s->now.pass = pass;
	if (pass)
		pass->flags = w->flags | s->counting.pass_flags;
	if (s->api.timestamps_in_tiles && s->counting.timed)
		flag_shared_times(s, w);
	if (!pass) {
		begin_without_pass(c, w);
		return;
	}
	describe_pass(s, pass, w, dont_care);
	for (const struct gl_around *const *a = s->around; *a; a++)
		(*a)->pass_begins(c, pass);
	s->now.label = pass_label(c, s->labels.depth, w->fbo);
	if (s->config->black_box_ns)
		tally_black_box_pass(tally_stream_pass_frame(pass), s->now.label, pass->target,
				     false);
	if (s->captured.frame != s->now.frame)
		begin_frame(s);
	pass->layout = s->captured.layout;
	if (s->counting.counts)
		begin_queries(s, pass);
}

/* The command continues the open pass: a group that was left in between
 * does not cover all of it. */
static __attribute__((noinline)) void
continue_pass(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	gl_workload_end(c);
	if (s->labels.changed)
		gl_note_inside(c);
	if (s->labels.low < s->now.label_depth) {
		s->now.label_depth = s->labels.low;
		if (s->now.pass)
			s->now.label = pass_label(c, s->now.label_depth, s->now.fbo);
	}
	s->labels.low = s->labels.depth;
	if (s->gap) {
		s->gap = false;
		goes_on(s);
		gl_worker = s;
		tally_harvest_resume(s->harvest);
		if (s->now.pass && !s->scene.n)
			s->scene.passes[s->scene.n++] = s->now.pass; /* only pass since a wait */
	}
	if (s->now.pass && s->now.pass->store == TALLY_STORE_DISCARD)
		s->now.pass->store = TALLY_STORE_STORE;
}

/* Applies the options that define what one pass is, where one of the two is set. */
static __attribute__((noinline, cold)) void
apply_options(struct gl_context *c, struct gl_pass_request *w)
{
	struct gl_context_state *s = c->state;
	if (s->config->granularity <= TALLY_GRANULARITY_SUBMIT) {
		w->kind = TALLY_PASS_OTHER;
		w->key = s->config->granularity == TALLY_GRANULARITY_SUBMIT ? 1 + s->submits : 1;
		w->target = NULL;
		w->fbo = NULL;
	}
	if (s->config->split != TALLY_SPLIT_GROUP)
		return;
	const char *path = s->labels.depth ? gl_label_path(c, s->labels.depth) : NULL;
	w->key = gl_mix(w->key, (uintptr_t)path);
}

/* Whether the command would continue the open pass. If another context of the share group ended
 * the frame, it would not: the pass ends with the frame. */
static bool
is_same(const struct gl_context_state *s, const struct gl_pass_request *w)
{
	return s->now.open && !s->split && s->now.kind == w->kind && s->now.key == w->key &&
	       s->now.frame == gl_frame_now(s);
}

/* The flags that hold while the command runs apply to its pass. */
static void
note_flags(struct gl_context *c, uint64_t more)
{
	const struct gl_context_state *s = c->state;
	c->pending.flags |= s->standing | more;
	/* Before 3.0 the query raises an error that the game would read:
	 * glBeginTransformFeedback may have been called where it does nothing. */
	if ((s->standing & TALLY_FLAG(TRANSFORM_FEEDBACK)) && s->api.version >= 30 &&
	    !gl_no_query_zone(s) && c->next->IsEnabled(GL_RASTERIZER_DISCARD))
		c->pending.flags |= TALLY_FLAG(RASTERIZER_DISCARD);
}

/* A pass that was interrupted, by the kernel or for memory, stands for itself alone: the others
 * took no longer than the one before it. */
static __attribute__((noinline)) void
add_own_time(struct gl_context_state *s, uint64_t t0)
{
	unsigned times = s->captured.n <= s->captured.n_first ? 1 : OWN_TIME_EVERY;
	uint64_t ns = tally_clock_now_ns() - t0;
	uint64_t before = s->captured.last_ns;
	uint64_t each = before && before < ns ? before : ns;
	s->captured.last_ns = ns;
	tally_stream_add_overhead(s->stream, ns + (times - 1) * each);
}

__attribute__((hot)) bool
gl_pass_enter(struct gl_context *c, struct gl_pass_request *w)
{
	struct gl_context_state *s = c->state;
	if (s->config->granularity <= TALLY_GRANULARITY_SUBMIT ||
	    s->config->split == TALLY_SPLIT_GROUP)
		apply_options(c, w);
	bool same = is_same(s, w);
	bool begins = !same && !gl_no_query_zone(s);
	if (!begins && !s->now.open)
		return false; /* nothing to count into until queries are allowed again */
	uint64_t t0 = gl_frame_captured(s) && (s->by_draw || begins) ? tally_clock_now_ns() : 0;
	if (begins) {
		close_pass(c, true);
		open_pass(c, w, t0);
	} else {
		continue_pass(c);
	}
	note_flags(c, same ? w->flags : 0);
	if (s->by_draw && s->now.pass)
		gl_workload_begin(c, w->command, w->flags);
	struct gl_frame *f = &s->captured;
	if (t0 && (++f->n <= f->n_first || f->n % OWN_TIME_EVERY == 0))
		add_own_time(s, t0);
	return true;
}
