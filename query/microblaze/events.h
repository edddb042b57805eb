/* SPDX-License-Identifier: MIT */
/* query/microblaze/events.h - the 64 events that a MicroBlaze core can count, as data.
 *
 * An event counter counts how often a latency event occurs; a latency counter also counts how
 * long it takes. Constant; any thread.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_EVENTS_H
#define PASSTALLY_QUERY_MICROBLAZE_EVENTS_H

#include "layer/record.h"

#define TALLY_MB_N_EVENTS 64
#define TALLY_MB_FIRST_LATENCY 57 /* the first event with a latency; so are all after it */
#define TALLY_MB_CYCLES 30
#define TALLY_MB_FILLER_LATENCY 60 /* for latency counters that are not used */

struct tally_mb_event {
	const char *key; /* "icache_hits"; a latency logs key.n, .sum and .sum_sq */
	const char *name;
	const char *unit;
	const char *description;
	enum tally_counter_kind kind;
};
/* Indexed by event number. */
extern const struct tally_mb_event tally_mb_events[TALLY_MB_N_EVENTS];

static inline bool
tally_mb_is_latency(uint32_t event)
{
	return event >= TALLY_MB_FIRST_LATENCY;
}

/* Finds an event by number ("30"), key, or name, ignoring case; -1: none. */
int tally_mb_find_event(const char *text, size_t len);

#endif
