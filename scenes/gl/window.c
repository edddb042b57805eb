/* SPDX-License-Identifier: MIT */
/* scenes/gl/window.c - the platform side of stage.h: EGL, and GLX through
 * tests/apps/stage_x11.c. */
#include "scenes/gl/stage.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "scenes/gl/window.h"

struct stage_peer {
	EGLSurface surface;
	EGLContext context;
	void *glx_context;
};

static bool
is_glx(const struct stage *s)
{
	return s->options.platform == STAGE_GLX;
}

static bool
has_devices(void)
{
	return epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
	       epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration");
}

static EGLDisplay
device_display(int number)
{
	EGLDeviceEXT devices[64];
	EGLint n = 0;
	if (!eglQueryDevicesEXT(64, devices, &n) || number >= n)
		stage_no_device();
	return eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[number], NULL);
}

static void
open_egl_display(struct stage *s)
{
	struct stage_window *w = s->window;
	if (!epoxy_has_egl())
		stage_skip("libEGL is not installed, by which this asks: GLX may work");
	if (s->options.platform == STAGE_X11) {
		stage_x11_open(w);
		w->display = eglGetPlatformDisplayEXT(EGL_PLATFORM_X11_EXT, w->x11, NULL);
	} else if (s->options.platform == STAGE_DISPLAY) {
		w->display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
	} else if (s->options.platform == STAGE_DEVICE && has_devices()) {
		w->display = device_display(s->options.device);
	} else {
		if (s->options.device > 0)
			stage_no_device();
		if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
			stage_skip("EGL has no driver that draws without a display");
		w->display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA,
						   EGL_DEFAULT_DISPLAY, NULL);
	}
	EGLint major, minor;
	if (!w->display || !eglInitialize(w->display, &major, &minor))
		stage_skip("no EGL display of this platform");
	bool es = s->options.api == STAGE_GLES;
	/* Where it is missing libepoxy ends the program. */
	if (es && !dlopen("libGLESv2.so.2", RTLD_LAZY))
		stage_skip("libGLESv2 is not installed");
	if (!eglBindAPI(es ? EGL_OPENGL_ES_API : EGL_OPENGL_API))
		stage_skip("EGL has not this API");
}

static void
choose_egl_config(struct stage *s)
{
	struct stage_window *w = s->window;
	bool es = s->options.api == STAGE_GLES;
	bool window = s->options.platform == STAGE_X11 || s->options.platform == STAGE_DISPLAY;
	const EGLint wanted[] = {
		EGL_SURFACE_TYPE, window ? EGL_WINDOW_BIT : EGL_PBUFFER_BIT,
		EGL_RENDERABLE_TYPE, es ? EGL_OPENGL_ES2_BIT : EGL_OPENGL_BIT,
		EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8,
		EGL_ALPHA_SIZE, window ? 0 : 8,
		EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8, EGL_SAMPLES, 0, EGL_NONE,
	};
	EGLConfig configs[64];
	EGLint n = 0;
	if (!eglChooseConfig(w->display, wanted, configs, 64, &n) || n == 0)
		stage_skip("no such EGL config");
	/* The first one with exactly 8 bits per channel: 10-bit ones sort before it. */
	w->config = configs[0];
	for (EGLint i = n; i-- > 0;) {
		EGLint red = 0;
		eglGetConfigAttrib(w->display, configs[i], EGL_RED_SIZE, &red);
		if (red == 8)
			w->config = configs[i];
	}
}

/* Without a version a driver gives OpenGL's highest one; of OpenGL ES it gives 1. */
static EGLContext
make_highest_context(struct stage *s)
{
	struct stage_window *w = s->window;
	bool es = s->options.api == STAGE_GLES;
	for (EGLint major = 3; major > 1; major--) {
		const EGLint attributes[] = { es ? EGL_CONTEXT_CLIENT_VERSION : EGL_NONE, major,
					      EGL_NONE };
		EGLContext context = eglCreateContext(w->display, w->config, EGL_NO_CONTEXT,
						      attributes);
		if (context)
			return context;
	}
	stage_skip("no EGL context of this API");
}

static EGLContext
make_egl_context(struct stage *s, EGLContext share)
{
	if (!s->options.major)
		return make_highest_context(s);
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
	if (!stage_has_surface(&s->options))
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
		EGLint visual = 0;
		eglGetConfigAttrib(w->display, w->config, EGL_NATIVE_VISUAL_ID, &visual);
		stage_x11_window(s, w, (unsigned long)visual);
	}
	w->surface = make_egl_surface(s, s->options.platform == STAGE_X11);
}

void
stage_open_bare(struct stage *s, const struct stage_options *options)
{
	*s = (struct stage){ .options = *options };
	s->window = calloc(1, sizeof(*s->window));
	if (!s->window)
		stage_fail("out of memory");
	if ((is_glx(s) || s->options.platform == STAGE_X11) && !stage_x11_open)
		stage_skip("built without X11");
	if (is_glx(s))
		stage_glx_open(s, s->window);
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
		fine = stage_glx_make_current(w, p ? p->glx_context : w->glx_context);
	} else {
		EGLSurface surface = p ? p->surface : w->surface;
		/* The bound API belongs to the thread: a new thread begins with OpenGL ES. */
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
		stage_glx_make_current(s->window, NULL);
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
		p->glx_context =
			stage_glx_context(s, s->window, shared ? s->window->glx_context : NULL);
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
		stage_glx_swap(s->window);
	else if (p->surface)
		eglSwapBuffers(s->window->display, p->surface);
}

/* Debuggers offer this extension, drivers do not: libglvnd still gives a stub for the name, and
 * programs that have it call it. */
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
		stage_glx_swap(s->window);
	else if (s->window->surface)
		eglSwapBuffers(s->window->display, s->window->surface);
}

void
stage_peer_destroy(struct stage *s, struct stage_peer *p)
{
	struct stage_window *w = s->window;
	if (is_glx(s)) {
		stage_glx_destroy(w, p->glx_context);
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
		stage_glx_destroy(w, w->glx_context);
	} else {
		eglDestroyContext(w->display, w->context);
		if (w->surface)
			eglDestroySurface(w->display, w->surface);
		eglTerminate(w->display);
	}
	if (w->x11)
		stage_x11_close(w);
	free(w);
	s->window = NULL;
}
