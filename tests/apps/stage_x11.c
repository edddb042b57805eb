/* SPDX-License-Identifier: MIT */
#include <X11/Xlib.h>
#include <epoxy/glx.h>

#include "scenes/gl/window.h"

static void
open_window(const struct stage *s, struct stage_window *w, XVisualInfo *visual)
{
	XSetWindowAttributes attributes = { .border_pixel = 0 };
	unsigned long mask = CWBorderPixel;
	Window root = DefaultRootWindow(w->x11);
	if (visual) {
		attributes.colormap = XCreateColormap(w->x11, root, visual->visual, AllocNone);
		mask |= CWColormap;
	}
	w->xid = XCreateWindow(w->x11, root, 0, 0, (unsigned)s->options.width,
			       (unsigned)s->options.height, 0,
			       visual ? visual->depth : CopyFromParent, InputOutput,
			       visual ? visual->visual : CopyFromParent, mask, &attributes);
	XMapWindow(w->x11, w->xid);
	XSync(w->x11, False);
}

void
stage_x11_open(struct stage_window *w)
{
	w->x11 = XOpenDisplay(NULL);
	if (!w->x11)
		stage_skip("no X display");
}

void
stage_x11_window(const struct stage *s, struct stage_window *w, unsigned long visual_id)
{
	XVisualInfo wanted = { .visualid = visual_id };
	int n = 0;
	XVisualInfo *visual = XGetVisualInfo(w->x11, VisualIDMask, &wanted, &n);
	open_window(s, w, visual);
	XFree(visual);
}

void *
stage_glx_context(const struct stage *s, const struct stage_window *w, void *share)
{
	int profile = s->options.api == STAGE_COMPAT ? GLX_CONTEXT_COMPATIBILITY_PROFILE_BIT_ARB
						     : GLX_CONTEXT_CORE_PROFILE_BIT_ARB;
	if (s->options.api == STAGE_GLES)
		profile = GLX_CONTEXT_ES2_PROFILE_BIT_EXT;
	const int attributes[] = {
		GLX_CONTEXT_MAJOR_VERSION_ARB, s->options.major, GLX_CONTEXT_MINOR_VERSION_ARB,
		s->options.minor, GLX_CONTEXT_PROFILE_MASK_ARB, profile, None,
	};
	GLXContext context = glXCreateContextAttribsARB(
		w->x11, w->fb_config, share, True, attributes);
	if (!context)
		stage_skip("no GLX context of this version");
	return context;
}

void
stage_glx_open(const struct stage *s, struct stage_window *w)
{
	stage_x11_open(w);
	static const int wanted[] = {
		GLX_X_RENDERABLE,
		True,
		GLX_DOUBLEBUFFER,
		True,
		GLX_RED_SIZE,
		8,
		GLX_GREEN_SIZE,
		8,
		GLX_BLUE_SIZE,
		8,
		GLX_DEPTH_SIZE,
		24,
		GLX_STENCIL_SIZE,
		8,
		None,
	};
	int n = 0;
	GLXFBConfig *configs = glXChooseFBConfig(w->x11, DefaultScreen(w->x11), wanted, &n);
	if (!configs || n == 0)
		stage_skip("no such GLX config");
	w->fb_config = configs[0];
	XFree(configs);
	XVisualInfo *visual = glXGetVisualFromFBConfig(w->x11, w->fb_config);
	open_window(s, w, visual);
	XFree(visual);
	w->glx_context = stage_glx_context(s, w, NULL);
}

bool
stage_glx_make_current(const struct stage_window *w, void *context)
{
	return glXMakeCurrent(w->x11, context ? w->xid : None, context);
}

void
stage_glx_swap(const struct stage_window *w)
{
	glXSwapBuffers(w->x11, w->xid);
}

void
stage_glx_destroy(const struct stage_window *w, void *context)
{
	glXDestroyContext(w->x11, context);
}

void
stage_x11_close(struct stage_window *w)
{
	if (w->xid)
		XDestroyWindow(w->x11, w->xid);
	XCloseDisplay(w->x11);
}
