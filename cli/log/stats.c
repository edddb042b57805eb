/* SPDX-License-Identifier: MIT */
#include "cli/log/stats.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MAX_BUCKETS 32768 /* enough for all magnitudes of 64-bit integers */
#define MAX_DENSE 16384 /* contiguous buckets: 128 KiB */
#define FIRST_MANTISSA_BITS 9
#define LEAST_WAITING 64 /* values that are sorted in together */
#define FEW 32 /* values that are sorted one by one */

/* A count of equal values. */
struct tally_stats_run {
	uint64_t key; /* see key_of() */
	uint64_t tag; /* the count times four, plus the storage */
};

static uint64_t
run_count(const struct tally_stats_run *run)
{
	return run->tag >> 2;
}

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
static inline int
run_compare(const struct tally_stats_run *a, const struct tally_stats_run *b)
{
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
	to->waiting = g_memdup2(from->waiting, from->room_waiting * sizeof(*from->waiting));
	to->runs = g_memdup2(from->runs, from->n_runs * sizeof(*from->runs));
	to->dense = g_memdup2(from->dense, from->n_dense * sizeof(*from->dense));
	to->buckets = g_memdup2(from->buckets, from->room_buckets * sizeof(*from->buckets));
}

void
tally_stats_finish(struct tally_stats *s)
{
	g_free(s->waiting);
	g_free(s->runs);
	g_free(s->dense);
	g_free(s->buckets);
	*s = (struct tally_stats){ 0 };
}

/* Doubles of one sign sort like their bit patterns; negative ones are folded below zero. */
static int64_t
bucket_key(double v, unsigned mantissa_bits)
{
	uint64_t bits;
	double magnitude = fabs(v);
	memcpy(&bits, &magnitude, sizeof(bits));
	int64_t key = (int64_t)(bits >> (52 - mantissa_bits));
	return v < 0 ? -key - 1 : key;
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

/* Index of the first bucket whose key is at least `key`. */
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

/* Inserts into the sparse buckets, which are sorted by key. */
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

/* Uses contiguous buckets while the values are close to each other: their magnitudes, apart
 * from 0, span few powers of two. False: this value is too far away. */
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
		if (key == 0) { /* zero is far from all other keys */
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

/* ---- exact quantiles ---- */

static void
sort_few(struct tally_stats_run *runs, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		const struct tally_stats_run run = runs[i];
		uint32_t at = i;
		for (; at && run_compare(&run, &runs[at - 1]) < 0; at--)
			runs[at] = runs[at - 1];
		runs[at] = run;
	}
}

static int
compare_runs(const void *a, const void *b)
{
	return run_compare(a, b);
}

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

static void
sort_runs(struct tally_stats_run *runs, uint32_t n)
{
	uint64_t differ = 0, storages = 0;
	for (uint32_t i = 1; i < n; i++) {
		differ |= runs[i].key ^ runs[0].key;
		storages |= (runs[i].tag ^ runs[0].tag) & 3;
	}
	if (n <= FEW)
		sort_few(runs, n);
	else if (storages)
		qsort(runs, n, sizeof(*runs), compare_runs);
	else
		sort_bytes(runs, n, differ);
}

/* Appends to sorted runs; an equal value is counted with the last one. */
static uint32_t
append_run(struct tally_stats_run *runs, uint32_t n, const struct tally_stats_run *run)
{
	if (n && runs[n - 1].key == run->key && !((runs[n - 1].tag ^ run->tag) & 3)) {
		runs[n - 1].tag += run->tag & ~UINT64_C(3);
		return n;
	}
	runs[n] = *run;
	return n + 1;
}

/* Switches to buckets because there are too many distinct values. */
static void
give_up_exactness(struct tally_stats *s)
{
	s->sketched = true;
	for (uint32_t i = 0; i < s->n_runs; i++)
		bucket_add(s, tally_value_f64(run_value(&s->runs[i])), run_count(&s->runs[i]));
	g_clear_pointer(&s->runs, g_free);
	g_clear_pointer(&s->waiting, g_free);
	s->n_runs = s->room_waiting = 0;
}

/* Merges the waiting values with the sorted ones. */
static void
sort_in_waiting(struct tally_stats *s)
{
	if (!s->n_waiting)
		return;
	sort_runs(s->waiting, s->n_waiting);
	struct tally_stats_run *all = g_new(struct tally_stats_run, s->n_runs + s->n_waiting);
	uint32_t n = 0, i = 0, k = 0;
	while (i < s->n_runs && k < s->n_waiting) {
		bool old = run_compare(&s->runs[i], &s->waiting[k]) <= 0;
		n = append_run(all, n, old ? &s->runs[i++] : &s->waiting[k++]);
	}
	if (i < s->n_runs) {
		n = append_run(all, n, &s->runs[i++]); /* from here on all differ */
		memcpy(&all[n], &s->runs[i], (s->n_runs - i) * sizeof(*all));
		n += s->n_runs - i;
	}
	while (k < s->n_waiting)
		n = append_run(all, n, &s->waiting[k++]);
	g_free(s->runs);
	s->runs = g_renew(struct tally_stats_run, all, n);
	s->n_runs = n;
	s->n_waiting = 0;
	if (n > s->keep)
		give_up_exactness(s);
}

/* As many values wait as are sorted, so each is moved a few times only. */
static void
make_room(struct tally_stats *s)
{
	if (s->n_waiting >= MAX(s->n_runs, LEAST_WAITING))
		sort_in_waiting(s);
	if (s->sketched || s->n_waiting < s->room_waiting)
		return;
	s->room_waiting = s->room_waiting ? 2 * s->room_waiting : 4;
	s->waiting = g_renew(struct tally_stats_run, s->waiting, s->room_waiting);
}

static void
sort_in_last(struct tally_stats *s)
{
	if (s->repeats == 0)
		return;
	if (!s->sketched && s->n_waiting == s->room_waiting)
		make_room(s);
	if (s->sketched)
		bucket_add(s, tally_value_f64(s->last), s->repeats);
	else
		s->waiting[s->n_waiting++] = (struct tally_stats_run){
			.key = key_of(s->last),
			.tag = s->repeats << 2 | s->last.storage,
		};
	s->repeats = 0;
}

static void
sort_in_all(struct tally_stats *s)
{
	sort_in_last(s);
	sort_in_waiting(s);
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
	sort_in_last(s);
	s->last = v;
	s->repeats = 1;
}

void
tally_stats_add_u64(struct tally_stats *s, uint64_t v)
{
	tally_stats_add(s, tally_u64(v));
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
		/* Zeros are between the negative keys and the positive ones. */
		if (key >= 0 && (key == 0 || i == 0)) {
			seen += s->zeros;
			if (seen >= rank)
				return 0;
		}
		seen += s->dense[i];
		if (seen >= rank)
			return key;
	}
	return 0; /* only zeros are left */
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
	sort_in_all(s);
	if (!s->sketched) {
		uint64_t seen = 0;
		for (uint32_t i = 0; i < s->n_runs; i++) {
			seen += run_count(&s->runs[i]);
			if (seen >= rank)
				return run_value(&s->runs[i]);
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
tally_stats_exact(struct tally_stats *s)
{
	sort_in_all(s);
	return !s->sketched;
}

/* The values of dense buckets, with zeros between the negative ones and the positive ones. */
static void
visit_dense(struct tally_stats *s, bool whole,
	    void (*visit)(void *user, double value, uint64_t count), void *user)
{
	bool zeros = s->zeros > 0;
	for (uint32_t i = 0; i < s->n_dense; i++) {
		int64_t key = s->first_dense + i;
		if (zeros && key >= 0) {
			visit(user, 0, s->zeros);
			zeros = false;
		}
		if (s->dense[i])
			visit(user, bucket_middle(key, s->mantissa_bits, whole), s->dense[i]);
	}
	if (zeros)
		visit(user, 0, s->zeros);
}

void
tally_stats_visit(struct tally_stats *s, void (*visit)(void *user, double value, uint64_t count),
		  void *user)
{
	sort_in_all(s);
	if (!s->sketched) {
		for (uint32_t i = 0; i < s->n_runs; i++)
			visit(user, tally_value_f64(run_value(&s->runs[i])),
			      run_count(&s->runs[i]));
		return;
	}
	bool whole = s->moments.storage != TALLY_STORAGE_F64;
	visit_dense(s, whole, visit, user);
	for (uint32_t i = 0; i < s->n_buckets; i++)
		visit(user, bucket_middle(s->buckets[i].key, s->mantissa_bits, whole),
		      s->buckets[i].count);
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
