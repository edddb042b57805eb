/* SPDX-License-Identifier: MIT */
/* query/sampler/history.h - the readings of a snapshot source over time, and totals at any
 * moment in between.
 *
 * Between two readings the total is assumed to increase linearly: total(t) is a whole number,
 * never decreases, and equals the reading at each reading's time. So the deltas of adjoining
 * intervals add up exactly to the counter's own delta. Memory is bounded: past its limit every
 * second reading of the older half is dropped, which loses detail but no counts. One thread at
 * a time.
 */
#ifndef PASSTALLY_QUERY_HISTORY_H
#define PASSTALLY_QUERY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_history;

/* NULL on OOM. At most max_bytes are allocated (but always room for 16 readings). */
struct tally_history *tally_history_create(uint32_t n_counters, size_t max_bytes);
void tally_history_destroy(struct tally_history *h); /* accepts NULL */

/* The totals of all counters at one time. */
struct tally_reading {
	/* This is the reading of the samples `first` to `number`. `number` never decreases;
	 * where it stays the same, first > number: no sample was requested. */
	uint64_t first, number;
	uint64_t time_ns; /* increases: add() advances it by 1 ns if it must */
	const uint64_t *totals;
	/* The delta since the previous reading is unknown, one bit per counter. */
	const uint64_t *unknown;
	uint64_t flags;
};
/* Copies the reading. False on OOM: the reading is not kept, and the next one
 * includes its delta. */
bool tally_history_add(struct tally_history *h, const struct tally_reading *reading);

/* Readings up to `time_ns` are no longer needed, except for the last one at or before it. */
void tally_history_trim(struct tally_history *h, uint64_t time_ns);

/* The oldest reading, and the newest; false: there is none. */
bool tally_history_first(const struct tally_history *h, struct tally_reading *out);
bool tally_history_last(const struct tally_history *h, struct tally_reading *out);
/* The reading of the sample with that number; false: it never existed or has been dropped. */
bool tally_history_find(const struct tally_history *h, uint64_t number,
			struct tally_reading *out);

/* totals[i] of every counter at that time; before the first reading the first one's totals,
 * after the last reading the last one's. */
void tally_history_at(const struct tally_history *h, uint64_t time_ns, uint64_t *totals);
/* Which deltas between two times are unknown (bits or-ed into `unknown`), and the flags of the
 * readings that cover them. All are unknown before the first reading and after the last. */
uint64_t tally_history_invalid(const struct tally_history *h, uint64_t begin_ns,
			       uint64_t end_ns, uint64_t *unknown);

#endif
