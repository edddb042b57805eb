/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/work.h - the GL commands that are work: counts each and finds its pass.
 *
 * The wrappers (generated from hooks.rules) call these, only where gl_works() unless noted. A
 * pass starts lazily, at the first work command whose kind or target differs from the open
 * pass's; binding alone starts nothing. The rules are in docs/passes.md. Owner thread of the
 * context only; nothing but `--snapshot exact` (snapshot.h) waits for the GPU.
 */
#ifndef PASSTALLY_GL_SHIM_WORK_H
#define PASSTALLY_GL_SHIM_WORK_H

#include "gl_shim/context/probe.h"
#include "gl_shim/pass/events.h"
#include "gl_shim/pass/frames.h"

/* ---- counting, inline in every draw wrapper ---- */

/* Checks, from the arguments alone, of calls that the driver refuses: such a call draws
 * nothing. The wrappers check before they count. */
#define GL_KNOWS_MODE(modes, mode) ((mode) < 32 && ((modes) >> (mode) & 1))
#define GL_IS_INDEX(type) (((type) & ~6u) == (0x1401u & ~6u) && ((type) & 1) && (type) != 0x1407u)

/* The value of a count that is not negative. */
#define GL_NATURAL(n) ((uint64_t)(uint32_t)(n))

#define TALLY_DRAW(c, n) ((c)->pending.draws++, (c)->pending.vertices += GL_NATURAL(n))
#define TALLY_INSTANCED(c, n, instances) \
	((c)->pending.draws++, (c)->pending.vertices += GL_NATURAL(n) * GL_NATURAL(instances), \
	 (c)->pending.extra_instances += (int64_t)GL_NATURAL(instances) - 1)
#define TALLY_MULTI(c, counts, n) gl_tally_multi(c, counts, n)
#define TALLY_INDIRECT(c, n) gl_tally_indirect(c, (int64_t)(n))
#define TALLY_INDIRECT_COUNT(c) \
	((c)->pending.extra_calls++, (c)->pending.flags |= TALLY_FLAG(INDIRECT), \
	 (c)->pending.unknown |= TALLY_UNKNOWN_DRAWS | TALLY_UNKNOWN_VERTICES | \
			     TALLY_UNKNOWN_INSTANCES)
#define TALLY_MESH(c) ((c)->pending.draws++, (c)->pending.extra_instances--)
#define TALLY_OPAQUE(c) gl_tally_indirect(c, 1)
/* A list may hold draws, clears, copies and dispatches. */
#define TALLY_LIST(c) \
	((c)->pending.extra_calls++, (c)->pending.flags |= TALLY_FLAG(LIST), \
	 (c)->pending.unknown |= TALLY_UNKNOWN_DRAWS | TALLY_UNKNOWN_VERTICES | \
			     TALLY_UNKNOWN_INSTANCES | TALLY_UNKNOWN_DISPATCHES | \
			     TALLY_UNKNOWN_COPIES | TALLY_UNKNOWN_CLEARS)

void gl_tally_multi(struct gl_context *c, const GLsizei *counts, GLsizei n);
void gl_tally_indirect(struct gl_context *c, int64_t draws);

/* ---- work ---- */

/* Whether the work that comes now is measured: sets the context up and ends the frame before it
 * where these are still to be done, so that nothing of a pass has to. */
static inline bool
gl_works(struct gl_context *c)
{
	if (!gl_measures(c))
		return false;
	gl_frame_follow(c);
	return true;
}

/* Called before a draw when c->open is 0: makes the render pass of the bound target the open
 * one. False: this draw is not work (a display list is being compiled) and is only forwarded. */
bool gl_draw_enter(struct gl_context *c);

void gl_clear(struct gl_context *c, GLbitfield mask);
void gl_clear_buffer(struct gl_context *c, GLenum buffer, GLint drawbuffer);
void gl_clear_named(struct gl_context *c, GLuint framebuffer, GLenum buffer, GLint drawbuffer);
void gl_dispatch(struct gl_context *c);

enum gl_transfer { GL_XFER_COPY = 1, GL_XFER_CLEAR, GL_XFER_MIPMAP, GL_XFER_READBACK };
/* The destination is the texture bound at a binding target (0: none), or
 * an object given by name. */
void gl_transfer(struct gl_context *c, enum gl_transfer what, GLenum target);
void gl_transfer_texture(struct gl_context *c, enum gl_transfer what, GLuint name);
void gl_transfer_buffer(struct gl_context *c, enum gl_transfer what, GLuint name);
void gl_blit(struct gl_context *c, GLuint read, GLuint draw, GLbitfield mask, GLenum filter);
void gl_blit_bound(struct gl_context *c, GLbitfield mask, GLenum filter);

/* GPU work that the platform does on the current context's behalf (glXBindTexImageEXT, ...). */
void gl_platform_transfer(uintptr_t key);

void gl_readback_begin(struct gl_context *c);
/* What the program waits for ends after gl_readback_end(), which flushes on llvmpipe. */
#define gl_readback(c, call) \
	do { \
		if (gl_works(c)) \
			gl_readback_begin(c); \
		struct tally_event event = gl_event(c, TALLY_EVENT_READBACK, "glReadPixels", 0); \
		call; \
		gl_readback_end(c); \
		if (!(c)->state->pixel_pack_buffer) \
			tally_event_end(&event); \
	} while (0)
void gl_readback_end(struct gl_context *c);
void gl_readback_done(struct gl_context *c); /* for calls whose wrapper runs after them */

void gl_begin(struct gl_context *c, void (*next)(GLenum), GLenum mode);
void gl_end(struct gl_context *c, void (*next)(void));
void gl_new_list(struct gl_context *c, void (*next)(GLuint, GLenum), GLuint list, GLenum mode);
void gl_end_list(struct gl_context *c, void (*next)(void));

/* ---- flags of a pass; in any tracked context ---- */

void gl_barrier(struct gl_context *c);
#define gl_begin_conditional(c, call) \
	do { \
		call; \
		gl_standing_flag(c, TALLY_FLAG(CONDITIONAL), true); \
	} while (0)
#define gl_end_conditional(c) gl_standing_flag(c, TALLY_FLAG(CONDITIONAL), false)
#define gl_begin_feedback(c) gl_standing_flag(c, TALLY_FLAG(TRANSFORM_FEEDBACK), true)
#define gl_end_feedback(c) gl_standing_flag(c, TALLY_FLAG(TRANSFORM_FEEDBACK), false)
void gl_standing_flag(struct gl_context *c, uint64_t flag, bool on);
void gl_render_mode(struct gl_context *c, GLenum mode);
void gl_tiling(struct gl_context *c);

#endif
