/* query/microblaze/growth.h - what counters grew by between two samples, and whether to believe it.
 *
 * Differences by the counter's width; what wrapped unseen, overflowed, or was counted while
 * latencies overlapped is unknown. Each sample is held against what must be true of any counts:
 * one that contradicts itself was read out of step, or by the wrong shape. Plain data, one thread.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_GROWTH_H
#define PASSTALLY_QUERY_MICROBLAZE_GROWTH_H

#include "query/microblaze/decode.h"

/* Two samples further apart may hide a wrap of 32 bits: no core runs at 1 GHz. */
#define TALLY_MB_SAFE_NS UINT64_C(4000000000)

struct tally_mb_counts {
	uint64_t events[TALLY_MB_MAX_EVENTS];
	struct tally_latency latencies[TALLY_MB_MAX_LATENCIES];
};

/* Of one interval. */
struct tally_mb_growth {
	struct tally_mb_counts counts;
	uint64_t unknown_events, unknown_latencies; /* bit a counter */
	uint64_t unknown_squares; /* of latency counters whose n and sum may be known */
	uint64_t overflowed, full; /* bit a counter, latency counters after event counters */
};

struct tally_mb_history {
	struct tally_mb_shape shape;
	uint8_t events[TALLY_MB_MAX_COUNTERS]; /* what each counter counts */
	bool preset; /* the event counter `preset_k` overflows by intent */
	uint32_t preset_k;
	struct tally_mb_sample base;
	uint64_t base_ns; /* it was taken at that time or later */
	/* Since the last Clear, of whatever was known or not; bits of what can be relied on. */
	struct tally_mb_counts seen;
	uint64_t seen_events, seen_latencies, seen_squares;
	/* Since the beginning, over all Clears. */
	struct {
		uint32_t min, max;
		bool known, broken; /* broken: the greatest does not fit its 16 bits */
	} extremes[TALLY_MB_MAX_LATENCIES];
};

/* The counters were cleared at that time or later; event counter preset_k then holds `value`, if
 * any is preset. */
void tally_mb_history_clear(struct tally_mb_history *h, uint64_t time_ns, uint64_t value);
/* The growth since the sample or Clear before, of a sample that was taken between two times. False:
 * the sample contradicts itself, `why` says where (static), and it is not taken in: the next one's
 * growth is since the same one before. */
bool tally_mb_history_add(struct tally_mb_history *h, const struct tally_mb_sample *sample,
			  uint64_t begin_ns, uint64_t end_ns, struct tally_mb_growth *out,
			  const char **why);
/* What should be so by the events' names and is not, of all since the last Clear; NULL: nothing.
 * No reason to doubt the sample. */
const char *tally_mb_history_oddity(const struct tally_mb_history *h);

#endif
