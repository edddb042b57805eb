/* SPDX-License-Identifier: MIT */
/* query/microblaze/decode.h - what the items of one sample mean: counts, latencies, states.
 *
 * A core has `ne` event counters, then `nl` latency counters, all of them `width` bits wide; a
 * counter is read as 1 to 7 items of 32 bits, where the upper part of a number comes first.
 * Plain data; any thread.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_DECODE_H
#define PASSTALLY_QUERY_MICROBLAZE_DECODE_H

#include "query/microblaze/options.h"
#include "query/statistics/latency.h"

#define TALLY_MB_MAX_COUNTERS (TALLY_MB_MAX_EVENTS + TALLY_MB_MAX_LATENCIES)
#define TALLY_MB_MAX_ITEMS (2 * TALLY_MB_MAX_EVENTS + 7 * TALLY_MB_MAX_LATENCIES)
/* A 16-bit minimum or maximum that may represent a larger value: whether it saturates or wraps
 * is not documented. */
#define TALLY_MB_NARROW_MAX 0xffffu

struct tally_mb_shape {
	uint32_t ne, nl, width;
};

struct tally_mb_sample {
	uint64_t events[TALLY_MB_MAX_EVENTS];
	struct {
		struct tally_latency l; /* n has 32 bits at every width */
		uint32_t min, max; /* since the last Clear; meaningless while n is 0 */
	} latencies[TALLY_MB_MAX_LATENCIES];
	/* TALLY_MDM_OVERFLOW and TALLY_MDM_FULL; event counters, then latency counters. */
	uint32_t status[TALLY_MB_MAX_COUNTERS];
	/* An impossible bit is set: what was read does not come from such counters. */
	bool bad_status, bad_item;
};

uint32_t tally_mb_event_items(const struct tally_mb_shape *shape);
uint32_t tally_mb_latency_items(const struct tally_mb_shape *shape);
uint32_t tally_mb_items(const struct tally_mb_shape *shape); /* of all counters */
/* 2^width - 1. */
uint64_t tally_mb_mask(const struct tally_mb_shape *shape);

/* Takes tally_mb_items() items, and one status per counter. */
void tally_mb_decode(const struct tally_mb_shape *shape, const uint32_t *status,
		     const uint32_t *items, struct tally_mb_sample *out);
/* Encodes `value` as the items of an event counter; returns how many items there are. */
uint32_t
tally_mb_encode_event(const struct tally_mb_shape *shape, uint64_t value, uint32_t items[2]);

#endif
