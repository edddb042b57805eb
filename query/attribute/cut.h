/* SPDX-License-Identifier: MIT */
/* query/attribute/cut.h - what the files of one attribution share (attribute.h).
 *
 * A sweep line: attribute.c finds the spans of a window and makes their two ends events in order
 * of time (edges); sweep.c goes from one to the next with the set of active spans and gives each
 * what was counted meanwhile; apportion.c divides what a span got among its members. A counter's
 * `level` is what a span active from the start would have got, so that a span's delta is the
 * level at its end less that at its begin, whatever their number.
 *
 *     spans      |---A---|   |--C--|
 *                    |---B-----|
 *     active     A   AB  B   BC C   -         (-: unattributed)
 *
 * Collector thread only; nothing allocates.
 */
#ifndef PASSTALLY_QUERY_ATTRIBUTE_CUT_H
#define PASSTALLY_QUERY_ATTRIBUTE_CUT_H

#include "layer/record.h"
#include "query/attribute/attribute.h"

/* Work that shares one interval: a pass, or with `exact` all passes between the same two
 * samples. Its deltas are collected in the share of its first member. */
struct span {
	uint64_t begin_ns, end_ns; /* clipped to the window */
	uint32_t first, n; /* range in members */
	uint32_t place; /* index in active, while it is active */
	bool clipped, overlaps;
};

struct edge {
	uint64_t time_ns;
	uint32_t span;
	bool begins;
};

/* A member's part of its span's delta of one counter. */
struct part {
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
	uint64_t *next; /* totals at the end of an interval */
	uint64_t *level; /* total of a span that is always active */
	uint64_t *carried; /* remainders: less than the number of active spans */
	uint64_t *doubts; /* one bit per counter: it is unknown */
	uint32_t *turn; /* by counter: who is next to get a remainder */
	/* Scratch arrays of one call, `room` entries each (edges: twice as many). */
	uint32_t room;
	struct span *spans;
	struct edge *edges;
	uint32_t *members, *active;
	struct part *parts;
};

/* The state of one call. */
struct cut {
	struct tally_attributor *a;
	const struct tally_history *h;
	const struct tally_work *work;
	struct tally_share *shares;
	uint32_t n;
	struct tally_stretch *stretch;
	bool exact;
	uint32_t n_spans, n_edges, n_active;
	uint64_t now_ns;
};

static inline uint64_t
cut_length_of(const struct tally_work *work)
{
	return work->end_ns > work->begin_ns ? work->end_ns - work->begin_ns : 0;
}

/* From edge to edge through the window. */
void cut_sweep(struct cut *c);

/* A span ends: divides its delta among its members, flags and withholds what is not known. */
void cut_finish_span(struct cut *c, const struct span *span);
/* Flags all members of a span that cannot be distinguished from each other. */
void cut_give_up(struct cut *c, uint32_t first, uint32_t n, uint64_t flag);
/* Moves deltas that must not be logged to `unlogged`. */
void cut_withhold(struct cut *c, uint64_t *growth, const uint64_t *unknown);
/* Values that are left out need a flag: that of their reading, or this one. */
uint64_t cut_flag_of_doubts(const struct tally_attributor *a, uint64_t flags);

/* The deltas of a span, in the share of its first member. */
static inline uint64_t *
cut_gathered(const struct cut *c, const struct span *span)
{
	return c->shares[c->a->members[span->first]].growth;
}

#endif
