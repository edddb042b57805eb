/* SPDX-License-Identifier: MIT */
#include "cli/answer/demand.h"

#include "cli/answer/asleep.h"

/* Shorter ones may wait for the screen, in a compositor's or a toolkit's own loop. */
#define LEAST_NS 100000000
#define LEAST_FRAMES 3

bool
tally_demand_waited(uint64_t frame_ns, uint64_t busy_ns,
		    const struct tally_asleep_record *asleep)
{
	/* The time in it is that of the looks at the thread, which miss some. One that polls
	 * nothing sleeps. */
	return frame_ns >= LEAST_NS && tally_asleep_kind(asleep) == TALLY_ASLEEP_EVENTS &&
	       asleep->ns >= frame_ns / 2 && busy_ns <= frame_ns / 4;
}

bool
tally_demand_decides(const struct tally_demand *d, double all_ns)
{
	return d->n >= LEAST_FRAMES && 3 * (double)d->ns > all_ns;
}
