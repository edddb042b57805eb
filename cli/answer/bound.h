/* SPDX-License-Identifier: MIT */
/* cli/answer/bound.h - what limits the frame rate: the GPU, the CPU, a cap or vsync, a wait, or
 * "unknown" where the log does not show it.
 *
 * Frames are added in order; the decision needs only counts and distributions, so memory is
 * bounded. docs/verdicts.md explains the rule and its thresholds, which are in bound.c.
 */
#ifndef PASSTALLY_CLI_ANSWER_BOUND_H
#define PASSTALLY_CLI_ANSWER_BOUND_H

#include "cli/answer/load.h"
#include "cli/answer/parts.h"

enum tally_bound {
	TALLY_BOUND_UNKNOWN = 0,
	TALLY_BOUND_GPU,
	TALLY_BOUND_CPU,
	TALLY_BOUND_CAP, /* a frame limiter or vsync, by its rate */
	TALLY_BOUND_WAIT, /* neither GPU nor CPU work: vsync, another thread, a server */
	TALLY_N_BOUNDS,
};

/* Why the answer is TALLY_BOUND_UNKNOWN. */
enum tally_bound_doubt {
	TALLY_DOUBT_NONE = 0,
	TALLY_DOUBT_FEW_FRAMES,
	TALLY_DOUBT_NO_GPU_TIMES,
	TALLY_DOUBT_NO_PASS, /* the same, because the frames have no pass */
	TALLY_DOUBT_STEADY, /* the CPU, or a limiter at an unusual rate */
	TALLY_DOUBT_NO_THREAD, /* the CPU or a wait: the thread's time is not known */
	TALLY_DOUBT_BUSY, /* the GPU works most of the time, but not all, or the CPU as well */
	TALLY_DOUBT_WAITS, /* passes end where the CPU begins the next one */
	TALLY_DOUBT_MIXED, /* different frames have different answers */
};

#define TALLY_BOUND_SMOOTH 4 /* frames over which the GPU's load is averaged */

/* Sums over frames, or of one, in nanoseconds. */
struct tally_bound_sums {
	double frame, gpu;
	double sure; /* without what may be time in which the GPU waited for the CPU */
	/* For the frames that have the time of the thread that ended them: */
	double known, work, wait, thread;
};

struct tally_bound_input {
	GArray *frames; /* the first of them, for parts of the run; elements of bound.c */
	bool unlimited; /* known: presents do not wait for the screen */
	const char *vsync; /* known: they do, by this present mode; or NULL */
	struct tally_stats all; /* frame times */
	struct tally_stats
		kinds[TALLY_N_BOUNDS]; /* of the frames of which each is true */
	uint64_t n_timed; /* frames whose GPU time is complete */
	struct tally_bound_sums sums, timed, waits; /* of all, of those, of those that wait */
	struct tally_bound_sums recent[TALLY_BOUND_SMOOTH];
	unsigned n_recent;
};

struct tally_bound_verdict {
	enum tally_bound by;
	enum tally_bound_doubt doubt;
	double share[TALLY_N_BOUNDS]; /* of frames, 0 to 1; they add up to 1 */
	uint64_t frames, n_timed; /* of which it is; those whose GPU time is complete */
	bool has_busy, some_gpu; /* some_gpu: the caller's; a pass has a time */
	double busy; /* GPU time divided by frame time, of all frames that have both */
	double unsure; /* the part of it in which it may wait for the CPU */
	bool waits_within; /* that is much */
	bool has_thread;
	double thread; /* the time that the thread worked divided by frame time */
	double waits; /* the time that it was inside waiting calls divided by frame time */
	double spins; /* the part of that in which it worked */
	bool in_driver; /* it idles in those calls more than elsewhere, where frames wait */
	bool unlimited; /* this and the next as in the input */
	const char *vsync;
	/* Where frames keep to a rate: */
	double rate; /* frames a second of the cap; 0 = none was seen */
	double late; /* share of frames that take two or more of its intervals */
	/* TALLY_DOUBT_STEADY, TALLY_BOUND_WAIT: a fraction `within` takes about this long, or
	 * most frames are near a usual rate. */
	double typical_ns, within;
	double near_rate; /* 0 = none */
	struct tally_driver_load driver; /* the caller's: over the run */
};

void tally_bound_init(struct tally_bound_input *b);
void tally_bound_finish(struct tally_bound_input *b);
/* A complete frame. `timed`: all of its work on the GPU was timed; in a part of that the GPU may
 * have waited for the CPU. */
void tally_bound_add(struct tally_bound_input *b, const struct tally_frame_record *f, bool timed,
		     uint64_t unsure_ns);
/* Of that part of the frames, if it is among the first ones, else of all. */
struct tally_bound_verdict tally_bound_decide(struct tally_bound_input *b,
					      struct tally_range range);

/* "gpu", "cpu", "cap", "wait", "unknown". */
extern const char *const tally_bound_names[TALLY_N_BOUNDS];
/* The verdict as a sentence without a full stop; valid as that of tally_phrase(). */
const char *tally_bound_text(const struct tally_bound_verdict *v);
/* What to try where the log does not show it, or NULL. */
const char *tally_bound_hint(const struct tally_bound_verdict *v);

#endif
