/* SPDX-License-Identifier: MIT */
/* cli/answer/parts.h - the parts of an answer (cli/answer/answer.h) that it decides by.
 * One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_PARTS_H
#define PASSTALLY_CLI_ANSWER_PARTS_H

#include "cli/answer/beat.h"
#include "cli/answer/hitch.h"
#include "cli/log/aggregate.h"
#include "cli/log/stats.h"

/* ---- parts.c: what a frame's GPU time consists of: passes, rolled up by label.
 *
 * A part consists of all passes whose labels have the same beginning: the first component at
 * the top level, the first two at the fine one. A pass without a label is a separate part on
 * both levels. For each part the GPU time in a frame is summed and its distribution kept;
 * memory grows with the number of passes. */

enum tally_part_level { TALLY_PART_TOP = 0, TALLY_PART_FINE, TALLY_N_PART_LEVELS };

/* What a part, or all, had to do; 0: nothing, or not known. */
enum tally_work {
	TALLY_WORK_DRAWS, /* without any: dispatches, copies and clears */
	TALLY_WORK_VERTICES,
	TALLY_WORK_FRAGMENTS, /* shaded */
	TALLY_WORK_WIDTH, /* of its largest target */
	TALLY_WORK_HEIGHT,
	TALLY_WORK_PLACE, /* of its first pass in the frame, from 1 */
	TALLY_N_WORK
};

struct tally_part {
	char *name; /* not escaped */
	bool fine; /* it is one of the fine level */
	uint64_t frames; /* in which it ran, from one to another by their number: */
	uint64_t first, last;
	/* Since when, by number and among those added, it has about these draws, vertices, size. */
	uint64_t since, since_at, since_work[TALLY_WORK_PLACE];
	bool skipped; /* or in one that was left out */
	bool shared; /* drawn together with others, in some */
	struct tally_stats gpu; /* its GPU time in the frames in which all of it was timed */
	struct tally_course time, work[TALLY_N_WORK]; /* the same over the run, and its work */
	struct tally_course unsure; /* the part of it before the CPU began the next pass */
	struct tally_beats beats;
	double index_sum; /* of its first pass in each frame */
	struct tally_call_counts sums; /* of all frames */
	bool vertices_unknown, listed; /* in some; its draws are in the log one by one */
	/* Of the change being explained: the part, or the one whose place it took, or that
	 * takes it, at another size. */
	struct tally_part *was, *becomes;
	/* Of the frame being read. */
	bool touched, timed, within; /* the GPU may have begun it before the frame's end */
	uint64_t ns, unsure_ns, span_ns, work_now[TALLY_N_WORK];
};

/* Whether it is known when the GPU began the pass, by the frame's clock. */
static inline bool
tally_pass_is_placed(const struct tally_pass_record *r)
{
	return r->has_gpu_start && !(r->flags & TALLY_FLAG(UNCALIBRATED));
}

/* What `draws` of it are: "draws", or, as it has none, "dispatches", "copies", "calls";
 * NULL: of several. */
const char *tally_part_draws(const struct tally_part *part);

struct tally_parts {
	GHashTable *by_name
		[TALLY_N_PART_LEVELS]; /* maps the beginning of a label to a part */
	GPtrArray *all[TALLY_N_PART_LEVELS]; /* elements: struct tally_part * */
	GPtrArray *owned; /* each part once */
	GHashTable *by_id; /* maps uint64_t * id to struct part_of_pass * */
	GHashTable *skipped; /* ids of passes in frames that were left out */
	GPtrArray *touched; /* parts of the frame being read */
	bool opengl; /* passes end where the CPU begins the next one */
	struct tally_part *outside; /* measured work outside passes; NULL = none */
	struct tally_part *together; /* the same of frames with passes drawn together */
	uint64_t n, last; /* frames added, and the number of the last one */
	uint64_t work[TALLY_N_WORK]; /* of the passes of the last one */
};

void tally_parts_init(struct tally_parts *p);
void tally_parts_finish(struct tally_parts *p);
/* Adds a frame and appends its fine parts to `out` (struct tally_hitch_part). Returns whether
 * the GPU time of all its passes is known. *unsure_ns receives the part of it before the CPU
 * began the next pass, or the frame's last call: in OpenGL the GPU may have waited then. */
bool
tally_parts_add(struct tally_parts *p, const struct tally_aggregate *log,
		const struct tally_frame_record *f, GArray *out, uint64_t *unsure_ns);

/* The part of the fine level that the CPU had begun last at a time within the frame, or NULL. */
const char *tally_parts_at(struct tally_parts *p, const struct tally_aggregate *log,
			   const struct tally_frame_record *f, uint64_t ns);

/* A frame that is left out: its passes have run before, then. */
void tally_parts_skip(struct tally_parts *p, const struct tally_frame_record *f);

/* The median time of a part, where it ran; 0 if none was timed, or (not `whole`) it ran in fewer
 * than half of the frames. */
uint64_t tally_part_median(struct tally_part *part, struct tally_range range);

/* The part of the fine level with the most time, of at least `least_ns`, that alternates. */
struct tally_alternating tally_parts_alternating(const struct tally_parts *p, double least_ns);

/* Whether two names differ in nothing but the size of the target. */
bool tally_parts_differ_in_size(const char *a, const char *b);
/* Whether two numbers of calls may be those of one pass: within a quarter. */
bool tally_parts_are_as_many(double a, double b);

/* Of the fine parts of most frames that are drawn together with others, the one with the largest
 * target, the first of equal ones; NULL: none. *others: so many more. */
const struct tally_part *
tally_parts_largest_shared(const struct tally_parts *p, struct tally_range range,
			   unsigned *others);

/* The parts of the typical frame in order of execution: those that ran in at least half of the
 * `frames` frames of the range. On the top level, or, where one part of that is nearly
 * everything, on the fine one. *seldom_ns: the mean of what the others sum up to in a frame, over
 * all. The caller frees the array; the parts stay. */
GPtrArray *
tally_parts_typical(struct tally_parts *p, struct tally_range range, uint64_t frames,
		    double *seldom_ns);

#endif
