/* query/microblaze/decode.h - what the items of one sample mean: counts, latencies, states.
 *
 * A core has `ne` event counters, then `nl` latency counters, all `width` bits wide; a counter is
 * read as 1 to 7 items of 32 bits, the upper part of a number first. Plain data; any thread.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_DECODE_H
#define PASSTALLY_QUERY_MICROBLAZE_DECODE_H

#include "layer/microblaze_options.h"
#include "query/statistics/latency.h"

#define TALLY_MB_MAX_EVENTS TALLY_MICROBLAZE_MAX_EVENT_COUNTERS
#define TALLY_MB_MAX_LATENCIES TALLY_MICROBLAZE_MAX_LATENCY_COUNTERS
#define TALLY_MB_MAX_COUNTERS (TALLY_MB_MAX_EVENTS + TALLY_MB_MAX_LATENCIES)
#define TALLY_MB_MAX_ITEMS (2 * TALLY_MB_MAX_EVENTS + 7 * TALLY_MB_MAX_LATENCIES)
/* A 16-bit extreme that may stand for more: whether it stops or wraps there is not documented. */
#define TALLY_MB_NARROW_MAX 0xffffu

struct tally_mb_shape {
	uint32_t ne, nl, width;
};

struct tally_mb_sample {
	uint64_t events[TALLY_MB_MAX_EVENTS];
	struct {
		struct tally_latency l; /* n has 32 bits at every width */
		uint32_t min, max; /* since the last Clear; mean nothing while n is 0 */
	} latencies[TALLY_MB_MAX_LATENCIES];
	/* TALLY_MDM_OVERFLOW and TALLY_MDM_FULL; latency counters after event counters. */
	uint32_t status[TALLY_MB_MAX_COUNTERS];
	/* A bit is set that can not be: what was read are no such counters. */
	bool bad_status, bad_item;
};

uint32_t tally_mb_event_items(const struct tally_mb_shape *shape);
uint32_t tally_mb_latency_items(const struct tally_mb_shape *shape);
uint32_t tally_mb_items(const struct tally_mb_shape *shape); /* of all counters */
/* 2^width - 1. */
uint64_t tally_mb_mask(const struct tally_mb_shape *shape);

/* tally_mb_items() items, and a status a counter. */
void tally_mb_decode(const struct tally_mb_shape *shape, const uint32_t *status,
		     const uint32_t *items, struct tally_mb_sample *out);
/* Items of an event counter that is to hold `value`; returns how many. */
uint32_t
tally_mb_encode_event(const struct tally_mb_shape *shape, uint64_t value, uint32_t items[2]);

#endif
