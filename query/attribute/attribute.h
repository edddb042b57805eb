/* SPDX-License-Identifier: MIT */
/* query/attribute/attribute.h - divides the deltas of counter snapshots among passes.
 *
 * A device's frames are consecutive; each has a time window that begins where the previous
 * one ended. Inside it the delta of every counter goes to the passes that ran, by time: where
 * one pass runs, all of it belongs to that pass; where several run at once, they share evenly
 * (whole numbers, largest remainder method, so that nothing is lost); where none runs, it is
 * unattributed. Passes + unattributed + unlogged equal the delta of the window, exactly. A pass
 * between its own two samples (`exact`) gets the delta between those; several passes in one
 * such pair share it by GPU time. Collector thread only; nothing here blocks.
 */
#ifndef PASSTALLY_QUERY_ATTRIBUTE_H
#define PASSTALLY_QUERY_ATTRIBUTE_H

#include "query/sampler/history.h"

/* Input: a pass on the source's time line. */
struct tally_work {
	uint64_t begin_ns, end_ns; /* its GPU time, CLOCK_MONOTONIC; begin == end: not known */
	uint64_t from, to; /* numbers of the pass's own samples; TALLY_NO_SNAPSHOT: none */
};

/* Output, per pass: growth[i] is valid where bit i of unknown is clear. */
struct tally_share {
	uint64_t *delta; /* n_counters */
	uint64_t *unknown; /* one bit per counter */
	bool known; /* something is known about the pass */
	bool estimated;
	uint64_t flags;
};

struct tally_window {
	uint64_t begin_ns, end_ns;
	uint64_t known_from_ns; /* input: the source's first reading */
	uint64_t *unattributed; /* n_counters */
	uint64_t *unattributed_unknown; /* one bit per counter */
	uint64_t *unlogged; /* n_counters: deltas of values that are left out */
	uint64_t *delta; /* n_counters: of the whole window */
	uint64_t flags;
};

/* Remembers where the last window ended: a window that begins there starts from the totals with
 * which the previous one ended, even if the history's answer has changed (it was coarsened, or
 * another reading arrived). So windows add up exactly; skipped time is a window without
 * work. */
struct tally_attributor;
struct tally_attributor *tally_attributor_create(uint32_t n_counters); /* NULL on OOM */
void tally_attributor_destroy(struct tally_attributor *a); /* accepts NULL */

/* Attributes the window from window->begin_ns to end_ns; only the part of work inside it
 * counts. Nothing is known about work without time. With `exact`, work that has no separate
 * samples gets nothing, and TALLY_FLAG(UNSAMPLED), as does work that shares its samples but has
 * no time to share by; where its samples are gone it is flagged LOST. Their deltas are
 * unattributed. Work that began before known_from_ns gets nothing. Where something is left out,
 * flags indicate it: those of the reading, or UNSAMPLED. Deltas of windows whose end no reading
 * had reached are unlogged in the next one. The previous contents of the arrays do not matter.
 * False on OOM: nothing is set. */
bool tally_attribute(struct tally_attributor *a, const struct tally_history *h, bool exact,
		     const struct tally_work *work, struct tally_share *shares, uint32_t n,
		     struct tally_window *window);

#endif
