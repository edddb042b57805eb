/* SPDX-License-Identifier: MIT */
/* cli/answer/change.h - when a run became slower or faster, for long.
 *
 * Pettitt's test finds where a course of frame times divides best into two; each part is divided
 * further, and a division stands only where the medians differ by at least 15 %, or 8 % with other
 * work, and nine of ten pairs of frames of the two sides agree on which is slower.
 * docs/verdicts.md has the rule. One thread.
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

/* Whether the frames from `at` on, up to `to`, have other work than those from `from` on, which
 * explains that they are `lost_ns` longer. */
typedef bool tally_change_has_work(const void *user, uint64_t from, uint64_t at, uint64_t to,
				   double lost_ns);

/* Returns how many there are, in order of time. `n`: the frames added to the course. */
unsigned tally_change_find(const struct tally_course *frames, uint64_t n,
			   tally_change_has_work *has_work, const void *user,
			   struct tally_change out[TALLY_CHANGE_MOST]);

#endif
