/* SPDX-License-Identifier: MIT */
#include "query/attribute/cut.h"

#include <string.h>

/* With more active spans than this, a remainder is carried into the next interval instead of
 * being given out one by one, so that the cost of a frame of overlapping passes stays
 * acceptable. */
#define MANY 64u

/* Gives one each to `rest` of the active spans, beginning with the one whose turn it is. */
static void
deal(struct cut *c, uint32_t counter, uint64_t rest)
{
	struct tally_attributor *a = c->a;
	if (rest == 0)
		return;
	uint32_t who = a->turn[counter] % c->n_active;
	for (; rest > 0; rest--) {
		cut_gathered(c, &a->spans[a->active[who]])[counter]++;
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
	uint64_t *growth = cut_gathered(c, span);
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
	uint64_t *growth = cut_gathered(c, span);
	for (uint32_t i = 0; i < a->n_counters; i++)
		growth[i] += a->level[i];
	uint32_t last = a->active[--c->n_active];
	a->active[span->place] = last;
	a->spans[last].place = span->place;
}

void
cut_sweep(struct cut *c)
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
		cut_finish_span(c, &a->spans[edges[i].span]);
	}
	advance(c, c->stretch->end_ns);
}
