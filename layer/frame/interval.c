/* SPDX-License-Identifier: MIT */
#include "layer/frame/interval.h"

#include <stdbool.h>
#include <stdlib.h>

/* A sweep from left to right that builds the union. */
struct sweep {
	bool any;
	uint64_t first, end; /* of the envelope */
	uint64_t covered;
};

static int
compare_begin(const void *a, const void *b)
{
	const struct tally_interval *x = a;
	const struct tally_interval *y = b;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The passes of one stream come in order, so most arrays need no sorting. */
static void
sort(struct tally_interval *intervals, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (intervals[i].begin < intervals[i - 1].begin) {
			qsort(intervals, n, sizeof(*intervals), compare_begin);
			return;
		}
	}
}

static void
extend(struct sweep *s, const struct tally_interval *i)
{
	if (!s->any) {
		*s = (struct sweep){ true, i->begin, i->end, i->end - i->begin };
		return;
	}
	if (i->end <= s->end)
		return;
	s->covered += i->end - (i->begin > s->end ? i->begin : s->end);
	s->end = i->end;
}

static struct tally_span
span_of(const struct sweep *s)
{
	return (struct tally_span){ .union_ns = s->covered, .envelope_ns = s->end - s->first };
}

void
tally_interval_spans(struct tally_interval *some, size_t n_some, struct tally_interval *others,
		     size_t n_others, struct tally_span *of_some, struct tally_span *of_all)
{
	sort(some, n_some);
	sort(others, n_others);
	struct sweep alone = { 0 };
	struct sweep together = { 0 };
	size_t s = 0, o = 0;
	while (s < n_some || o < n_others) {
		if (o == n_others || (s < n_some && some[s].begin <= others[o].begin)) {
			extend(&alone, &some[s]);
			extend(&together, &some[s++]);
		} else {
			extend(&together, &others[o++]);
		}
	}
	*of_some = span_of(&alone);
	*of_all = span_of(&together);
}
