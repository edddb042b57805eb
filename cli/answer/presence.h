/* SPDX-License-Identifier: MIT */
/* cli/answer/presence.h - the pass that is new or gone, or has other work, from a frame on, which
 * no change of the speed names. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_PRESENCE_H
#define PASSTALLY_CLI_ANSWER_PRESENCE_H

#include "cli/answer/answer.h"

/* Sets the one that changed the frame most, once the changes are known. The first frame that was
 * added to the parts has the number `first`. */
void tally_presence_find(const struct tally_parts *parts, uint64_t first,
			 struct tally_answer_device *d);

#endif
