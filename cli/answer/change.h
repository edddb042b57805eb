/* SPDX-License-Identifier: MIT */
/* cli/answer/change.h - when a run became slower or faster, for long.
 *
 * Pettitt's test finds where a course of frame times divides best into two; each part is divided
 * further, and a division stands only where the medians differ by at least 15 %, and nine of ten
 * pairs of frames of the two sides agree on which is slower. docs/verdicts.md has the rule. One
 * thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_CHANGE_H
#define PASSTALLY_CLI_ANSWER_CHANGE_H

#include "cli/answer/course.h"

#define TALLY_CHANGE_MOST 8

struct tally_change {
	/* Between these frames, by their number among those added to the course; the same where
	 * it is a step. */
	uint64_t at, until;
	/* Medians from the last change and up to the next one. */
	double before_ns, after_ns;
};

/* Returns how many there are, in order of time. `n`: the frames added to the course. */
unsigned tally_change_find(const struct tally_course *frames, uint64_t n,
			   struct tally_change out[TALLY_CHANGE_MOST]);

#endif
