/* SPDX-License-Identifier: MIT */
/* tests/fake_gl/perf_egl.c - the fake performance queries below a real program: an EGL vendor.
 *
 * libglvnd loads it in place of Mesa's (__EGL_VENDOR_LIBRARY_FILENAMES); it hands everything to
 * Mesa, adds the extensions that FAKE_PERF asks for, and counts draws and vertices on their way.
 * FAKE_PERF_REPORT names the file that says at exit what happened. One mutex: any thread may call,
 * but there is one set of objects for all contexts. With FAKE_QUERIES, GL's own queries
 * misbehave (query_faults.h), in single-threaded programs.
 */
#include <dlfcn.h>
#include <glvnd/libeglabi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_gl/perf.h"
#include "tests/fake_gl/query_faults.h"

#define GL_VENDOR 0x1F00
#define GL_EXTENSIONS 0x1F03
#define GL_NUM_EXTENSIONS 0x821D
#define EXPORTED __attribute__((visibility("default")))

typedef void (*function)(void);

static function (*next_get_proc)(const char *);
static bool misbehaves; /* FAKE_QUERIES is set */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards fake_perf */

/* Mesa's functions for the wrapped ones, found when they are asked for. */
static struct {
	unsigned (*GetError)(void);
	const unsigned char *(*GetString)(unsigned);
	const unsigned char *(*GetStringi)(unsigned, unsigned);
	void (*GetIntegerv)(unsigned, int *);
	void (*Flush)(void);
	void (*Finish)(void);
	void (*Clear)(unsigned);
	void (*DrawArrays)(unsigned, int, int);
	void (*DrawElements)(unsigned, int, unsigned, const void *);
	void (*DrawArraysInstanced)(unsigned, int, int, int);
	void (*DrawElementsInstanced)(unsigned, int, unsigned, const void *, int);
	unsigned (*SwapBuffers)(void *, void *);
	unsigned (*DestroyContext)(void *, void *);
} next;

static void
count(uint64_t draws, uint64_t vertices)
{
	pthread_mutex_lock(&mutex);
	fake_perf_work(draws, vertices);
	pthread_mutex_unlock(&mutex);
}

static void
tick(void)
{
	pthread_mutex_lock(&mutex);
	fake_perf_tick();
	pthread_mutex_unlock(&mutex);
}

static unsigned
get_error(void)
{
	pthread_mutex_lock(&mutex);
	unsigned error = fake_perf_get_error();
	pthread_mutex_unlock(&mutex);
	return error ? error : next.GetError();
}

/* All extensions in one string, for contexts that still support that. */
static const unsigned char *
get_string(unsigned name)
{
	static char *joined;
	const unsigned char *text = next.GetString(name);

	if (name == GL_VENDOR && fake_perf.config.vendor[0])
		return (const unsigned char *)fake_perf.config.vendor;
	if (name != GL_EXTENSIONS || !text)
		return text;
	if (!joined) {
		size_t size = strlen((const char *)text) + 256;
		const char *more;
		joined = malloc(size);
		snprintf(joined, size, "%s", (const char *)text);
		for (unsigned i = 0; (more = fake_perf_extension(i)); i++)
			snprintf(joined + strlen(joined), size - strlen(joined), " %s", more);
	}
	return (const unsigned char *)joined;
}

static int
real_extensions(void)
{
	int n = 0;
	next.GetIntegerv(GL_NUM_EXTENSIONS, &n);
	return n;
}

static const unsigned char *
get_stringi(unsigned name, unsigned index)
{
	int real = name == GL_EXTENSIONS ? real_extensions() : 0;
	const char *ours = NULL;

	if (name == GL_EXTENSIONS && index >= (unsigned)real)
		ours = fake_perf_extension(index - (unsigned)real);
	return ours ? (const unsigned char *)ours : next.GetStringi(name, index);
}

static void
get_integerv(unsigned name, int *data)
{
	next.GetIntegerv(name, data);
	for (unsigned i = 0; name == GL_NUM_EXTENSIONS && fake_perf_extension(i); i++)
		++*data;
}

static void
flush(void)
{
	next.Flush();
	tick();
}

static void
finish(void)
{
	next.Finish();
	tick();
	fake_queries_finish();
}

static unsigned
swap_buffers(void *display, void *surface)
{
	unsigned fine = next.SwapBuffers(display, surface);
	tick();
	fake_queries_tick();
	return fine;
}

/* For programs of one context only: its objects are destroyed with it. */
static unsigned
destroy_context(void *display, void *context)
{
	pthread_mutex_lock(&mutex);
	fake_perf_destroy_context();
	pthread_mutex_unlock(&mutex);
	return next.DestroyContext(display, context);
}

static void
clear(unsigned mask)
{
	count(0, 0);
	next.Clear(mask);
}

static void
draw_arrays(unsigned mode, int first, int n)
{
	count(1, (uint64_t)n);
	next.DrawArrays(mode, first, n);
}

static void
draw_elements(unsigned mode, int n, unsigned type, const void *indices)
{
	count(1, (uint64_t)n);
	next.DrawElements(mode, n, type, indices);
}

static void
draw_arrays_instanced(unsigned mode, int first, int n, int instances)
{
	count(1, (uint64_t)n * (uint64_t)instances);
	next.DrawArraysInstanced(mode, first, n, instances);
}

static void
draw_elements_instanced(unsigned mode, int n, unsigned type, const void *indices, int instances)
{
	count(1, (uint64_t)n * (uint64_t)instances);
	next.DrawElementsInstanced(mode, n, type, indices, instances);
}

static const struct {
	const char *name;
	function *behind;
	function ours;
} wrapped[] = {
#define ROW(api, call, ours) { api #call, (function *)&next.call, (function)(ours) }
	ROW("gl", GetError, get_error),
	ROW("gl", GetString, get_string),
	ROW("gl", GetStringi, get_stringi),
	ROW("gl", GetIntegerv, get_integerv),
	ROW("gl", Flush, flush),
	ROW("gl", Finish, finish),
	ROW("gl", Clear, clear),
	ROW("gl", DrawArrays, draw_arrays),
	ROW("gl", DrawElements, draw_elements),
	ROW("gl", DrawArraysInstanced, draw_arrays_instanced),
	ROW("gl", DrawElementsInstanced, draw_elements_instanced),
	ROW("egl", SwapBuffers, swap_buffers),
	ROW("egl", DestroyContext, destroy_context),
#undef ROW
};
#define N_WRAPPED (sizeof(wrapped) / sizeof(wrapped[0]))

static void *
get_proc(const char *name)
{
	void *fake = fake_perf_function(name);
	if (fake)
		return fake;
	/* Mesa has a stub for each of these names, whatever the driver offers. */
	if (strncmp(name, "gl", 2) == 0 && (strstr(name, "Perf") != NULL))
		return NULL;
	function found = next_get_proc(name);
	void *faulty = found && misbehaves ? fake_queries_function(name, found) : NULL;
	if (faulty)
		return faulty;
	for (size_t i = 0; found && i < N_WRAPPED; i++) {
		if (strcmp(name, wrapped[i].name) == 0) {
			*wrapped[i].behind = found;
			return (void *)(uintptr_t)wrapped[i].ours;
		}
	}
	return (void *)(uintptr_t)found;
}

__attribute__((destructor)) static void
report(void)
{
	fake_perf_report(getenv("FAKE_PERF_REPORT"));
	fake_queries_report(getenv("FAKE_QUERIES_REPORT"));
}

EXPORTED EGLBoolean __egl_Main(uint32_t version, const __EGLapiExports *exports,
			       __EGLvendorInfo *vendor, __EGLapiImports *imports);

EGLBoolean
__egl_Main(uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
	   __EGLapiImports *imports)
{
	void *mesa = dlopen("libEGL_mesa.so.0", RTLD_NOW | RTLD_LOCAL);
	__PFNEGLMAINPROC main =
		mesa ? (__PFNEGLMAINPROC)(uintptr_t)dlsym(mesa, "__egl_Main") : NULL;

	misbehaves = getenv("FAKE_QUERIES") != NULL;
	if (!fake_perf_configure(getenv("FAKE_PERF")) ||
	    !fake_queries_configure(getenv("FAKE_QUERIES")))
		return EGL_FALSE;
	if (!main || !main(version, exports, vendor, imports))
		return EGL_FALSE;
	next_get_proc = (function(*)(const char *))(uintptr_t)imports->getProcAddress;
	imports->getProcAddress = get_proc;
	/* Other wrappers need these, whichever function is looked up first. */
	for (size_t i = 0; i < N_WRAPPED; i++)
		*wrapped[i].behind = next_get_proc(wrapped[i].name);
	fake_queries_use(next.Finish);
	return EGL_TRUE;
}
