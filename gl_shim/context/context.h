/* SPDX-License-Identifier: MIT */
/* gl_shim/context/context.h - the shim's data about one GL context.
 *
 * A context is current to at most one thread, so that thread reads and writes it without a
 * lock. Create, destroy and make-current take the map's mutex (context.c). `gl_current` is
 * never NULL: without a context, while disabled, and while the shim itself makes calls, it is a
 * pass-through context whose `open` and `live` are 0, so every wrapper just forwards.
 */
#ifndef PASSTALLY_GL_SHIM_CONTEXT_H
#define PASSTALLY_GL_SHIM_CONTEXT_H

#include "gl_shim/context/gl_types.h"

#include "gl_enums.h" /* generated, as is the next */
#include "gl_next.h"
#include "layer/frame/stream.h"

enum gl_platform { GL_PLATFORM_GLX = 0, GL_PLATFORM_EGL };

/* The primitive modes from GL_POINTS to GL_PATCHES, and those of them that a core
 * profile and OpenGL ES lack. */
#define GL_ALL_MODES 0x7fffu
#define GL_OLD_MODES 0x0380u

/* What the open pass has counted so far. The draw wrappers add to it; when the pass closes,
 * move_pending_counts() (passes.c) makes it the pass's call_counts. `instances` and `calls` are
 * both kept as the surplus over draws, so a plain draw costs two additions. */
struct gl_pending_counts {
	uint64_t draws;
	uint64_t vertices;
	int64_t extra_instances;
	int64_t extra_calls;
	uint64_t dispatches, copies, clears; /* one call each */
	uint64_t flags; /* TALLY_FLAG(...) */
	uint32_t unknown; /* TALLY_UNKNOWN_* */
};

/* What becomes of the calls in a context. */
enum gl_live {
	GL_FORWARDED = 0, /* forwarded, nothing else */
	GL_MEASURED, /* counted: it is set up */
	GL_NEW, /* state is kept: its first work sets it up (probe.h) */
	GL_ENDED, /* the same after the capture: no work is counted any more */
};

struct gl_context {
	/* Hot: read by every wrapped draw. */
	const struct gl_next *next; /* the driver's functions, never NULL entries */
	/* A render pass is open and its target unchanged, so draws are only counted. The value
	 * is then `modes`, else 0. */
	uint32_t open;
	enum gl_live live;
	uint32_t modes; /* a bit for each primitive mode that a draw may use */
	struct gl_pending_counts pending;

	struct gl_context_state *state; /* the rest (gl_shim/context/state.h); NULL when not live */
};

/* The current context of a thread that has none, or in which the shim
 * itself is making calls. */
extern struct gl_context gl_passthrough;
extern __thread struct gl_context *gl_current __attribute__((tls_model("initial-exec")));

/* The platform's hooks (glx.c, egl.c) report with these functions what the game does. None can
 * fail, and they make GL calls only where their comments say so. */

/* A context was created. `share` may be NULL. Makes no GL call. */
void gl_context_created(enum gl_platform platform, void *handle, void *share);
/* glXDestroyContext, eglDestroyContext: called before the real call. If the context is current
 * to any thread, its record stays until it is released. If that is this thread, its pass is
 * closed and its queries are ended (GL calls). */
void gl_context_destroyed(enum gl_platform platform, void *handle);

/* The platform's handle of a drawable; 0 = none (surfaceless). */
struct gl_drawable {
	uintptr_t draw, read;
};

/* Called before a real make-current that changes something: closes the pass, ends queries,
 * reads the results that are ready (GL calls in the old context), then parks the thread in the
 * pass-through context. Returns what gl_current_back() needs. */
struct gl_context *gl_current_leave(void);
/* The real call failed: the old context is still current. */
void gl_current_back(struct gl_context *old);
/* The real call succeeded and `handle` is current now (NULL: none). Makes no GL call. The first
 * time its `next` is NULL: the caller sets it (window/dispatch.h). `indirect` says that it is a GLX
 * context without direct rendering, which only forwards. */
void gl_current_enter(enum gl_platform platform, void *handle, struct gl_drawable drawable,
		      bool indirect);
/* The context's viewport when it is current for the first time (a GL
 * call); false afterwards. */
bool gl_first_viewport(struct gl_context *c, struct tally_extent *size);
/* Whether this make-current would change nothing. Then none of the above is called. */
bool gl_current_is(enum gl_platform platform, void *handle, struct gl_drawable drawable);

/* Called before the real swap: closes the pass, ends the queries (GL calls), parks the thread in
 * the pass-through context, and returns the old one, for gl_swap_end(). */
struct gl_context *gl_current_park(void);

/* A drawable was swapped by a thread without a context: ends the frame of the context that
 * released the drawable last. Makes no GL call. */
void gl_swapped_elsewhere(struct tally_presented presented);

#endif
