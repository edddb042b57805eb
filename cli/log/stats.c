/* SPDX-License-Identifier: MIT */
#include "cli/log/stats.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MANTISSA_BITS 9 /* of a bucket's number */
#define FEWEST_SORTED 256 /* fewer runs are sorted only when they are asked for */

/* A count of equal values, or of values in one bucket. */
struct tally_stats_run {
	uint64_t bits; /* of the value; of a bucket its number, as I64 */
	uint32_t n;
	uint8_t storage;
};

static struct tally_value
run_value(const struct tally_stats_run *run)
{
	return (struct tally_value){ .storage = run->storage, .u64 = run->bits };
}

static bool
are_equal(const struct tally_stats_run *a, const struct tally_stats_run *b)
{
	return a->bits == b->bits && a->storage == b->storage;
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

/* By value, then by storage and bits. */
static int
compare_runs(const void *left, const void *right)
{
	const struct tally_stats_run *a = left, *b = right;
	int order = 0;
	if (a->storage != TALLY_STORAGE_U64 || b->storage != TALLY_STORAGE_U64)
		order = tally_value_compare(run_value(a), run_value(b));
	if (!order && a->storage != b->storage)
		order = a->storage < b->storage ? -1 : 1;
	return order ? order : (a->bits > b->bits) - (a->bits < b->bits);
}

void
tally_stats_init(struct tally_stats *s, uint32_t keep)
{
	*s = (struct tally_stats){ .keep = keep };
}

void
tally_stats_finish(struct tally_stats *s)
{
	g_free(s->runs);
	*s = (struct tally_stats){ 0 };
}

/* ---- buckets ---- */

/* Doubles of one sign sort like their bit patterns; negative ones are folded below zero. A
 * bucket holds all values whose pattern starts with its number. */
static void
become_bucket(struct tally_stats_run *run)
{
	uint64_t bits;
	double v = tally_value_f64(run_value(run)), magnitude = fabs(v);
	memcpy(&bits, &magnitude, sizeof(bits));
	bits >>= 52 - MANTISSA_BITS;
	run->bits = v < 0 ? ~bits : bits;
	run->storage = TALLY_STORAGE_I64;
}

/* The smallest magnitude whose leading bits are `magnitude`. */
static double
bucket_edge(uint64_t magnitude)
{
	uint64_t bits = magnitude << (52 - MANTISSA_BITS);
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* The middle of a bucket; for whole numbers, the middle of the whole numbers in it. */
static double
bucket_middle(int64_t number, bool whole)
{
	bool negative = number < 0;
	uint64_t magnitude = (uint64_t)(negative ? ~number : number);
	if (magnitude == 0)
		return 0; /* only zero itself, apart from denormals, falls in this bucket */
	double low = bucket_edge(magnitude), high = bucket_edge(magnitude + 1);
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
	return tally_f64(bucket_middle(v.i64, whole));
}

/* ---- sorting ---- */

/* Sorts the runs and joins those that are equal. */
static void
join_runs(struct tally_stats *s)
{
	uint32_t n = 0;
	qsort(s->runs, s->n_runs, sizeof(*s->runs), compare_runs);
	for (uint32_t i = 0; i < s->n_runs; i++) {
		struct tally_stats_run *last = &s->runs[n ? n - 1 : 0], run = s->runs[i];
		if (n && are_equal(last, &run) && run.n <= UINT32_MAX - last->n)
			last->n += run.n;
		else
			s->runs[n++] = run;
	}
	s->n_runs = n;
}

/* Makes the runs ascending and distinct; too many values become buckets. */
static void
sort_all(struct tally_stats *s)
{
	if (s->n_sorted == s->n_runs)
		return;
	join_runs(s);
	if (!s->sketched && s->n_runs > s->keep) {
		s->sketched = true;
		for (uint32_t i = 0; i < s->n_runs; i++)
			become_bucket(&s->runs[i]);
		join_runs(s);
	}
	s->n_sorted = s->n_runs;
}

static void
make_room(struct tally_stats *s)
{
	if (s->n_runs >= FEWEST_SORTED)
		sort_all(s);
	if (s->room && s->n_runs <= s->room / 2)
		return;
	s->room = MAX(4, 2 * s->n_runs);
	s->runs = g_renew(struct tally_stats_run, s->runs, s->room);
}

void
tally_stats_add(struct tally_stats *s, struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_F64 && !isfinite(v.f64))
		return;
	tally_moments_add(&s->moments, v);
	if (s->n_runs == s->room)
		make_room(s);
	struct tally_stats_run run = { .bits = v.u64, .n = 1, .storage = (uint8_t)v.storage };
	if (s->sketched)
		become_bucket(&run);
	/* Most series repeat the same value most of the time. */
	struct tally_stats_run *last = s->n_runs > s->n_sorted ? &s->runs[s->n_runs - 1] : NULL;
	if (last && are_equal(last, &run) && last->n < UINT32_MAX)
		last->n++;
	else
		s->runs[s->n_runs++] = run;
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
	uint64_t seen = s->runs[0].n;
	uint32_t i = 0;
	while (seen < rank && i + 1 < s->n_runs)
		seen += s->runs[++i].n;
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
		visit(user, tally_value_f64(value_of(s, &s->runs[i])), s->runs[i].n);
}

uint64_t
tally_stats_count_between(struct tally_stats *s, double low, double high)
{
	uint64_t n = 0;
	sort_all(s);
	for (uint32_t i = 0; i < s->n_runs; i++) {
		double value = tally_value_f64(value_of(s, &s->runs[i]));
		n += value >= low && value <= high ? s->runs[i].n : 0;
	}
	return n;
}

double
tally_stats_mean_of_largest(struct tally_stats *s, uint64_t n)
{
	uint64_t before = s->moments.n - n; /* values to pass over first */
	double sum = 0;
	sort_all(s);
	for (uint32_t i = 0; i < s->n_runs; i++) {
		uint64_t passed = MIN(before, s->runs[i].n);
		before -= passed;
		sum += tally_value_f64(value_of(s, &s->runs[i])) *
		       (double)(s->runs[i].n - passed);
	}
	return sum / (double)n;
}
