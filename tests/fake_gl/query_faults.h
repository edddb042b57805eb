/* SPDX-License-Identifier: MIT */
/* tests/fake_gl/query_faults.h - a driver whose queries misbehave: GL's own, of any kind.
 *
 * perf_egl.c puts it between libglvnd and Mesa. FAKE_QUERIES=key=value,... says how; time goes by
 * swaps. A result that is read before it is there would wait for the GPU, for ever if it never
 * comes: that is counted, never done. One context, one thread.
 */
#ifndef PASSTALLY_TESTS_FAKE_GL_QUERY_FAULTS_H
#define PASSTALLY_TESTS_FAKE_GL_QUERY_FAULTS_H

#include <stdbool.h>

/* Each key of FAKE_QUERIES; 0 = not so. Queries are numbered from 1, in the order of their ends. */
struct fake_query_config {
	unsigned never; /* no result is ever there */
	unsigned late; /* swaps until a result is there */
	unsigned shuffle; /* the same, of every other query alone */
	unsigned lost_from, lost_to; /* those queries' batch was lost: their results never come */
	unsigned error_every; /* so many-th question is an error and writes nothing */
	unsigned garbage; /* every result is noise */
	unsigned zero_every; /* so many-th result is 0 */
	unsigned narrow; /* results have 32 bits, whatever the driver says of them */
	unsigned backwards; /* each result is less than the one before */
	unsigned no_names; /* so many-th glGenQueries, and all after it, give zeros */
	unsigned no_strings; /* glGetString answers NULL for the vendor and the renderer */
	unsigned renamed; /* it has a renderer's name that nobody knows */
	unsigned exact; /* each timestamp is that of its place: the driver ends its scene there */
	/* Lies, which no reader can see in one result alone. */
	unsigned plus; /* so much is added to each result that is no timestamp */
	unsigned unequal; /* the same to half of them */
	unsigned even; /* after a glFinish(), each timestamp is so many ns after the one before */
	unsigned scale; /* so many times too fast does the GPU's clock run */
	/* Once a query was begun: other pixels, an error of GL's. */
	unsigned pixels, fails;
	/* The so many-th draw: hangs, crashes, or leaves a GL error. */
	unsigned hang, crash, gl_error;
	unsigned reset; /* from that swap on the context is lost: results are 0 and there at once */
};

/* False: a key is unknown (said on stderr). `text` may be NULL. */
bool fake_queries_configure(const char *text);
void fake_queries_tick(void);
void fake_queries_finish(void);
/* glFinish() of the driver, for its own use. */
void fake_queries_use(void (*finish)(void));
/* What stands in place of the driver's function of that name, which is `next`; NULL: nothing. */
void *fake_queries_function(const char *name, void (*next)(void));
/* "waits N", "questions N", "faults N": lines for FAKE_QUERIES_REPORT. `path` may be NULL. The file
 * is whole or absent: another thread's exit() may end the process while this runs. */
void fake_queries_report(const char *path);

#endif
