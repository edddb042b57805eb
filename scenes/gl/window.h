/* SPDX-License-Identifier: MIT */
/* scenes/gl/window.h - the parts of a stage's platform: window.c has EGL, the tests' own
 * stage_x11.c X11 and GLX.
 *
 * The installed program is built without the latter, so that it needs no X11 library: its
 * functions are NULL there, and stage_open_bare() skips every X11 platform. Functions that open end
 * the program when they cannot (stage.h). The thread of the stage calls them.
 */
#ifndef PASSTALLY_SCENES_GL_WINDOW_H
#define PASSTALLY_SCENES_GL_WINDOW_H

#include <epoxy/egl.h>

#include "scenes/gl/stage.h"

struct stage_window {
	void *x11; /* Display *, NULL = none */
	unsigned long xid;
	EGLDisplay display;
	EGLConfig config;
	EGLSurface surface;
	EGLContext context;
	void *fb_config, *glx_context; /* GLX's types are pointers */
};

#define STAGE_WEAK __attribute__((weak))

/* Fills w->x11. */
STAGE_WEAK void stage_x11_open(struct stage_window *w);
/* Makes a window of this visual, for EGL. */
STAGE_WEAK void
stage_x11_window(const struct stage *s, struct stage_window *w, unsigned long visual_id);
/* Display, window and context for GLX. */
STAGE_WEAK void stage_glx_open(const struct stage *s, struct stage_window *w);
STAGE_WEAK void *
stage_glx_context(const struct stage *s, const struct stage_window *w, void *share);
/* NULL releases the current context. */
STAGE_WEAK bool stage_glx_make_current(const struct stage_window *w, void *context);
STAGE_WEAK void stage_glx_swap(const struct stage_window *w);
STAGE_WEAK void stage_glx_destroy(const struct stage_window *w, void *context);
/* Destroys window and display, if there are any. */
STAGE_WEAK void stage_x11_close(struct stage_window *w);

#endif
