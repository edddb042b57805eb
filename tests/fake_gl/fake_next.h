/* SPDX-License-Identifier: MIT */
/* tests/fake_gl/fake_next.h - a driver below the shim's wrappers, without a display.
 *
 * fake_next_look_up() is the GetProcAddress to hand to gl_current_enter(): it fills struct gl_next.
 * Whatever the shim asks is answered (version, what a framebuffer is made of, queries that end at
 * once, on a GPU clock that is CLOCK_MONOTONIC); every other function does nothing. The window's
 * colors are RGBA8, its depth has 24 bits. One context, one thread; each breach of a rule is
 * counted in `misuse`, as is a call that is made while the program holds a lock.
 */
#ifndef PASSTALLY_TESTS_FAKE_GL_FAKE_NEXT_H
#define PASSTALLY_TESTS_FAKE_GL_FAKE_NEXT_H

#include <stdbool.h>

#define FAKE_NEXT_FRAMEBUFFERS 8

struct fake_next {
	const char *version; /* "4.6", "OpenGL ES 3.2" */
	unsigned draw; /* framebuffer bound */
	struct {
		unsigned color, depth; /* textures */
		unsigned n_draw_buffers, draw_buffers[8]; /* 0: the default, the first color */
	} framebuffers[FAKE_NEXT_FRAMEBUFFERS];
	bool discards; /* GL_RASTERIZER_DISCARD */
	unsigned result_takes_us; /* a query's result is waited for */
	bool no_results; /* no result arrives, and each question for one is an error */
	unsigned questions; /* for results */
	unsigned error; /* not fetched yet */
	unsigned query_buffer; /* bound: a result that is asked for is written there */
	bool in_begin, in_list;
	unsigned active[16]; /* query in progress, by the index of its target */
	const unsigned *locks; /* held by this thread; NULL: locks are not counted */
	unsigned misuse;
	char last_misuse[120];
};
extern struct fake_next fake_next;

void *fake_next_look_up(const char *name);

#endif
