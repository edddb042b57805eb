/* SPDX-License-Identifier: MIT */
/* cli/answer/parts.h - what a frame's GPU time consists of: passes, rolled up by label.
 *
 * A part consists of all passes whose labels have the same beginning: the first component at
 * the top level, the first two at the fine one. A pass without a label is a separate part on
 * both levels. For each part the GPU time in a frame is summed and its distribution kept;
 * memory grows with the number of passes. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_PARTS_H
#define PASSTALLY_CLI_ANSWER_PARTS_H

#include "cli/answer/hitch.h"
#include "cli/log/aggregate.h"

enum tally_part_level { TALLY_PART_TOP = 0, TALLY_PART_FINE, TALLY_N_PART_LEVELS };

struct tally_part {
	char *name; /* not escaped */
	bool fine; /* it is one of the fine level */
	uint64_t frames; /* in which it ran */
	struct tally_stats gpu; /* its GPU time in the frames in which all of it was timed */
	double index_sum; /* of its first pass in each frame */
	/* Of the frame being read. */
	bool touched, timed;
	uint64_t ns, unsure_ns;
};

struct tally_parts {
	GHashTable *by_name[TALLY_N_PART_LEVELS]; /* maps the beginning of a label to a part */
	GPtrArray *all[TALLY_N_PART_LEVELS]; /* elements: struct tally_part * */
	GPtrArray *owned; /* each part once */
	GHashTable *by_id; /* maps uint64_t * id to struct part_of_pass * */
	GPtrArray *guess; /* the same by index in the frame */
	GPtrArray *touched; /* parts of the frame being read */
	struct tally_part *outside; /* measured work outside passes; NULL = none */
};

void tally_parts_init(struct tally_parts *p);
void tally_parts_finish(struct tally_parts *p);
/* Adds a frame and appends its fine parts to `out` (struct tally_hitch_part). Returns whether
 * the GPU time of all its passes is known. *unsure_ns receives the part of it before the CPU
 * began the next pass, or the frame's last call: in OpenGL the GPU may have waited then. */
bool tally_parts_add(struct tally_parts *p, const struct tally_aggregate *log,
		     const struct tally_frame_record *f, GArray *out, uint64_t *unsure_ns);

/* The median time of a part, where it ran; 0 if none was timed. */
uint64_t tally_part_median(struct tally_part *part);

/* The parts of the typical frame in order of execution: those that ran in at least half of
 * `frames` frames. On the top level, or, where one part of that is nearly everything, on the
 * fine one. The caller frees the array; the parts stay. */
GPtrArray *tally_parts_typical(struct tally_parts *p, uint64_t frames);

#endif
