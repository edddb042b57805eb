/* SPDX-License-Identifier: MIT */
/* cli/answer/beat.h - whether each second, third or fourth frame has more of a time than the
 * others. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_BEAT_H
#define PASSTALLY_CLI_ANSWER_BEAT_H

#include "cli/answer/course.h"

#define TALLY_MOST_PERIOD 4
#define TALLY_PART_ROOM 64 /* of courses of passes, of which there may be many */

/* Frames, by their number among those added; `whole`: all of them. */
struct tally_range {
	bool whole;
	uint64_t from, to; /* up to, not including */
};

/* In rows of `period` frames: how often the same one of the row had twice as much of it as any
 * other, or had it alone, and what it is a part of was longer by half as much. */
struct tally_beat {
	unsigned best; /* of the row that is being read */
	uint64_t row, best_ns, next_ns, best_of_ns, next_of_ns;
	/* Of each of the row, and in which rows. */
	uint64_t wins[TALLY_MOST_PERIOD], first[TALLY_MOST_PERIOD], last[TALLY_MOST_PERIOD];
	struct tally_course most, next; /* the two of these rows with the most, by row */
};

struct tally_beats {
	struct tally_beat of[TALLY_MOST_PERIOD - 1]; /* every 2nd frame, 3rd, ... */
};

void tally_beats_init(struct tally_beats *beats);
void tally_beats_finish(struct tally_beats *beats);
/* By the frame's number in the log, as some may be missing. `of_ns`: what it is a part of. */
void tally_beats_add(struct tally_beats *beats, uint64_t frame, uint64_t ns, uint64_t of_ns);

/* What only each `period`-th frame has, or nearly: its time there, and the most in the others. */
struct tally_alternating {
	const char *what; /* NULL: nothing */
	bool is_pass;
	const char *in; /* where the thread waits in it; NULL: not known */
	unsigned period;
	/* Numbers: of the first such frame, 0: all are; after the last one, 0: it goes on. */
	uint64_t from, until;
	double ns, else_ns;
};

/* Sets all but the first three, of most of `frames` frames, of which `last` is the
 * number of the last; false: it does not alternate by `least_ns`. */
bool tally_beats_find(const struct tally_beats *beats, uint64_t frames, uint64_t last,
		      double least_ns, struct tally_alternating *found);

#endif
