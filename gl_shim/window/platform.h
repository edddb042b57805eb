/* SPDX-License-Identifier: MIT */
/* gl_shim/window/platform.h - the hooks of GLX and EGL (glx.c, egl.c), and their common functions.
 *
 * The hooks, most of which are generated from hooks.rules, call the real function, return its
 * result unchanged, and report its effect to context.h. Without a real function a hook does
 * nothing and returns 0. Any thread. The shim calls the window system rarely: for a drawable's
 * size, at most once a second unless the viewport changed, and before the game's own call, so
 * that EGL's error code remains the game's.
 */
#ifndef PASSTALLY_GL_SHIM_PLATFORM_H
#define PASSTALLY_GL_SHIM_PLATFORM_H

#include "gl_shim/context/context.h"
#include "layer/event/event.h"

/* ---- shared by glx.c and egl.c: platform.c ---- */

/* The result of GetProcAddress: our hook for `name` if we have one and `real` is not NULL, else
 * `real`. Of the platforms' own functions only those that begin with `prefix` are hooked. */
void *gl_platform_proc(const char *name, void *real, const char *prefix);
/* The driver's gl* function as dlsym finds it, for when GetProcAddress (`lookup`, may be NULL)
 * must not be asked, does not know the name, or returns our hook because its library does not
 * bind to its own symbols. */
void *gl_platform_symbol(const char *name, const void *lookup);

/* Surrounds a real make-current. `release_only`: nothing is current
 * here and nothing will be. */
struct gl_switch {
	bool on;
	struct gl_context *old;
	enum gl_platform platform;
	void *handle;
	struct gl_drawable drawable;
};
struct gl_switch gl_switch_begin(enum gl_platform platform, void *handle,
				 struct gl_drawable drawable, bool release_only);
void gl_switch_end(const struct gl_switch *s, bool succeeded, void *(*lookup)(const char *name),
		   bool indirect);

/* Surrounds a real swap. `whole` false: only a part is shown, which ends a frame only if the
 * drawable has not been swapped as a whole for a second. */
struct gl_present {
	bool on, whole;
	struct gl_context *context;
	uintptr_t drawable;
	struct tally_clock_wait wait;
};
struct gl_present gl_present_begin(uintptr_t drawable, bool whole);
void gl_present_end(const struct gl_present *p, bool succeeded);

/* Called at a swap: whether the drawable's size must be queried, because it may have
 * changed. */
bool gl_drawable_outdated(uintptr_t drawable);
/* Queries the size from GLX; EGL is only queried around the game's own EGL calls. */
void gl_glx_measure(void *display, uintptr_t drawable);

/* In a forked child: frees the lock, which another thread may have held. */
void gl_egl_forked_child(void);

/* ---- functions that the generated hooks call (hooks.rules) ---- */

/* A fence, or a wait, of GLX or EGL in the thread's own context: see frames.h. */
void gl_platform_fence(void);
struct tally_clock_wait gl_platform_wait(void);

/* The program set the swap interval of the thread's own drawable. */
void gl_platform_paced(int interval);

/* gl_platform_proc() for functions. */
static inline void (*gl_platform_hook(const char *name, void (*real)(void),
				      const char *prefix))(void)
{
	void *hook = gl_platform_proc(name, (void *)(uintptr_t)real, prefix);
	return (void (*)(void))(uintptr_t)hook;
}

/* glx.c: a swap, a new context (NULL: none), the end of one, a pbuffer that was made with this size
 * (0 x 0: see its attributes), and a make-current. */
struct gl_present gl_glx_present_begin(Display *dpy, GLXDrawable drawable, bool whole);
void gl_glx_made(GLXContext context, GLXContext share);
void gl_glx_unmake(GLXContext context);
void
gl_glx_made_pbuffer(GLXPbuffer pbuffer, uint32_t width, uint32_t height, const int *attributes);
struct gl_switch gl_glx_switch_begin(GLXDrawable draw, GLXDrawable read, GLXContext context);
void gl_glx_switch_end(const struct gl_switch *s, Display *dpy, Bool result);

/* egl.c: the same. gl_egl_tracks() is called before the context is made, as it queries EGL. */
struct gl_present gl_egl_present_begin(EGLDisplay dpy, EGLSurface surface, bool whole);
bool gl_egl_tracks(void);
void gl_egl_made(bool tracked, EGLDisplay dpy, EGLContext context, EGLContext share);
void gl_egl_unmake(EGLDisplay dpy, EGLContext context);
void gl_egl_unmake_all(EGLDisplay dpy);

#endif
