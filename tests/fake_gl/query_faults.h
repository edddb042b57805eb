/* SPDX-License-Identifier: MIT */
/* tests/fake_gl/query_faults.h - a driver whose queries misbehave: GL's own, of any kind.
 *
 * perf_egl.c puts it between libglvnd and Mesa. FAKE_QUERIES=key=value,... says how; time is
 * counted in swaps. A read of a result that is not available would wait for the GPU, forever if
 * the result never arrives: the fake counts that and never waits. One context, one thread.
 */
#ifndef PASSTALLY_TESTS_FAKE_GL_QUERY_FAULTS_H
#define PASSTALLY_TESTS_FAKE_GL_QUERY_FAULTS_H

#include <stdbool.h>

/* Each key of FAKE_QUERIES; 0 = off. Queries are numbered from 1, in the order of their
 * ends. */
struct fake_query_config {
	unsigned never; /* no result is ever available */
	unsigned late; /* swaps until a result is available */
	unsigned shuffle; /* the same, for every other query only */
	unsigned lost_from, lost_to; /* queries of a lost batch: their results never arrive */
	unsigned error_every; /* every N-th question is an error and writes nothing */
	unsigned garbage; /* every result is noise */
	unsigned zero_every; /* every N-th result is 0 */
	unsigned narrow; /* results have 32 bits, whatever the driver reports */
	unsigned backwards; /* each result is less than the one before */
	unsigned no_names; /* the N-th glGenQueries, and all after it, give zeros */
	unsigned no_strings; /* glGetString returns NULL for the vendor and the renderer */
	unsigned renamed; /* the renderer's name is one that nobody knows */
	unsigned exact; /* each timestamp is of its own position: the scene ends there */
	/* Lies that no reader can detect in a single result. */
	unsigned plus; /* added to each result that is not a timestamp */
	unsigned unequal; /* the same for half of them */
	unsigned even; /* after a glFinish(), timestamps are this many ns apart */
	unsigned stuck; /* timestamps never change */
	unsigned scale; /* factor by which the GPU's clock runs too fast */
	/* Once a query was begun: different pixels, or a GL error. */
	unsigned pixels, fails;
	/* The N-th draw hangs, crashes, or leaves a GL error. */
	unsigned hang, crash, gl_error;
	unsigned reset; /* from that swap on the context is lost: results are 0, at once */
};

/* False: a key is unknown (reported on stderr). `text` may be NULL. */
bool fake_queries_configure(const char *text);
void fake_queries_tick(void);
void fake_queries_finish(void);
/* The driver's glFinish(), for use by the fake. */
void fake_queries_use(void (*finish)(void));
/* Returns what replaces the driver's function of that name, which is `next`; NULL: nothing. */
void *fake_queries_function(const char *name, void (*next)(void));
/* "waits N", "questions N", "faults N": lines for FAKE_QUERIES_REPORT. `path` may be NULL. The file
 * is whole or absent: another thread's exit() may end the process while this runs. */
void fake_queries_report(const char *path);

#endif
