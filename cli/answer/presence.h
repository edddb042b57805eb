/* SPDX-License-Identifier: MIT */
/* cli/answer/presence.h - the pass that is new or gone, or has other work, from a frame on, which
 * no change of the speed names; and the calls that frames make from one on. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_PRESENCE_H
#define PASSTALLY_CLI_ANSWER_PRESENCE_H

#include "cli/answer/over_run.h"

/* Sets the ones that changed the frame most, once the changes are known. `calls`: lately. */
void tally_presence_find(const struct tally_over_run *r,
			 const struct tally_event_total calls[TALLY_N_EVENT_GROUPS],
			 struct tally_answer_device *d);

#endif
