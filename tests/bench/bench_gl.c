/* SPDX-License-Identifier: MIT */
/* What one GL program pays: frames of N passes with M draws each, timed by the thread's own clock.
 *
 * The same program runs bare, with the shim loaded but disabled, and capturing; tests/bench/run.py
 * compares. The GL library is opened by path and reached through eglGetProcAddress, as games do.
 * One line of JSON goes to stdout.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include "bench.h"

#define N_TARGETS 16
#define MAX_THREADS 64

/* glDrawArrays as eglGetProcAddress gives it, glDrawArraysInstanced, or glDrawArrays as called
 * by a program that is linked with its GL library: the shim's own function, if it is loaded. */
enum draw_kind { DRAW_ARRAYS = 0, DRAW_INSTANCED, DRAW_LINKED };

extern void linked_draw(GLenum mode, GLint first, GLsizei count) __asm__("glDrawArrays")
	__attribute__((weak));

struct options {
	const char *library;
	enum draw_kind draw_kind;
	unsigned passes, draws, frames, warm_up, threads, pause_us;
};

struct calls {
	void *(*get_proc_address)(const char *); /* a data pointer: only its bits are wanted */
	EGLDisplay (*get_display)(EGLNativeDisplayType);
	EGLBoolean (*initialize)(EGLDisplay, EGLint *, EGLint *);
	EGLBoolean (*bind_api)(EGLenum);
	EGLBoolean (*choose_config)(EGLDisplay, const EGLint *, EGLConfig *, EGLint, EGLint *);
	EGLContext (*create_context)(EGLDisplay, EGLConfig, EGLContext, const EGLint *);
	EGLBoolean (*destroy_context)(EGLDisplay, EGLContext);
	EGLSurface (*create_pbuffer)(EGLDisplay, EGLConfig, const EGLint *);
	EGLBoolean (*destroy_surface)(EGLDisplay, EGLSurface);
	EGLBoolean (*make_current)(EGLDisplay, EGLSurface, EGLSurface, EGLContext);
	EGLBoolean (*swap)(EGLDisplay, EGLSurface);
	void (*draw)(GLenum, GLint, GLsizei);
	void (*draw_instanced)(GLenum, GLint, GLsizei, GLsizei);
	void (*clear)(GLbitfield);
	void (*flush)(void);
	PFNGLBINDFRAMEBUFFERPROC bind_framebuffer;
	PFNGLGENFRAMEBUFFERSPROC gen_framebuffers;
	PFNGLFRAMEBUFFERTEXTURE2DPROC framebuffer_texture;
	void (*gen_textures)(GLsizei, GLuint *);
	void (*bind_texture)(GLenum, GLuint);
	PFNGLTEXSTORAGE2DPROC tex_storage;
};

struct worker {
	const struct options *options;
	const struct calls *gl;
	EGLDisplay display;
	EGLConfig config;
	pthread_t thread;
	uint64_t *frame_ns;
	uint64_t thread_ns, first_ns; /* the first frame, in wall-clock time */
	bool ok;
};

/* Store a function's address in the pointer at `slot`, whatever its type. */
static bool
take(void *slot, void *function, const char *library, const char *name)
{
	if (!function)
		fprintf(stderr, "bench_gl: %s has no %s\n", library, name);
	memcpy(slot, &function, sizeof(function));
	return function != NULL;
}

static bool
load_calls(struct calls *gl, const char *library, bool linked)
{
	void *handle = dlopen(library, RTLD_NOW | (linked ? RTLD_GLOBAL : RTLD_LOCAL));
	if (!handle) {
		fprintf(stderr, "bench_gl: %s\n", dlerror());
		return false;
	}
#define FROM_LIBRARY(member, name) \
	if (!take(&gl->member, dlsym(handle, name), library, name)) \
		return false;
#define FROM_GL(member, name) \
	if (!take(&gl->member, gl->get_proc_address(name), library, name)) \
		return false;
	FROM_LIBRARY(get_proc_address, "eglGetProcAddress")
	FROM_LIBRARY(get_display, "eglGetDisplay")
	FROM_LIBRARY(initialize, "eglInitialize")
	FROM_LIBRARY(bind_api, "eglBindAPI")
	FROM_LIBRARY(choose_config, "eglChooseConfig")
	FROM_LIBRARY(create_context, "eglCreateContext")
	FROM_LIBRARY(destroy_context, "eglDestroyContext")
	FROM_LIBRARY(create_pbuffer, "eglCreatePbufferSurface")
	FROM_LIBRARY(destroy_surface, "eglDestroySurface")
	FROM_LIBRARY(make_current, "eglMakeCurrent")
	FROM_LIBRARY(swap, "eglSwapBuffers")
	FROM_GL(draw, "glDrawArrays")
	FROM_GL(draw_instanced, "glDrawArraysInstanced")
	FROM_GL(clear, "glClear")
	FROM_GL(flush, "glFlush")
	FROM_GL(bind_framebuffer, "glBindFramebuffer")
	FROM_GL(gen_framebuffers, "glGenFramebuffers")
	FROM_GL(framebuffer_texture, "glFramebufferTexture2D")
	FROM_GL(gen_textures, "glGenTextures")
	FROM_GL(bind_texture, "glBindTexture")
	FROM_GL(tex_storage, "glTexStorage2D")
#undef FROM_LIBRARY
#undef FROM_GL
	if (linked && linked_draw)
		gl->draw = linked_draw;
	return true;
}

static void
make_targets(const struct calls *gl, GLuint *framebuffers)
{
	GLuint textures[N_TARGETS];
	gl->gen_textures(N_TARGETS, textures);
	gl->gen_framebuffers(N_TARGETS, framebuffers);
	for (unsigned i = 0; i < N_TARGETS; i++) {
		gl->bind_texture(GL_TEXTURE_2D, textures[i]);
		gl->tex_storage(GL_TEXTURE_2D, 1, GL_RGBA8, 64, 64);
		gl->bind_framebuffer(GL_FRAMEBUFFER, framebuffers[i]);
		gl->framebuffer_texture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
					textures[i], 0);
	}
}

/* Each pass clears its target, so that none counts as a resumed one. */
static void
render_frame(const struct calls *gl, const struct options *o, const GLuint *framebuffers)
{
	for (unsigned p = 0; p < o->passes; p++) {
		gl->bind_framebuffer(GL_FRAMEBUFFER, framebuffers[p % N_TARGETS]);
		gl->clear(GL_COLOR_BUFFER_BIT);
		if (o->draw_kind == DRAW_INSTANCED) {
			for (unsigned d = 0; d < o->draws; d++)
				gl->draw_instanced(GL_TRIANGLES, 0, 3, 2);
			continue;
		}
		for (unsigned d = 0; d < o->draws; d++)
			gl->draw(GL_TRIANGLES, 0, 3);
	}
}

static void *
work(void *data)
{
	struct worker *w = data;
	const struct options *o = w->options;
	const struct calls *gl = w->gl;
	uint64_t start_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	static const EGLint size[] = { EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE };
	if (!gl->bind_api(EGL_OPENGL_API))
		return NULL;
	EGLContext context = gl->create_context(w->display, w->config, EGL_NO_CONTEXT, NULL);
	EGLSurface surface = gl->create_pbuffer(w->display, w->config, size);
	if (!context || !surface || !gl->make_current(w->display, surface, surface, context))
		return NULL;
	GLuint framebuffers[N_TARGETS];
	make_targets(gl, framebuffers);
	for (unsigned f = 0; f < o->warm_up + o->frames; f++) {
		uint64_t begin_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t wall_ns = bench_clock_ns(CLOCK_MONOTONIC);
		render_frame(gl, o, framebuffers);
		gl->flush(); /* as a window's swap does: a pbuffer's submits nothing */
		gl->swap(w->display, surface);
		if (f == 0)
			w->first_ns = bench_clock_ns(CLOCK_MONOTONIC) - wall_ns;
		if (f >= o->warm_up)
			w->frame_ns[f - o->warm_up] =
				bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
		/* A game has a frame rate: leave the processor to the log's writer. */
		if (o->pause_us)
			usleep(o->pause_us);
	}
	gl->make_current(w->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	gl->destroy_surface(w->display, surface);
	gl->destroy_context(w->display, context);
	w->thread_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	w->ok = true;
	return NULL;
}

static bool
run_workers(struct worker *workers, const struct options *o)
{
	bool ok = true;
	if (o->threads == 1) {
		work(&workers[0]);
		return workers[0].ok;
	}
	for (unsigned i = 0; i < o->threads; i++) {
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			fprintf(stderr, "bench_gl: cannot start thread %u\n", i);
			exit(1);
		}
	}
	for (unsigned i = 0; i < o->threads; i++) {
		pthread_join(workers[i].thread, NULL);
		ok = ok && workers[i].ok;
	}
	return ok;
}

static struct options
parse_options(int argc, char **argv)
{
	struct options o = {
		.passes = 10, .draws = 1000, .frames = 200, .warm_up = 20, .threads = 1
	};
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--library"))
			o.library = argv[i + 1];
		else if (!strcmp(argv[i], "--passes"))
			o.passes = bench_number("bench_gl", argv[i], argv[i + 1], 0, 1000000);
		else if (!strcmp(argv[i], "--draws"))
			o.draws = bench_number("bench_gl", argv[i], argv[i + 1], 0, 100000000);
		else if (!strcmp(argv[i], "--frames"))
			o.frames = bench_number("bench_gl", argv[i], argv[i + 1], 1, 1000000);
		else if (!strcmp(argv[i], "--warm-up"))
			o.warm_up = bench_number("bench_gl", argv[i], argv[i + 1], 0, 1000000);
		else if (!strcmp(argv[i], "--threads"))
			o.threads = bench_number("bench_gl", argv[i], argv[i + 1], 1,
						 MAX_THREADS);
		else if (!strcmp(argv[i], "--draw-kind"))
			o.draw_kind = bench_number("bench_gl", argv[i], argv[i + 1], DRAW_ARRAYS,
						   DRAW_LINKED);
		else if (!strcmp(argv[i], "--pause-us"))
			o.pause_us = bench_number("bench_gl", argv[i], argv[i + 1], 0, 999999);
		else
			o.library = NULL;
	}
	if (!o.library || argc % 2 == 0) {
		fprintf(stderr,
			"usage: bench_gl --library PATH [--passes N] [--draws N] [--frames N] "
			"[--warm-up N] [--threads N] [--pause-us N] [--draw-kind 0|1|2]\n");
		exit(2);
	}
	return o;
}

int
main(int argc, char **argv)
{
	struct options o = parse_options(argc, argv);
	struct calls gl;
	if (!load_calls(&gl, o.library, o.draw_kind == DRAW_LINKED))
		return 1;
	EGLDisplay display = gl.get_display(EGL_DEFAULT_DISPLAY);
	static const EGLint wanted[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
					 EGL_OPENGL_BIT, EGL_NONE };
	EGLConfig config;
	EGLint n_configs = 0;
	if (!gl.initialize(display, NULL, NULL) ||
	    !gl.choose_config(display, wanted, &config, 1, &n_configs) || n_configs < 1) {
		fprintf(stderr, "bench_gl: %s gives no display or no config\n", o.library);
		return 1;
	}
	static struct worker workers[MAX_THREADS];
	size_t n = (size_t)o.frames * o.threads;
	uint64_t *frame_ns = calloc(n, sizeof(*frame_ns));
	if (!frame_ns)
		return 1;
	for (unsigned i = 0; i < o.threads; i++) {
		workers[i] = (struct worker){ .options = &o,
					      .gl = &gl,
					      .display = display,
					      .config = config,
					      .frame_ns = frame_ns + (size_t)i * o.frames };
	}
	uint64_t begin_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!run_workers(workers, &o)) {
		fprintf(stderr, "bench_gl: a thread got no context\n");
		return 1;
	}
	/* The time that threads other than the game's used: the log's writer. */
	uint64_t others_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	for (unsigned i = 0; i < o.threads; i++)
		others_ns -= workers[i].thread_ns;
	qsort(frame_ns, n, sizeof(*frame_ns), bench_compare_u64);
	printf("{\"frame_ns\": %" PRIu64 ", \"frame_ns_low\": %" PRIu64
	       ", \"first_ns\": %" PRIu64 ", \"others_ns\": %" PRIu64 ", \"peak_kib\": %ld}\n",
	       frame_ns[n / 2], frame_ns[n / 10], workers[0].first_ns, others_ns,
	       bench_peak_kib());
	free(frame_ns);
	return 0;
}
