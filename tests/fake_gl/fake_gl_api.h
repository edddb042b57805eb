/* SPDX-License-Identifier: MIT */
/* tests/fake_gl/fake_gl_api.h - a scripted OpenGL behind struct tally_gl_api.
 *
 * One context, one thread: GL functions carry no user pointer, so the current fake is a global.
 * It keeps query objects according to the specification and counts every breach of them
 * (`misuse`, the last one in words) and every read that would have waited for the GPU (`stalls`).
 * Commands complete in order, when fake_gl_complete() is called.
 */
#ifndef PASSTALLY_TESTS_FAKE_GL_API_H
#define PASSTALLY_TESTS_FAKE_GL_API_H

#include "query/gl/api.h"

#define FAKE_GL_MAX_NAMES 65536
#define FAKE_GL_N_COUNTERS TALLY_GL_TIME_ELAPSED

struct fake_gl_object {
	bool named, active, issued, read;
	unsigned target; /* 0 = not an object yet */
	uint64_t result;
	uint64_t done_at; /* command number */
	uint64_t begin_total;
};

struct fake_gl {
	struct tally_gl_api api;

	/* The script. */
	const char *extensions;   /* " A B " */
	unsigned timestamp_bits;
	unsigned counter_bits[FAKE_GL_N_COUNTERS];
	uint64_t offset_ns;       /* GPU clock = CPU clock + offset, cut to its bits */
	uint64_t noise;           /* ORed in above the valid bits */
	bool no_names;            /* GenQueries gives zeros */
	bool gone;                /* any call is a misuse */
	bool blind_clock;         /* GetInteger64v(GL_TIMESTAMP) leaves 0 */
	uint64_t query_offset_ns; /* timestamps minus what GetInteger64v shows */
	uint64_t lost_from, lost_to; /* commands of a batch lost at a GPU reset */

	/* What happened. */
	unsigned misuse, stalls;
	char last_misuse[160];
	unsigned n_calls, n_stamps, n_polls, n_gens, n_disjoint_reads, n_clock_reads;
	unsigned n_names;         /* names alive */
	uint64_t last_ticks;      /* of the last timestamp, before it was cut */
	uint64_t last_cpu_ns;

	/* The GPU. */
	uint64_t issued, completed; /* commands */
	uint64_t totals[FAKE_GL_N_COUNTERS];
	unsigned active[TALLY_GL_N_EXCLUSIVE]; /* name, 0 = none; the game's are UINT32_MAX */
	bool disjoint;                         /* the clear-on-read flag */
	unsigned next_name;
	struct fake_gl_object *objects;
};

extern struct fake_gl *fake_gl;

/* A context: desktop or ES, with all 64-bit functions. Becomes the current one. */
void fake_gl_init(struct fake_gl *f, bool es, int version, const char *extensions);
void fake_gl_finish(struct fake_gl *f);
/* The GPU finishes the next n commands. */
void fake_gl_complete(struct fake_gl *f, uint64_t n);
/* Counted work: every statistic grows, each by a different amount. */
void fake_gl_work(struct fake_gl *f, uint64_t amount);
/* The clock jumps and the disjoint flag is set. */
void fake_gl_disturb(struct fake_gl *f, int64_t jump_ns);
/* What the shim does around the game's own queries; `statistics` is stopped first and may be
 * NULL. */
void fake_gl_game_begin(struct fake_gl *f, struct tally_source *statistics,
			unsigned which);
void fake_gl_game_end(struct fake_gl *f, unsigned which);

#endif
