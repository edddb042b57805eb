/* SPDX-License-Identifier: MIT */
/* cli/answer/demand.h - programs that draw on demand: when an event came, as editors do.
 *
 * They wait for the next event, with nothing to draw: frames a second are then no speed,
 * and a frame that waited is no hitch. It is said only where the frames' thread was seen to
 * sleep in poll() or one of its kind. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_DEMAND_H
#define PASSTALLY_CLI_ANSWER_DEMAND_H

#include "layer/record.h"

struct tally_demand {
	uint64_t n, ns; /* frames that waited for an event, and their time */
};

/* Whether a frame of `frame_ns` waited for an event: `busy_ns` it worked, or waited in
 * the driver. `asleep`: in what it slept most. */
bool tally_demand_waited(uint64_t frame_ns, uint64_t busy_ns,
			 const struct tally_asleep_record *asleep);
/* Whether such frames are a third of the time or more, and no exception: a cursor that
 * fades in and out draws in the other part. */
bool tally_demand_decides(const struct tally_demand *d, double all_ns);

#endif
