/* SPDX-License-Identifier: MIT */
/* Largest remainder method: an interval's delta among its members. */
#include "query/attribute/cut.h"

#include <stdlib.h>
#include <string.h>

#include "query/sampler/share_of.h"

/* Flags of readings that give a reason why a value is left out. */
#define REASONS (TALLY_FLAG(SATURATED) | TALLY_FLAG(OVERFLOW) | TALLY_FLAG(DISTURBED))

static int
compare_remainders(const void *x, const void *y)
{
	const struct remainder *a = x, *b = y;
	if (a->rest != b->rest)
		return a->rest > b->rest ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The GPU time of one member, limited so that the sum over all members does not overflow. */
static uint64_t
length_among(const struct cut *c, const struct interval *interval, uint32_t i)
{
	uint64_t length = cut_length_of(&c->work[c->a->members[interval->first + i]]);
	return length > UINT64_MAX / interval->n ? UINT64_MAX / interval->n : length;
}

/* Largest remainder method: each member gets its share rounded down, and those with the largest
 * remainders get one more. The delta is in the share of the first member. */
static void
share_counter(struct cut *c, const struct interval *interval, uint32_t counter,
	      uint64_t whole)
{
	struct tally_attributor *a = c->a;
	const uint32_t *members = a->members + interval->first;
	uint64_t *all = &c->shares[members[0]].delta[counter];
	uint64_t delta = *all, left = delta;
	if (delta == 0)
		return;
	*all = 0;
	/* Members with equal remainders take turns. */
	uint32_t rotation = a->rotation[counter]++ % interval->n;
	for (uint32_t i = 0; i < interval->n; i++) {
		struct remainder *remainder = &a->remainders[i];
		uint64_t length = length_among(c, interval, i);
		uint64_t share = tally_share_of(delta, length, whole, &remainder->rest);
		remainder->member = members[i];
		remainder->order = i < rotation ? i + interval->n - rotation
						: i - rotation;
		c->shares[members[i]].delta[counter] = share;
		left -= share;
	}
	if (left == 0)
		return;
	qsort(a->remainders, interval->n, sizeof(*a->remainders), compare_remainders);
	for (uint32_t i = 0; i < left; i++)
		c->shares[a->remainders[i].member].delta[counter]++;
}

void
cut_give_up(struct cut *c, uint32_t first, uint32_t n, uint64_t flag)
{
	for (uint32_t i = first; i < first + n; i++)
		c->shares[c->a->members[i]].flags |= flag;
}

/* The deltas of an interval that cannot be divided become unattributed. */
static void
take_back(struct cut *c, const struct interval *interval)
{
	uint64_t *delta = cut_delta_of(c, interval);
	for (uint32_t i = 0; i < c->a->n_counters; i++) {
		c->window->unattributed[i] += delta[i];
		delta[i] = 0;
	}
	for (uint32_t w = 0; w < c->a->words; w++)
		c->window->unattributed_unknown[w] |= c->a->invalid[w];
}

void
cut_withhold(struct cut *c, uint64_t *delta, const uint64_t *unknown)
{
	uint64_t any = 0;
	for (uint32_t w = 0; w < c->a->words; w++)
		any |= unknown[w];
	for (uint32_t i = 0; any && i < c->a->n_counters; i++) {
		if (unknown[i / 64] >> i % 64 & 1) {
			c->window->unlogged[i] += delta[i];
			delta[i] = 0;
		}
	}
}

static void
invalidate_all(struct tally_attributor *a)
{
	for (uint32_t i = 0; i < a->n_counters; i++)
		a->invalid[i / 64] |= UINT64_C(1) << i % 64;
}

uint64_t
cut_flag_of_invalid(const struct tally_attributor *a, uint64_t flags)
{
	uint64_t any = 0;
	for (uint32_t w = 0; w < a->words; w++)
		any |= a->invalid[w];
	return any && !(flags & REASONS) ? TALLY_FLAG(UNSAMPLED) : 0;
}

void
cut_finish_interval(struct cut *c, const struct interval *interval)
{
	struct tally_attributor *a = c->a;
	const uint32_t *members = a->members + interval->first;
	memset(a->invalid, 0, a->words * sizeof(*a->invalid));
	uint64_t flags = tally_history_invalid(c->h, interval->begin_ns, interval->end_ns,
					       a->invalid);
	/* The interval began before the first reading: what was counted until then is in no
	 * total. */
	if (!c->exact &&
	    c->work[a->members[interval->first]].begin_ns < c->window->known_from_ns)
		invalidate_all(a);
	flags |= cut_flag_of_invalid(a, flags);
	uint64_t whole = 0;
	for (uint32_t i = 0; i < interval->n; i++)
		whole += length_among(c, interval, i);
	if (interval->n > 1 && whole == 0) {
		take_back(c, interval);
		cut_give_up(c, interval->first, interval->n,
			    TALLY_FLAG(UNSAMPLED) | flags);
		return;
	}
	for (uint32_t i = 0; i < a->n_counters && interval->n > 1; i++)
		share_counter(c, interval, i, whole);
	for (uint32_t k = 0; k < interval->n; k++) {
		struct tally_share *share = &c->shares[members[k]];
		share->flags |= flags;
		if (interval->n > 1 && cut_length_of(&c->work[members[k]]) == 0) {
			share->flags |= TALLY_FLAG(UNSAMPLED);
			continue;
		}
		share->known = true;
		share->estimated = !c->exact || interval->n > 1 || interval->overlaps ||
				   interval->clipped;
		memcpy(share->unknown, a->invalid, a->words * sizeof(*share->unknown));
		cut_withhold(c, share->delta, share->unknown);
	}
}
