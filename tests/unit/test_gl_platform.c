/* SPDX-License-Identifier: MIT */
/* glx.c, egl.c and platform.c over a window system and a pass tracker that write down what is
 * called: "leave enter:1" and so on. Upper case is the game's real call. */
#include <glib.h>
#include <string.h>

#include "gl_shim/drawable.h"
#include "gl_shim/platform.h"
#include "gl_shim/real.h"
#include "gl_shim/state.h"
#include "layer/base/clock.h"

static GString *said;
static uint64_t now_ns;
static bool disabled;
static bool real_fails;
static void *current_on_platform; /* what the window system has current */
static unsigned bound_api;
static bool direct;

static void
say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (said->len)
		g_string_append_c(said, ' ');
	g_string_append_vprintf(said, format, args);
	va_end(args);
}

static void
assert_said(const char *want)
{
	g_assert_cmpstr(said->str, ==, want);
	g_string_truncate(said, 0);
}

/* ---- the pass tracker ---- */

static struct gl_context parked, tracked;
__thread struct gl_context *gl_current = &parked;
static void *current_handle;
static struct gl_drawable current_drawable;
static struct tally_extent first_viewport; /* the driver's, for the first make-current */
static bool viewport_changed;

void
gl_context_created(enum gl_platform platform, void *display, void *handle, void *share)
{
	(void)platform;
	(void)display;
	say("created:%d/%d", GPOINTER_TO_INT(handle), GPOINTER_TO_INT(share));
}

void
gl_context_destroyed(enum gl_platform platform, void *display, void *handle)
{
	(void)platform;
	(void)display;
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
		 void *(*lookup)(const char *name), bool indirect)
{
	(void)platform;
	g_assert_nonnull(lookup);
	say(indirect ? "enter-indirect:%d" : "enter:%d", GPOINTER_TO_INT(handle));
	current_handle = handle;
	current_drawable = drawable;
	gl_current = handle && !indirect ? &tracked : &parked;
}

bool
gl_current_is(enum gl_platform platform, void *handle, struct gl_drawable drawable)
{
	(void)platform;
	return handle == current_handle && drawable.draw == current_drawable.draw &&
	       drawable.read == current_drawable.read;
}

struct gl_context *
gl_swap_begin(uintptr_t drawable)
{
	struct gl_context *old = gl_current;
	say("begin:%d", (int)drawable);
	gl_current = &parked;
	return old;
}

void
gl_swap_end(struct gl_context *c, uintptr_t drawable, bool ends_frame, struct tally_extent size)
{
	say("end:%d:%s:%ux%u", (int)drawable, ends_frame ? "frame" : "part", size.width,
	    size.height);
	gl_current = c;
}

void
gl_swapped_elsewhere(uintptr_t drawable, struct tally_extent size)
{
	say("elsewhere:%d:%ux%u", (int)drawable, size.width, size.height);
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
gl_platform_transfer(uintptr_t key)
{
	say("transfer:%d", (int)key);
}

uint64_t
tally_clock_now_ns(void)
{
	return now_ns;
}

/* ---- the window system ---- */

static EGLContext
real_create(EGLDisplay dpy, EGLConfig config, EGLContext share, const EGLint *attributes)
{
	(void)dpy;
	(void)config;
	(void)share;
	say("CREATE");
	return real_fails ? NULL : GINT_TO_POINTER(attributes[0]);
}

static EGLBoolean
real_destroy(EGLDisplay dpy, EGLContext context)
{
	(void)dpy;
	(void)context;
	say("DESTROY");
	return 1;
}

static EGLBoolean
real_terminate(EGLDisplay dpy)
{
	(void)dpy;
	say("TERMINATE");
	return 1;
}

static EGLBoolean
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

static EGLBoolean
real_release_thread(void)
{
	say("RELEASE");
	current_on_platform = NULL;
	return 1;
}

static EGLBoolean
real_swap(EGLDisplay dpy, EGLSurface surface)
{
	(void)dpy;
	(void)surface;
	say("SWAP");
	return !real_fails;
}

static EGLBoolean
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

static EGLBoolean
real_bind_image(EGLDisplay dpy, EGLSurface surface, EGLint buffer)
{
	(void)dpy;
	(void)surface;
	(void)buffer;
	say("BIND");
	return 1;
}

static EGLBoolean
query_surface(EGLDisplay dpy, EGLSurface surface, EGLint attribute, EGLint *value)
{
	(void)dpy;
	(void)surface;
	say("size?");
	*value = attribute == 0x3057 ? 64 : 32;
	return 1;
}

static const char *
query_string(EGLDisplay dpy, EGLint name)
{
	(void)dpy;
	return name == 0x3054 ? "1.5 of the tests" : "";
}

static EGLenum
query_api(void)
{
	return bound_api;
}

static void *
get_current(void)
{
	return current_on_platform;
}

static Bool
glx_make_current(Display *dpy, GLXDrawable drawable, GLXContext context)
{
	(void)dpy;
	(void)drawable;
	say("MAKE");
	if (!real_fails)
		current_on_platform = context;
	return !real_fails;
}

static void
glx_swap(Display *dpy, GLXDrawable drawable)
{
	(void)dpy;
	(void)drawable;
	say("SWAP");
}

static GLXPbuffer
glx_create_pbuffer(Display *dpy, GLXFBConfig config, const int *attributes)
{
	(void)dpy;
	(void)config;
	(void)attributes;
	say("PBUFFER");
	return 50;
}

static void
glx_query(Display *dpy, GLXDrawable drawable, int attribute, unsigned int *value)
{
	(void)dpy;
	(void)drawable;
	say("size?");
	*value = attribute == 0x801D ? 640 : 480;
}

static Bool
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
		{ GL_HOOK_glXMakeCurrent, (void (*)(void))glx_make_current },
		{ GL_HOOK_glXSwapBuffers, (void (*)(void))glx_swap },
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

static void
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

static void
test_proc(void)
{
	void *hook = POINTER(a_hook);
	static const struct {
		const char *name, *prefix;
		bool known, own, off;
		bool want_hook;
		int learns;
	} cases[] = {
		{ "glToy", "glX", true, false, false, true, 1 },
		{ "glToy", "egl", true, false, false, true, 1 },
		{ "glXToy", "glX", true, false, false, true, 2 },
		{ "glXToy", "egl", true, false, false, false, -1 }, /* a stub to nowhere */
		{ "eglToy", "glX", true, false, false, false, -1 },
		{ "glOther", "glX", true, false, false, false, -1 }, /* no hook of ours */
		{ "glToy", "glX", false, false, false, false, -1 },  /* NULL stays NULL */
		{ "glToy", "glX", true, true, false, true, -1 },     /* already ours */
		{ "glToy", "glX", true, false, true, false, -1 },    /* disabled */
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		void *real = !cases[i].known ? NULL : cases[i].own ? &own_code : &driver_code;
		memset(learned, 0, sizeof(learned));
		disabled = cases[i].off;
		void *got = gl_platform_proc(cases[i].name, real, cases[i].prefix);
		disabled = false;
		g_assert_true(got == (cases[i].want_hook ? hook : real));
		for (int row = 0; row < 3; row++)
			g_assert_true(learned[row] == (row == cases[i].learns ? real : NULL));
	}
	memset(learned, 0, sizeof(learned));
	g_assert_null(gl_platform_symbol("glToy", NULL));
	learned[1] = &driver_code;
	g_assert_true(gl_platform_symbol("glToy", NULL) == &driver_code);
	g_assert_true(gl_platform_symbol("glNext", NULL) == &driver_code);
	/* Only where GetProcAddress was asked and has none. */
	g_assert_null(gl_platform_symbol("glPlugIn", NULL));
	g_assert_true(gl_platform_symbol("glPlugIn", &driver_code) == &driver_code);
}

/* ---- EGL ---- */

#define DPY GINT_TO_POINTER(9)
#define SURFACE GINT_TO_POINTER(30)

static void
start(void)
{
	now_ns += UINT64_C(3600000000000);
	bound_api = 0x30A2; /* EGL_OPENGL_API */
	direct = true;
	disabled = real_fails = false;
	current_handle = current_on_platform = NULL;
	current_drawable = (struct gl_drawable){ 0 };
	tracked.live = 1;
	gl_current = &parked;
	g_string_truncate(said, 0);
}

static void
test_egl_current(void)
{
	start();
	g_assert_true(eglMakeCurrent(DPY, SURFACE, SURFACE, GINT_TO_POINTER(1)));
	/* Our calls first: eglGetError is the game's. */
	assert_said("leave size? size? MAKE enter:1");
	g_assert_true(eglMakeCurrent(DPY, SURFACE, SURFACE, GINT_TO_POINTER(1)));
	assert_said("MAKE"); /* nothing changes */
	g_assert_true(eglMakeCurrent(DPY, NULL, NULL, GINT_TO_POINTER(1)));
	assert_said("leave MAKE enter:1"); /* surfaceless: nothing to measure */
	real_fails = true;
	g_assert_false(eglMakeCurrent(DPY, NULL, NULL, GINT_TO_POINTER(2)));
	assert_said("leave MAKE back"); /* the old one is still current */
	g_assert_true(gl_current == &tracked);
	real_fails = false;
	g_assert_true(eglMakeCurrent(DPY, NULL, NULL, NULL));
	assert_said("leave MAKE enter:0");
	current_handle = GINT_TO_POINTER(7); /* GLX's, on the same thread */
	g_assert_true(eglMakeCurrent(DPY, NULL, NULL, NULL));
	assert_said("MAKE");
	g_assert_true(eglReleaseThread());
	assert_said("RELEASE");
	current_on_platform = GINT_TO_POINTER(7);
	g_assert_true(eglReleaseThread());
	assert_said("leave RELEASE enter:0");
	bound_api = 0x30A1; /* EGL_OPENVG_API */
	g_assert_true(eglMakeCurrent(DPY, NULL, NULL, GINT_TO_POINTER(3)));
	assert_said("MAKE");
	bound_api = 0x30A0;
	disabled = true;
	g_assert_true(eglMakeCurrent(DPY, NULL, NULL, GINT_TO_POINTER(4)));
	g_assert_true(eglReleaseThread());
	assert_said("MAKE RELEASE");
}

static void
test_egl_contexts(void)
{
	static const EGLint id[] = { 0, 1, 2, 3, 4 };
	start();
	g_assert_true(eglCreateContext(DPY, NULL, NULL, &id[1]) == GINT_TO_POINTER(1));
	g_assert_nonnull(eglCreateContext(DPY, NULL, GINT_TO_POINTER(1), &id[2]));
	g_assert_nonnull(eglCreateContext(SURFACE, NULL, NULL, &id[3])); /* another display */
	assert_said("CREATE created:1/0 CREATE created:2/1 CREATE created:3/0");
	real_fails = true;
	g_assert_null(eglCreateContext(DPY, NULL, NULL, &id[4]));
	real_fails = false;
	bound_api = 0x30A1;
	g_assert_nonnull(eglCreateContext(DPY, NULL, NULL, &id[4]));
	assert_said("CREATE CREATE");
	bound_api = 0x30A0;
	g_assert_true(eglDestroyContext(DPY, GINT_TO_POINTER(1)));
	g_assert_true(eglDestroyContext(DPY, GINT_TO_POINTER(4))); /* not one of ours */
	assert_said("destroyed:1 DESTROY DESTROY");
	g_assert_true(eglTerminate(DPY));
	assert_said("destroyed:2 TERMINATE");
	g_assert_true(eglTerminate(DPY));
	assert_said("TERMINATE");
	g_assert_true(eglTerminate(SURFACE));
	assert_said("destroyed:3 TERMINATE");
	/* More than the list begins with. */
	for (int i = 0; i < 100; i++)
		eglCreateContext(DPY, NULL, NULL, &id[1]);
	g_string_truncate(said, 0);
	g_assert_true(eglTerminate(DPY));
	g_assert_cmpuint(said->len, ==, 100 * strlen("destroyed:1 ") + strlen("TERMINATE"));
}

static void
test_egl_swaps(void)
{
	start();
	g_assert_true(eglSwapBuffers(DPY, SURFACE));
	g_assert_true(eglBindTexImage(DPY, SURFACE, 0));
	assert_said("SWAP elsewhere:30:64x32 BIND"); /* no context of ours */
	gl_current = &tracked;
	gl_drawable_forget((uintptr_t)SURFACE);
	g_assert_true(eglSwapBuffers(DPY, SURFACE));
	assert_said("size? size? begin:30 SWAP end:30:frame:64x32");
	g_assert_true(eglSwapBuffers(DPY, SURFACE));
	assert_said("begin:30 SWAP end:30:frame:64x32");
	real_fails = true;
	g_assert_false(eglSwapBuffers(DPY, SURFACE));
	assert_said("begin:30 SWAP end:30:part:64x32");
	real_fails = false;
	g_assert_true(gl_current == &tracked);
	g_assert_true(eglPostSubBufferNV(DPY, SURFACE, 0, 0, 1, 1));
	assert_said("begin:30 POST end:30:part:64x32"); /* whole swaps end this one's frames */
	now_ns += 1000000000;
	g_assert_true(eglPostSubBufferNV(DPY, SURFACE, 0, 0, 1, 1));
	assert_said("size? size? begin:30 POST end:30:frame:64x32");
	g_assert_true(eglBindTexImage(DPY, SURFACE, 0));
	assert_said("transfer:30 BIND");
	/* What the driver lacks. */
	g_assert_false(eglSwapBuffersWithDamageKHR(DPY, SURFACE, NULL, 0));
	g_assert_null(eglGetProcAddress("glToy"));
	assert_said("");
}

/* ---- GLX ---- */

static void
test_glx(void)
{
	Display *dpy = (Display *)DPY;
	GLXContext context = (GLXContext)GINT_TO_POINTER(1);
	start();
	g_assert_true(glXMakeCurrent(dpy, 40, context));
	assert_said("leave MAKE enter:1"); /* the X server is not asked here */
	for (int i = 0; i < 3; i++)
		glXSwapBuffers(dpy, 40);
	assert_said("size? size? begin:40 SWAP end:40:frame:640x480 begin:40 SWAP "
		    "end:40:frame:640x480 begin:40 SWAP end:40:frame:640x480");
	now_ns += 1000000000; /* it may have been resized */
	glXSwapBuffers(dpy, 40);
	assert_said("size? size? begin:40 SWAP end:40:frame:640x480");
	viewport_changed = true; /* it surely was */
	glXSwapBuffers(dpy, 40);
	glXSwapBuffers(dpy, 40);
	assert_said("size? size? begin:40 SWAP end:40:frame:640x480 begin:40 SWAP "
		    "end:40:frame:640x480");
	real_fails = true;
	g_assert_false(glXMakeCurrent(dpy, 41, context));
	assert_said("leave MAKE back");
	real_fails = false;
	direct = false;
	g_assert_true(glXMakeCurrent(dpy, 42, context));
	assert_said("leave MAKE enter-indirect:1"); /* nothing is asked of such a server */
	glXSwapBuffers(dpy, 42);
	assert_said("SWAP elsewhere:42:0x0");
	g_assert_true(glXMakeCurrent(dpy, 0, NULL));
	assert_said("leave MAKE enter:0");
	glXSwapBuffers(dpy, 40); /* by a thread without a context: legal, and a frame ends */
	assert_said("SWAP elsewhere:40:640x480");
	direct = true;
	first_viewport = (struct tally_extent){ 320, 240 };
	g_assert_true(glXMakeCurrent(dpy, 43, context));
	assert_said("leave MAKE enter:1");
	struct tally_extent first = gl_drawable_size(43);
	g_assert_cmpuint(first.width, ==, 320);
	g_assert_true(glXMakeCurrent(dpy, 0, NULL));
	assert_said("leave MAKE enter:0");
	current_handle = GINT_TO_POINTER(7); /* EGL's, on the same thread */
	g_assert_true(glXMakeCurrent(dpy, 0, NULL));
	assert_said("MAKE");
	g_assert_false(glXMakeContextCurrent(dpy, 1, 2, context)); /* the driver lacks it */
	assert_said("");
}

static void
test_pbuffer(void)
{
	static const int sized[] = { 0x8041, 300, 0x8040, 200, 0 };
	static const int largest[] = { 0x801C, 1, 0x8041, 300, 0x8040, 200, 0 };
	Display *dpy = (Display *)DPY;
	start();
	glXCreatePbuffer(dpy, NULL, sized);
	now_ns += UINT64_C(5000000000); /* it never changes */
	struct tally_extent size = gl_drawable_size(50);
	g_assert_cmpuint(size.width, ==, 300);
	g_assert_cmpuint(size.height, ==, 200);
	assert_said("PBUFFER");
	/* As large as can be had: to be asked, by make-current or swap. A draw does not ask: the
	 * pbuffer may be destroyed while it is current, and X ends a program that asks then. */
	glXCreatePbuffer(dpy, NULL, largest);
	g_assert_true(gl_drawable_stale(50));
	size = gl_drawable_size(50);
	g_assert_cmpuint(size.width, ==, 0);
	assert_said("PBUFFER");
	glXCreatePbuffer(dpy, NULL, NULL);
	g_assert_true(gl_drawable_stale(50));
}

/* Of more drawables than there is room for, those used last are known. */
static void
test_drawables(void)
{
	start();
	for (uintptr_t d = 1; d <= 100; d++) {
		struct tally_extent size = { (uint32_t)d, 1 };
		gl_drawable_learn(d + 1000, size, false);
		gl_drawable_learn(1001, (struct tally_extent){ 1, 1 }, false);
	}
	g_assert_false(gl_drawable_stale(1100));
	g_assert_false(gl_drawable_stale(1001)); /* used all the time */
	g_assert_false(gl_drawable_stale(1060));
	g_assert_true(gl_drawable_stale(1010));
	struct tally_extent size = gl_drawable_size(1100);
	g_assert_cmpuint(size.width, ==, 100);
	gl_drawable_forget(5000); /* unknown: nobody makes room for it */
	g_assert_false(gl_drawable_stale(1060));
	gl_drawable_forget(1100);
	g_assert_true(gl_drawable_stale(1100));
	g_assert_false(gl_drawable_stale(0)); /* none */
	size = gl_drawable_size(0);
	g_assert_cmpuint(size.width, ==, 0);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	said = g_string_new(NULL);
	g_test_add_func("/gl_platform/proc", test_proc);
	g_test_add_func("/gl_platform/egl/current", test_egl_current);
	g_test_add_func("/gl_platform/egl/contexts", test_egl_contexts);
	g_test_add_func("/gl_platform/egl/swaps", test_egl_swaps);
	g_test_add_func("/gl_platform/glx", test_glx);
	g_test_add_func("/gl_platform/pbuffer", test_pbuffer);
	g_test_add_func("/gl_platform/drawables", test_drawables);
	int status = g_test_run();
	g_string_free(said, TRUE);
	return status;
}
