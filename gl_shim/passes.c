#include "gl_shim/passes.h"

#include <string.h>

#include "gl_shim/state.h"
#include "layer/clock.h"

/* What the next work command asks for. */
struct want {
	enum tally_pass_kind kind;
	uint64_t key;
	const struct tally_target *target;
	struct gl_framebuffer *fbo;
	uint64_t flags;
	bool clears; /* opens by clearing its whole target */
};

/* Results that are not there so many frames later are given up. */
#define MAX_AGE_FRAMES (TALLY_MAX_PARTS / 2)

static uint64_t
mix(uint64_t a, uint64_t b)
{
	uint64_t x = a ^ (b * UINT64_C(0x9e3779b97f4a7c15));
	x ^= x >> 32;
	return x * UINT64_C(0xd6e8feb86659fd93);
}

/* No query may be issued here: inside glBegin/glEnd, while a list is compiled, after a reset. */
static bool
is_no_query_zone(const struct gl_context_state *s)
{
	return s->in_begin || s->in_list || s->lost;
}

static void
move_tallies(struct gl_context *c, struct tally_pass *pass)
{
	const struct gl_hot *hot = &c->hot;
	int64_t calls = (int64_t)(hot->draws + hot->dispatches + hot->copies + hot->clears) +
			hot->extra_calls;
	pass->tallies = (struct tally_tallies){
		.draws = hot->draws,
		.dispatches = hot->dispatches,
		.copies = hot->copies,
		.clears = hot->clears,
		.vertices = hot->vertices,
		.instances = (uint64_t)((int64_t)hot->draws + hot->extra_instances),
		.calls = (uint64_t)calls,
	};
	pass->flags |= hot->flags;
	pass->unknown |= hot->unknown;
}

static void
close_pass(struct gl_context *c, bool with_queries)
{
	struct gl_context_state *s = c->state;
	c->open = 0;
	if (!s->now.open)
		return;
	struct tally_pass *pass = s->now.pass;
	if (pass) {
		move_tallies(c, pass);
		pass->label = s->now.label;
		if (pass->slot != TALLY_NO_SLOT && with_queries) {
			gl_worker = s;
			tally_harvest_end(s->harvest, pass->slot);
		} else if (pass->slot != TALLY_NO_SLOT) {
			/* The context is beyond use: its slots are never needed again. */
			pass->slot = TALLY_NO_SLOT;
			pass->flags |= s->lost ? TALLY_FLAG(LOST) : TALLY_FLAG(INCOMPLETE);
		}
	}
	s->now = (struct gl_open_pass){ 0 };
	c->hot = (struct gl_hot){ 0 };
}

void
gl_pass_close(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (!s || !s->now.open)
		return;
	if (s->lost) {
		gl_pass_close_silent(c);
		return;
	}
	if (is_no_query_zone(s))
		return; /* the boundary is put off to the next work command */
	uint64_t t0 = tally_clock_now_ns();
	close_pass(c, true);
	if (s->stream)
		tally_stream_add_overhead(s->stream, tally_clock_now_ns() - t0);
}

void
gl_pass_close_silent(struct gl_context *c)
{
	if (c->state)
		close_pass(c, false);
}

/* What names a pass that no group covers: its target's own label. */
static const char *
target_label(struct gl_context *c, const struct gl_framebuffer *fbo)
{
	if (!fbo)
		return NULL;
	char text[GL_MAX_PATH];
	gl_framebuffer_label(c, fbo, text, sizeof(text));
	if (!text[0])
		return NULL;
	return tally_stream_intern_label(c->state->stream, text, strlen(text));
}

static const char *
pass_label(struct gl_context *c, unsigned depth, const struct gl_framebuffer *fbo)
{
	return depth > 0 ? gl_label_path(c, depth) : target_label(c, fbo);
}

static void
open_pass(struct gl_context *c, const struct want *w, uint64_t now)
{
	struct gl_context_state *s = c->state;
	s->now = (struct gl_open_pass){
		.open = true,
		.kind = w->kind,
		.key = w->key,
		.label_depth = s->labels.depth,
		.fbo = w->fbo,
	};
	s->labels.low = s->labels.depth;
	s->split = false;
	bool dont_care = w->fbo && w->fbo->load_dont_care;
	if (w->fbo)
		w->fbo->load_dont_care = false;
	struct tally_pass *pass = tally_stream_open_pass(s->stream, now);
	s->now.pass = pass;
	if (!pass)
		return;
	s->now.label = pass_label(c, s->labels.depth, w->fbo);
	pass->kind = w->kind;
	pass->key = w->key;
	pass->target = w->target;
	pass->flags = w->flags;
	pass->surface = w->fbo && w->fbo->name == 0 ? (int64_t)s->drawable.draw : -1;
	if (w->kind == TALLY_PASS_RENDER) {
		pass->load = w->clears   ? TALLY_LOAD_CLEAR
			     : dont_care ? TALLY_LOAD_DONT_CARE
					 : TALLY_LOAD_LOAD;
		pass->store = TALLY_STORE_STORE;
		pass->restarts = w->clears || dont_care;
	}
	if (w->kind == TALLY_PASS_COMPUTE && s->intel)
		pass->flags |= TALLY_FLAG(APPROXIMATE);
	if (!tally_harvest_has_time(s->harvest))
		pass->flags |= TALLY_FLAG(NO_TIMESTAMPS);
	pass->slot = tally_harvest_begin(s->harvest);
	if (pass->slot == TALLY_NO_SLOT)
		pass->flags |= TALLY_FLAG(DROPPED);
}

/* The open pass goes on: a group that was left in between does not cover all of it. */
static void
continue_pass(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (s->labels.low < s->now.label_depth) {
		s->now.label_depth = s->labels.low;
		if (s->now.pass)
			s->now.label = pass_label(c, s->now.label_depth, s->now.fbo);
	}
	s->labels.low = s->labels.depth;
	if (s->now.pass && s->now.pass->store == TALLY_STORE_DISCARD)
		s->now.pass->store = TALLY_STORE_STORE;
}

/* Make `w` the open pass. False: capture is off here, or no pass can be opened or closed now. */
static bool
enter(struct gl_context *c, struct want *w)
{
	struct gl_context_state *s = c->state;
	if (s->probe == GL_PROBE_PENDING && !is_no_query_zone(s))
		gl_probe_context(s);
	if (s->probe != GL_PROBE_DONE)
		return false;
	if (s->config->granularity <= TALLY_GRANULARITY_SUBMIT) {
		w->kind = TALLY_PASS_OTHER;
		w->key = s->config->granularity == TALLY_GRANULARITY_SUBMIT ? 1 + s->submits : 1;
		w->target = NULL;
		w->fbo = NULL;
	}
	if (s->config->split == TALLY_SPLIT_GROUP)
		w->key = mix(w->key, (uintptr_t)(s->labels.depth
							 ? gl_label_path(c, s->labels.depth)
							 : NULL));
	bool same = s->now.open && !s->split && s->now.kind == w->kind && s->now.key == w->key;
	if (!same && !is_no_query_zone(s)) {
		uint64_t t0 = tally_clock_now_ns();
		gl_worker = s;
		close_pass(c, true);
		open_pass(c, w, t0);
		tally_stream_add_overhead(s->stream, tally_clock_now_ns() - t0);
	} else if (!s->now.open) {
		return false; /* nothing to count into until queries are allowed again */
	} else {
		continue_pass(c);
	}
	c->hot.flags |= s->standing | (same ? w->flags : 0);
	if ((s->standing & TALLY_FLAG(TRANSFORM_FEEDBACK)) && !is_no_query_zone(s) &&
	    c->next->IsEnabled(GL_RASTERIZER_DISCARD))
		c->hot.flags |= TALLY_FLAG(RASTERIZER_DISCARD);
	return true;
}

/* Is the command being compiled rather than run? */
static bool
compiles_only(const struct gl_context_state *s)
{
	return s->in_list == GL_COMPILE;
}

static bool
enter_render(struct gl_context *c, GLuint name, bool bound, bool clears)
{
	struct gl_context_state *s = c->state;
	if (compiles_only(s) || s->probe == GL_PROBE_OFF)
		return false;
	if (s->probe == GL_PROBE_PENDING && !is_no_query_zone(s))
		gl_probe_context(s);
	if (is_no_query_zone(s)) { /* nothing may be asked of the driver either */
		struct want as_is = { .kind = s->now.kind, .key = s->now.key };
		return s->now.open && enter(c, &as_is);
	}
	struct gl_framebuffer *fbo = gl_framebuffer_resolve(c, name, bound);
	if (!fbo)
		return false;
	struct want w = {
		.kind = TALLY_PASS_RENDER,
		.key = fbo->key,
		.target = fbo->target,
		.fbo = fbo,
		.clears = clears,
	};
	return enter(c, &w);
}

bool
gl_draw_enter(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (!enter_render(c, s->framebuffers.draw, true, false))
		return false;
	/* From here on draws only count, until something sets open to 0 again. Not where each
	 * draw has to be looked at. */
	c->open = !s->in_begin && !s->lost && !s->in_list;
	return true;
}

void
gl_tally_multi(struct gl_context *c, const GLsizei *counts, GLsizei n)
{
	uint64_t vertices = 0;
	for (GLsizei i = 0; counts && i < n; i++)
		vertices += GL_NATURAL(counts[i]);
	c->hot.draws += GL_NATURAL(n);
	c->hot.vertices += vertices;
	c->hot.extra_calls += 1 - (int64_t)GL_NATURAL(n);
}

void
gl_tally_indirect(struct gl_context *c, int64_t draws)
{
	c->hot.draws += GL_NATURAL(draws);
	c->hot.extra_calls += 1 - (int64_t)GL_NATURAL(draws);
	c->hot.flags |= TALLY_FLAG(INDIRECT);
	c->hot.unknown |= TALLY_UNKNOWN_VERTICES | TALLY_UNKNOWN_INSTANCES;
}

/* ---- clears ---- */

static void
count_clear(struct gl_context *c, GLuint name, bool bound, bool whole)
{
	struct gl_context_state *s = c->state;
	if (!enter_render(c, name, bound, whole))
		return;
	c->hot.clears++;
	/* A clear of a framebuffer that is not the bound one leaves no fast path for draws. */
	c->open = name == s->framebuffers.draw && !is_no_query_zone(s);
}

void
gl_clear(struct gl_context *c, GLbitfield mask)
{
	struct gl_context_state *s = c->state;
	struct gl_framebuffer *fbo = gl_framebuffer_get(c, s->framebuffers.draw);
	bool has_color = !fbo || fbo->name == 0 || (fbo->target && fbo->target->n_color > 0) ||
			 !fbo->target;
	bool whole = mask & (has_color ? GL_COLOR_BUFFER_BIT : GL_DEPTH_BUFFER_BIT);
	count_clear(c, s->framebuffers.draw, true, whole);
}

void
gl_clear_buffer(struct gl_context *c, GLenum buffer, GLint drawbuffer)
{
	struct gl_context_state *s = c->state;
	gl_clear_named(c, s->framebuffers.draw, buffer, drawbuffer);
}

void
gl_clear_named(struct gl_context *c, GLuint name, GLenum buffer, GLint drawbuffer)
{
	struct gl_context_state *s = c->state;
	struct gl_framebuffer *fbo = gl_framebuffer_get(c, name);
	bool depth_only = fbo && name != 0 && fbo->target && fbo->target->n_color == 0;
	bool whole = buffer == GL_COLOR ? drawbuffer == 0
					: depth_only && buffer != GL_STENCIL;
	count_clear(c, name, name == s->framebuffers.draw, whole);
}

/* ---- compute and transfer ---- */

static bool
enter_other(struct gl_context *c, struct want *w)
{
	struct gl_context_state *s = c->state;
	if (compiles_only(s))
		return false;
	c->open = 0;
	if (!s->config || !s->config->group_work)
		s->split = true;
	if (!enter(c, w))
		return false;
	c->open = 0; /* enter() of a render pass alone opens the fast path */
	return true;
}

void
gl_dispatch(struct gl_context *c)
{
	struct want w = { .kind = TALLY_PASS_COMPUTE, .key = 1 };
	if (enter_other(c, &w))
		c->hot.dispatches++;
}

/* A texture's shape as the target of a transfer; NULL when it is not known. */
static const struct tally_target *
texture_target(struct gl_context *c, GLuint name)
{
	struct gl_context_state *s = c->state;
	if (!name || !s->stream || is_no_query_zone(s))
		return NULL;
	struct gl_shape shape = gl_shape_of_texture(c, name);
	if (!shape.known)
		return NULL;
	struct tally_target target = {
		.width = shape.width,
		.height = shape.height,
		.layers = shape.layers,
		.samples = shape.samples,
		.n_color = 1,
		.color[0] = { .format = gl_format_name(shape.format),
			      .samples = shape.samples,
			      .layers = shape.layers },
	};
	return tally_stream_intern_target(s->stream, &target);
}

void
gl_transfer(struct gl_context *c, enum gl_transfer what, GLuint object)
{
	struct gl_context_state *s = c->state;
	if (compiles_only(s) || s->probe == GL_PROBE_OFF)
		return;
	if (s->probe == GL_PROBE_PENDING && !is_no_query_zone(s))
		gl_probe_context(s);
	/* A binding target instead of a name: the game's texture stands there. Names and targets
	 * do not meet: the lowest texture target is 0x0DE0. */
	GLuint bound = is_no_query_zone(s) ? 0 : gl_bound_texture(c, object);
	GLuint name = bound ? bound : object;
	struct want w = {
		.kind = TALLY_PASS_TRANSFER,
		.key = mix(mix(what, name), bound != 0),
		.target = texture_target(c, name),
		.flags = what == GL_XFER_MIPMAP ? TALLY_FLAG(MIPMAP) : 0,
	};
	if (!enter_other(c, &w))
		return;
	if (what == GL_XFER_CLEAR)
		c->hot.clears++;
	else
		c->hot.copies++;
}

void
gl_platform_transfer(uintptr_t key)
{
	struct gl_context *c = gl_current;
	struct want w = { .kind = TALLY_PASS_TRANSFER, .key = mix(key, 7) };
	if (c->live && enter_other(c, &w))
		c->hot.copies++;
}

void
gl_blit(struct gl_context *c, GLuint read, GLuint draw, bool named)
{
	struct gl_context_state *s = c->state;
	if (compiles_only(s) || is_no_query_zone(s) || s->probe == GL_PROBE_OFF)
		return;
	if (s->probe == GL_PROBE_PENDING)
		gl_probe_context(s);
	if (!named) {
		read = s->framebuffers.read;
		draw = s->framebuffers.draw;
	}
	struct gl_framebuffer *from =
		gl_framebuffer_resolve(c, read, read == s->framebuffers.draw);
	uint64_t from_key = from ? from->key : 0;
	uint32_t from_samples = from && from->target ? from->target->samples : 0;
	struct gl_framebuffer *to = gl_framebuffer_resolve(c, draw, draw == s->framebuffers.draw);
	struct want w = {
		.kind = TALLY_PASS_TRANSFER,
		.key = mix(from_key, to ? to->key : 0),
		.target = to ? to->target : NULL,
	};
	if (from_samples > 1 && to && to->target && to->target->samples <= 1)
		w.flags |= TALLY_FLAG(RESOLVE);
	if (enter_other(c, &w))
		c->hot.copies++;
}

void
gl_readback_begin(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (compiles_only(s))
		return;
	struct gl_framebuffer *from =
		is_no_query_zone(s) || s->probe == GL_PROBE_OFF
			? NULL
			: gl_framebuffer_get(c, s->framebuffers.read);
	struct want w = {
		.kind = TALLY_PASS_TRANSFER,
		.key = mix(GL_XFER_READBACK, s->framebuffers.read),
		.target = from ? from->target : NULL,
		.flags = TALLY_FLAG(READBACK),
	};
	if (!s->pixel_pack_buffer)
		w.flags |= TALLY_FLAG(SYNC);
	if (enter_other(c, &w))
		c->hot.copies++;
}

void
gl_readback_done(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	struct want w = {
		.kind = TALLY_PASS_TRANSFER,
		.key = mix(GL_XFER_READBACK, 0),
		.flags = TALLY_FLAG(READBACK),
	};
	if (!s->pixel_pack_buffer)
		w.flags |= TALLY_FLAG(SYNC);
	if (enter_other(c, &w))
		c->hot.copies++;
}

/* ---- immediate mode and display lists ---- */

void
gl_begin(struct gl_context *c, void (*next)(GLenum), GLenum mode)
{
	struct gl_context_state *s = c->state;
	if (!compiles_only(s) && !s->in_begin && gl_draw_enter(c)) {
		c->hot.draws++;
		c->hot.flags |= TALLY_FLAG(IMMEDIATE);
		c->hot.unknown |= TALLY_UNKNOWN_VERTICES;
	}
	if (!compiles_only(s)) {
		s->in_begin = true;
		c->open = 0;
	}
	next(mode);
}

void
gl_end(struct gl_context *c, void (*next)(void))
{
	next();
	c->state->in_begin = false;
}

void
gl_new_list(struct gl_context *c, void (*next)(GLuint, GLenum), GLuint list, GLenum mode)
{
	struct gl_context_state *s = c->state;
	/* What the list runs while it is compiled is counted into a pass that is open before. */
	if (mode == GL_COMPILE_AND_EXECUTE && !s->in_begin)
		gl_draw_enter(c);
	c->open = 0;
	next(list, mode);
	if (!s->in_list && (mode == GL_COMPILE || mode == GL_COMPILE_AND_EXECUTE))
		s->in_list = mode;
}

void
gl_end_list(struct gl_context *c, void (*next)(void))
{
	next();
	c->state->in_list = 0;
	if (c->state->lists_query)
		gl_queries_take_all(c);
}

/* ---- frames, waits, flags ---- */

void
gl_collect(struct gl_context *c, bool give_up, uint64_t flag)
{
	struct gl_context_state *s = c->state;
	if (!s->stream)
		return;
	gl_worker = s;
	uint64_t age;
	struct tally_pass *pass;
	bool hidden = false;
	while ((pass = tally_stream_pending(s->stream, &age))) {
		if (pass == s->now.pass)
			break;
		if (pass->slot != TALLY_NO_SLOT) {
			struct tally_sample sample = {
				.values = pass->values,
				.valid = pass->valid,
			};
			tally_harvest_counters(s->harvest, &sample.n);
			if (!give_up && !hidden) {
				gl_query_buffer_hide(c);
				hidden = true;
			}
			enum tally_status st = TALLY_NOT_READY;
			if (!give_up)
				st = tally_harvest_read(s->harvest, pass->slot, &sample);
			if (st == TALLY_NOT_READY && !give_up && age < MAX_AGE_FRAMES)
				break;
			if (st == TALLY_NOT_READY && !give_up) {
				tally_harvest_discard(s->harvest, pass->slot);
				pass->flags |= TALLY_FLAG(INCOMPLETE);
			} else if (st == TALLY_NOT_READY) {
				pass->flags |= flag;
			}
			pass->has_time = sample.has_time;
			pass->gpu_begin_ns = sample.begin_ns;
			pass->gpu_end_ns = sample.end_ns;
			pass->flags |= sample.flags;
			if (st == TALLY_LOST)
				pass->flags |= TALLY_FLAG(LOST);
			pass->slot = TALLY_NO_SLOT;
		}
		tally_stream_pass_done(s->stream, pass);
	}
	if (hidden)
		gl_query_buffer_restore(c);
	tally_stream_publish(s->stream);
}

void
gl_frame_end(struct gl_context *c, struct tally_extent presented)
{
	struct gl_context_state *s = c->state;
	if (s->probe == GL_PROBE_PENDING && !is_no_query_zone(s))
		gl_probe_context(s);
	if (s->probe != GL_PROBE_DONE || (is_no_query_zone(s) && !s->lost))
		return;
	gl_pass_close(c);
	uint64_t t0 = tally_clock_now_ns();
	tally_harvest_gap(s->harvest);
	struct tally_frame_end end = { .now_ns = t0, .presented = presented };
	tally_stream_end_frame(s->stream, &end);
	gl_collect(c, s->lost, TALLY_FLAG(LOST));
	tally_stream_add_overhead(s->stream, tally_clock_now_ns() - t0);
}

static const struct tally_extent nothing_presented = { 0, 0 };

static bool
frame_is(const struct gl_context_state *s, enum tally_frame_boundary boundary)
{
	return s->config && s->config->frame == boundary && !is_no_query_zone(s);
}

void
gl_wait(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (s->probe == GL_PROBE_DONE && !is_no_query_zone(s)) {
		gl_worker = s;
		tally_harvest_gap(s->harvest);
		c->open = 0;
	}
}

void
gl_flush(struct gl_context *c, void (*next)(void))
{
	struct gl_context_state *s = c->state;
	s->submits++;
	if (s->config && s->config->granularity == TALLY_GRANULARITY_SUBMIT)
		gl_pass_close(c);
	bool ends = frame_is(s, TALLY_FRAME_FLUSH);
	if (ends)
		gl_pass_close(c);
	next();
	if (ends)
		gl_frame_end(c, nothing_presented);
}

void
gl_finish(struct gl_context *c, void (*next)(void))
{
	struct gl_context_state *s = c->state;
	s->submits++;
	if (s->config && s->config->granularity == TALLY_GRANULARITY_SUBMIT)
		gl_pass_close(c);
	bool ends = frame_is(s, TALLY_FRAME_FINISH);
	if (ends)
		gl_pass_close(c);
	else
		gl_wait(c);
	next();
	if (ends)
		gl_frame_end(c, nothing_presented);
}

void
gl_terminator(struct gl_context *c)
{
	if (frame_is(c->state, TALLY_FRAME_TERMINATOR))
		gl_frame_end(c, nothing_presented);
}

void
gl_barrier(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (s->config && s->config->split == TALLY_SPLIT_BARRIER &&
	    s->now.kind == TALLY_PASS_COMPUTE)
		s->split = true;
}

void
gl_standing_flag(struct gl_context *c, uint64_t flag, bool on)
{
	struct gl_context_state *s = c->state;
	if (compiles_only(s))
		return;
	if (on)
		s->standing |= flag;
	else
		s->standing &= ~flag;
	c->open = 0;
}

void
gl_render_mode(struct gl_context *c, GLenum mode)
{
	gl_standing_flag(c, TALLY_FLAG(SELECT), mode == GL_SELECT || mode == GL_FEEDBACK);
}

void
gl_pop_attrib(struct gl_context *c)
{
	/* May have restored the draw buffers (GL_COLOR_BUFFER_BIT). */
	gl_framebuffer_touch(c);
}

void
gl_tiling(struct gl_context *c)
{
	c->hot.flags |= TALLY_FLAG(TILING);
}
