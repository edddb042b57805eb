/* SPDX-License-Identifier: MIT */
/* query/microblaze/growth.h - counter deltas between two samples, and whether they are
 * plausible.
 *
 * Deltas are modulo the counter's width; what wrapped unnoticed, overflowed, or was counted
 * while latencies overlapped is unknown. Each sample is checked against what must be true of
 * any counts: one that contradicts itself was read out of step, or with the wrong shape. Plain
 * data, one thread.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_GROWTH_H
#define PASSTALLY_QUERY_MICROBLAZE_GROWTH_H

#include "query/microblaze/decode.h"

/* No core runs at 1 GHz, so a wrap of 32 bits can be hidden only between two samples that are
 * further apart than this. */
#define TALLY_MB_SAFE_NS UINT64_C(4000000000)

struct tally_mb_counts {
	uint64_t events[TALLY_MB_MAX_EVENTS];
	struct tally_latency latencies[TALLY_MB_MAX_LATENCIES];
};

/* The deltas of one interval. */
struct tally_mb_delta {
	struct tally_mb_counts counts;
	uint64_t unknown_events, unknown_latencies; /* one bit per counter */
	uint64_t unknown_squares; /* latency counters whose n and sum may still be known */
	uint64_t overflowed, full; /* one bit per counter: events, then latencies */
};

struct tally_mb_history {
	struct tally_mb_shape shape;
	uint8_t events[TALLY_MB_MAX_COUNTERS]; /* what each counter counts */
	bool preset; /* the event counter `preset_k` overflows on purpose */
	uint32_t preset_k;
	struct tally_mb_sample base;
	uint64_t base_ns; /* the sample was taken at that time or later */
	/* Sums since the last Clear, whether known or not; the bits say which are reliable. */
	struct tally_mb_counts seen;
	uint64_t seen_events, seen_latencies, seen_squares;
	/* Since the beginning, across all Clears. */
	struct {
		uint32_t min, max;
		bool known, broken; /* broken: the maximum does not fit its 16 bits */
	} extremes[TALLY_MB_MAX_LATENCIES];
};

/* The counters were cleared at that time or later; event counter preset_k then has `value`, if
 * one is preset. */
void tally_mb_history_clear(struct tally_mb_history *h, uint64_t time_ns, uint64_t value);
/* Adds a sample that was taken between two times, and gets its deltas since the previous sample
 * or Clear. False: the sample contradicts itself, `why` says where (static), and it is ignored;
 * the next sample's deltas are since the same previous one. */
bool tally_mb_history_add(struct tally_mb_history *h, const struct tally_mb_sample *sample,
			  uint64_t begin_ns, uint64_t end_ns, struct tally_mb_delta *out,
			  const char **why);

#endif
