/* query/microblaze/choice.h - which events a MicroBlaze's counters count, and what of it is logged.
 *
 * Events are as `events=` and `latency=` say, else as --counters asks, else those of passtally's
 * own metrics, as many as there are counters. Start of a capture only.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_CHOICE_H
#define PASSTALLY_QUERY_MICROBLAZE_CHOICE_H

#include "query/microblaze/decode.h"
#include "query/source/snapshot.h"

#define TALLY_MB_SOURCE "microblaze"
/* n, sum and sum of squares of each latency counter. */
#define TALLY_MB_MAX_VALUES (TALLY_MB_MAX_EVENTS + 3 * TALLY_MB_MAX_LATENCIES)

struct tally_mb_choice {
	uint8_t events[TALLY_MB_MAX_COUNTERS]; /* for every counter, fillers too */
	uint32_t n_events, n_latencies; /* of each kind, the first so many are no fillers */
	/* Values in order: n_events counts, then three for each of n_latencies. */
	const struct tally_counter *counters[TALLY_MB_MAX_VALUES];
	uint64_t logged[(TALLY_MB_MAX_VALUES + 63) / 64];
	uint32_t n;
	struct tally_snapshot_level
		levels[2 * TALLY_MB_MAX_LATENCIES]; /* least, greatest, of each */
	uint32_t n_levels;
};

/* `cycles_for`: the option that looks at cycles, so that they must be among the events, or NULL.
 * False: reason says what can not be. */
bool tally_mb_choose_events(struct tally_mb_choice *choice,
			    const struct tally_microblaze_options *options,
			    const struct tally_mb_shape *shape, const char *wanted,
			    const char *cycles_for, char *reason, size_t size);
/* After that: counters and levels, and src's members. False on OOM. */
bool tally_mb_choose_counters(struct tally_mb_choice *choice, const struct tally_mb_shape *shape,
			      struct tally_snapshot_source *src);

#endif
