/* SPDX-License-Identifier: MIT */
#include "query/attribute/attribute.h"

#include "layer/base/array.h"
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
	a->invalid = calloc(n, sizeof(*a->invalid));
	a->rotation = calloc(n, sizeof(*a->rotation));
	if (!a->given || !a->invalid || !a->rotation) {
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
	free(a->invalid);
	free(a->rotation);
	free(a->intervals);
	free(a->events);
	free(a->members);
	free(a->active);
	free(a->remainders);
	free(a);
}

static bool
reserve(struct tally_attributor *a, uint32_t n)
{
	if (n <= a->room)
		return true;
	size_t room = (size_t)n + n / 2;
	if (room > UINT32_MAX / 2 ||
	    !tally_array_resize(&a->intervals, room, sizeof(*a->intervals)) ||
	    !tally_array_resize(&a->events, 2 * room, sizeof(*a->events)) ||
	    !tally_array_resize(&a->members, room, sizeof(*a->members)) ||
	    !tally_array_resize(&a->active, room, sizeof(*a->active)) ||
	    !tally_array_resize(&a->remainders, room, sizeof(*a->remainders)))
		return false;
	a->room = (uint32_t)room;
	return true;
}

/* ---- finding the intervals ---- */

/* Sets the deltas of a member to 0, none of them unknown. */
static void
set_nothing(struct cut *c, uint32_t member)
{
	struct tally_share *share = &c->shares[member];
	memset(share->delta, 0, c->a->n_counters * sizeof(*share->delta));
	memset(share->unknown, 0, c->a->words * sizeof(*share->unknown));
}

/* False: all of the interval is outside of the window. */
static bool
add_interval(struct cut *c, uint64_t begin_ns, uint64_t end_ns, uint32_t first,
	     uint32_t n)
{
	struct tally_attributor *a = c->a;
	const struct tally_window *window = c->window;
	struct interval interval = {
		.begin_ns = begin_ns, .end_ns = end_ns, .first = first, .n = n
	};
	if (interval.begin_ns < window->begin_ns)
		interval.begin_ns = window->begin_ns;
	if (interval.end_ns > window->end_ns)
		interval.end_ns = window->end_ns;
	if (interval.begin_ns >= interval.end_ns)
		return false;
	interval.clipped = interval.begin_ns != begin_ns || interval.end_ns != end_ns;
	a->events[c->n_events++] = (struct event){ interval.begin_ns, c->n_intervals,
						   true };
	a->events[c->n_events++] = (struct event){ interval.end_ns, c->n_intervals,
						   false };
	a->intervals[c->n_intervals++] = interval;
	return true;
}

static void
find_sampled_intervals(struct cut *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		c->a->members[i] = i;
		if (!cut_length_of(&c->work[i]) ||
		    !add_interval(c, c->work[i].begin_ns, c->work[i].end_ns, i, 1))
			set_nothing(c, i);
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

/* All members have the same two samples. The first member's deltas are set when the interval
 * begins. */
static void
find_exact_interval(struct cut *c, uint32_t first, uint32_t n)
{
	const uint32_t *members = c->a->members;
	const struct tally_work *work = &c->work[members[first]];
	struct tally_reading from, to;
	bool found = tally_history_find(c->h, work->from, &from) &&
		     tally_history_find(c->h, work->to, &to) && from.time_ns < to.time_ns;
	bool added = found && add_interval(c, from.time_ns, to.time_ns, first, n);
	for (uint32_t i = first + added; i < first + n; i++)
		set_nothing(c, members[i]);
	if (!found)
		cut_give_up(c, first, n, TALLY_FLAG(LOST));
}

static void
find_exact_intervals(struct cut *c)
{
	uint32_t *members = c->a->members, n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		if (has_samples(&c->work[i])) {
			members[n++] = i;
			continue;
		}
		c->shares[i].flags |= TALLY_FLAG(UNSAMPLED);
		set_nothing(c, i);
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
		find_exact_interval(c, first, end - first);
	}
}

static int
compare_events(const void *x, const void *y)
{
	const struct event *a = x, *b = y;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->begins != b->begins)
		return a->begins ? 1 : -1;
	return (a->interval > b->interval) - (a->interval < b->interval);
}

/* The passes of one queue are already in order, and need no sorting. */
static void
sort_events(struct event *events, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (compare_events(&events[i - 1], &events[i]) > 0) {
			qsort(events, n, sizeof(*events), compare_events);
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
	struct tally_window *window = c->window;
	memset(window->unattributed, 0, totals);
	memset(window->unattributed_unknown, 0, words);
	memset(window->unlogged, 0, totals);
	memset(window->delta, 0, totals);
	memset(c->a->level, 0, totals);
	memset(c->a->invalid, 0, words);
	window->flags = tally_history_invalid(c->h, window->begin_ns, window->end_ns,
					      c->a->invalid);
	window->flags |= cut_flag_of_invalid(c->a, window->flags);
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
		c->window->delta[i] += a->next[i] - a->given[i];
		c->window->unlogged[i] += a->next[i] - a->given[i];
		a->given[i] = a->next[i];
	}
}

bool
tally_attribute(struct tally_attributor *a, const struct tally_history *h, bool exact,
		const struct tally_work *work, struct tally_share *shares, uint32_t n,
		struct tally_window *window)
{
	if (!reserve(a, n))
		return false;
	struct cut c = {
		.a = a,
		.h = h,
		.work = work,
		.shares = shares,
		.n = n,
		.window = window,
		.exact = exact,
		.now_ns = window->begin_ns,
	};
	clear(&c);
	if (!a->any || a->end_ns != window->begin_ns)
		tally_history_at(h, window->begin_ns, a->given);
	else if (a->behind)
		withhold_arrears(&c);
	if (window->end_ns > window->begin_ns) {
		if (exact)
			find_exact_intervals(&c);
		else
			find_sampled_intervals(&c);
		sort_events(a->events, c.n_events);
		cut_sweep(&c);
		cut_withhold(&c, window->unattributed, window->unattributed_unknown);
	} else {
		for (uint32_t i = 0; i < n; i++)
			set_nothing(&c, i);
	}
	struct tally_reading last;
	a->any = true;
	a->end_ns = c.now_ns;
	a->behind = !tally_history_last(h, &last) || last.time_ns < a->end_ns;
	return true;
}
