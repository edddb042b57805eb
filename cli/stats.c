#include "cli/stats.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MAX_BUCKETS 32768 /* all magnitudes of 64-bit integers */
#define FIRST_MANTISSA_BITS 9

/* `count` equal values in a row. */
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
	s->last_bucket = 0;
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

static void
bucket_add(struct tally_stats *s, double v, uint64_t count)
{
	int64_t key = bucket_key(v, s->mantissa_bits);
	uint32_t i = s->last_bucket;
	if (i >= s->n_buckets || s->buckets[i].key != key)
		i = bucket_find(s, key);
	if (i < s->n_buckets && s->buckets[i].key == key) {
		s->buckets[i].count += count;
		s->last_bucket = i;
		return;
	}
	while (s->n_buckets >= MAX_BUCKETS && s->mantissa_bits > 0) {
		halve_resolution(s);
		key = bucket_key(v, s->mantissa_bits);
		i = bucket_find(s, key);
		if (i < s->n_buckets && s->buckets[i].key == key) {
			s->buckets[i].count += count;
			return;
		}
	}
	if (s->n_buckets == s->room_buckets) {
		s->room_buckets = s->room_buckets ? s->room_buckets * 2 : 256;
		s->buckets = g_renew(struct tally_stats_bucket, s->buckets, s->room_buckets);
	}
	memmove(&s->buckets[i + 1], &s->buckets[i], (s->n_buckets - i) * sizeof(*s->buckets));
	s->buckets[i] = (struct tally_stats_bucket){ .key = key, .count = count };
	s->n_buckets++;
	s->last_bucket = i;
}

static void
sort_runs(struct tally_stats *s)
{
	if (s->n_runs < 2 || s->sorted)
		return;
	s->sorted = true;
	qsort(s->runs, s->n_runs, sizeof(*s->runs), run_compare);
	uint32_t n = 1;
	for (uint32_t i = 1; i < s->n_runs; i++) {
		if (tally_value_compare(s->runs[n - 1].value, s->runs[i].value) == 0)
			s->runs[n - 1].count += s->runs[i].count;
		else
			s->runs[n++] = s->runs[i];
	}
	s->n_runs = n;
}

/* The runs are full: join equal values, and give up exactness where that frees too little. */
static void
make_room(struct tally_stats *s)
{
	sort_runs(s);
	if (s->n_runs <= s->keep / 2)
		return;
	s->room_buckets = 256;
	s->buckets = g_new(struct tally_stats_bucket, s->room_buckets);
	for (uint32_t i = 0; i < s->n_runs; i++)
		bucket_add(s, tally_value_f64(s->runs[i].value), s->runs[i].count);
	g_free(s->runs);
	s->runs = NULL;
	s->n_runs = s->room_runs = 0;
}

static void
keep_value(struct tally_stats *s, struct tally_value v)
{
	if (s->buckets) {
		bucket_add(s, tally_value_f64(v), 1);
		return;
	}
	if (s->n_runs && tally_value_compare(s->runs[s->n_runs - 1].value, v) == 0) {
		s->runs[s->n_runs - 1].count++;
		return;
	}
	if (s->n_runs == s->keep) {
		make_room(s);
		if (s->buckets) {
			bucket_add(s, tally_value_f64(v), 1);
			return;
		}
	}
	if (s->n_runs == s->room_runs) {
		s->room_runs = s->room_runs ? s->room_runs * 2 : 8;
		if (s->room_runs > s->keep)
			s->room_runs = s->keep;
		s->runs = g_renew(struct tally_stats_run, s->runs, s->room_runs);
	}
	s->runs[s->n_runs++] = (struct tally_stats_run){ .value = v, .count = 1 };
	s->sorted = false;
}

void
tally_stats_add(struct tally_stats *s, struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_F64 && !isfinite(v.f64))
		return;
	tally_moments_add(&s->moments, v);
	keep_value(s, v);
}

void
tally_stats_add_u64(struct tally_stats *s, uint64_t v)
{
	tally_stats_add(s, tally_u64(v));
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
	uint64_t seen = 0;
	if (!s->buckets) {
		sort_runs(s);
		for (uint32_t i = 0; i < s->n_runs; i++) {
			seen += s->runs[i].count;
			if (seen >= rank)
				return s->runs[i].value;
		}
		return s->moments.max;
	}
	for (uint32_t i = 0; i < s->n_buckets; i++) {
		seen += s->buckets[i].count;
		if (seen < rank)
			continue;
		bool whole = s->moments.storage != TALLY_STORAGE_F64;
		struct tally_value v = tally_f64(
			bucket_middle(s->buckets[i].key, s->mantissa_bits, whole));
		if (tally_value_compare(v, s->moments.min) < 0)
			return s->moments.min;
		return tally_value_compare(v, s->moments.max) > 0 ? s->moments.max : v;
	}
	return s->moments.max;
}

bool
tally_stats_exact(const struct tally_stats *s)
{
	return !s->buckets;
}
