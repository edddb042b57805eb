/* SPDX-License-Identifier: MIT */
/* cli/answer/parts.h - the parts of an answer (cli/answer/answer.h) that it decides by.
 * One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_PARTS_H
#define PASSTALLY_CLI_ANSWER_PARTS_H

#include "cli/answer/course.h"
#include "cli/answer/hitch.h"
#include "cli/log/aggregate.h"
#include "cli/log/stats.h"

/* ---- bound.c: what limits the frame rate: the GPU, the CPU, a cap or vsync, a wait, or
 * "unknown" where the log does not show it.
 *
 * Frames are added in order; the decision needs only counts and distributions, so memory is
 * bounded. docs/verdicts.md explains the rule and its thresholds, which are in bound.c. */

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

/* A complete frame. */
struct tally_bound_frame {
	uint64_t frame_ns;
	bool timed; /* all of its work on the GPU was timed */
	uint64_t gpu_ns;
	uint64_t unsure_ns; /* part of it in which the GPU may have waited for the CPU */
	bool has_thread;
	uint64_t thread_ns; /* how long the thread that ended it worked */
	uint64_t wait_ns; /* how long that was inside calls in which a driver may wait */
};

/* Sums over frames, in nanoseconds. */
struct tally_bound_sums {
	double frame, gpu, sure; /* sure: without unsure_ns */
	/* For the frames that have the time of the thread that ended them: */
	double known, work, wait, thread;
};

struct tally_bound_input {
	bool unlimited; /* known: presents do not wait for the screen */
	const char *vsync; /* known: they do, by this present mode; or NULL */
	struct tally_stats all; /* frame times */
	struct tally_stats
		kinds[TALLY_N_BOUNDS]; /* of the frames of which each is true */
	uint64_t n_timed; /* frames whose GPU time is complete */
	struct tally_bound_sums sums, timed; /* of all, and of those */
	struct tally_bound_frame recent[TALLY_BOUND_SMOOTH];
	unsigned n_recent;
};

struct tally_bound_verdict {
	enum tally_bound by;
	enum tally_bound_doubt doubt;
	double share[TALLY_N_BOUNDS]; /* of frames, 0 to 1; they add up to 1 */
	uint64_t n_timed; /* frames whose GPU time is complete */
	bool has_busy, some_gpu; /* some_gpu: the caller's; a pass has a time */
	double busy; /* GPU time divided by frame time, of all frames that have both */
	double unsure; /* the part of it in which it may wait for the CPU */
	bool waits_within; /* that is much */
	bool has_thread;
	double thread; /* the time that the thread worked divided by frame time */
	double waits; /* the time that it was inside waiting calls divided by frame time */
	double spins; /* the part of that in which it worked */
	bool unlimited; /* this and the next as in the input */
	const char *vsync;
	/* Where frames keep to a rate: */
	double rate; /* frames a second of the cap; 0 = none was seen */
	double late; /* share of frames that take two or more of its intervals */
	/* TALLY_DOUBT_STEADY, TALLY_BOUND_WAIT: a fraction `within` takes about this long, or
	 * most frames are near a usual rate. */
	double typical_ns, within;
	double near_rate; /* 0 = none */
};

void tally_bound_init(struct tally_bound_input *b);
void tally_bound_finish(struct tally_bound_input *b);
void tally_bound_add(struct tally_bound_input *b, const struct tally_bound_frame *f);
struct tally_bound_verdict tally_bound_decide(struct tally_bound_input *b);

/* "gpu", "cpu", "cap", "wait", "unknown". */
extern const char *const tally_bound_names[TALLY_N_BOUNDS];
/* The verdict as a sentence without a full stop; valid as cli/answer/words.h says. */
const char *tally_bound_text(const struct tally_bound_verdict *v, uint64_t frames);
/* What to try where the log does not show it, or NULL. */
const char *tally_bound_hint(const struct tally_bound_verdict *v);

#define TALLY_MOST_PERIOD 4

/* ---- parts.c: what a frame's GPU time consists of: passes, rolled up by label.
 *
 * A part consists of all passes whose labels have the same beginning: the first component at
 * the top level, the first two at the fine one. A pass without a label is a separate part on
 * both levels. For each part the GPU time in a frame is summed and its distribution kept;
 * memory grows with the number of passes. */

/* In rows of `period` frames: how often the same one of the row had twice as much of it as any
 * other, or had it alone. */
struct tally_beat {
	unsigned best; /* of the row that is being read */
	uint64_t row, best_ns, next_ns;
	/* Of each of the row, and in which rows. */
	uint64_t wins[TALLY_MOST_PERIOD], first[TALLY_MOST_PERIOD], last[TALLY_MOST_PERIOD];
	struct tally_course most, next; /* the two of these rows with the most, by row */
};

enum tally_part_level { TALLY_PART_TOP = 0, TALLY_PART_FINE, TALLY_N_PART_LEVELS };

struct tally_part {
	char *name; /* not escaped */
	bool fine; /* it is one of the fine level */
	uint64_t frames; /* in which it ran */
	bool skipped; /* or in one that was left out */
	struct tally_stats gpu; /* its GPU time in the frames in which all of it was timed */
	struct tally_course time, draws; /* the same over the run, and its draws */
	struct tally_course unsure; /* the part of it before the CPU began the next pass */
	struct tally_beat beats[TALLY_MOST_PERIOD - 1]; /* every 2nd frame, 3rd, ... */
	double index_sum; /* of its first pass in each frame */
	uint64_t draws_sum, vertices_sum; /* of all frames */
	bool vertices_unknown, listed; /* in some; its draws are in the log one by one */
	/* Of the frame being read. */
	bool touched, timed;
	uint64_t ns, unsure_ns, n_draws;
};

/* Frames, by their number among those added; `whole`: all of them. */
struct tally_range {
	bool whole;
	uint64_t from, to; /* up to, not including */
};

struct tally_parts {
	GHashTable *by_name
		[TALLY_N_PART_LEVELS]; /* maps the beginning of a label to a part */
	GPtrArray *all[TALLY_N_PART_LEVELS]; /* elements: struct tally_part * */
	GPtrArray *owned; /* each part once */
	GHashTable *by_id; /* maps uint64_t * id to struct part_of_pass * */
	GHashTable *skipped; /* ids of passes in frames that were left out */
	GPtrArray *guess; /* the same by index in the frame */
	GPtrArray *touched; /* parts of the frame being read */
	struct tally_part *outside; /* measured work outside passes; NULL = none */
	struct tally_part *together; /* the same of frames with passes drawn together */
	uint64_t n; /* frames added */
};

void tally_parts_init(struct tally_parts *p);
void tally_parts_finish(struct tally_parts *p);
/* Adds a frame and appends its fine parts to `out` (struct tally_hitch_part). Returns whether
 * the GPU time of all its passes is known. *unsure_ns receives the part of it before the CPU
 * began the next pass, or the frame's last call: in OpenGL the GPU may have waited then. */
bool
tally_parts_add(struct tally_parts *p, const struct tally_aggregate *log,
		const struct tally_frame_record *f, GArray *out, uint64_t *unsure_ns);

/* A frame that is left out: its passes have run before, then. */
void tally_parts_skip(struct tally_parts *p, const struct tally_frame_record *f);

/* The median time of a part, where it ran; 0 if none was timed, or (not `whole`) it ran in fewer
 * than half of the frames. */
uint64_t tally_part_median(struct tally_part *part, struct tally_range range);

/* A part of the fine level that only each `period`-th frame has, or nearly: its time there, and the
 * most in the others. */
struct tally_alternating {
	const struct tally_part *part; /* NULL: none */
	unsigned period, others; /* others: so many more of the period, with less time */
	uint64_t from; /* the number of the first such frame; 0: all are */
	double ns, else_ns;
};

/* The one with the most time, of at least `least_ns`, in most of the frames. */
struct tally_alternating tally_parts_alternating(const struct tally_parts *p, double least_ns);

/* The parts of the typical frame in order of execution: those that ran in at least half of the
 * `frames` frames of the range. On the top level, or, where one part of that is nearly
 * everything, on the fine one. The caller frees the array; the parts stay. */
GPtrArray *
tally_parts_typical(struct tally_parts *p, struct tally_range range, uint64_t frames);

#endif
