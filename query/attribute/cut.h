/* SPDX-License-Identifier: MIT */
/* query/attribute/cut.h - shared by the files of one attribution (attribute.h).
 *
 * A sweep line: attribute.c finds the intervals of work in a window and sorts their ends, the
 * events, by time; sweep.c goes from event to event with the set of active intervals and gives
 * each its share of what was counted in between; apportion.c divides an interval's share among
 * its members. A counter's `level` is the share that an always active interval would have: an
 * interval's delta is the level at its end less that at its beginning, so an event costs the
 * same however many are active.
 *
 *     intervals  |---A---|   |--C--|
 *                    |---B-----|
 *     active     A   AB  B   BC C  -        (-: unattributed)
 *
 * Collector thread only; nothing allocates.
 */
#ifndef PASSTALLY_QUERY_ATTRIBUTE_CUT_H
#define PASSTALLY_QUERY_ATTRIBUTE_CUT_H

#include "layer/record.h"
#include "query/attribute/attribute.h"

/* Work that is counted together: a pass, or with `exact` all passes between the same two
 * samples. Its deltas are collected in the share of its first member. */
struct interval {
	uint64_t begin_ns, end_ns; /* clipped to the window */
	uint32_t first, n; /* range in members */
	uint32_t index; /* index in active, while it is active */
	bool clipped, overlaps;
};

struct event {
	uint64_t time_ns;
	uint32_t interval;
	bool begins;
};

/* A member's part of its interval's delta of one counter. */
struct remainder {
	uint64_t rest;
	uint32_t member, order;
};

struct tally_attributor {
	uint32_t n_counters, words;
	/* The last window: its end and the totals at that time; behind: no reading reached its
	 * end. */
	bool any, behind;
	uint64_t end_ns;
	uint64_t *given;
	uint64_t *next; /* totals at the next event */
	uint64_t *level; /* total of an interval that is always active */
	uint64_t *carried; /* remainders: less than the number of active intervals */
	uint64_t *invalid; /* one bit per counter: it is unknown */
	uint32_t *rotation; /* by counter: who is next to get a remainder */
	/* Scratch arrays of one call, `room` entries each (events: twice as many). */
	uint32_t room;
	struct interval *intervals;
	struct event *events;
	uint32_t *members, *active;
	struct remainder *remainders;
};

/* The state of one call. */
struct cut {
	struct tally_attributor *a;
	const struct tally_history *h;
	const struct tally_work *work;
	struct tally_share *shares;
	uint32_t n;
	struct tally_window *window;
	bool exact;
	uint32_t n_intervals, n_events, n_active;
	uint64_t now_ns;
};

static inline uint64_t
cut_length_of(const struct tally_work *work)
{
	return work->end_ns > work->begin_ns ? work->end_ns - work->begin_ns : 0;
}

/* Goes from event to event through the window. */
void cut_sweep(struct cut *c);

/* Ends an interval: divides its delta among its members, flags and withholds unknown values. */
void cut_finish_interval(struct cut *c, const struct interval *interval);
/* Flags all members of an interval that cannot be distinguished from each other. */
void cut_give_up(struct cut *c, uint32_t first, uint32_t n, uint64_t flag);
/* Moves deltas that must not be logged to `unlogged`. */
void cut_withhold(struct cut *c, uint64_t *delta, const uint64_t *unknown);
/* Values that are left out need a flag: that of their reading, or this one. */
uint64_t cut_flag_of_invalid(const struct tally_attributor *a, uint64_t flags);

/* The deltas of an interval, in the share of its first member. */
static inline uint64_t *
cut_delta_of(const struct cut *c, const struct interval *interval)
{
	return c->shares[c->a->members[interval->first]].delta;
}

#endif
