/* SPDX-License-Identifier: MIT */
/* cli/answer/text.h - shared by the files of cli/answer/.
 *
 * What an answer consists of, and how those that show it write a time. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_TEXT_H
#define PASSTALLY_CLI_ANSWER_TEXT_H

#include "cli/answer/answer.h"

/* Above this share of the frame time, our own cost is a warning. */
#define TALLY_ANSWER_COST_LIMIT 0.05

struct tally_answer {
	const struct tally_aggregate *log;
	struct tally_aggregate_watch watch;
	GPtrArray *devices; /* elements: struct tally_answer_device * */
};

/* For example "1.23 ms" or "27 us". The caller frees it. */
char *tally_answer_time_text(double ns);

#endif
