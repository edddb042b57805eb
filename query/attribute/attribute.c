/* SPDX-License-Identifier: MIT */
#include "query/attribute/attribute.h"

#include "query/attribute/cut.h"

#include <stdlib.h>
#include <string.h>

struct tally_attributor *
tally_attributor_create(uint32_t n_counters)
{
	struct tally_attributor *a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->n_counters = n_counters;
	a->words = n_counters / 64 + (n_counters % 64 != 0);
	size_t n = n_counters ? n_counters : 1;
	a->given = calloc(4 * n, sizeof(*a->given));
	a->doubts = calloc(n, sizeof(*a->doubts));
	a->turn = calloc(n, sizeof(*a->turn));
	if (!a->given || !a->doubts || !a->turn) {
		tally_attributor_destroy(a);
		return NULL;
	}
	a->next = a->given + n;
	a->level = a->next + n;
	a->carried = a->level + n;
	return a;
}

void
tally_attributor_destroy(struct tally_attributor *a)
{
	if (!a)
		return;
	free(a->given);
	free(a->doubts);
	free(a->turn);
	free(a->spans);
	free(a->edges);
	free(a->members);
	free(a->active);
	free(a->parts);
	free(a);
}

static bool
grow(void *array, size_t n, size_t size)
{
	void **p = array;
	void *grown = n > SIZE_MAX / size ? NULL : realloc(*p, n * size);
	if (grown)
		*p = grown;
	return grown != NULL;
}

static bool
reserve(struct tally_attributor *a, uint32_t n)
{
	if (n <= a->room)
		return true;
	size_t room = (size_t)n + n / 2;
	if (room > UINT32_MAX / 2 || !grow(&a->spans, room, sizeof(*a->spans)) ||
	    !grow(&a->edges, 2 * room, sizeof(*a->edges)) ||
	    !grow(&a->members, room, sizeof(*a->members)) ||
	    !grow(&a->active, room, sizeof(*a->active)) ||
	    !grow(&a->parts, room, sizeof(*a->parts)))
		return false;
	a->room = (uint32_t)room;
	return true;
}

/* ---- finding the spans ---- */

/* Sets the deltas of a member to 0, none of them unknown. */
static void
say_nothing(struct cut *c, uint32_t member)
{
	struct tally_share *share = &c->shares[member];
	memset(share->growth, 0, c->a->n_counters * sizeof(*share->growth));
	memset(share->unknown, 0, c->a->words * sizeof(*share->unknown));
}

/* False: all of the span is outside of the window. */
static bool
add_span(struct cut *c, uint64_t begin_ns, uint64_t end_ns, uint32_t first, uint32_t n)
{
	struct tally_attributor *a = c->a;
	const struct tally_stretch *stretch = c->stretch;
	struct span span = { .begin_ns = begin_ns, .end_ns = end_ns, .first = first, .n = n };
	if (span.begin_ns < stretch->begin_ns)
		span.begin_ns = stretch->begin_ns;
	if (span.end_ns > stretch->end_ns)
		span.end_ns = stretch->end_ns;
	if (span.begin_ns >= span.end_ns)
		return false;
	span.clipped = span.begin_ns != begin_ns || span.end_ns != end_ns;
	a->edges[c->n_edges++] = (struct edge){ span.begin_ns, c->n_spans, true };
	a->edges[c->n_edges++] = (struct edge){ span.end_ns, c->n_spans, false };
	a->spans[c->n_spans++] = span;
	return true;
}

static void
find_sampled_spans(struct cut *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		c->a->members[i] = i;
		if (!cut_length_of(&c->work[i]) ||
		    !add_span(c, c->work[i].begin_ns, c->work[i].end_ns, i, 1))
			say_nothing(c, i);
	}
}

static int
compare_members(const void *x, const void *y, void *data)
{
	const struct tally_work *work = data;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct tally_work *a = &work[i], *b = &work[k];
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (i > k) - (i < k);
}

static bool
has_samples(const struct tally_work *work)
{
	return work->from != 0 && work->to != 0;
}

/* All members have the same two samples. The first member's deltas are set when the span
 * begins. */
static void
find_exact_span(struct cut *c, uint32_t first, uint32_t n)
{
	const uint32_t *members = c->a->members;
	const struct tally_work *work = &c->work[members[first]];
	struct tally_reading from, to;
	bool found = tally_history_find(c->h, work->from, &from) &&
		     tally_history_find(c->h, work->to, &to) && from.time_ns < to.time_ns;
	bool added = found && add_span(c, from.time_ns, to.time_ns, first, n);
	for (uint32_t i = first + added; i < first + n; i++)
		say_nothing(c, members[i]);
	if (!found)
		cut_give_up(c, first, n, TALLY_FLAG(LOST));
}

static void
find_exact_spans(struct cut *c)
{
	uint32_t *members = c->a->members, n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		if (has_samples(&c->work[i])) {
			members[n++] = i;
			continue;
		}
		c->shares[i].flags |= TALLY_FLAG(UNSAMPLED);
		say_nothing(c, i);
	}
	if (n > 1)
		qsort_r(members, n, sizeof(*members), compare_members, (void *)c->work);
	for (uint32_t first = 0, end; first < n; first = end) {
		const struct tally_work *work = &c->work[members[first]];
		for (end = first + 1; end < n; end++) {
			const struct tally_work *other = &c->work[members[end]];
			if (other->from != work->from || other->to != work->to)
				break;
		}
		find_exact_span(c, first, end - first);
	}
}

static int
compare_edges(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->begins != b->begins)
		return a->begins ? 1 : -1;
	return (a->span > b->span) - (a->span < b->span);
}

/* The passes of one queue are already in order, and need no sorting. */
static void
sort_edges(struct edge *edges, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (compare_edges(&edges[i - 1], &edges[i]) > 0) {
			qsort(edges, n, sizeof(*edges), compare_edges);
			return;
		}
	}
}

/* ---- the whole attribution ---- */

static void
clear(struct cut *c)
{
	size_t totals = c->a->n_counters * sizeof(uint64_t);
	size_t words = c->a->words * sizeof(uint64_t);
	for (uint32_t i = 0; i < c->n; i++) {
		struct tally_share *share = &c->shares[i];
		share->known = share->estimated = false;
		share->flags = 0;
	}
	struct tally_stretch *stretch = c->stretch;
	memset(stretch->unattributed, 0, totals);
	memset(stretch->unattributed_unknown, 0, words);
	memset(stretch->unlogged, 0, totals);
	memset(stretch->growth, 0, totals);
	memset(c->a->level, 0, totals);
	memset(c->a->doubts, 0, words);
	stretch->flags = tally_history_doubts(c->h, stretch->begin_ns, stretch->end_ns,
					      c->a->doubts);
	stretch->flags |= cut_flag_of_doubts(c->a, stretch->flags);
}

/* The last window ended after all readings. What a newer reading adds to it is a delta that no
 * pass of this window caused. */
static void
withhold_arrears(struct cut *c)
{
	struct tally_attributor *a = c->a;
	tally_history_at(c->h, c->now_ns, a->next);
	for (uint32_t i = 0; i < a->n_counters; i++) {
		if (a->next[i] <= a->given[i])
			continue;
		c->stretch->growth[i] += a->next[i] - a->given[i];
		c->stretch->unlogged[i] += a->next[i] - a->given[i];
		a->given[i] = a->next[i];
	}
}

bool
tally_attribute(struct tally_attributor *a, const struct tally_history *h, bool exact,
		const struct tally_work *work, struct tally_share *shares, uint32_t n,
		struct tally_stretch *stretch)
{
	if (!reserve(a, n))
		return false;
	struct cut c = {
		.a = a,
		.h = h,
		.work = work,
		.shares = shares,
		.n = n,
		.stretch = stretch,
		.exact = exact,
		.now_ns = stretch->begin_ns,
	};
	clear(&c);
	if (!a->any || a->end_ns != stretch->begin_ns)
		tally_history_at(h, stretch->begin_ns, a->given);
	else if (a->behind)
		withhold_arrears(&c);
	if (stretch->end_ns > stretch->begin_ns) {
		if (exact)
			find_exact_spans(&c);
		else
			find_sampled_spans(&c);
		sort_edges(a->edges, c.n_edges);
		cut_sweep(&c);
		cut_withhold(&c, stretch->unattributed, stretch->unattributed_unknown);
	} else {
		for (uint32_t i = 0; i < n; i++)
			say_nothing(&c, i);
	}
	struct tally_reading last;
	a->any = true;
	a->end_ns = c.now_ns;
	a->behind = !tally_history_last(h, &last) || last.time_ns < a->end_ns;
	return true;
}
