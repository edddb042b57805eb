/* SPDX-License-Identifier: MIT */
/* tests/unit/gl_shim/gl_platform_world.h - a window system, a pass tracker and look-ups that
 * log what is called: "leave enter:1" and so on. Upper case is the game's real call.
 *
 * Include it in one file of a program: it defines what gl_shim's hooks call.
 */
#ifndef PASSTALLY_TESTS_UNIT_GL_PLATFORM_WORLD_H
#define PASSTALLY_TESTS_UNIT_GL_PLATFORM_WORLD_H

#include <glib.h>
#include <string.h>

#include "gl_shim/context/state.h"
#include "gl_shim/image/drawable.h"
#include "gl_shim/pass/frames.h"
#include "gl_shim/pass/work.h"
#include "gl_shim/window/dispatch.h"
#include "gl_shim/window/platform.h"
#include "gl_shim/window/real.h"
#include "layer/base/clock.h"

static GString *said;
static uint64_t now_ns;

static bool disabled;
static bool real_fails;
static void *current_on_platform; /* what is current in the window system */
static unsigned bound_api;
static bool direct;

static inline void
say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (said->len)
		g_string_append_c(said, ' ');
	g_string_append_vprintf(said, format, args);
	va_end(args);
}

static inline void
assert_said(const char *want)
{
	g_assert_cmpstr(said->str, ==, want);
	g_string_truncate(said, 0);
}

/* ---- the pass tracker ---- */

static struct gl_context_state state;
static struct gl_context parked, tracked = { .state = &state };
__thread struct gl_context *gl_current = &parked;
static void *current_handle;
static struct gl_drawable current_drawable;
static struct tally_extent first_viewport; /* the driver's, for the first make-current */
static bool viewport_changed;

void
gl_context_created(enum gl_platform platform, void *handle, void *share)
{
	(void)platform;
	say("created:%d/%d", GPOINTER_TO_INT(handle), GPOINTER_TO_INT(share));
}

void
gl_context_destroyed(enum gl_platform platform, void *handle)
{
	(void)platform;
	say("destroyed:%d", GPOINTER_TO_INT(handle));
}

struct gl_context *
gl_current_leave(void)
{
	struct gl_context *old = gl_current;
	say("leave");
	gl_current = &parked;
	return old;
}

void
gl_current_back(struct gl_context *old)
{
	say("back");
	gl_current = old;
}

void
gl_current_enter(enum gl_platform platform, void *handle, struct gl_drawable drawable,
		 bool indirect)
{
	(void)platform;
	say(indirect ? "enter-indirect:%d" : "enter:%d", GPOINTER_TO_INT(handle));
	current_handle = handle;
	current_drawable = drawable;
	gl_current = handle && !indirect ? &tracked : &parked;
}

const struct gl_next *
gl_next_for(void *(*lookup)(const char *name))
{
	g_assert_nonnull(lookup);
	return NULL;
}

bool
gl_current_is(enum gl_platform platform, void *handle, struct gl_drawable drawable)
{
	(void)platform;
	return handle == current_handle && drawable.draw == current_drawable.draw &&
	       drawable.read == current_drawable.read;
}

struct gl_context *
gl_current_park(void)
{
	struct gl_context *old = gl_current;
	say("begin");
	gl_current = &parked;
	return old;
}

void
gl_swap_end(struct gl_context *c, bool ends_frame, struct tally_presented presented)
{
	say("end:%s:%ux%u", ends_frame ? "frame" : "part", presented.size.width,
	    presented.size.height);
	gl_current = c;
}

void
gl_swapped_elsewhere(struct tally_presented presented)
{
	say("elsewhere:%d:%ux%u", (int)presented.window - 1, presented.size.width,
	    presented.size.height);
}

bool
gl_first_viewport(struct gl_context *c, struct tally_extent *size)
{
	g_assert_true(c == &tracked);
	*size = first_viewport;
	first_viewport = (struct tally_extent){ 0 };
	return size->width != 0;
}

bool
gl_viewport_changed(struct gl_context *c)
{
	bool changed = viewport_changed;
	g_assert_true(c == &tracked);
	viewport_changed = false;
	return changed;
}

void
gl_window_measured(struct gl_context *c)
{
	g_assert_true(c == &tracked);
}

bool
gl_pass_may_end(struct gl_context *c)
{
	g_assert_true(c == gl_current);
	say("may-end");
	return true;
}

void
gl_wait(struct gl_context *c)
{
	g_assert_true(c == gl_current);
	say("wait");
}

void
gl_platform_transfer(uintptr_t key)
{
	say("transfer:%d", (int)key);
}

uint64_t
tally_clock_now_ns(void)
{
	return now_ns;
}

static unsigned waits_open; /* each call that waits must be inside its own calls.wait */

struct tally_clock_wait
tally_clock_wait_begin(void)
{
	g_assert_cmpuint(waits_open++, ==, 0);
	return (struct tally_clock_wait){ .begin_ns = now_ns };
}

uint64_t
tally_clock_wait_end(const struct tally_clock_wait *wait)
{
	if (!wait->begin_ns)
		return 0; /* none was begun */
	g_assert_cmpuint(wait->begin_ns, <=, now_ns);
	g_assert_cmpuint(waits_open--, ==, 1);
	return now_ns;
}

uint64_t
tally_event_wait_end(enum tally_event_kind kind, const char *call,
		     const struct tally_clock_wait *wait)
{
	(void)kind, (void)call;
	return tally_clock_wait_end(wait);
}

/* ---- the window system ---- */

static inline EGLContext
real_create(EGLDisplay dpy, EGLConfig config, EGLContext share, const EGLint *attributes)
{
	(void)dpy;
	(void)config;
	(void)share;
	say("CREATE");
	return real_fails ? NULL : GINT_TO_POINTER(attributes[0]);
}

static inline EGLBoolean
real_destroy(EGLDisplay dpy, EGLContext context)
{
	(void)dpy;
	(void)context;
	say("DESTROY");
	return 1;
}

static inline EGLBoolean
real_terminate(EGLDisplay dpy)
{
	(void)dpy;
	say("TERMINATE");
	return 1;
}

static inline EGLBoolean
real_make_current(EGLDisplay dpy, EGLSurface draw, EGLSurface read, EGLContext context)
{
	(void)dpy;
	(void)draw;
	(void)read;
	say("MAKE");
	if (!real_fails)
		current_on_platform = context;
	return !real_fails;
}

static inline EGLBoolean
real_release_thread(void)
{
	say("RELEASE");
	current_on_platform = NULL;
	return 1;
}

static inline EGLBoolean
real_swap(EGLDisplay dpy, EGLSurface surface)
{
	(void)dpy;
	(void)surface;
	say("SWAP");
	return !real_fails;
}

static inline EGLBoolean
real_post(EGLDisplay dpy, EGLSurface surface, EGLint x, EGLint y, EGLint width, EGLint height)
{
	(void)dpy;
	(void)surface;
	(void)x;
	(void)y;
	(void)width;
	(void)height;
	say("POST");
	return 1;
}

static char fence;

static inline EGLSync
real_create_sync(EGLDisplay dpy, EGLenum type, const EGLint *attributes)
{
	(void)dpy;
	(void)type;
	(void)attributes;
	say("SYNC");
	return &fence;
}

static inline EGLBoolean
real_wait(void)
{
	say("WAIT");
	return 1;
}

static inline EGLBoolean
real_bind_image(EGLDisplay dpy, EGLSurface surface, EGLint buffer)
{
	(void)dpy;
	(void)surface;
	(void)buffer;
	say("BIND");
	return 1;
}

static inline EGLBoolean
query_surface(EGLDisplay dpy, EGLSurface surface, EGLint attribute, EGLint *value)
{
	(void)dpy;
	(void)surface;
	if (attribute == 0x3058) /* EGL_LARGEST_PBUFFER: no pbuffer has this name here */
		return 1;
	say("size?");
	*value = attribute == 0x3057 ? 64 : 32;
	return 1;
}

static inline const char *
query_string(EGLDisplay dpy, EGLint name)
{
	(void)dpy;
	return name == 0x3054 ? "1.5 of the tests" : "";
}

static inline EGLenum
query_api(void)
{
	return bound_api;
}

static inline void *
get_current(void)
{
	return current_on_platform;
}

static inline Bool
glx_make_current(Display *dpy, GLXDrawable drawable, GLXContext context)
{
	(void)dpy;
	(void)drawable;
	say("MAKE");
	if (!real_fails)
		current_on_platform = context;
	return !real_fails;
}

static inline void
glx_swap(Display *dpy, GLXDrawable drawable)
{
	(void)dpy;
	(void)drawable;
	say("SWAP");
}

static inline int
glx_interval(int interval)
{
	(void)interval;
	say("INTERVAL");
	return real_fails;
}

static inline void
glx_interval_of(Display *dpy, GLXDrawable drawable, int interval)
{
	(void)dpy;
	(void)drawable;
	(void)interval;
	say("INTERVAL");
}

static inline EGLBoolean
egl_interval(EGLDisplay dpy, EGLint interval)
{
	(void)dpy;
	(void)interval;
	say("INTERVAL");
	return !real_fails;
}

static inline GLXPbuffer
glx_create_pbuffer(Display *dpy, GLXFBConfig config, const int *attributes)
{
	(void)dpy;
	(void)config;
	(void)attributes;
	say("PBUFFER");
	return 50;
}

static inline void
glx_query(Display *dpy, GLXDrawable drawable, int attribute, unsigned int *value)
{
	(void)dpy;
	(void)drawable;
	say("size?");
	*value = attribute == 0x801D ? 640 : 480;
}

static inline Bool
glx_is_direct(Display *dpy, GLXContext context)
{
	(void)dpy;
	(void)context;
	return direct;
}

#define POINTER(function) ((void *)(uintptr_t)(function))

void *
gl_real(enum gl_hook_row row)
{
	static const struct {
		enum gl_hook_row row;
		void (*function)(void);
	} all[] = {
		{ GL_HOOK_eglCreateContext, (void (*)(void))real_create },
		{ GL_HOOK_eglDestroyContext, (void (*)(void))real_destroy },
		{ GL_HOOK_eglTerminate, (void (*)(void))real_terminate },
		{ GL_HOOK_eglMakeCurrent, (void (*)(void))real_make_current },
		{ GL_HOOK_eglReleaseThread, (void (*)(void))real_release_thread },
		{ GL_HOOK_eglSwapBuffers, (void (*)(void))real_swap },
		{ GL_HOOK_eglPostSubBufferNV, (void (*)(void))real_post },
		{ GL_HOOK_eglBindTexImage, (void (*)(void))real_bind_image },
		{ GL_HOOK_eglCreateSyncKHR, (void (*)(void))real_create_sync },
		{ GL_HOOK_eglWaitClient, (void (*)(void))real_wait },
		{ GL_HOOK_glXWaitGL, (void (*)(void))real_wait },
		{ GL_HOOK_glXMakeCurrent, (void (*)(void))glx_make_current },
		{ GL_HOOK_glXSwapBuffers, (void (*)(void))glx_swap },
		{ GL_HOOK_glXSwapIntervalSGI, (void (*)(void))glx_interval },
		{ GL_HOOK_glXSwapIntervalEXT, (void (*)(void))glx_interval_of },
		{ GL_HOOK_eglSwapInterval, (void (*)(void))egl_interval },
		{ GL_HOOK_glXCreatePbuffer, (void (*)(void))glx_create_pbuffer },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		if (all[i].row == row)
			return POINTER(all[i].function);
	}
	return NULL;
}

void *
gl_real_named(const char *name, _Atomic(void *) *cache)
{
	(void)cache;
	static const struct {
		const char *name;
		void (*function)(void);
	} all[] = {
		{ "eglQuerySurface", (void (*)(void))query_surface },
		{ "eglQueryString", (void (*)(void))query_string },
		{ "eglQueryAPI", (void (*)(void))query_api },
		{ "eglGetCurrentContext", (void (*)(void))get_current },
		{ "glXGetCurrentContext", (void (*)(void))get_current },
		{ "glXQueryDrawable", (void (*)(void))glx_query },
		{ "glXIsDirect", (void (*)(void))glx_is_direct },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		if (strcmp(all[i].name, name) == 0)
			return POINTER(all[i].function);
	}
	return NULL;
}

bool
gl_shim_disabled(void)
{
	return disabled;
}

/* ---- look-ups ---- */

static inline void
a_hook(void)
{
}

const struct gl_hook gl_hooks[GL_N_HOOKS] = {
	{ "eglToy", a_hook, -1 },
	{ "glToy", a_hook, 3 },
	{ "glXToy", a_hook, -1 },
};
static void *learned[3];
static char own_code, driver_code;

int
gl_hook_find(const char *name)
{
	for (int i = 0; i < 3; i++) {
		if (strcmp(gl_hooks[i].name, name) == 0)
			return i;
	}
	return -1;
}

void
gl_real_learn(int row, void *real)
{
	learned[row] = real;
}

void *
gl_real_learned(int row)
{
	return learned[row];
}

bool
gl_real_is_own(const void *address)
{
	return address == &own_code;
}

void *
gl_real_next(const char *name)
{
	return strcmp(name, "glNext") == 0 ? &driver_code : NULL;
}

void *
gl_real_in_library(const char *name)
{
	return strcmp(name, "glPlugIn") == 0 ? &driver_code : NULL;
}

struct link_map *
gl_real_owner(const void *address)
{
	(void)address;
	return NULL;
}

void *
gl_real_symbol(const struct link_map *map, const char *name)
{
	(void)map;
	(void)name;
	return NULL;
}

#endif
