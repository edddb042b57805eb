/* SPDX-License-Identifier: MIT */
#include "cli/log/stats.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MAX_BUCKETS 32768 /* enough for all magnitudes of 64-bit integers */
#define FIRST_MANTISSA_BITS 9
#define FEWEST_SORTED 256

/* A count of equal values, or of values in one bucket. */
struct tally_stats_run {
	uint64_t key; /* see key_of() */
	uint64_t tag; /* the count times four, plus the storage; a bucket's is I64 */
};

static uint64_t
run_count(const struct tally_stats_run *run)
{
	return run->tag >> 2;
}

struct tally_value
tally_u64(uint64_t v)
{
	return (struct tally_value){ .storage = TALLY_STORAGE_U64, .u64 = v };
}

struct tally_value
tally_f64(double v)
{
	return (struct tally_value){ .storage = TALLY_STORAGE_F64, .f64 = v };
}

#define SIGN (UINT64_C(1) << 63)

/* Bits that order values of one storage. */
static uint64_t
key_of(struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_U64)
		return v.u64;
	return v.storage == TALLY_STORAGE_F64 && v.u64 & SIGN ? ~v.u64 : v.u64 ^ SIGN;
}

static struct tally_value
run_value(const struct tally_stats_run *run)
{
	enum tally_storage storage = (enum tally_storage)(run->tag & 3);
	uint64_t bits = run->key;
	if (storage != TALLY_STORAGE_U64)
		bits = storage == TALLY_STORAGE_F64 && !(bits & SIGN) ? ~bits : bits ^ SIGN;
	return (struct tally_value){ .storage = storage, .u64 = bits };
}

/* By value; 0 only for equal values of equal storage. */
static int
compare_runs(const void *left, const void *right)
{
	const struct tally_stats_run *a = left, *b = right;
	unsigned x = a->tag & 3, y = b->tag & 3;
	int order = x == y ? 0 : tally_value_compare(run_value(a), run_value(b));
	if (order)
		return order;
	return x == y ? (a->key > b->key) - (a->key < b->key) : x < y ? -1 : 1;
}

void
tally_stats_init(struct tally_stats *s, uint32_t keep)
{
	*s = (struct tally_stats){ .keep = keep, .mantissa_bits = FIRST_MANTISSA_BITS };
}

void
tally_stats_copy(struct tally_stats *to, const struct tally_stats *from)
{
	*to = *from;
	to->runs = g_memdup2(from->runs, from->room * sizeof(*from->runs));
}

void
tally_stats_finish(struct tally_stats *s)
{
	g_free(s->runs);
	*s = (struct tally_stats){ 0 };
}

/* ---- buckets ---- */

/* Doubles of one sign sort like their bit patterns; negative ones are folded below zero. A
 * bucket holds all values whose pattern starts with its key. */
static struct tally_stats_run
bucket_of(double v, uint64_t count, unsigned mantissa_bits)
{
	uint64_t bits;
	double magnitude = fabs(v);
	memcpy(&bits, &magnitude, sizeof(bits));
	int64_t key = (int64_t)(bits >> (52 - mantissa_bits));
	return (struct tally_stats_run){
		.key = (uint64_t)(v < 0 ? -key - 1 : key) ^ SIGN,
		.tag = count << 2 | TALLY_STORAGE_I64,
	};
}

/* The smallest magnitude whose leading bits are `magnitude`. */
static double
bucket_edge(uint64_t magnitude, unsigned mantissa_bits)
{
	uint64_t bits = magnitude << (52 - mantissa_bits);
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* The middle of a bucket; for whole numbers, the middle of the whole numbers in it. */
static double
bucket_middle(int64_t key, unsigned mantissa_bits, bool whole)
{
	bool negative = key < 0;
	uint64_t magnitude = (uint64_t)(negative ? -(key + 1) : key);
	if (magnitude == 0)
		return 0; /* only zero itself, apart from denormals, falls in this bucket */
	double low = bucket_edge(magnitude, mantissa_bits);
	double high = bucket_edge(magnitude + 1, mantissa_bits);
	double v = low + (high - low) / 2;
	if (whole)
		v = floor(ceil(low) + (ceil(high) - 1 - ceil(low)) / 2);
	return negative ? -v : v;
}

/* The value that a run counts, or represents once there are buckets. */
static struct tally_value
value_of(const struct tally_stats *s, const struct tally_stats_run *run)
{
	struct tally_value v = run_value(run);
	if (!s->sketched)
		return v;
	bool whole = s->moments.storage != TALLY_STORAGE_F64;
	return tally_f64(bucket_middle(v.i64, s->mantissa_bits, whole));
}

/* ---- sorting ---- */

/* Counts equal values, which are side by side, in one run. */
static void
join_equal(struct tally_stats *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n_runs; i++) {
		struct tally_stats_run *last = &s->runs[n ? n - 1 : 0], *run = &s->runs[i];
		if (n && last->key == run->key && !((last->tag ^ run->tag) & 3))
			last->tag += run->tag & ~UINT64_C(3);
		else if (n++ != i)
			s->runs[n - 1] = *run;
	}
	s->n_runs = n;
}

/* The bucket of twice the width that contains this one. */
static uint64_t
half_key(uint64_t key)
{
	/* Negative keys are -magnitude - 1: halve the magnitude, not the key. */
	int64_t i = (int64_t)(key ^ SIGN);
	return (uint64_t)(i < 0 ? -((-(i + 1)) >> 1) - 1 : i >> 1) ^ SIGN;
}

/* Replaces values by buckets, or buckets by those of twice the width. */
static void
widen(struct tally_stats *s)
{
	if (s->sketched)
		s->mantissa_bits--;
	for (uint32_t i = 0; i < s->n_runs; i++) {
		struct tally_stats_run *run = &s->runs[i];
		if (s->sketched)
			run->key = half_key(run->key);
		else
			*run = bucket_of(tally_value_f64(run_value(run)), run_count(run),
					 s->mantissa_bits);
	}
	s->sketched = true;
	join_equal(s);
}

/* Sorts all runs, and joins those that are equal. */
static void
sort_runs(struct tally_stats *s)
{
	qsort(s->runs, s->n_runs, sizeof(*s->runs), compare_runs);
	join_equal(s);
	if (!s->sketched && s->n_runs > s->keep)
		widen(s);
	while (s->sketched && s->n_runs > MAX_BUCKETS && s->mantissa_bits > 0)
		widen(s);
	s->n_sorted = s->n_runs;
}

static void
make_room(struct tally_stats *s)
{
	if (s->n_runs >= FEWEST_SORTED)
		sort_runs(s);
	if (s->sketched)
		s->room = s->n_runs + s->n_runs / 2 + FEWEST_SORTED;
	else if (s->room < FEWEST_SORTED)
		s->room = MAX(4, 2 * s->room);
	else if (s->n_runs > s->room / 2)
		s->room = MIN(4 * s->room, MAX(s->keep, s->n_runs) + FEWEST_SORTED);
	s->runs = g_renew(struct tally_stats_run, s->runs, s->room);
}

static void
add_last(struct tally_stats *s)
{
	if (!s->repeats)
		return;
	if (s->n_runs == s->room)
		make_room(s);
	struct tally_stats_run run = { key_of(s->last), s->repeats << 2 | s->last.storage };
	if (s->sketched)
		run = bucket_of(tally_value_f64(s->last), s->repeats, s->mantissa_bits);
	s->repeats = 0;
	s->runs[s->n_runs++] = run;
}

/* Makes the runs ascending and distinct. */
static void
sort_all(struct tally_stats *s)
{
	add_last(s);
	if (s->n_sorted < s->n_runs)
		sort_runs(s);
}

void
tally_stats_add(struct tally_stats *s, struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_F64 && !isfinite(v.f64))
		return;
	tally_moments_add(&s->moments, v);
	/* Most series repeat the same value most of the time. */
	if (s->repeats && s->last.u64 == v.u64 && s->last.storage == v.storage) {
		s->repeats++;
		return;
	}
	add_last(s);
	s->last = v;
	s->repeats = 1;
}

void
tally_stats_add_u64(struct tally_stats *s, uint64_t v)
{
	tally_stats_add(s, tally_u64(v));
}

/* The nearest rank of the q-quantile of n values, counted from 1. */
static uint64_t
rank_of(uint64_t n, double q)
{
	/* Rounding of an inexact q must not lift the product to the next rank. */
	double exact = q * (double)n;
	double near = nearbyint(exact);
	double rank = fabs(exact - near) < 1e-9 * (near + 1) ? near : ceil(exact);
	return rank < 1 ? 1 : rank >= (double)n ? n : (uint64_t)rank;
}

struct tally_value
tally_stats_quantile(struct tally_stats *s, double q)
{
	uint64_t n = s->moments.n, rank = rank_of(n, q);
	if (rank == 1)
		return s->moments.min;
	if (rank == n)
		return s->moments.max;
	sort_all(s);
	uint64_t seen = run_count(&s->runs[0]);
	uint32_t i = 0;
	while (seen < rank && i + 1 < s->n_runs)
		seen += run_count(&s->runs[++i]);
	struct tally_value v = value_of(s, &s->runs[i]);
	if (tally_value_compare(v, s->moments.min) < 0)
		return s->moments.min;
	return tally_value_compare(v, s->moments.max) > 0 ? s->moments.max : v;
}

bool
tally_stats_exact(struct tally_stats *s)
{
	sort_all(s);
	return !s->sketched;
}

void
tally_stats_visit(struct tally_stats *s, void (*visit)(void *user, double value, uint64_t count),
		  void *user)
{
	sort_all(s);
	for (uint32_t i = 0; i < s->n_runs; i++)
		visit(user, tally_value_f64(value_of(s, &s->runs[i])), run_count(&s->runs[i]));
}

struct range_count {
	double low, high;
	uint64_t n;
};

static void
count_in_range(void *user, double value, uint64_t count)
{
	struct range_count *range = user;
	if (value >= range->low && value <= range->high)
		range->n += count;
}

uint64_t
tally_stats_count_between(struct tally_stats *s, double low, double high)
{
	struct range_count range = { .low = low, .high = high };
	tally_stats_visit(s, count_in_range, &range);
	return range.n;
}

struct tail {
	uint64_t before; /* values to pass over first */
	double sum;
};

static void
add_to_tail(void *user, double value, uint64_t count)
{
	struct tail *tail = user;
	uint64_t passed = MIN(tail->before, count);
	tail->before -= passed;
	tail->sum += value * (double)(count - passed);
}

double
tally_stats_mean_of_largest(struct tally_stats *s, uint64_t n)
{
	struct tail tail = { .before = s->moments.n - n };
	tally_stats_visit(s, add_to_tail, &tail);
	return tail.sum / (double)n;
}
