/* SPDX-License-Identifier: MIT */
#include "query/attribute/attribute.h"

#include "layer/record.h"
#include "query/sampler/share_of.h"

#include <stdlib.h>
#include <string.h>

/* With more active spans than this, a remainder is carried into the next interval instead of
 * being given out one by one, so that the cost of a frame of overlapping passes stays
 * acceptable. */
#define MANY 64u

/* Flags of readings that give a reason why a value is left out. */
#define REASONS (TALLY_FLAG(SATURATED) | TALLY_FLAG(OVERFLOW) | TALLY_FLAG(DISTURBED))

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

static uint64_t
length_of(const struct tally_work *work)
{
	return work->end_ns > work->begin_ns ? work->end_ns - work->begin_ns : 0;
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
		if (!length_of(&c->work[i]) ||
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

/* Flags all members of a span that cannot be distinguished from each other. */
static void
give_up(struct cut *c, uint32_t first, uint32_t n, uint64_t flag)
{
	for (uint32_t i = first; i < first + n; i++)
		c->shares[c->a->members[i]].flags |= flag;
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
		give_up(c, first, n, TALLY_FLAG(LOST));
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

/* ---- sweep line: going through the window from edge to edge ---- */

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

static uint64_t *
gathered(const struct cut *c, const struct span *span)
{
	return c->shares[c->a->members[span->first]].growth;
}

/* Gives one each to `rest` of the active spans, beginning with the one whose turn it is. */
static void
deal(struct cut *c, uint32_t counter, uint64_t rest)
{
	struct tally_attributor *a = c->a;
	if (rest == 0)
		return;
	uint32_t who = a->turn[counter] % c->n_active;
	for (; rest > 0; rest--) {
		gathered(c, &a->spans[a->active[who]])[counter]++;
		if (++who == c->n_active)
			who = 0;
	}
	a->turn[counter] = who;
}

static void
spread(struct cut *c, uint32_t counter, uint64_t growth)
{
	struct tally_attributor *a = c->a;
	if (c->n_active == 0) {
		c->stretch->unattributed[counter] += growth;
		return;
	}
	if (c->n_active == 1) {
		a->level[counter] += growth + a->carried[counter];
		a->carried[counter] = 0;
		return;
	}
	uint64_t n = c->n_active, rest = growth % n + a->carried[counter];
	a->level[counter] += growth / n + rest / n;
	rest %= n;
	a->carried[counter] = 0;
	if (n > MANY)
		a->carried[counter] = rest;
	else
		deal(c, counter, rest);
}

/* Advances to `time_ns`; the same spans are active until then. */
static void
advance(struct cut *c, uint64_t time_ns)
{
	struct tally_attributor *a = c->a;
	if (time_ns == c->now_ns)
		return;
	tally_history_at(c->h, time_ns, a->next);
	for (uint32_t i = 0; i < a->n_counters; i++) {
		/* The total can be less if the history was coarsened after the previous
		 * window. */
		if (a->next[i] <= a->given[i])
			continue;
		uint64_t growth = a->next[i] - a->given[i];
		a->given[i] = a->next[i];
		c->stretch->growth[i] += growth;
		spread(c, i, growth);
	}
	if (c->n_active == 0)
		tally_history_doubts(c->h, c->now_ns, time_ns, c->stretch->unattributed_unknown);
	c->now_ns = time_ns;
}

/* Carried remainders belong to the active spans, all of which end now. */
static void
deal_carried(struct cut *c)
{
	struct tally_attributor *a = c->a;
	for (uint32_t i = 0; i < a->n_counters; i++) {
		deal(c, i, a->carried[i]);
		a->carried[i] = 0;
	}
}

static void
begin_span(struct cut *c, uint32_t index)
{
	struct tally_attributor *a = c->a;
	struct span *span = &a->spans[index];
	uint64_t *growth = gathered(c, span);
	/* Only differences of `level` matter, modulo 2^64. */
	for (uint32_t i = 0; i < a->n_counters; i++)
		growth[i] = 0 - a->level[i];
	memset(c->shares[a->members[span->first]].unknown, 0, a->words * sizeof(uint64_t));
	span->place = c->n_active;
	a->active[c->n_active++] = index;
	if (c->n_active > 1) {
		span->overlaps = true;
		a->spans[a->active[0]].overlaps = true;
	}
}

static void
end_span(struct cut *c, uint32_t index)
{
	struct tally_attributor *a = c->a;
	struct span *span = &a->spans[index];
	uint64_t *growth = gathered(c, span);
	for (uint32_t i = 0; i < a->n_counters; i++)
		growth[i] += a->level[i];
	uint32_t last = a->active[--c->n_active];
	a->active[span->place] = last;
	a->spans[last].place = span->place;
}

/* ---- from spans to their members ---- */

static int
compare_parts(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	if (a->rest != b->rest)
		return a->rest > b->rest ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The GPU time of one member, limited so that the sum over all members does not overflow. */
static uint64_t
length_among(const struct cut *c, const struct span *span, uint32_t i)
{
	uint64_t length = length_of(&c->work[c->a->members[span->first + i]]);
	return length > UINT64_MAX / span->n ? UINT64_MAX / span->n : length;
}

/* Largest remainder method: each member gets its share rounded down, and those with the largest
 * remainders get one more. The delta is in the share of the first member. */
static void
share_counter(struct cut *c, const struct span *span, uint32_t counter, uint64_t whole)
{
	struct tally_attributor *a = c->a;
	const uint32_t *members = a->members + span->first;
	uint64_t *all = &c->shares[members[0]].growth[counter];
	uint64_t growth = *all, left = growth;
	if (growth == 0)
		return;
	*all = 0;
	/* Members with equal remainders take turns. */
	uint32_t turn = a->turn[counter]++ % span->n;
	for (uint32_t i = 0; i < span->n; i++) {
		struct part *part = &a->parts[i];
		uint64_t length = length_among(c, span, i);
		uint64_t share = tally_share_of(growth, length, whole, &part->rest);
		part->member = members[i];
		part->order = i < turn ? i + span->n - turn : i - turn;
		c->shares[members[i]].growth[counter] = share;
		left -= share;
	}
	if (left == 0)
		return;
	qsort(a->parts, span->n, sizeof(*a->parts), compare_parts);
	for (uint32_t i = 0; i < left; i++)
		c->shares[a->parts[i].member].growth[counter]++;
}

/* The deltas of a span that cannot be divided become unattributed. */
static void
take_back(struct cut *c, const struct span *span)
{
	uint64_t *growth = gathered(c, span);
	for (uint32_t i = 0; i < c->a->n_counters; i++) {
		c->stretch->unattributed[i] += growth[i];
		growth[i] = 0;
	}
	for (uint32_t w = 0; w < c->a->words; w++)
		c->stretch->unattributed_unknown[w] |= c->a->doubts[w];
}

/* Moves deltas that must not be logged to `unlogged`. */
static void
withhold(struct cut *c, uint64_t *growth, const uint64_t *unknown)
{
	uint64_t any = 0;
	for (uint32_t w = 0; w < c->a->words; w++)
		any |= unknown[w];
	for (uint32_t i = 0; any && i < c->a->n_counters; i++) {
		if (unknown[i / 64] >> i % 64 & 1) {
			c->stretch->unlogged[i] += growth[i];
			growth[i] = 0;
		}
	}
}

static void
doubt_all(struct tally_attributor *a)
{
	for (uint32_t i = 0; i < a->n_counters; i++)
		a->doubts[i / 64] |= UINT64_C(1) << i % 64;
}

/* Values that are left out need a flag: that of their reading, or this one. */
static uint64_t
flag_of_doubts(const struct tally_attributor *a, uint64_t flags)
{
	uint64_t any = 0;
	for (uint32_t w = 0; w < a->words; w++)
		any |= a->doubts[w];
	return any && !(flags & REASONS) ? TALLY_FLAG(UNSAMPLED) : 0;
}

static void
finish_span(struct cut *c, const struct span *span)
{
	struct tally_attributor *a = c->a;
	const uint32_t *members = a->members + span->first;
	memset(a->doubts, 0, a->words * sizeof(*a->doubts));
	uint64_t flags = tally_history_doubts(c->h, span->begin_ns, span->end_ns, a->doubts);
	/* The span began before the first reading: what was counted until then is in no
	 * total. */
	if (!c->exact && c->work[a->members[span->first]].begin_ns < c->stretch->known_from_ns)
		doubt_all(a);
	flags |= flag_of_doubts(a, flags);
	uint64_t whole = 0;
	for (uint32_t i = 0; i < span->n; i++)
		whole += length_among(c, span, i);
	if (span->n > 1 && whole == 0) {
		take_back(c, span);
		give_up(c, span->first, span->n, TALLY_FLAG(UNSAMPLED) | flags);
		return;
	}
	for (uint32_t i = 0; i < a->n_counters && span->n > 1; i++)
		share_counter(c, span, i, whole);
	for (uint32_t k = 0; k < span->n; k++) {
		struct tally_share *share = &c->shares[members[k]];
		share->flags |= flags;
		if (span->n > 1 && length_of(&c->work[members[k]]) == 0) {
			share->flags |= TALLY_FLAG(UNSAMPLED);
			continue;
		}
		share->known = true;
		share->estimated = !c->exact || span->n > 1 || span->overlaps || span->clipped;
		memcpy(share->unknown, a->doubts, a->words * sizeof(*share->unknown));
		withhold(c, share->growth, share->unknown);
	}
}

/* ---- the whole attribution ---- */

static void
sweep(struct cut *c)
{
	struct tally_attributor *a = c->a;
	const struct edge *edges = a->edges;
	for (uint32_t i = 0; i < c->n_edges; i++) {
		advance(c, edges[i].time_ns);
		if (edges[i].begins) {
			begin_span(c, edges[i].span);
			continue;
		}
		uint32_t end = i;
		while (end < c->n_edges && !edges[end].begins &&
		       edges[end].time_ns == edges[i].time_ns && end - i < c->n_active)
			end++;
		if (end - i == c->n_active)
			deal_carried(c);
		end_span(c, edges[i].span);
		finish_span(c, &a->spans[edges[i].span]);
	}
	advance(c, c->stretch->end_ns);
}

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
	stretch->flags |= flag_of_doubts(c->a, stretch->flags);
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
		sweep(&c);
		withhold(&c, stretch->unattributed, stretch->unattributed_unknown);
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
