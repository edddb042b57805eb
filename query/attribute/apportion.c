/* SPDX-License-Identifier: MIT */
/* Largest remainder method: a span's delta among its members. */
#include "query/attribute/cut.h"

#include <stdlib.h>
#include <string.h>

#include "query/sampler/share_of.h"

/* Flags of readings that give a reason why a value is left out. */
#define REASONS (TALLY_FLAG(SATURATED) | TALLY_FLAG(OVERFLOW) | TALLY_FLAG(DISTURBED))

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
	uint64_t length = cut_length_of(&c->work[c->a->members[span->first + i]]);
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

void
cut_give_up(struct cut *c, uint32_t first, uint32_t n, uint64_t flag)
{
	for (uint32_t i = first; i < first + n; i++)
		c->shares[c->a->members[i]].flags |= flag;
}

/* The deltas of a span that cannot be divided become unattributed. */
static void
take_back(struct cut *c, const struct span *span)
{
	uint64_t *growth = cut_gathered(c, span);
	for (uint32_t i = 0; i < c->a->n_counters; i++) {
		c->stretch->unattributed[i] += growth[i];
		growth[i] = 0;
	}
	for (uint32_t w = 0; w < c->a->words; w++)
		c->stretch->unattributed_unknown[w] |= c->a->doubts[w];
}

void
cut_withhold(struct cut *c, uint64_t *growth, const uint64_t *unknown)
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

uint64_t
cut_flag_of_doubts(const struct tally_attributor *a, uint64_t flags)
{
	uint64_t any = 0;
	for (uint32_t w = 0; w < a->words; w++)
		any |= a->doubts[w];
	return any && !(flags & REASONS) ? TALLY_FLAG(UNSAMPLED) : 0;
}

void
cut_finish_span(struct cut *c, const struct span *span)
{
	struct tally_attributor *a = c->a;
	const uint32_t *members = a->members + span->first;
	memset(a->doubts, 0, a->words * sizeof(*a->doubts));
	uint64_t flags = tally_history_doubts(c->h, span->begin_ns, span->end_ns, a->doubts);
	/* The span began before the first reading: what was counted until then is in no
	 * total. */
	if (!c->exact && c->work[a->members[span->first]].begin_ns < c->stretch->known_from_ns)
		doubt_all(a);
	flags |= cut_flag_of_doubts(a, flags);
	uint64_t whole = 0;
	for (uint32_t i = 0; i < span->n; i++)
		whole += length_among(c, span, i);
	if (span->n > 1 && whole == 0) {
		take_back(c, span);
		cut_give_up(c, span->first, span->n, TALLY_FLAG(UNSAMPLED) | flags);
		return;
	}
	for (uint32_t i = 0; i < a->n_counters && span->n > 1; i++)
		share_counter(c, span, i, whole);
	for (uint32_t k = 0; k < span->n; k++) {
		struct tally_share *share = &c->shares[members[k]];
		share->flags |= flags;
		if (span->n > 1 && cut_length_of(&c->work[members[k]]) == 0) {
			share->flags |= TALLY_FLAG(UNSAMPLED);
			continue;
		}
		share->known = true;
		share->estimated = !c->exact || span->n > 1 || span->overlaps || span->clipped;
		memcpy(share->unknown, a->doubts, a->words * sizeof(*share->unknown));
		cut_withhold(c, share->growth, share->unknown);
	}
}
