/* SPDX-License-Identifier: MIT */
/* cli/answer/text.h - the answer, and what it consists of, as lines for people.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_TEXT_H
#define PASSTALLY_CLI_ANSWER_TEXT_H

#include "cli/answer/answer.h"

/* Only the speed and what limits it; at most TALLY_ANSWER_LINES; with all changes. */
enum tally_answer_length { TALLY_ANSWER_BRIEF, TALLY_ANSWER_USUAL, TALLY_ANSWER_ALL };

/* The answer about one device as lines of at most TALLY_ANSWER_COLUMNS columns, escaped and
 * without line ends. The caller frees the array (char *) with g_ptr_array_unref(). */
GPtrArray *tally_answer_lines(const struct tally_answer *answer,
			      const struct tally_answer_device *d,
			      enum tally_answer_length length);
/* Single lines of it, for other layouts; valid as that of tally_phrase(). NULL where there is
 * nothing to say. */
const char *tally_answer_speed_text(const struct tally_answer_device *d);
const char *tally_answer_bound_text(const struct tally_answer_device *d);
const char *tally_answer_typical_text(const struct tally_answer_device *d);
const char *tally_answer_hitch_text(const struct tally_answer_hitch *h);
const char *tally_answer_change_text(const struct tally_answer_change *c);
/* The longer frame time as a multiple of the other one. */
double tally_answer_change_ratio(const struct tally_answer_change *c);
/* Whether what made it is known, and is in the program. */
bool tally_answer_change_known(const struct tally_answer_change *c);
/* "from frame 300 on Bloom 0.90 ms, new (6 % of the frame)" */
const char *tally_answer_presence_text(const struct tally_answer_device *d);
/* "from frame 217 on each frame has 2 shaders made, 1.20 ms" */
const char *tally_answer_calls_began_text(const struct tally_answer_device *d);
const char *tally_answer_memory_text(const struct tally_answer_device *d);
const char *tally_answer_alternating_text(const struct tally_answer_device *d);
const char *tally_answer_busiest_text(const struct tally_answer_device *d);
/* The number of hitches and their sums. */
const char *tally_answer_hitches_text(const struct tally_answer_device *d);
const char *tally_answer_start_text(const struct tally_answer_device *d);
const char *tally_answer_left_out_text(const struct tally_answer *answer,
				       const struct tally_answer_device *d);
/* The log was cut while no frame ended, for two seconds and more; a program that is idle draws few
 * frames, or as seldom. */
const char *tally_answer_quiet_text(const struct tally_answer *answer,
				    const struct tally_answer_device *d);
const char *tally_answer_cost_text(const struct tally_answer_device *d);
/* "each frame, on average: upload of 4 MB, 0.46 ms", of a group that has `calls_in`. */
const char *tally_answer_calls_text(const struct tally_answer_device *d, int group);

/* Prints the lines of `device`, or (-1) of each device that is not below another: all lines of
 * the one with the most frames, the brief ones of others. */
void tally_answer_print(FILE *out, const struct tally_answer *answer, int64_t device, bool wide);

#endif
