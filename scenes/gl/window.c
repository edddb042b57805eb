/* SPDX-License-Identifier: MIT */
/* scenes/gl/window.c - the platform side of stage.h: EGL and GLX. */
#include "scenes/gl/stage.h"

#include <X11/Xlib.h>
#include <epoxy/egl.h>
#include <epoxy/glx.h>
#include <stdio.h>
#include <stdlib.h>

struct stage_window {
	Display *x11;
	Window xid;
	EGLDisplay display;
	EGLConfig config;
	EGLSurface surface;
	EGLContext context;
	GLXFBConfig fb_config;
	GLXContext glx_context;
};

struct stage_peer {
	EGLSurface surface;
	EGLContext context;
	GLXContext glx_context;
};

static bool
is_glx(const struct stage *s)
{
	return s->options.platform == STAGE_GLX;
}

static void
open_x11(struct stage *s, XVisualInfo *visual)
{
	struct stage_window *w = s->window;
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

static void
open_egl_display(struct stage *s)
{
	struct stage_window *w = s->window;
	if (s->options.platform == STAGE_X11) {
		w->x11 = XOpenDisplay(NULL);
		if (!w->x11)
			stage_skip("no X display");
		w->display = eglGetPlatformDisplayEXT(EGL_PLATFORM_X11_EXT, w->x11, NULL);
	} else {
		w->display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA,
						   EGL_DEFAULT_DISPLAY, NULL);
	}
	EGLint major, minor;
	if (!w->display || !eglInitialize(w->display, &major, &minor))
		stage_skip("no EGL display of this platform");
	bool es = s->options.api == STAGE_GLES;
	if (!eglBindAPI(es ? EGL_OPENGL_ES_API : EGL_OPENGL_API))
		stage_skip("EGL has not this API");
}

static void
choose_egl_config(struct stage *s)
{
	struct stage_window *w = s->window;
	bool es = s->options.api == STAGE_GLES;
	const EGLint wanted[] = {
		EGL_SURFACE_TYPE, s->options.platform == STAGE_X11 ? EGL_WINDOW_BIT :
			EGL_PBUFFER_BIT,
		EGL_RENDERABLE_TYPE, es ? EGL_OPENGL_ES2_BIT : EGL_OPENGL_BIT,
		EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8,
		EGL_ALPHA_SIZE, s->options.platform == STAGE_X11 ? 0 : 8,
		EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8, EGL_SAMPLES, 0, EGL_NONE,
	};
	EGLConfig configs[64];
	EGLint n = 0;
	if (!eglChooseConfig(w->display, wanted, configs, 64, &n) || n == 0)
		stage_skip("no such EGL config");
	/* The first of exactly 8 bits a channel: 10-bit ones sort before it. */
	w->config = configs[0];
	for (EGLint i = n; i-- > 0;) {
		EGLint red = 0;
		eglGetConfigAttrib(w->display, configs[i], EGL_RED_SIZE, &red);
		if (red == 8)
			w->config = configs[i];
	}
}

static EGLContext
make_egl_context(struct stage *s, EGLContext share)
{
	EGLint attributes[16];
	int n = 0;
	attributes[n++] = EGL_CONTEXT_MAJOR_VERSION;
	attributes[n++] = s->options.major;
	attributes[n++] = EGL_CONTEXT_MINOR_VERSION;
	attributes[n++] = s->options.minor;
	if (s->options.api != STAGE_GLES) {
		attributes[n++] = EGL_CONTEXT_OPENGL_PROFILE_MASK;
		attributes[n++] = s->options.api == STAGE_COMPAT
					  ? EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT
					  : EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT;
	}
	attributes[n] = EGL_NONE;
	EGLContext context =
		eglCreateContext(s->window->display, s->window->config, share, attributes);
	if (!context)
		stage_skip("no EGL context of this version");
	return context;
}

static EGLSurface
make_egl_surface(struct stage *s, bool window)
{
	struct stage_window *w = s->window;
	if (s->options.platform == STAGE_SURFACELESS)
		return EGL_NO_SURFACE;
	const EGLint size[] = { EGL_WIDTH, s->options.width, EGL_HEIGHT, s->options.height,
		EGL_NONE };
	EGLSurface surface = window ? eglCreateWindowSurface(w->display, w->config, w->xid, NULL)
				    : eglCreatePbufferSurface(w->display, w->config, size);
	if (!surface)
		stage_skip("no EGL surface");
	return surface;
}

static void
open_egl(struct stage *s)
{
	struct stage_window *w = s->window;
	open_egl_display(s);
	choose_egl_config(s);
	w->context = make_egl_context(s, EGL_NO_CONTEXT);
	if (s->options.platform == STAGE_X11) {
		EGLint visual_id = 0;
		eglGetConfigAttrib(w->display, w->config, EGL_NATIVE_VISUAL_ID, &visual_id);
		XVisualInfo wanted = { .visualid = (VisualID)visual_id };
		int n = 0;
		XVisualInfo *visual = XGetVisualInfo(w->x11, VisualIDMask, &wanted, &n);
		open_x11(s, visual);
		XFree(visual);
	}
	w->surface = make_egl_surface(s, s->options.platform == STAGE_X11);
}

static GLXContext
make_glx_context(struct stage *s, GLXContext share)
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
		s->window->x11, s->window->fb_config, share, True, attributes);
	if (!context)
		stage_skip("no GLX context of this version");
	return context;
}

static void
open_glx(struct stage *s)
{
	struct stage_window *w = s->window;
	w->x11 = XOpenDisplay(NULL);
	if (!w->x11)
		stage_skip("no X display");
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
	open_x11(s, visual);
	XFree(visual);
	w->glx_context = make_glx_context(s, NULL);
}

void
stage_open_bare(struct stage *s, const struct stage_options *options)
{
	*s = (struct stage){ .options = *options };
	s->window = calloc(1, sizeof(*s->window));
	if (!s->window)
		stage_fail("out of memory");
	if (is_glx(s))
		open_glx(s);
	else
		open_egl(s);
	stage_peer_make_current(s, NULL);
}

void
stage_peer_make_current(struct stage *s, struct stage_peer *p)
{
	struct stage_window *w = s->window;
	bool fine;
	if (is_glx(s)) {
		fine = glXMakeCurrent(w->x11, w->xid, p ? p->glx_context : w->glx_context);
	} else {
		EGLSurface surface = p ? p->surface : w->surface;
		/* The API bound is the thread's own: a new thread begins with OpenGL ES. */
		eglBindAPI(s->options.api == STAGE_GLES ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
		fine = eglMakeCurrent(w->display, surface, surface, p ? p->context : w->context);
	}
	if (!fine)
		stage_fail("make current");
}

void
stage_release(struct stage *s)
{
	if (is_glx(s))
		glXMakeCurrent(s->window->x11, None, NULL);
	else
		eglMakeCurrent(s->window->display, EGL_NO_SURFACE, EGL_NO_SURFACE,
			       EGL_NO_CONTEXT);
}

struct stage_peer *
stage_peer_create(struct stage *s, bool shared)
{
	struct stage_peer *p = calloc(1, sizeof(*p));
	if (!p)
		stage_fail("out of memory");
	if (is_glx(s)) {
		p->glx_context = make_glx_context(s, shared ? s->window->glx_context : NULL);
		return p;
	}
	p->context = make_egl_context(s, shared ? s->window->context : EGL_NO_CONTEXT);
	/* X11 configs of llvmpipe offer pbuffers too. */
	p->surface = make_egl_surface(s, false);
	return p;
}

void
stage_peer_swap(struct stage *s, struct stage_peer *p)
{
	if (s->options.end == STAGE_END_NOTHING)
		return;
	if (is_glx(s))
		glXSwapBuffers(s->window->x11, s->window->xid);
	else if (p->surface)
		eglSwapBuffers(s->window->display, p->surface);
}

/* Debuggers offer this extension, drivers do not: libglvnd gives a stub for the name all the same,
 * and programs that have it call it. */
void
stage_terminate_frame(void)
{
	void (*terminate)(void) = eglGetProcAddress("glFrameTerminatorGREMEDY");
	if (!terminate)
		stage_skip("no glFrameTerminatorGREMEDY");
	terminate();
	glGetError(); /* Mesa's stub complains */
}

void
stage_swap(struct stage *s)
{
	if (is_glx(s))
		glXSwapBuffers(s->window->x11, s->window->xid);
	else if (s->window->surface)
		eglSwapBuffers(s->window->display, s->window->surface);
}

void
stage_peer_destroy(struct stage *s, struct stage_peer *p)
{
	struct stage_window *w = s->window;
	if (is_glx(s)) {
		glXDestroyContext(w->x11, p->glx_context);
	} else {
		eglDestroyContext(w->display, p->context);
		if (p->surface)
			eglDestroySurface(w->display, p->surface);
	}
	free(p);
}

void
stage_close(struct stage *s)
{
	struct stage_window *w = s->window;
	stage_release(s);
	if (is_glx(s)) {
		glXDestroyContext(w->x11, w->glx_context);
	} else {
		eglDestroyContext(w->display, w->context);
		if (w->surface)
			eglDestroySurface(w->display, w->surface);
		eglTerminate(w->display);
	}
	if (w->xid)
		XDestroyWindow(w->x11, w->xid);
	if (w->x11)
		XCloseDisplay(w->x11);
	free(w);
	s->window = NULL;
}

void
stage_forget(struct stage *s)
{
	free(s->window);
	s->window = NULL;
}
