/* query/microblaze/events.h - the 64 events that a MicroBlaze core can count, as data.
 *
 * A latency event can be counted by an event counter (how often) and by a latency counter (how
 * long, too). Constant; any thread.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_EVENTS_H
#define PASSTALLY_QUERY_MICROBLAZE_EVENTS_H

#include "layer/record.h"

#define TALLY_MB_N_EVENTS 64
#define TALLY_MB_FIRST_LATENCY 57 /* from here on, to the last */
#define TALLY_MB_CYCLES 30
#define TALLY_MB_FILLER_LATENCY 60 /* for latency counters that nothing is wanted of */

struct tally_mb_event {
	const char *key; /* "icache_hits"; latencies log key.n, .sum and .sum_sq */
	const char *name;
	const char *unit;
	const char *description;
	enum tally_counter_kind kind;
};
/* By number. */
extern const struct tally_mb_event tally_mb_events[TALLY_MB_N_EVENTS];

static inline bool
tally_mb_is_latency(uint32_t event)
{
	return event >= TALLY_MB_FIRST_LATENCY;
}

/* By number ("30"), key, or name without regard to case; -1: none. */
int tally_mb_find_event(const char *text, size_t len);

#endif
