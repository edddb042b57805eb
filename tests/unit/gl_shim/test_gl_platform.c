/* SPDX-License-Identifier: MIT */
/* glx.c, egl.c and platform.c over a window system and a pass tracker that log what is called:
 * "leave enter:1" and so on. Upper case is the game's real call. */
#include "tests/unit/gl_shim/gl_platform_world.h"

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
		{ "glXToy", "egl", true, false, false, false, -1 }, /* a stub only */
		{ "eglToy", "glX", true, false, false, false, -1 },
		{ "glOther", "glX", true, false, false, false, -1 }, /* not hooked */
		{ "glToy", "glX", false, false, false, false, -1 },  /* NULL stays NULL */
		{ "glToy", "glX", true, true, false, true, -1 },     /* already the shim's */
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
	/* Only where GetProcAddress was asked and does not have it. */
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
	/* passtally's calls come first: eglGetError is the game's. */
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
	g_assert_true(eglDestroyContext(DPY, GINT_TO_POINTER(4))); /* not a known one */
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
	assert_said("SWAP elsewhere:30:64x32 BIND"); /* not a known context */
	gl_current = &tracked;
	gl_drawable_forget((uintptr_t)SURFACE);
	g_assert_true(eglSwapBuffers(DPY, SURFACE));
	assert_said("size? size? begin SWAP end:frame:64x32");
	g_assert_true(eglSwapBuffers(DPY, SURFACE));
	assert_said("begin SWAP end:frame:64x32");
	real_fails = true;
	g_assert_false(eglSwapBuffers(DPY, SURFACE));
	assert_said("begin SWAP end:part:0x0");
	real_fails = false;
	g_assert_true(gl_current == &tracked);
	g_assert_true(eglPostSubBufferNV(DPY, SURFACE, 0, 0, 1, 1));
	assert_said("begin POST end:part:64x32"); /* whole swaps end this one's frames */
	now_ns += 1000000000;
	g_assert_true(eglPostSubBufferNV(DPY, SURFACE, 0, 0, 1, 1));
	assert_said("size? size? begin POST end:frame:64x32");
	g_assert_true(eglBindTexImage(DPY, SURFACE, 0));
	assert_said("transfer:30 BIND");
	/* What the driver lacks. */
	g_assert_false(eglSwapBuffersWithDamageKHR(DPY, SURFACE, NULL, 0));
	g_assert_null(eglGetProcAddress("glToy"));
	assert_said("");
}

/* What glFenceSync and glFinish do, by the platform's names. */
static void
test_fences(void)
{
	start();
	g_assert_true(eglCreateSyncKHR(DPY, 0x30F9, NULL) == &fence);
	g_assert_true(eglWaitClient());
	assert_said("SYNC WAIT"); /* no context of ours */
	gl_current = &tracked;
	g_assert_true(eglCreateSyncKHR(DPY, 0x30F9, NULL) == &fence);
	assert_said("may-end SYNC");
	g_assert_true(eglWaitClient());
	glXWaitGL();
	assert_said("wait WAIT wait WAIT");
	/* What the driver lacks. */
	g_assert_null(eglCreateSync(DPY, 0x30F9, NULL));
	g_assert_false(eglClientWaitSync(DPY, &fence, 0, 0));
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
	assert_said("size? size? begin SWAP end:frame:640x480 begin SWAP "
		    "end:frame:640x480 begin SWAP end:frame:640x480");
	now_ns += 1000000000; /* it may have been resized */
	glXSwapBuffers(dpy, 40);
	assert_said("size? size? begin SWAP end:frame:640x480");
	viewport_changed = true; /* it certainly was resized */
	glXSwapBuffers(dpy, 40);
	glXSwapBuffers(dpy, 40);
	assert_said("size? size? begin SWAP end:frame:640x480 begin SWAP "
		    "end:frame:640x480");
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
	struct tally_extent first = gl_drawable_size(43).size;
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
	struct tally_extent size = gl_drawable_size(50).size;
	g_assert_cmpuint(size.width, ==, 300);
	g_assert_cmpuint(size.height, ==, 200);
	assert_said("PBUFFER");
	/* As large as available: the size is queried by make-current or swap. A draw does not
	 * query it: the pbuffer may be destroyed while it is current, and X then ends the
	 * program. */
	glXCreatePbuffer(dpy, NULL, largest);
	g_assert_true(gl_drawable_stale(50));
	size = gl_drawable_size(50).size;
	g_assert_cmpuint(size.width, ==, 0);
	assert_said("PBUFFER");
	glXCreatePbuffer(dpy, NULL, NULL);
	g_assert_true(gl_drawable_stale(50));
}

/* The interval that the program sets is of the drawable that is current, or named. */
static void
test_swap_interval(void)
{
	Display *dpy = (Display *)DPY;
	start();
	gl_current = &tracked;
	state.drawable.draw = 60;
	g_assert_cmpint(gl_drawable_size(60).interval, ==, GL_INTERVAL_UNKNOWN);
	g_assert_cmpint(glXSwapIntervalSGI(2), ==, 0);
	g_assert_cmpint(gl_drawable_size(60).interval, ==, 2);
	glXSwapIntervalEXT(dpy, 61, -1);
	g_assert_cmpint(gl_drawable_size(61).interval, ==, -1);
	g_assert_true(eglSwapInterval(DPY, 0));
	g_assert_cmpint(gl_drawable_size(60).interval, ==, 0);
	real_fails = true;
	g_assert_cmpint(glXSwapIntervalSGI(3), !=, 0);
	g_assert_false(eglSwapInterval(DPY, 3));
	g_assert_cmpint(gl_drawable_size(60).interval, ==, 0);
	assert_said("INTERVAL INTERVAL INTERVAL INTERVAL INTERVAL");
	gl_current = &parked;
	state.drawable.draw = 0;
}

/* When there are more drawables than room, those used last are kept. */
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
	struct tally_extent size = gl_drawable_size(1100).size;
	g_assert_cmpuint(size.width, ==, 100);
	gl_drawable_forget(5000); /* unknown: no other entry is dropped for it */
	g_assert_false(gl_drawable_stale(1060));
	gl_drawable_forget(1100);
	g_assert_true(gl_drawable_stale(1100));
	g_assert_false(gl_drawable_stale(0)); /* none */
	size = gl_drawable_size(0).size;
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
	g_test_add_func("/gl_platform/fences", test_fences);
	g_test_add_func("/gl_platform/glx", test_glx);
	g_test_add_func("/gl_platform/pbuffer", test_pbuffer);
	g_test_add_func("/gl_platform/swap_interval", test_swap_interval);
	g_test_add_func("/gl_platform/drawables", test_drawables);
	int status = g_test_run();
	g_string_free(said, TRUE);
	return status;
}
