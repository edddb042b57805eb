/* SPDX-License-Identifier: MIT */
/* One way to reach GL per case: is the returned function passtally's hook, and does the call
 * arrive?
 *
 *     loader CASE
 *
 * Run by run_loader.py with the shim preloaded. Exit status 0, or 1 after a message. Built twice:
 * loader-linked is linked to the GL library, loader is not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

#define SHIM "libpasstally_gl.so"
#define CHECK(condition) check(condition, #condition, __LINE__)

static int failures;

static void
check(bool ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "loader.c:%d: failed: %s\n", line, what);
	failures++;
}

/* The base name of the library that an address lies in. */
static const char *
from(const void *address)
{
	Dl_info info;
	if (!address || !dladdr(address, &info) || !info.dli_fname)
		return "(nowhere)";
	const char *slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static bool
is_from(const void *address, const char *library)
{
	bool same = strcmp(from(address), library) == 0;
	if (!same)
		fprintf(stderr, "from %s, not %s\n", from(address), library);
	return same;
}

static void *
open_gl(const char *name, int flags)
{
	void *handle = dlopen(name, flags);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return handle;
}

static struct fake_calls *
calls_of(void *handle)
{
	return dlsym(handle, "fake_calls");
}

#ifdef LOADER_LINKED

extern int overlay_swaps __attribute__((weak));
int loader_value(void) __attribute__((weak));
void *third_next_clear(void) __attribute__((weak));

static void
test_linked(void)
{
	CHECK(is_from((void *)glClear, SHIM));
	CHECK(is_from((void *)glXSwapBuffers, SHIM));
	CHECK(is_from((void *)glVertex3f, "libGL.so.1"));
	glClear(1);
	glDrawArrays(4, 0, 3);
	glVertex3f(0, 0, 0);
	glXSwapBuffers(NULL, 1);
	CHECK(fake_calls.clear == 1);
	CHECK(fake_calls.draw == 1);
	CHECK(fake_calls.vertex == 1);
	CHECK(fake_calls.swap == 1);
}

static void
test_default_linked(void)
{
	CHECK(is_from(dlsym(RTLD_DEFAULT, "glClear"), SHIM));
	CHECK(!dlerror());
	CHECK(!dlsym(RTLD_DEFAULT, "eglGetProcAddress"));
	CHECK(dlerror());
	void *program = dlopen(NULL, RTLD_NOW);
	CHECK(is_from(dlsym(program, "glClear"), SHIM));
	CHECK(is_from(dlsym(program, "glVertex3f"), "libGL.so.1"));
	CHECK(!dlsym(program, "eglGetProcAddress"));
}

static void
test_next_program(void)
{
	CHECK(is_from(dlsym(RTLD_NEXT, "glVertex3f"), "libGL.so.1"));
	CHECK(is_from(dlsym(RTLD_NEXT, "glClear"), SHIM)); /* the shim is what comes next */
}

static void
test_third_after(void)
{
	CHECK(loader_value() == 107);
	CHECK(is_from(third_next_clear(), "libGL.so.1"));
}

static void
test_third_before(void)
{
	CHECK(loader_value() == 107);
	CHECK(is_from(third_next_clear(), SHIM));
}

static void
test_overlay_linked(void)
{
	glXSwapBuffers(NULL, 1);
	CHECK(fake_calls.swap == 1);
	CHECK(overlay_swaps == 1);
	glClear(1);
	CHECK(fake_calls.clear == 1);
}

static void
test_get_proc_address(void)
{
	CHECK(is_from((void *)glXGetProcAddressARB((const unsigned char *)"glClear"), SHIM));
	CHECK(is_from((void *)glXGetProcAddress((const unsigned char *)"glXSwapBuffers"), SHIM));
	CHECK(is_from((void *)glXGetProcAddressARB((const unsigned char *)"glVertex3f"),
		      "libGL.so.1"));
	/* The other platform's name: whatever the library returns. */
	CHECK(is_from((void *)glXGetProcAddressARB((const unsigned char *)"eglSwapBuffers"),
		      "libGL.so.1"));
	/* The shim has a hook for it, but the library does not have the function. */
	CHECK(!glXGetProcAddressARB((const unsigned char *)"glDispatchCompute"));
	CHECK(!glXGetProcAddressARB((const unsigned char *)"glNoSuchCall"));
	void (*clear)(unsigned) =
		(void (*)(unsigned))glXGetProcAddressARB((const unsigned char *)"glClear");
	clear(1);
	CHECK(fake_calls.clear == 1);
}

/* PASSTALLY_DISABLE is set. */
static void
test_disabled_linked(void)
{
	CHECK(is_from((void *)glXGetProcAddressARB((const unsigned char *)"glClear"),
		      "libGL.so.1"));
	CHECK(is_from(dlsym(RTLD_DEFAULT, "glClear"), "libGL.so.1"));
	glClear(1);
	glXMakeCurrent(NULL, 1, &failures);
	glXSwapBuffers(NULL, 1);
	CHECK(fake_calls.clear == 1);
	CHECK(fake_calls.make_current == 1);
	CHECK(fake_calls.swap == 1);
}

#else

static void
test_handle(void)
{
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	void *clear = dlsym(gl, "glClear");
	CHECK(is_from(clear, SHIM));
	CHECK(!dlerror());
	CHECK(is_from(dlsym(gl, "glVertex3f"), "libGL.so.1"));
	((void (*)(unsigned))clear)(1);
	CHECK(calls_of(gl)->clear == 1);
}

/* What the library lacks stays NULL, and the message is libc's about exactly that name. */
static void
test_missing(void)
{
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	static const char *const names[] = { "glDispatchCompute", "glXMakeContextCurrent",
					     "glNoSuchCall" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(!dlsym(gl, names[i]));
		const char *message = dlerror();
		CHECK(message && strstr(message, names[i]));
		CHECK(!dlerror());
	}
	/* An earlier message is cleared after a success, as without the shim. */
	CHECK(!dlsym(gl, "glNoSuchCall"));
	CHECK(dlsym(gl, "glClear"));
	CHECK(!dlerror());
}

static void
test_dlvsym(void)
{
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	CHECK(is_from(dlvsym(gl, "glClear", "FAKE_1"), SHIM));
	CHECK(is_from(dlvsym(gl, "glVertex3f", "FAKE_1"), "libGL.so.1"));
	CHECK(!dlvsym(gl, "glNoSuchCall", "FAKE_1"));
	CHECK(dlerror());
}

/* The shim must not answer "is GL loaded already?". */
static void
test_default_absent(void)
{
	static const char *const names[] = { "glClear", "glXGetProcAddressARB", "glXSwapBuffers",
					     "eglGetProcAddress", "eglGetDisplay" };
	void *program = dlopen(NULL, RTLD_NOW);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(!dlsym(RTLD_DEFAULT, names[i]));
		const char *message = dlerror();
		CHECK(message && strstr(message, names[i]));
		CHECK(!dlsym(program, names[i]));
		CHECK(dlerror());
	}
	/* The library that opened it keeps it local: for others it is still not loaded. */
	open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	CHECK(!dlsym(RTLD_DEFAULT, "glClear"));
	open_gl("libGL.so.1", RTLD_NOW | RTLD_GLOBAL);
	CHECK(is_from(dlsym(RTLD_DEFAULT, "glClear"), SHIM));
}

/* A plug-in with its own GL library asks its own scope. */
static void
test_local_scope(void)
{
	void *user = open_gl("libuser.so", RTLD_NOW | RTLD_LOCAL);
	void *(*find)(const char *) = (void *(*)(const char *))dlsym(user, "user_find");
	CHECK(is_from(find("user_only_here"), "libuser.so"));
	CHECK(is_from(find("glClear"), SHIM));
	((void (*)(unsigned))find("glClear"))(1);
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_NOLOAD);
	CHECK(calls_of(gl)->clear == 1);
}

/* A plug-in that is linked to a GL library that no other library sees: its calls come to our
 * hooks with no look-up before them, and what comes after the shim in search order has none of
 * these names. */
static void
test_local_linked(const char *clear_from)
{
	void *user = open_gl("libuser.so", RTLD_NOW | RTLD_LOCAL);
	fake_function *(*frame)(void *) = (fake_function * (*)(void *))
		dlsym(user, "user_frame");
	fake_function *clear = frame(&failures);
	CHECK(is_from((void *)clear, clear_from));
	CHECK(clear == frame(&failures));
	((void (*)(unsigned))clear)(1);
	const struct fake_calls *calls = calls_of(open_gl("libGL.so.1", RTLD_NOW | RTLD_NOLOAD));
	CHECK(calls->make_current == 4);
	CHECK(calls->clear == 3);
	CHECK(calls->draw == 2);
	CHECK(calls->swap == 2);
}

static void
test_local_linked_on(void)
{
	test_local_linked(SHIM);
}

static void
test_local_linked_disabled(void)
{
	test_local_linked("libGL.so.1");
}

/* Calls reach a library that no other library sees, and whose GetProcAddress is never asked
 * for. */
static void
test_local_calls(void)
{
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*make_current)(void *, unsigned long, void *) =
		(int (*)(void *, unsigned long, void *))dlsym(gl, "glXMakeCurrent");
	void (*swap)(void *, unsigned long) =
		(void (*)(void *, unsigned long))dlsym(gl, "glXSwapBuffers");
	void (*draw)(unsigned, int,
		     int) = (void (*)(unsigned, int, int))dlsym(gl, "glDrawArrays");
	CHECK(is_from((void *)swap, SHIM));
	CHECK(make_current(NULL, 1, &failures) == 1);
	draw(4, 0, 3);
	swap(NULL, 1);
	CHECK(make_current(NULL, 0, NULL) == 1);
	const struct fake_calls *calls = calls_of(gl);
	CHECK(calls->make_current == 2);
	CHECK(calls->draw == 1);
	CHECK(calls->swap == 1);
}

/* SDL closes the library with the window and opens it again with the next. */
static void
test_reload(void)
{
	for (int i = 0; i < 3; i++) {
		void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
		void (*swap)(void *, unsigned long) =
			(void (*)(void *, unsigned long))dlsym(gl, "glXSwapBuffers");
		void (*clear)(unsigned) = (void (*)(unsigned))dlsym(gl, "glClear");
		CHECK(is_from((void *)swap, SHIM));
		int before = calls_of(gl)->swap;
		swap(NULL, 1);
		clear(1);
		CHECK(calls_of(gl)->swap == before + 1);
		CHECK(dlclose(gl) == 0);
	}
}

/* Bound to its own libraries first: it bypasses the shim, as documented, and works. */
static void
test_deepbind(void)
{
	void *user = open_gl("libuser.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	void *(*clear)(void) = (void *(*)(void))dlsym(user, "user_clear");
	CHECK(is_from(clear(), "libGL.so.1"));
	((void (*)(unsigned))clear())(1);
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_NOLOAD);
	CHECK(calls_of(gl)->clear == 1);
}

/* A program built before glibc 2.34. */
#if defined(__x86_64__)
__asm__(".symver old_dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__i386__)
__asm__(".symver old_dlsym, dlsym@GLIBC_2.0");
#else
__asm__(".symver old_dlsym, dlsym@GLIBC_2.17");
#endif
extern void *old_dlsym(void *handle, const char *name);

static void
test_old_import(void)
{
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	CHECK(is_from(old_dlsym(gl, "glClear"), SHIM));
	CHECK(is_from(old_dlsym(gl, "glVertex3f"), "libGL.so.1"));
}

static void
test_early(void)
{
	void **early = dlsym(RTLD_DEFAULT, "early_clear");
	CHECK(early && is_from(*early, SHIM));
	/* A library that was not opened by dlopen() asks for a name that does not exist, or
	 * that is not for it. */
	void *(*find)(void *, const char *) =
		(void *(*)(void *, const char *))dlsym(RTLD_DEFAULT, "early_find");
	void *program = dlopen(NULL, RTLD_NOW);
	CHECK(find && !find(RTLD_DEFAULT, "glClear"));
	CHECK(find && !find(program, "glClear"));
	CHECK(find && !find(program, "glTexImage3DOES"));
	CHECK(dlerror());
	open_gl("libGL.so.1", RTLD_NOW | RTLD_GLOBAL);
	CHECK(find && is_from(find(program, "glClear"), SHIM));
	CHECK(find && !find(program, "glTexImage3DOES"));
}

/* The GL stack looks names up for itself; ANGLE and libraries that are not GL libraries are
 * left alone. */
static void
test_others(void)
{
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	void *vendor = open_gl("libGLX_vendor.so.0", RTLD_NOW | RTLD_LOCAL);
	void *(*find)(void *, const char *) =
		(void *(*)(void *, const char *))dlsym(vendor, "vendor_find");
	CHECK(is_from(find(gl, "glClear"), "libGL.so.1"));
	void *angle = open_gl("libEGL.so", RTLD_NOW | RTLD_LOCAL);
	CHECK(is_from(dlsym(angle, "eglSwapBuffers"), "libEGL.so"));
	void *impostor = open_gl("libengine.so", RTLD_NOW | RTLD_LOCAL);
	CHECK(is_from(dlsym(impostor, "glClear"), "libengine.so"));
}

/* Each of two overlays goes to libc's dlsym, not to the other's: the one whose dlsym comes
 * first receives the program's look-ups. In no order is a call lost or made twice. */
static void
test_overlay(const char *clear_from, int swaps_seen)
{
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	void (*swap)(void *, unsigned long) =
		(void (*)(void *, unsigned long))dlsym(gl, "glXSwapBuffers");
	void (*clear)(unsigned) = (void (*)(unsigned))dlsym(gl, "glClear");
	CHECK(is_from((void *)clear, clear_from));
	swap(NULL, 1);
	clear(1);
	CHECK(calls_of(gl)->swap == 1);
	CHECK(calls_of(gl)->clear == 1);
	int *seen = dlsym(RTLD_DEFAULT, "overlay_swaps");
	CHECK(seen && *seen == swaps_seen);
}

static void
test_overlay_before(void)
{
	test_overlay("libGL.so.1", 1);
}

static void
test_overlay_after(void)
{
	test_overlay(SHIM, 0);
}

static void
test_disabled(void)
{
	void *gl = open_gl("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	CHECK(is_from(dlsym(gl, "glClear"), "libGL.so.1"));
	CHECK(!dlsym(RTLD_DEFAULT, "glClear"));
}

/* The status is passed on, and a vfork child's exit is not the parent's. */
static void
test_exit(void)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0)
		_exit(7);
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	child = fork();
	if (child == 0)
		_Exit(8);
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 8);
	child = vfork();
	if (child == 0)
		_exit(9);
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9);
}

#endif

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
#ifdef LOADER_LINKED
	{ "linked", test_linked },
	{ "default", test_default_linked },
	{ "next", test_next_program },
	{ "third-after", test_third_after },
	{ "third-before", test_third_before },
	{ "overlay", test_overlay_linked },
	{ "get-proc-address", test_get_proc_address },
	{ "disabled", test_disabled_linked },
#else
	{ "handle", test_handle },
	{ "missing", test_missing },
	{ "dlvsym", test_dlvsym },
	{ "default-absent", test_default_absent },
	{ "local-scope", test_local_scope },
	{ "local-linked", test_local_linked_on },
	{ "local-linked-disabled", test_local_linked_disabled },
	{ "local-calls", test_local_calls },
	{ "reload", test_reload },
	{ "deepbind", test_deepbind },
	{ "old-import", test_old_import },
	{ "early", test_early },
	{ "others", test_others },
	{ "overlay-before", test_overlay_before },
	{ "overlay-after", test_overlay_after },
	{ "disabled", test_disabled },
	{ "exit", test_exit },
#endif
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		cases[i].run();
		return failures ? 1 : 0;
	}
	fprintf(stderr, "usage: loader CASE\n");
	return 2;
}
