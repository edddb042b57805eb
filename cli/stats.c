#include "cli/stats.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MAX_BUCKETS 32768 /* all magnitudes of 64-bit integers */
#define MAX_DENSE 16384 /* of buckets side by side: 128 KiB */
#define FIRST_MANTISSA_BITS 9

/* `count` equal values; 0: an empty place. */
struct tally_stats_run {
	struct tally_value value;
	uint64_t count;
};

/* All values whose ordered bit pattern starts with `key`. */
struct tally_stats_bucket {
	int64_t key;
	uint64_t count;
};

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

static int
run_compare(const void *a, const void *b)
{
	const struct tally_stats_run *x = a, *y = b;
	return tally_value_compare(x->value, y->value);
}

void
tally_stats_init(struct tally_stats *s, uint32_t keep)
{
	*s = (struct tally_stats){ .keep = keep, .mantissa_bits = FIRST_MANTISSA_BITS };
}

void
tally_stats_finish(struct tally_stats *s)
{
	g_free(s->runs);
	g_free(s->sorted);
	g_free(s->dense);
	g_free(s->buckets);
	*s = (struct tally_stats){ 0 };
}

/* Doubles of one sign order like their bit patterns; fold the negative half below zero. */
static int64_t
bucket_key(double v, unsigned mantissa_bits)
{
	uint64_t bits;
	double magnitude = fabs(v);
	memcpy(&bits, &magnitude, sizeof(bits));
	int64_t key = (int64_t)(bits >> (52 - mantissa_bits));
	return v < 0 ? -key - 1 : key;
}

/* The smallest magnitude whose bits start with `magnitude`. */
static double
bucket_edge(uint64_t magnitude, unsigned mantissa_bits)
{
	uint64_t bits = magnitude << (52 - mantissa_bits);
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* The middle of what fell in; between whole numbers, of the whole numbers in it. */
static double
bucket_middle(int64_t key, unsigned mantissa_bits, bool whole)
{
	bool negative = key < 0;
	uint64_t magnitude = (uint64_t)(negative ? -(key + 1) : key);
	if (magnitude == 0)
		return 0; /* zero itself is what falls in here, denormals aside */
	double low = bucket_edge(magnitude, mantissa_bits);
	double high = bucket_edge(magnitude + 1, mantissa_bits);
	double v = low + (high - low) / 2;
	if (whole)
		v = floor(ceil(low) + (ceil(high) - 1 - ceil(low)) / 2);
	return negative ? -v : v;
}

static void
halve_resolution(struct tally_stats *s)
{
	s->mantissa_bits--;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n_buckets; i++) {
		int64_t key = s->buckets[i].key;
		/* Negative keys are -magnitude - 1: halve the magnitude, not the key. */
		key = key < 0 ? -((-(key + 1)) >> 1) - 1 : key >> 1;
		if (n && s->buckets[n - 1].key == key) {
			s->buckets[n - 1].count += s->buckets[i].count;
		} else {
			s->buckets[n] = s->buckets[i];
			s->buckets[n++].key = key;
		}
	}
	s->n_buckets = n;
}

/* Index of the first bucket whose key is not below `key`. */
static uint32_t
bucket_find(const struct tally_stats *s, int64_t key)
{
	uint32_t low = 0, high = s->n_buckets;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (s->buckets[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Buckets that lie anywhere, in order. */
static void
sparse_add(struct tally_stats *s, double v, int64_t key, uint64_t count)
{
	uint32_t i = bucket_find(s, key);
	while (!(i < s->n_buckets && s->buckets[i].key == key) && s->n_buckets >= MAX_BUCKETS &&
	       s->mantissa_bits > 0) {
		halve_resolution(s);
		key = bucket_key(v, s->mantissa_bits);
		i = bucket_find(s, key);
	}
	if (i < s->n_buckets && s->buckets[i].key == key) {
		s->buckets[i].count += count;
		return;
	}
	if (s->n_buckets == s->room_buckets) {
		s->room_buckets = s->room_buckets ? s->room_buckets * 2 : 256;
		s->buckets = g_renew(struct tally_stats_bucket, s->buckets, s->room_buckets);
	}
	memmove(&s->buckets[i + 1], &s->buckets[i], (s->n_buckets - i) * sizeof(*s->buckets));
	s->buckets[i] = (struct tally_stats_bucket){ .key = key, .count = count };
	s->n_buckets++;
}

/* Buckets side by side, while the values are near each other: their sizes, 0 aside, span few
 * powers of two. False: this one lies too far away. */
static bool
dense_fit(struct tally_stats *s, int64_t key)
{
	int64_t first = s->n_dense ? MIN(key, s->first_dense) : key;
	int64_t last = s->n_dense ? MAX(key, s->first_dense + (int64_t)s->n_dense - 1) : key;
	if (last - first >= MAX_DENSE)
		return false;
	int64_t slack = (last - first) / 4 + 16;
	uint32_t n = (uint32_t)(last - first + 1 + 2 * slack);
	uint64_t *grown = g_new0(uint64_t, n);
	first -= slack;
	if (s->n_dense)
		memcpy(&grown[s->first_dense - first], s->dense, s->n_dense * sizeof(*grown));
	g_free(s->dense);
	s->dense = grown;
	s->first_dense = first;
	s->n_dense = n;
	return true;
}

static void
become_sparse(struct tally_stats *s)
{
	s->room_buckets = 256;
	s->buckets = g_new(struct tally_stats_bucket, s->room_buckets);
	if (s->zeros)
		sparse_add(s, 0, 0, s->zeros);
	for (uint32_t i = 0; i < s->n_dense; i++) {
		int64_t key = s->first_dense + i;
		double middle = bucket_middle(key, s->mantissa_bits, false);
		if (s->dense[i])
			sparse_add(s, middle, key, s->dense[i]);
	}
	g_free(s->dense);
	s->dense = NULL;
	s->n_dense = 0;
	s->zeros = 0;
}

static void
bucket_add(struct tally_stats *s, double v, uint64_t count)
{
	int64_t key = bucket_key(v, s->mantissa_bits);
	if (!s->buckets) {
		if (key == 0) { /* far from all others */
			s->zeros += count;
			return;
		}
		uint64_t at = (uint64_t)(key - s->first_dense);
		if (at < s->n_dense || dense_fit(s, key)) {
			s->dense[key - s->first_dense] += count;
			return;
		}
		become_sparse(s);
	}
	sparse_add(s, v, key, count);
}

/* ---- while quantiles are exact ---- */

/* The place of a value, or where it would go. */
static struct tally_stats_run *
find_run(const struct tally_stats *s, struct tally_value v)
{
	uint64_t h = (v.u64 ^ (uint64_t)v.storage << 56) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(h >> 32) & (s->room_runs - 1);
	while (s->runs[at].count &&
	       !(s->runs[at].value.u64 == v.u64 && s->runs[at].value.storage == v.storage))
		at = (at + 1) & (s->room_runs - 1);
	return &s->runs[at];
}

static void
grow_runs(struct tally_stats *s)
{
	struct tally_stats_run *old = s->runs;
	uint32_t n = s->room_runs;
	s->room_runs = n ? 2 * n : 16;
	s->runs = g_new0(struct tally_stats_run, s->room_runs);
	for (uint32_t i = 0; i < n; i++)
		if (old[i].count)
			*find_run(s, old[i].value) = old[i];
	g_free(old);
	s->last_run = NULL;
}

/* Too many different values. */
static void
give_up_exactness(struct tally_stats *s)
{
	s->sketched = true;
	for (uint32_t i = 0; i < s->room_runs; i++)
		if (s->runs[i].count)
			bucket_add(s, tally_value_f64(s->runs[i].value), s->runs[i].count);
	g_free(s->runs);
	s->runs = s->last_run = NULL;
	s->n_runs = s->room_runs = 0;
}

static void
keep_value(struct tally_stats *s, struct tally_value v)
{
	/* Most series repeat themselves most of the time. */
	struct tally_stats_run *run = s->last_run;
	if (run && run->value.u64 == v.u64 && run->value.storage == v.storage) {
		run->count++;
		return;
	}
	if (!s->sketched && 2 * s->n_runs >= s->room_runs)
		grow_runs(s);
	if (!s->sketched) {
		run = find_run(s, v);
		if (run->count == 0 && s->n_runs == s->keep) {
			give_up_exactness(s);
		} else {
			s->n_runs += run->count == 0;
			run->value = v;
			run->count++;
			s->last_run = run;
			return;
		}
	}
	bucket_add(s, tally_value_f64(v), 1);
}

void
tally_stats_add(struct tally_stats *s, struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_F64 && !isfinite(v.f64))
		return;
	tally_moments_add(&s->moments, v);
	g_clear_pointer(&s->sorted, g_free);
	keep_value(s, v);
}

void
tally_stats_add_u64(struct tally_stats *s, uint64_t v)
{
	tally_stats_add(s, tally_u64(v));
}

/* In order, when they are asked for. */
static void
sort_runs(struct tally_stats *s)
{
	if (s->sorted)
		return;
	s->sorted = g_new(struct tally_stats_run, s->n_runs);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->room_runs; i++)
		if (s->runs[i].count)
			s->sorted[n++] = s->runs[i];
	qsort(s->sorted, n, sizeof(*s->sorted), run_compare);
}

/* The key of the bucket that holds the rank-th value. */
static int64_t
bucket_of_rank(const struct tally_stats *s, uint64_t rank)
{
	uint64_t seen = 0;
	for (uint32_t i = 0; i < s->n_buckets; i++) {
		seen += s->buckets[i].count;
		if (seen >= rank)
			return s->buckets[i].key;
	}
	for (uint32_t i = 0; i < s->n_dense; i++) {
		int64_t key = s->first_dense + i;
		/* Zeros lie between the negative keys and the others. */
		if (key >= 0 && (key == 0 || i == 0)) {
			seen += s->zeros;
			if (seen >= rank)
				return 0;
		}
		seen += s->dense[i];
		if (seen >= rank)
			return key;
	}
	return 0; /* only zeros are above */
}

struct tally_value
tally_stats_quantile(struct tally_stats *s, double q)
{
	/* The product of an inexact q must not reach the next rank by its last bit. */
	uint64_t n = s->moments.n;
	double exact = q * (double)n;
	double near = nearbyint(exact);
	double rank_f = fabs(exact - near) < 1e-9 * (near + 1) ? near : ceil(exact);
	uint64_t rank = rank_f < 1 ? 1 : rank_f >= (double)n ? n : (uint64_t)rank_f;
	if (rank == 1)
		return s->moments.min;
	if (rank == n)
		return s->moments.max;
	if (!s->sketched) {
		sort_runs(s);
		uint64_t seen = 0;
		for (uint32_t i = 0; i < s->n_runs; i++) {
			seen += s->sorted[i].count;
			if (seen >= rank)
				return s->sorted[i].value;
		}
		return s->moments.max;
	}
	bool whole = s->moments.storage != TALLY_STORAGE_F64;
	struct tally_value v =
		tally_f64(bucket_middle(bucket_of_rank(s, rank), s->mantissa_bits, whole));
	if (tally_value_compare(v, s->moments.min) < 0)
		return s->moments.min;
	return tally_value_compare(v, s->moments.max) > 0 ? s->moments.max : v;
}

bool
tally_stats_exact(const struct tally_stats *s)
{
	return !s->sketched;
}
