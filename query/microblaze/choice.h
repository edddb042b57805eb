/* SPDX-License-Identifier: MIT */
/* query/microblaze/choice.h - which events a MicroBlaze's counters count, and which of their
 * values are logged.
 *
 * Events are chosen by `events=` and `latency=`, else by --counters, else by passtally's own
 * metrics, as many as there are counters. Only at the start of a capture.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_CHOICE_H
#define PASSTALLY_QUERY_MICROBLAZE_CHOICE_H

#include "query/microblaze/decode.h"
#include "query/source/snapshot.h"

#define TALLY_MB_SOURCE "microblaze"
/* Each latency counter has n, sum and sum of squares. */
#define TALLY_MB_MAX_VALUES (TALLY_MB_MAX_EVENTS + 3 * TALLY_MB_MAX_LATENCIES)

struct tally_mb_choice {
	uint8_t events[TALLY_MB_MAX_COUNTERS]; /* for every counter, including fillers */
	uint32_t n_events, n_latencies; /* of each kind; those that fill the rest come after */
	/* Values in order: n_events counts, then three for each of n_latencies. */
	const struct tally_counter *counters[TALLY_MB_MAX_VALUES];
	uint64_t logged[(TALLY_MB_MAX_VALUES + 63) / 64];
	uint32_t n;
	struct tally_snapshot_level
		levels[2 * TALLY_MB_MAX_LATENCIES]; /* minimum and maximum of each latency */
	uint32_t n_levels;
};

/* Chooses the events. `cycles_for` names the option that needs cycles among the events, or is
 * NULL. */
enum tally_status
tally_mb_choose_events(struct tally_mb_choice *choice,
		       const struct tally_mb_options *options,
		       const struct tally_mb_shape *shape, const char *wanted,
		       const char *cycles_for, char *reason);
/* Then chooses the counters and levels, and sets src's members. False on OOM. */
bool tally_mb_choose_counters(struct tally_mb_choice *choice, const struct tally_mb_shape *shape,
			      struct tally_snapshot_source *src);

#endif
