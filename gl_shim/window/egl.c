/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "gl_shim/image/drawable.h"
#include "gl_shim/image/framebuffer.h"
#include "gl_shim/window/platform.h"
#include "gl_shim/window/real.h"
#include "layer/base/array.h"

#define EGL_LARGEST_PBUFFER 0x3058
#define EGL_FALSE 0
#define EGL_VERSION 0x3054
#define EGL_EXTENSIONS 0x3055
#define EGL_HEIGHT 0x3056
#define EGL_WIDTH 0x3057
#define EGL_OPENVG_API 0x30A1

/* Each EGL call sets the thread's error code, so each of the shim's calls comes before the
 * game's. */

/* ---- look-ups ---- */

/* Whether eglGetProcAddress knows core functions too. Before EGL 1.5 that was an extension, and
 * without it the answer for a core function may be any pointer. */
static _Atomic(bool) knows_all;

static bool
has_token(const char *list, const char *token)
{
	size_t len = strlen(token);
	for (const char *at = list; at && (at = strstr(at, token)); at += len) {
		bool starts = at == list || at[-1] == ' ';
		if (starts && (at[len] == ' ' || at[len] == '\0'))
			return true;
	}
	return false;
}

static void
learn_lookup(EGLDisplay dpy)
{
	GL_REAL_NAMED(query, "eglQueryString", const char *, EGLDisplay, EGLint);
	if (!query || !dpy)
		return;
	const char *version = query(dpy, EGL_VERSION);
	char *end = NULL;
	long major = version ? strtol(version, &end, 10) : 0;
	long minor = end && *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	bool all = major > 1 || (major == 1 && minor >= 5) ||
		   has_token(query(dpy, EGL_EXTENSIONS),
			     "EGL_KHR_get_all_proc_addresses") ||
		   has_token(query(NULL, EGL_EXTENSIONS),
			     "EGL_KHR_client_get_all_proc_addresses");
	if (all)
		atomic_store_explicit(&knows_all, true, memory_order_relaxed);
}

/* The driver's gl* functions, for the shim's own table. */
static void *
look_up(const char *name)
{
	bool all = atomic_load_explicit(&knows_all, memory_order_relaxed);
	void *found = all ? NULL : gl_platform_symbol(name, NULL);
	if (found)
		return found;
	__typeof__(eglGetProcAddress) *real = GL_REAL(eglGetProcAddress);
	found = real ? (void *)(uintptr_t)real(name) : NULL;
	if (found && !gl_real_is_own(found))
		return found;
	return gl_platform_symbol(name, (const void *)(uintptr_t)real);
}

/* OpenVG's contexts are not tracked. */
static bool
is_gl_bound(void)
{
	GL_REAL_NAMED(query, "eglQueryAPI", EGLenum, void);
	return !query || query() != EGL_OPENVG_API;
}

static EGLContext
current_context(void)
{
	GL_REAL_NAMED(query, "eglGetCurrentContext", EGLContext, void);
	return query ? query() : NULL;
}

/* ---- contexts ---- */

/* eglTerminate() ends a display's contexts without naming them, so the shim keeps a list of
 * them. */
static struct known_context {
	EGLDisplay dpy;
	EGLContext context;
} * known;
static uint32_t n_known, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list; a leaf lock */

static void
list_add(EGLDisplay dpy, EGLContext context)
{
	pthread_mutex_lock(&lock);
	/* Out of memory: the record outlives the display, which costs no more than its size. */
	if (tally_array_fit(&known, n_known, &room, sizeof(*known)))
		known[n_known++] = (struct known_context){ dpy, context };
	pthread_mutex_unlock(&lock);
}

/* Removes one context of the display from the list and returns it:
 * `context`, or any when NULL. */
static EGLContext
list_take(EGLDisplay dpy, EGLContext context)
{
	EGLContext found = NULL;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_known && !found; i++) {
		if (known[i].dpy != dpy || (context && known[i].context != context))
			continue;
		found = known[i].context;
		known[i] = known[--n_known];
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void
gl_egl_forked_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

bool
gl_egl_tracks(void)
{
	return !gl_shim_disabled() && is_gl_bound();
}

void
gl_egl_made(bool tracked, EGLDisplay dpy, EGLContext context, EGLContext share)
{
	if (!context || !tracked)
		return;
	list_add(dpy, context);
	gl_context_created(GL_PLATFORM_EGL, context, share);
}

void
gl_egl_unmake(EGLDisplay dpy, EGLContext context)
{
	if (context && list_take(dpy, context))
		gl_context_destroyed(GL_PLATFORM_EGL, context);
}

void
gl_egl_unmake_all(EGLDisplay dpy)
{
	for (EGLContext context; (context = list_take(dpy, NULL));)
		gl_context_destroyed(GL_PLATFORM_EGL, context);
}

/* ---- surfaces ---- */

/* Called before a make-current or a swap: EGL is never asked at any other time. */
static void
measure(EGLDisplay dpy, EGLSurface surface)
{
	GL_REAL_NAMED(query, "eglQuerySurface", EGLBoolean, EGLDisplay, EGLSurface, EGLint,
		      EGLint *);
	if (!query)
		return;
	EGLint width = 0, height = 0;
	struct tally_extent size = { 0 };
	if (query(dpy, surface, EGL_WIDTH, &width) && query(dpy, surface, EGL_HEIGHT, &height) &&
	    width > 0 && height > 0) {
		size.width = (uint32_t)width;
		size.height = (uint32_t)height;
	}
	gl_drawable_learn((uintptr_t)surface, size, false);
	/* Only a pbuffer has this attribute; other surfaces leave the value as it is. */
	EGLint largest = -1;
	bool pbuffer = query(dpy, surface, EGL_LARGEST_PBUFFER, &largest) && largest != -1;
	gl_drawable_learn_pbuffer((uintptr_t)surface, pbuffer);
}

__attribute__((hot)) struct gl_present
gl_egl_present_begin(EGLDisplay dpy, EGLSurface surface, bool whole)
{
	if (gl_drawable_outdated((uintptr_t)surface)) {
		measure(dpy, surface);
		gl_window_measured(gl_current);
	}
	return gl_present_begin((uintptr_t)surface, whole);
}

/* ---- make-current ---- */

/* A thread has one current context: OpenGL and OpenGL ES share it (EGL 1.5, 3.7.3), so
 * whichever was current is replaced, regardless of which of the two eglBindAPI() chose. */
EGLBoolean
eglMakeCurrent(EGLDisplay dpy, EGLSurface draw, EGLSurface read, EGLContext context)
{
	__typeof__(eglMakeCurrent) *real = GL_REAL(eglMakeCurrent);
	if (!real)
		return EGL_FALSE;
	if (!gl_egl_tracks())
		return real(dpy, draw, read, context);
	struct gl_drawable drawable = { (uintptr_t)draw, (uintptr_t)read };
	struct gl_switch s = gl_switch_begin(GL_PLATFORM_EGL, context, drawable,
					     !context && !current_context());
	if (s.on && context) {
		if (!atomic_load_explicit(&knows_all, memory_order_relaxed))
			learn_lookup(dpy);
		if (gl_drawable_stale((uintptr_t)draw))
			measure(dpy, draw);
	}
	EGLBoolean result = real(dpy, draw, read, context);
	gl_switch_end(&s, result, look_up, false);
	return result;
}

EGLBoolean
eglReleaseThread(void)
{
	__typeof__(eglReleaseThread) *real = GL_REAL(eglReleaseThread);
	if (!real)
		return EGL_FALSE;
	struct gl_drawable none = { 0 };
	bool nothing = gl_shim_disabled() || !current_context();
	struct gl_switch s = gl_switch_begin(GL_PLATFORM_EGL, NULL, none, nothing);
	EGLBoolean result = real();
	gl_switch_end(&s, result, look_up, false);
	return result;
}
