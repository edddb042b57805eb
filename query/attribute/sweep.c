/* SPDX-License-Identifier: MIT */
#include "query/attribute/cut.h"

#include <string.h>

/* With more active intervals than this, a remainder is carried on to the next event instead of
 * being given out one by one, so that the cost of a frame of overlapping passes stays
 * acceptable. */
#define MANY 64u

/* Gives one each to `rest` of the active intervals, beginning with the one whose turn it is. */
static void
give_remainders(struct cut *c, uint32_t counter, uint64_t rest)
{
	struct tally_attributor *a = c->a;
	if (rest == 0)
		return;
	uint32_t who = a->rotation[counter] % c->n_active;
	for (; rest > 0; rest--) {
		cut_delta_of(c, &a->intervals[a->active[who]])[counter]++;
		if (++who == c->n_active)
			who = 0;
	}
	a->rotation[counter] = who;
}

static void
apportion(struct cut *c, uint32_t counter, uint64_t delta)
{
	struct tally_attributor *a = c->a;
	if (c->n_active == 0) {
		c->window->unattributed[counter] += delta;
		return;
	}
	if (c->n_active == 1) {
		a->level[counter] += delta + a->carried[counter];
		a->carried[counter] = 0;
		return;
	}
	uint64_t n = c->n_active, rest = delta % n + a->carried[counter];
	a->level[counter] += delta / n + rest / n;
	rest %= n;
	a->carried[counter] = 0;
	if (n > MANY)
		a->carried[counter] = rest;
	else
		give_remainders(c, counter, rest);
}

/* Advances to `time_ns`; the same intervals are active until then. */
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
		uint64_t delta = a->next[i] - a->given[i];
		a->given[i] = a->next[i];
		c->window->delta[i] += delta;
		apportion(c, i, delta);
	}
	if (c->n_active == 0)
		tally_history_invalid(c->h, c->now_ns, time_ns,
				      c->window->unattributed_unknown);
	c->now_ns = time_ns;
}

/* Carried remainders belong to the active intervals, all of which end now. */
static void
give_carried(struct cut *c)
{
	struct tally_attributor *a = c->a;
	for (uint32_t i = 0; i < a->n_counters; i++) {
		give_remainders(c, i, a->carried[i]);
		a->carried[i] = 0;
	}
}

static void
begin_interval(struct cut *c, uint32_t index)
{
	struct tally_attributor *a = c->a;
	struct interval *interval = &a->intervals[index];
	uint64_t *delta = cut_delta_of(c, interval);
	/* Only differences of `level` matter, modulo 2^64. */
	for (uint32_t i = 0; i < a->n_counters; i++)
		delta[i] = 0 - a->level[i];
	memset(c->shares[a->members[interval->first]].unknown, 0,
	       a->words * sizeof(uint64_t));
	interval->index = c->n_active;
	a->active[c->n_active++] = index;
	if (c->n_active > 1) {
		interval->overlaps = true;
		a->intervals[a->active[0]].overlaps = true;
	}
}

static void
end_interval(struct cut *c, uint32_t index)
{
	struct tally_attributor *a = c->a;
	struct interval *interval = &a->intervals[index];
	uint64_t *delta = cut_delta_of(c, interval);
	for (uint32_t i = 0; i < a->n_counters; i++)
		delta[i] += a->level[i];
	uint32_t last = a->active[--c->n_active];
	a->active[interval->index] = last;
	a->intervals[last].index = interval->index;
}

void
cut_sweep(struct cut *c)
{
	struct tally_attributor *a = c->a;
	const struct event *events = a->events;
	for (uint32_t i = 0; i < c->n_events; i++) {
		advance(c, events[i].time_ns);
		if (events[i].begins) {
			begin_interval(c, events[i].interval);
			continue;
		}
		uint32_t end = i;
		while (end < c->n_events && !events[end].begins &&
		       events[end].time_ns == events[i].time_ns && end - i < c->n_active)
			end++;
		if (end - i == c->n_active)
			give_carried(c);
		end_interval(c, events[i].interval);
		cut_finish_interval(c, &a->intervals[events[i].interval]);
	}
	advance(c, c->window->end_ns);
}
