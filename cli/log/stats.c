/* SPDX-License-Identifier: MIT */
#include "cli/log/stats.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MAX_BUCKETS 32768 /* enough for all magnitudes of 64-bit integers */
#define FIRST_MANTISSA_BITS 9
#define LEAST_ROOM 256 /* runs that are sorted in together */
#define MANY 1024
#define MOST_UNSORTED 4096
#define LEAST_BUCKETS 1024 /* room for them */
#define FEW 32 /* runs that qsort() sorts faster */

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
tally_stats_expect(struct tally_stats *s, uint64_t n)
{
	s->room = (uint32_t)MIN(n, MIN(s->keep, MOST_UNSORTED) + LEAST_ROOM);
	s->runs = g_renew(struct tally_stats_run, s->runs, s->room);
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

/* Sorts values of one storage byte by byte, from the lowest one; bytes that are equal in all
 * of them are left out. */
static void
sort_bytes(struct tally_stats_run *runs, uint32_t n, uint64_t differ)
{
	struct tally_stats_run *other = g_new(struct tally_stats_run, n);
	struct tally_stats_run *from = runs, *to = other;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		if (!(differ >> shift & 0xff))
			continue;
		uint32_t end[256] = { 0 }, sum = 0;
		for (uint32_t i = 0; i < n; i++)
			end[from[i].key >> shift & 0xff]++;
		for (unsigned byte = 0; byte < 256; byte++) {
			uint32_t count = end[byte];
			end[byte] = sum;
			sum += count;
		}
		for (uint32_t i = 0; i < n; i++)
			to[end[from[i].key >> shift & 0xff]++] = from[i];
		struct tally_stats_run *swap = from;
		from = to;
		to = swap;
	}
	if (from != runs)
		memcpy(runs, from, n * sizeof(*runs));
	g_free(other);
}

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

/* Replaces values by buckets, or buckets by those of twice the width. */
static void
widen(struct tally_stats *s)
{
	if (s->sketched)
		s->mantissa_bits--;
	for (uint32_t i = 0; i < s->n_runs; i++) {
		struct tally_stats_run *run = &s->runs[i];
		struct tally_value v = run_value(run);
		/* Negative keys are -magnitude - 1: halve the magnitude, not the key. */
		int64_t half = v.i64 < 0 ? -((-(v.i64 + 1)) >> 1) - 1 : v.i64 >> 1;
		if (s->sketched)
			run->key = (uint64_t)half ^ SIGN;
		else
			*run = bucket_of(tally_value_f64(v), run_count(run), s->mantissa_bits);
	}
	s->sketched = true;
	join_equal(s);
}

/* Sorts all runs, and joins those that are equal. */
static void
sort_runs(struct tally_stats *s)
{
	uint64_t differ = 0, storages = 0;
	for (uint32_t i = 1; i < s->n_runs; i++) {
		differ |= s->runs[i].key ^ s->runs[0].key;
		storages |= (s->runs[i].tag ^ s->runs[0].tag) & 3;
	}
	if (s->n_runs <= FEW || storages)
		qsort(s->runs, s->n_runs, sizeof(*s->runs), compare_runs);
	else
		sort_bytes(s->runs, s->n_runs, differ);
	join_equal(s);
	bool exact = !s->sketched;
	if (exact && s->n_runs > s->keep)
		widen(s);
	while (s->sketched && s->n_runs > MAX_BUCKETS && s->mantissa_bits > 0)
		widen(s);
	if (exact && s->sketched) {
		s->room = MAX(2 * s->n_runs, LEAST_BUCKETS);
		s->runs = g_renew(struct tally_stats_run, s->runs, s->room);
	}
	s->n_sorted = s->n_runs;
}

/* As many runs are added as are sorted, so each is moved a few times only. Where nearly all of
 * MANY differ they are sorted again when there may be more than are kept. */
static void
make_room(struct tally_stats *s)
{
	uint32_t before = s->n_runs, enough = MIN(s->keep, MOST_UNSORTED) + LEAST_ROOM;
	if (before >= LEAST_ROOM)
		sort_runs(s);
	if (s->n_runs <= s->room / 2 && s->room)
		return;
	bool differ = before >= MANY && s->n_runs > before - before / 8;
	if (differ && s->room < enough)
		s->room = enough;
	else
		s->room = MAX(4, 2 * s->room);
	s->runs = g_renew(struct tally_stats_run, s->runs, s->room);
}

/* Counts the value in its bucket if that is near its place among the sorted ones: in the middle
 * of a series few buckets are missing between others. */
static bool
count_in_place(struct tally_stats *s, const struct tally_stats_run *bucket)
{
	enum { MOST_STEPS = 4 };
	if (!s->n_sorted)
		return false;
	int64_t middle = s->n_sorted / 2, last = (int64_t)s->n_sorted - 1;
	int64_t i = middle + (int64_t)(bucket->key - s->runs[middle].key);
	i = CLAMP(i, 0, last);
	for (int n = 0; n < MOST_STEPS && s->runs[i].key != bucket->key; n++)
		i = s->runs[i].key > bucket->key ? MAX(i - 1, 0) : MIN(i + 1, last);
	bool found = s->runs[i].key == bucket->key;
	if (found)
		s->runs[i].tag += bucket->tag & ~UINT64_C(3);
	return found;
}

static void
add_last(struct tally_stats *s)
{
	struct tally_stats_run run = { key_of(s->last), s->repeats << 2 | s->last.storage };
	bool counted = s->repeats == 0;
	if (s->sketched && !counted) {
		run = bucket_of(tally_value_f64(s->last), s->repeats, s->mantissa_bits);
		counted = count_in_place(s, &run);
	}
	if (!counted && s->n_runs == s->room)
		make_room(s);
	if (!counted && s->sketched) /* perhaps only now, or wider */
		run = bucket_of(tally_value_f64(s->last), s->repeats, s->mantissa_bits);
	if (!counted)
		s->runs[s->n_runs++] = run;
	s->repeats = 0;
}

/* Makes the runs ascending and distinct. */
static void
sort_all(struct tally_stats *s)
{
	add_last(s);
	if (s->n_sorted < s->n_runs)
		sort_runs(s);
}

/* Counts a value n times, but for the moments. */
static inline void
count(struct tally_stats *s, struct tally_value v, uint64_t n)
{
	/* Most series repeat the same value most of the time. */
	if (s->repeats && s->last.u64 == v.u64 && s->last.storage == v.storage) {
		s->repeats += n;
		return;
	}
	add_last(s);
	s->last = v;
	s->repeats = n;
}

void
tally_stats_add(struct tally_stats *s, struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_F64 && !isfinite(v.f64))
		return;
	tally_moments_add(&s->moments, v);
	count(s, v, 1);
}

void
tally_stats_add_times(struct tally_stats *s, struct tally_value v, uint64_t n)
{
	if (n <= 1) {
		if (n)
			tally_stats_add(s, v);
		return;
	}
	if (v.storage == TALLY_STORAGE_F64 && !isfinite(v.f64))
		return;
	tally_moments_add_times(&s->moments, v, n);
	count(s, v, n);
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
