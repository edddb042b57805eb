/* SPDX-License-Identifier: MIT */
/* cli/answer/course.h - how a value went over a run, in bounded memory: means of blocks of
 * frames, which double in length when there is no more room. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_COURSE_H
#define PASSTALLY_CLI_ANSWER_COURSE_H

#include <stdbool.h>
#include <stdint.h>

struct tally_course_slot {
	float sum;
	uint32_t n; /* frames with a value */
};

/* Zeroed but for `room` it is empty. */
struct tally_course {
	struct tally_course_slot *slots; /* `n` of them; NULL: nothing was added */
	uint32_t n, room; /* at most `room`, which is even */
	uint64_t block; /* frames a slot */
};

void tally_course_finish(struct tally_course *c);
/* The value of frame number `at`, from 0, growing. */
void tally_course_add(struct tally_course *c, uint64_t at, double value);
/* The median of the blocks' means whose middle is in frames `from` up to, not including, `to`;
 * NAN: there is none. */
double tally_course_median(const struct tally_course *c, uint64_t from, uint64_t to);
/* What these means differ by, but for the tenth that is least and that which is most. */
double tally_course_spread(const struct tally_course *c, uint64_t from, uint64_t to);
/* The sum of the values in those blocks. */
double tally_course_sum(const struct tally_course *c, uint64_t from, uint64_t to);
/* How many frames of those blocks have a value. */
uint64_t tally_course_count(const struct tally_course *c, uint64_t from, uint64_t to);

#endif
