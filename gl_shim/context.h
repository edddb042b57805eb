/* gl_shim/context.h - what the shim knows about one GL context.
 *
 * A context is current to at most one thread, so its owner's thread reads and writes it without a
 * lock; create, destroy and make-current take the map's mutex (context.c). `gl_current` is never
 * NULL: with no context, while disabled and while the shim itself works, it is a pass-through
 * context whose `open` and `live` are 0, so every wrapper just forwards.
 */
#ifndef PASSTALLY_GL_SHIM_CONTEXT_H
#define PASSTALLY_GL_SHIM_CONTEXT_H

#include "gl_shim/gl_enums.h"
#include "gl_shim/gl_types.h"

#include "gl_next.h" /* generated */
#include "layer/stream.h"

enum gl_platform { GL_PLATFORM_GLX = 0, GL_PLATFORM_EGL };

/* From GL_POINTS to GL_PATCHES; a core profile and OpenGL ES lack the second. */
#define GL_ALL_MODES 0x7fffu
#define GL_OLD_MODES 0x0380u

/* Counted by the draw wrappers, moved to the pass when it closes. `instances` is kept as the
 * surplus over draws, `calls` as the surplus over draws too: a plain draw costs two adds. */
struct gl_hot {
	uint64_t draws;
	uint64_t vertices;
	int64_t extra_instances;
	int64_t extra_calls;
	uint64_t dispatches, copies, clears; /* one call each */
	uint64_t flags; /* TALLY_FLAG(...) */
	uint32_t unknown; /* TALLY_UNKNOWN_* */
};

struct gl_context {
	/* Hot: read by every wrapped draw. */
	const struct gl_next *next; /* the driver's functions, never NULL entries */
	/* A render pass is open, its target unchanged: just count. Then it is `modes`, else 0. */
	uint32_t open;
	int live; /* this context is tracked; 0 = forward and do nothing */
	uint32_t modes; /* a bit for each primitive that a draw may name */
	struct gl_hot hot;

	struct gl_context_state *state; /* all else: gl_shim/state.h; NULL when not live */
};

/* Where a thread stands that has no context, or in which the shim itself is at work. */
extern struct gl_context gl_passthrough;
extern __thread struct gl_context *gl_current __attribute__((tls_model("initial-exec")));

/* How the platform's hooks (glx.c, egl.c) report what the game does. None fails; all make GL calls
 * only where said. `lookup` is the provider's real GetProcAddress for gl* names. */

/* A context was made. `share` may be NULL. No GL call. */
void gl_context_created(enum gl_platform platform, void *display, void *handle, void *share);
/* glXDestroyContext, eglDestroyContext: before the real call. Where the context is current
 * anywhere its record lives on until it is released; where that is this thread, its pass is closed
 * and its queries are ended (GL calls). */
void gl_context_destroyed(enum gl_platform platform, void *display, void *handle);

/* A drawable as the platform knows it; 0 = none (surfaceless). */
struct gl_drawable {
	void *display;
	uintptr_t draw, read;
};

/* Before a real make-current that is not a mere repetition: closes the pass, ends queries, reads
 * what is ready (GL calls in the old context), then parks the thread in the pass-through
 * context. Returns what gl_current_back() needs. */
struct gl_context *gl_current_leave(void);
/* The real call failed: the old context is still current. */
void gl_current_back(struct gl_context *old);
/* The real call succeeded: `handle` is current now (NULL: none). No GL call is made. `indirect`:
 * a GLX context that is not direct: forward only. */
void gl_current_enter(enum gl_platform platform, void *handle, struct gl_drawable drawable,
		      void *(*lookup)(const char *name), bool indirect);
/* The context's viewport when it is current for the first time (a GL call); false later on. */
bool gl_first_viewport(struct gl_context *c, struct tally_extent *size);
/* Would this make-current change nothing? Then none of the above is called. */
bool gl_current_is(enum gl_platform platform, void *handle, struct gl_drawable drawable);

/* Around the real swap of `drawable`. begin: closes the pass (GL calls) and parks the thread in
 * the pass-through context; end: comes back, ends the frame when `ends_frame`, reads results. The
 * size is the drawable's, 0 x 0 when unknown. */
struct gl_context *gl_swap_begin(uintptr_t drawable);
void
gl_swap_end(struct gl_context *c, uintptr_t drawable, bool ends_frame, struct tally_extent size);

/* A swap of a drawable by a thread without a context: ends the frame of the context that gave it up
 * last. No GL call. */
void gl_swapped_elsewhere(uintptr_t drawable, struct tally_extent size);

/* GPU work that the platform does on the current context's behalf (glXBindTexImageEXT, ...). */
void gl_platform_transfer(uintptr_t key);

#endif
