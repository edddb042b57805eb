/* SPDX-License-Identifier: MIT */
/* cli/answer/text.h - shared by the files of cli/answer/ that show an answer.
 *
 * What they need of an answer beside its devices, and how they write a time. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_TEXT_H
#define PASSTALLY_CLI_ANSWER_TEXT_H

#include "cli/answer/answer.h"

/* Above this share of the frame time, our own cost is a warning. */
#define TALLY_ANSWER_COST_LIMIT 0.05

/* For example "1.23 ms" or "27 us". The caller frees it. */
char *tally_answer_time_text(double ns);

guint tally_answer_n_devices(const struct tally_answer *answer);
const struct tally_answer_device *
tally_answer_nth_device(const struct tally_answer *answer, guint n);
/* What the log says about a device; NULL: nothing. */
const struct tally_device_summary *
tally_answer_device_summary(const struct tally_answer *answer, uint32_t device);
bool tally_answer_is_beneath(const struct tally_answer *answer, uint32_t device);
uint64_t tally_answer_warmup(const struct tally_answer *answer);

#endif
