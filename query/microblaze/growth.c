/* SPDX-License-Identifier: MIT */
#include "query/microblaze/growth.h"

#include <string.h>

#include "query/microblaze/registers.h"

/* A core counts at most one event per cycle, and no core runs at 2 GHz; the slack allows for
 * the time that taking the sample needs. */
#define MOST_PER_NS 2u
#define SLACK 1000u
#define BIT(i) (UINT64_C(1) << (i))

void
tally_mb_history_clear(struct tally_mb_history *h, uint64_t time_ns, uint64_t value)
{
	memset(&h->base, 0, sizeof(h->base));
	memset(&h->seen, 0, sizeof(h->seen));
	if (h->preset)
		h->base.events[h->preset_k] = value;
	h->seen_events = h->seen_latencies = h->seen_squares = UINT64_MAX;
	h->base_ns = time_ns;
}

/* ---- deltas ---- */

static uint64_t
most_in(uint64_t ns)
{
	uint64_t most;
	if (__builtin_mul_overflow(ns, MOST_PER_NS, &most) ||
	    __builtin_add_overflow(most, SLACK, &most))
		return UINT64_MAX;
	return most;
}

/* False: more events than there were cycles. */
static bool
grow_events(const struct tally_mb_history *h, const struct tally_mb_sample *now, uint64_t ns,
	    struct tally_mb_delta *out)
{
	uint64_t mask = tally_mb_mask(&h->shape), most = most_in(ns);
	bool may_hide = h->shape.width == 32 && ns > TALLY_MB_SAFE_NS;
	for (uint32_t i = 0; i < h->shape.ne; i++) {
		uint64_t grown = (now->events[i] - h->base.events[i]) & mask;
		if (may_hide)
			out->unknown_events |= BIT(i);
		else if (grown > most)
			return false;
		out->counts.events[i] = grown;
		if (h->preset && i == h->preset_k)
			continue;
		/* The bit stays set, so only its first appearance says something about this
		 * interval. */
		if (now->status[i] & ~h->base.status[i] & TALLY_MDM_OVERFLOW) {
			out->unknown_events |= BIT(i);
			out->overflowed |= BIT(i);
		}
	}
	return true;
}

/* Squares grow faster than cycles: they are known only if they could not have wrapped even with
 * every latency as long as the maximum. */
static bool
squares_known(const struct tally_mb_history *h, const struct tally_mb_sample *now, uint32_t i,
	      const struct tally_latency *grown)
{
	uint32_t max = now->latencies[i].max;
	uint64_t most;
	if (grown->n == 0)
		return true;
	if (h->shape.width == 32 && (max >= TALLY_MB_NARROW_MAX || h->extremes[i].broken))
		return false;
	return !__builtin_mul_overflow(grown->sum, (uint64_t)max, &most) &&
	       most <= tally_mb_mask(&h->shape);
}

static bool
grow_latencies(const struct tally_mb_history *h, const struct tally_mb_sample *now, uint64_t ns,
	       struct tally_mb_delta *out)
{
	uint64_t mask = tally_mb_mask(&h->shape), most = most_in(ns);
	for (uint32_t i = 0; i < h->shape.nl; i++) {
		const struct tally_latency *a = &h->base.latencies[i].l;
		const struct tally_latency *b = &now->latencies[i].l;
		uint32_t counter = h->shape.ne + i;
		uint32_t status = now->status[counter];
		struct tally_latency *grown = &out->counts.latencies[i];
		*grown = (struct tally_latency){
			.n = (b->n - a->n) & UINT32_MAX,
			.sum = (b->sum - a->sum) & mask,
			.sum_sq = (b->sum_sq - a->sum_sq) & mask,
		};
		if (ns > TALLY_MB_SAFE_NS)
			out->unknown_latencies |= BIT(i);
		else if (grown->n > most)
			return false;
		if (!squares_known(h, now, i, grown))
			out->unknown_squares |= BIT(i);
		if (status & ~h->base.status[counter] & TALLY_MDM_OVERFLOW)
			out->overflowed |= BIT(counter);
		if (status & TALLY_MDM_FULL)
			out->full |= BIT(counter);
		/* The status does not say which of the counter's numbers overflowed. */
		if ((out->overflowed | out->full) & BIT(counter))
			out->unknown_latencies |= BIT(i);
	}
	return true;
}

/* ---- checks ---- */

/* The first cannot be more than the second. */
static const struct {
	uint8_t part, whole;
	const char *why;
} parts[] = {
	{ 11, 10, "more instruction cache hits than requests" },
	{ 13, 12, "more data cache read hits than requests" },
	{ 15, 14, "more data cache write hits than requests" },
	{ 47, 46, "more data cache hits than requests" },
	{ 16, 41, "more loads by r1 than loads" },
	{ 17, 42, "more stores by r1 than stores" },
};

static int
find_event(const struct tally_mb_history *h, uint8_t event)
{
	for (uint32_t i = 0; i < h->shape.ne; i++)
		if (h->events[i] == event)
			return (int)i;
	return -1;
}

static const char *
check_events(const struct tally_mb_history *h, const struct tally_mb_counts *seen, uint64_t sure)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int part = find_event(h, parts[i].part), whole = find_event(h, parts[i].whole);
		if (part < 0 || whole < 0 || !(sure >> part & sure >> whole & 1))
			continue;
		if (seen->events[part] > seen->events[whole])
			return parts[i].why;
	}
	return NULL;
}

static bool
product_below(uint64_t a, uint64_t b, uint64_t limit)
{
	uint64_t product;
	return !__builtin_mul_overflow(a, b, &product) && product < limit;
}

static bool
product_above(uint64_t a, uint64_t b, uint64_t limit)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) || product > limit;
}

static const char *
check_squares(const struct tally_latency *l, uint32_t min, uint32_t max, bool extremes)
{
	double sd;
	if (!tally_latency_is_possible(l))
		return "a sum of squared latencies that is too small";
	if ((l->sum ^ l->sum_sq) & 1)
		return "sums of latencies and of their squares of which one is odd";
	if (extremes && tally_latency_sd_population(l, &sd) &&
	    sd > ((double)max - (double)min) / 2 * (1 + 1e-9) + 1e-9)
		return "latencies that vary by more than their extremes do";
	return NULL;
}

static const char *
check_latency(const struct tally_latency *l, uint32_t min, uint32_t max, bool narrow,
	      bool squares)
{
	if (l->n == 0)
		return l->sum || (squares && l->sum_sq) ? "latencies of no event" : NULL;
	if (l->sum == 0)
		return "events that took no time at all";
	if (product_above(l->n, min, l->sum))
		return "latencies below the least";
	/* A saturated 16-bit maximum, or one below the mean, is no contradiction. */
	bool broken = narrow && (max == TALLY_MB_NARROW_MAX || product_below(l->n, max, l->sum));
	if (!broken && product_below(l->n, max, l->sum))
		return "latencies above the greatest";
	return squares ? check_squares(l, min, max, !broken) : NULL;
}

static const char *
check_latencies(const struct tally_mb_history *h, const struct tally_mb_sample *now,
		const struct tally_mb_counts *seen, uint64_t sure, uint64_t squares)
{
	for (uint32_t i = 0; i < h->shape.nl; i++) {
		if (!(sure >> i & 1) || now->status[h->shape.ne + i] & TALLY_MDM_FULL)
			continue;
		const char *why = check_latency(&seen->latencies[i], now->latencies[i].min,
						now->latencies[i].max, h->shape.width == 32,
						squares >> i & 1);
		if (why)
			return why;
	}
	return NULL;
}

/* ---- adding a sample ---- */

static void
add_counts(const struct tally_mb_shape *shape, struct tally_mb_counts *to,
	   const struct tally_mb_counts *by)
{
	for (uint32_t i = 0; i < shape->ne; i++)
		to->events[i] += by->events[i];
	for (uint32_t i = 0; i < shape->nl; i++) {
		to->latencies[i].n += by->latencies[i].n;
		to->latencies[i].sum += by->latencies[i].sum;
		to->latencies[i].sum_sq += by->latencies[i].sum_sq;
	}
}

static void
take_extremes(struct tally_mb_history *h, const struct tally_mb_sample *now)
{
	for (uint32_t i = 0; i < h->shape.nl; i++) {
		uint32_t min = now->latencies[i].min, max = now->latencies[i].max;
		const struct tally_latency *seen = &h->seen.latencies[i];
		if (seen->n == 0 || !(h->seen_latencies >> i & 1))
			continue;
		if (h->shape.width == 32 && product_below(seen->n, max, seen->sum))
			h->extremes[i].broken = true;
		if (!h->extremes[i].known || min < h->extremes[i].min)
			h->extremes[i].min = min;
		if (!h->extremes[i].known || max > h->extremes[i].max)
			h->extremes[i].max = max;
		h->extremes[i].known = true;
	}
}

bool
tally_mb_history_add(struct tally_mb_history *h, const struct tally_mb_sample *sample,
		     uint64_t begin_ns, uint64_t end_ns, struct tally_mb_delta *out,
		     const char **why)
{
	/* An upper bound: the thread may be interrupted between reading the clock and taking
	 * the sample. */
	uint64_t ns = end_ns > h->base_ns ? end_ns - h->base_ns : 0;
	memset(out, 0, sizeof(*out));
	*why = NULL;
	if (sample->bad_status)
		*why = "states with bits that no state has";
	else if (sample->bad_item)
		*why = "upper parts of numbers with more than 16 bits";
	else if (!grow_events(h, sample, ns, out) || !grow_latencies(h, sample, ns, out))
		*why = "more events than there were cycles";
	if (*why)
		return false;
	struct tally_mb_counts seen = h->seen;
	uint64_t events = h->seen_events, latencies = h->seen_latencies;
	uint64_t squares = h->seen_squares & ~out->unknown_squares;
	add_counts(&h->shape, &seen, &out->counts);
	/* An overflow does not make the totals unknown: a counter that wrapped once is known by
	 * its difference. */
	if (ns > TALLY_MB_SAFE_NS) {
		events = h->shape.width == 32 ? 0 : events;
		latencies = squares = 0;
	}
	*why = check_events(h, &seen, events);
	if (!*why)
		*why = check_latencies(h, sample, &seen, latencies, squares);
	if (*why)
		return false;
	h->seen = seen;
	h->seen_events = events;
	h->seen_latencies = latencies;
	h->seen_squares = squares;
	h->base = *sample;
	h->base_ns = begin_ns;
	take_extremes(h, sample);
	return true;
}
