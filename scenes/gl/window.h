/* SPDX-License-Identifier: MIT */
/* scenes/gl/window.h - what a stage's platform consists of: window.c has EGL, x11.c X11 and GLX.
 *
 * The program that is installed is built with no_x11.c, where every X11 platform is skipped, so
 * that it needs no X11 library. Functions that open end the program when they cannot (stage.h). The
 * thread of the stage calls them.
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

/* Fills w->x11. */
void stage_x11_open(struct stage_window *w);
/* A window of this visual, for EGL. */
void stage_x11_window(const struct stage *s, struct stage_window *w, unsigned long visual_id);
/* Display, window and context for GLX. */
void stage_glx_open(const struct stage *s, struct stage_window *w);
void *stage_glx_context(const struct stage *s, const struct stage_window *w, void *share);
/* NULL releases what is current. */
bool stage_glx_make_current(const struct stage_window *w, void *context);
void stage_glx_swap(const struct stage_window *w);
void stage_glx_destroy(const struct stage_window *w, void *context);
/* Window and display, where there are any. */
void stage_x11_close(struct stage_window *w);

#endif
