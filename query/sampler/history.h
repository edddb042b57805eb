/* query/sampler/history.h - what a snapshot source read, over time: totals at any moment in
 * between.
 *
 * Between two readings the total is taken to grow evenly: total(t) is a whole number, never
 * falls, and equals the reading at each reading's time. So what adjoining stretches of time grew
 * by adds up to the counter's own growth, to the integer. Bounded: past its ceiling every second
 * reading of the older half is let go, which loses no growth, only detail. One thread at a time.
 */
#ifndef PASSTALLY_QUERY_HISTORY_H
#define PASSTALLY_QUERY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_history;

/* NULL on OOM. At most max_bytes are taken (but always room for 16 readings). */
struct tally_history *tally_history_create(uint32_t n_counters, size_t max_bytes);
void tally_history_destroy(struct tally_history *h); /* accepts NULL */

struct tally_reading {
	/* Of the samples that it is the reading of, first to last; last goes up or stays, then with
	 * first > number: nobody asked for it. */
	uint64_t first, number;
	uint64_t time_ns; /* goes up: add() moves it on by 1 ns if it must */
	const uint64_t *totals;
	const uint64_t *unknown; /* growth since the reading before is not known, bit a counter */
	uint64_t flags;
};
/* Copies. False on OOM: the reading is not kept, the next one tells its growth. */
bool tally_history_add(struct tally_history *h, const struct tally_reading *reading);

/* Readings up to `time_ns` are needed no more, but for the last at or before it. */
void tally_history_trim(struct tally_history *h, uint64_t time_ns);

bool tally_history_first(const struct tally_history *h, struct tally_reading *out);
bool tally_history_last(const struct tally_history *h, struct tally_reading *out);
/* The reading of the sample with that number; false: it never was or is gone. */
bool tally_history_find(const struct tally_history *h, uint64_t number, struct tally_reading *out);

/* totals[i] of every counter at that time; before the first reading the first's, after the last the
 * last's. */
void tally_history_at(const struct tally_history *h, uint64_t time_ns, uint64_t *totals);
/* What growth between two times is not known (bits or-ed into `unknown`), and the flags of the
 * readings that tell of it. All of it before the first reading and after the last. */
uint64_t tally_history_doubts(const struct tally_history *h, uint64_t begin_ns, uint64_t end_ns,
			      uint64_t *unknown);

#endif
