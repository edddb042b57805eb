/* SPDX-License-Identifier: MIT */
#include "gl_shim/pass/work.h"

#include "gl_shim/game/queries.h"
#include "gl_shim/pass/frames.h"
#include "gl_shim/pass/passes.h"
#include "gl_shim/pass/workloads.h"

static __attribute__((hot)) bool
enter_measured(struct gl_context *c, const char *command, GLuint name, bool bound, unsigned clears)
{
	struct gl_context_state *s = c->state;
	if (gl_compiles_only(s))
		return false;
	struct gl_pass_request w = { .command = command, .clears = clears };
	if (gl_no_query_zone(s)) { /* the driver must not be queried either */
		if (!s->now.open || (bound && gl_framebuffer_refuses(c)))
			return false;
		w.kind = s->now.kind;
		w.key = s->now.key;
	} else {
		struct gl_framebuffer *fbo = gl_framebuffer_resolve(c, name, bound);
		if (!fbo || fbo->incomplete)
			return false;
		w.kind = TALLY_PASS_RENDER;
		w.key = fbo->key;
		w.target = fbo->target;
		w.fbo = fbo;
	}
	return gl_pass_enter(c, &w);
}

static inline bool
enter_render(struct gl_context *c, const char *command, GLuint name, bool bound, unsigned clears)
{
	return gl_idles(c->state) || enter_measured(c, command, name, bound, clears);
}

/* From here on draws are only counted, until `open` is set to 0 again, unless each draw has to be
 * examined. */
static uint32_t
counted_modes(const struct gl_context *c, const struct gl_context_state *s)
{
	return gl_no_query_zone(s) || s->by_draw ? 0 : c->modes;
}

bool
gl_draw_enter(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (s->zone.in_begin) /* glCallList is the only draw allowed here */
		s->zone.perhaps_ended = true;
	uint32_t open = counted_modes(c, s);
	if (!enter_render(c, "draw", s->framebuffers.draw, true, 0))
		return false;
	c->open = open;
	return true;
}

void
gl_tally_multi(struct gl_context *c, const GLsizei *counts, GLsizei n)
{
	uint64_t vertices = 0;
	for (GLsizei i = 0; counts && i < n; i++) {
		if (counts[i] < 0)
			return; /* an error: none of them is drawn */
		vertices += GL_NATURAL(counts[i]);
	}
	c->pending.draws += GL_NATURAL(n);
	c->pending.vertices += vertices;
	c->pending.extra_calls += 1 - (int64_t)GL_NATURAL(n);
}

void
gl_tally_indirect(struct gl_context *c, int64_t draws)
{
	c->pending.draws += GL_NATURAL(draws);
	c->pending.extra_calls += 1 - (int64_t)GL_NATURAL(draws);
	c->pending.flags |= TALLY_FLAG(INDIRECT);
	c->pending.unknown |= TALLY_UNKNOWN_VERTICES | TALLY_UNKNOWN_INSTANCES;
}

/* ---- clears ---- */

static void
count_clear(struct gl_context *c, GLuint name, unsigned whole)
{
	struct gl_context_state *s = c->state;
	bool bound = name == s->framebuffers.draw;
	if (!enter_render(c, "clear", name, bound, whole))
		return;
	c->pending.clears++;
	/* After a clear of a framebuffer that is not bound, draws have no fast path; nor has the
	 * first one of a program. */
	c->open = !bound || s->fresh_program ? 0 : counted_modes(c, s);
}

#define ALL_BUFFERS (GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT)

__attribute__((hot)) void
gl_clear(struct gl_context *c, GLbitfield mask)
{
	bool odd = mask & ~ALL_BUFFERS;
	if (odd && (c->state->caps.core_profile || mask & ~(ALL_BUFFERS | GL_ACCUM_BUFFER_BIT)))
		return; /* an error */
	count_clear(c, c->state->framebuffers.draw, mask);
}

void
gl_clear_buffer(struct gl_context *c, GLenum buffer, GLint drawbuffer)
{
	gl_clear_named(c, c->state->framebuffers.draw, buffer, drawbuffer);
}

void
gl_clear_named(struct gl_context *c, GLuint name, GLenum buffer, GLint drawbuffer)
{
	unsigned whole = 0;
	bool first = drawbuffer == 0;
	if (buffer == GL_COLOR && first)
		whole = GL_COLOR_BUFFER_BIT;
	else if ((buffer == GL_DEPTH || buffer == GL_DEPTH_STENCIL) && first)
		whole = GL_DEPTH_BUFFER_BIT;
	else if (!(buffer == GL_COLOR && drawbuffer > 0) && !(buffer == GL_STENCIL && first))
		return; /* an error */
	count_clear(c, name, whole);
}

/* ---- compute and transfer ---- */

static bool
enter_other(struct gl_context *c, struct gl_pass_request *w)
{
	struct gl_context_state *s = c->state;
	if (gl_compiles_only(s))
		return false;
	c->open = 0;
	if (!s->config->group_work)
		s->split = true;
	if (!gl_idles(s) && !gl_pass_enter(c, w))
		return false;
	c->open = 0; /* only a render pass may leave the fast path enabled */
	return true;
}

void
gl_dispatch(struct gl_context *c)
{
	struct gl_pass_request w = { .kind = TALLY_PASS_COMPUTE,
				     .key = 1,
				     .command = "dispatch",
				     .at_once = true };
	if (c->state->zone.in_list)
		atomic_store(&c->state->group->lists_dispatch, true);
	if (enter_other(c, &w))
		c->pending.dispatches++;
}

/* A texture's size and format as the target of a transfer; NULL when it is not known. */
static const struct tally_target *
texture_target(struct gl_context *c, GLuint name)
{
	struct gl_context_state *s = c->state;
	if (!name || gl_no_query_zone(s))
		return NULL;
	struct gl_image_info image = gl_image_of_texture(c, name);
	if (!image.known)
		return NULL;
	struct tally_target target = {
		.width = image.width,
		.height = image.height,
		.layers = image.layers,
		.samples = image.samples,
		.n_color = 1,
		.color[0] = { .format = gl_format_name(image.format),
			      .samples = image.samples,
			      .layers = image.layers },
	};
	return tally_stream_intern_target(s->stream, &target);
}

enum destination { TO_TEXTURE, TO_BUFFER, TO_BOUND };

static void
transfer(struct gl_context *c, enum gl_transfer what, enum destination where, GLuint name)
{
	struct gl_context_state *s = c->state;
	if (gl_compiles_only(s) || gl_idles(s))
		return;
	/* Copies from the framebuffer and mipmaps are drawn. */
	bool at_once = where != TO_BOUND && what != GL_XFER_MIPMAP;
	GLuint bound = where == TO_BOUND && !gl_no_query_zone(s) ? gl_bound_texture(c, name) : 0;
	if (bound) {
		name = bound;
		where = TO_TEXTURE;
	}
	struct gl_pass_request w = {
		.kind = TALLY_PASS_TRANSFER,
		.key = gl_mix(gl_mix(what, name), where),
		.target = where == TO_TEXTURE ? texture_target(c, name) : NULL,
		.flags = what == GL_XFER_MIPMAP ? TALLY_FLAG(MIPMAP) : 0,
		.command = what == GL_XFER_CLEAR ? "clear" : "copy",
		.at_once = at_once,
	};
	if (!enter_other(c, &w))
		return;
	if (what == GL_XFER_CLEAR)
		c->pending.clears++;
	else
		c->pending.copies++;
}

void
gl_transfer(struct gl_context *c, enum gl_transfer what, GLenum target)
{
	transfer(c, what, TO_BOUND, target);
}

void
gl_transfer_texture(struct gl_context *c, enum gl_transfer what, GLuint name)
{
	transfer(c, what, TO_TEXTURE, name);
}

void
gl_transfer_buffer(struct gl_context *c, enum gl_transfer what, GLuint name)
{
	transfer(c, what, TO_BUFFER, name);
}

void
gl_platform_transfer(uintptr_t key)
{
	struct gl_context *c = gl_current;
	struct gl_pass_request w = {
		.kind = TALLY_PASS_TRANSFER,
		.key = gl_mix(key, 7),
		.command = "copy",
	};
	if (gl_works(c) && enter_other(c, &w))
		c->pending.copies++;
}

/* Whether the arguments alone make the driver refuse the blit. */
static bool
is_bad_blit(GLbitfield mask, GLenum filter)
{
	return mask & ~ALL_BUFFERS || (filter != GL_NEAREST && mask & ~GL_COLOR_BUFFER_BIT);
}

void
gl_blit(struct gl_context *c, GLuint read, GLuint draw, GLbitfield mask, GLenum filter)
{
	struct gl_context_state *s = c->state;
	if (gl_no_query_zone(s) || gl_idles(s) || is_bad_blit(mask, filter))
		return;
	struct gl_framebuffer *from = gl_framebuffer_resolve(
		c, read, read == s->framebuffers.draw);
	uint64_t from_key = from ? from->key : 0;
	uint32_t from_samples = from && from->target ? from->target->samples : 0;
	struct gl_framebuffer *to = gl_framebuffer_resolve(c, draw,
							   draw == s->framebuffers.draw);
	if (to && to->incomplete)
		return;
	struct gl_pass_request w = {
		.kind = TALLY_PASS_TRANSFER,
		.key = gl_mix(from_key, to ? to->key : 0),
		.target = to ? to->target : NULL,
		.command = "copy",
	};
	if (from_samples > 1 && to && to->target && to->target->samples <= 1)
		w.flags |= TALLY_FLAG(RESOLVE);
	if ((w.flags & TALLY_FLAG(RESOLVE)) && s->now.pass && s->now.fbo == from)
		s->now.pass->store = TALLY_STORE_RESOLVE;
	if (enter_other(c, &w))
		c->pending.copies++;
}

void
gl_blit_bound(struct gl_context *c, GLbitfield mask, GLenum filter)
{
	const struct gl_framebuffers *bound = &c->state->framebuffers;
	gl_blit(c, bound->read, bound->draw, mask, filter);
}

static void
readback(struct gl_context *c, const struct gl_framebuffer *from)
{
	struct gl_pass_request w = {
		.kind = TALLY_PASS_TRANSFER,
		.key = gl_mix(GL_XFER_READBACK, from ? from->key : 0),
		.target = from ? from->target : NULL,
		.flags = TALLY_FLAG(READBACK),
		.command = "copy",
	};
	if (!c->state->pixel_pack_buffer)
		w.flags |= TALLY_FLAG(SYNC);
	if (enter_other(c, &w))
		c->pending.copies++;
}

void
gl_readback_begin(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (gl_compiles_only(s))
		return;
	GLuint read = s->framebuffers.read;
	const struct gl_framebuffer *from = NULL;
	if (!gl_no_query_zone(s) && !gl_idles(s))
		from = gl_framebuffer_resolve(c, read, read == s->framebuffers.draw);
	if (!from || !from->incomplete)
		readback(c, from);
}

/* The call has returned with the data: the GPU has nothing left to do for it. */
void
gl_readback_end(struct gl_context *c)
{
	if (!c->state->pixel_pack_buffer)
		gl_wait(c);
}

void
gl_readback_done(struct gl_context *c)
{
	if (gl_works(c))
		readback(c, NULL);
}

/* ---- immediate mode and display lists ---- */

void
gl_begin(struct gl_context *c, void (*next)(GLenum), GLenum mode)
{
	struct gl_context_state *s = c->state;
	if (!GL_KNOWS_MODE(c->modes, mode)) {
		next(mode); /* an error: nothing begins */
		return;
	}
	if (!s->zone.in_begin && gl_works(c) && gl_draw_enter(c)) {
		c->pending.draws++;
		c->pending.flags |= TALLY_FLAG(IMMEDIATE);
		c->pending.unknown |= TALLY_UNKNOWN_VERTICES;
	}
	if (!gl_compiles_only(s) && !s->caps.core_profile) {
		s->zone.in_begin = true;
		c->open = 0;
	}
	next(mode);
}

void
gl_end(struct gl_context *c, void (*next)(void))
{
	next();
	c->state->zone.in_begin = false;
}

void
gl_new_list(struct gl_context *c, void (*next)(GLuint, GLenum), GLuint list, GLenum mode)
{
	struct gl_context_state *s = c->state;
	/* Commands that run while the list is compiled are counted into a
	 * pass that is already open. */
	bool measures = gl_works(c);
	/* If the driver refuses the call, no list is begun. */
	bool begins = list && !s->zone.in_begin && !s->zone.in_list && !s->caps.core_profile &&
		      (mode == GL_COMPILE || mode == GL_COMPILE_AND_EXECUTE);
	if (begins && measures && mode == GL_COMPILE_AND_EXECUTE) {
		/* No pass can begin in the list. One without a command is not listed. */
		enter_render(c, NULL, s->framebuffers.draw, true, 0);
		/* The game may begin a query in the list, where passtally's could no longer be
		 * ended. */
		gl_queries_yield_all(c);
	}
	c->open = 0;
	next(list, mode);
	if (begins)
		s->zone.in_list = mode;
}

void
gl_end_list(struct gl_context *c, void (*next)(void))
{
	next();
	c->state->zone.in_list = 0;
	gl_workload_end(c); /* before the game's queries, if there are any in lists */
	gl_yield_as_elsewhere(c);
}

/* ---- flags of a pass ---- */

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
	if (gl_compiles_only(s))
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
gl_tiling(struct gl_context *c)
{
	c->pending.flags |= TALLY_FLAG(TILING);
}
