/* SPDX-License-Identifier: MIT */
/* cli/answer/text.h - shared by the files of cli/answer/.
 *
 * What an answer consists of. One thread.
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

#endif
