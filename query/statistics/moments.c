/* SPDX-License-Identifier: MIT */
#include "query/statistics/moments.h"

#include <float.h>
#include <math.h>

int
tally_value_compare(struct tally_value a, struct tally_value b)
{
	if (a.storage == TALLY_STORAGE_F64 && b.storage == TALLY_STORAGE_F64)
		return (a.f64 > b.f64) - (a.f64 < b.f64);
	if (a.storage == TALLY_STORAGE_F64 || b.storage == TALLY_STORAGE_F64) {
		double x = tally_value_f64(a), y = tally_value_f64(b);
		return (x > y) - (x < y);
	}
	bool below_a = a.storage == TALLY_STORAGE_I64 && a.i64 < 0;
	bool below_b = b.storage == TALLY_STORAGE_I64 && b.i64 < 0;
	if (below_a != below_b)
		return below_a ? -1 : 1;
	/* With equal signs, two's complement orders like the unsigned numbers. */
	return (a.u64 > b.u64) - (a.u64 < b.u64);
}

/* ---- pairs of doubles (Knuth, Dekker) ---- */

/* Where the machine computes with more bits than a double has (x87), each step
 * must be stored. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
typedef double stored;
#else
typedef volatile double stored;
#endif

static struct tally_pair
two_sum(double a, double b)
{
	stored sum = a + b;
	stored other = sum - a;
	stored low_a = a - (sum - other), low_b = b - other;
	return (struct tally_pair){ sum, low_a + low_b };
}

static struct tally_pair
two_product(double a, double b)
{
	stored product = a * b;
	return (struct tally_pair){ product, fma(a, b, -product) };
}

static struct tally_pair
pair_add(struct tally_pair p, double v)
{
	struct tally_pair high = two_sum(p.hi, v);
	return two_sum(high.hi, high.lo + p.lo);
}

static struct tally_pair
pair_add_pair(struct tally_pair p, struct tally_pair q)
{
	struct tally_pair high = two_sum(p.hi, q.hi), low = two_sum(p.lo, q.lo);
	high = two_sum(high.hi, high.lo + low.hi);
	return two_sum(high.hi, high.lo + low.lo);
}

static struct tally_pair
pair_square(struct tally_pair p)
{
	struct tally_pair square = two_product(p.hi, p.hi);
	return two_sum(square.hi, square.lo + 2 * p.hi * p.lo);
}

static struct tally_pair
pair_divide(struct tally_pair p, double by)
{
	double quotient = p.hi / by;
	struct tally_pair back = two_product(quotient, by);
	double rest = ((p.hi - back.hi) - back.lo + p.lo) / by;
	return two_sum(quotient, rest);
}

/* The number to 106 bits of precision. */
static struct tally_pair
wide_pair(const struct tally_int192 *w)
{
	struct tally_int192 rest = *w;
	double nearest = tally_int192_f64(w);
	tally_int192_subtract_f64(&rest, nearest);
	return (struct tally_pair){ nearest, tally_int192_f64(&rest) };
}

/* ---- adding ---- */

static void
become_f64(struct tally_moments *m)
{
	struct tally_pair total = wide_pair(&m->sum), total_sq = wide_pair(&m->sum_sq);
	m->storage = TALLY_STORAGE_F64;
	m->origin = 0;
	m->total = m->distance = total;
	m->total_sq = m->distance_sq = total_sq;
}

static void
add_f64(struct tally_moments *m, double v)
{
	m->total = pair_add(m->total, v);
	m->total_sq = pair_add_pair(m->total_sq, two_product(v, v));
	struct tally_pair distance = two_sum(v, -m->origin);
	m->distance = pair_add_pair(m->distance, distance);
	m->distance_sq = pair_add_pair(m->distance_sq, pair_square(distance));
}

static void
add_integer(struct tally_moments *m, struct tally_value v)
{
	bool negative = v.storage == TALLY_STORAGE_I64 && v.i64 < 0;
	if (negative) {
		m->storage = TALLY_STORAGE_I64;
		tally_int192_add_i64(&m->sum, v.i64);
		tally_int192_add_square(&m->sum_sq, 0 - v.u64);
	} else {
		tally_int192_add_u64(&m->sum, v.u64);
		tally_int192_add_square(&m->sum_sq, v.u64);
	}
}

void
tally_moments_add_any(struct tally_moments *m, struct tally_value v)
{
	bool whole = v.storage != TALLY_STORAGE_F64;
	if (!whole && !isfinite(v.f64))
		return;
	if (m->n == 0) {
		m->storage = v.storage;
		m->min = m->max = v;
		if (!whole)
			m->origin = v.f64;
	} else {
		if (tally_value_compare(v, m->min) < 0)
			m->min = v;
		if (tally_value_compare(v, m->max) > 0)
			m->max = v;
		if (!whole && m->storage != TALLY_STORAGE_F64)
			become_f64(m);
	}
	m->n++;
	if (m->storage == TALLY_STORAGE_F64)
		add_f64(m, tally_value_f64(v));
	else
		add_integer(m, v);
}

void
tally_moments_add_same(struct tally_moments *m, struct tally_value v, uint64_t times)
{
	/* The first may make it another storage. */
	for (uint64_t i = 0; i < times; i++) {
		tally_moments_add_any(m, v);
		if (m->storage != TALLY_STORAGE_U64 || v.storage != TALLY_STORAGE_U64 ||
		    v.u64 > UINT32_MAX)
			continue;
		uint64_t low, rest = times - i - 1;
		uint64_t high = tally_multiply(v.u64 * v.u64, rest, &low);
		tally_int192_add_parts(&m->sum_sq, high, low);
		high = tally_multiply(v.u64, rest, &low);
		tally_int192_add_parts(&m->sum, high, low);
		m->n += rest;
		return;
	}
}

/* ---- derived values ---- */

double
tally_moments_total(const struct tally_moments *m)
{
	return m->storage == TALLY_STORAGE_F64 ? m->total.hi + m->total.lo
					       : tally_int192_f64(&m->sum);
}

double
tally_moments_mean(const struct tally_moments *m)
{
	double n = (double)m->n;
	if (m->storage != TALLY_STORAGE_F64)
		return tally_int192_f64(&m->sum) / n;
	struct tally_pair mean = pair_add(pair_divide(m->distance, n), m->origin);
	return mean.hi + mean.lo;
}

/* n * sum_sq - sum^2, exactly: n^2 times the variance. */
static double
spread_of_integers(const struct tally_moments *m)
{
	enum { WORDS = 2 * TALLY_INT192_WORDS };
	struct tally_int192 sum = m->sum;
	if (tally_int192_is_negative(&sum)) {
		struct tally_int192 zero = { { 0 } };
		tally_words_subtract(zero.word, sum.word, TALLY_INT192_WORDS);
		sum = zero;
	}
	uint64_t spread[WORDS] = { 0 }, square[WORDS];
	tally_words_multiply(m->sum_sq.word, TALLY_INT192_WORDS, &m->n, 1, spread);
	tally_words_multiply(sum.word, TALLY_INT192_WORDS, sum.word, TALLY_INT192_WORDS, square);
	tally_words_subtract(spread, square, WORDS);
	return tally_words_f64(spread, WORDS);
}

/* Below this distance a double cannot represent the low half of a square; further
 * below, none of it. */
#define LEAST_DISTANCE 0x1p-480

/* The sum of squared distances from the mean; NaN where they are too small for a double. */
static double
squares(const struct tally_moments *m)
{
	double n = (double)m->n;
	if (m->storage != TALLY_STORAGE_F64)
		return spread_of_integers(m) / n;
	double range = tally_value_f64(m->max) - tally_value_f64(m->min);
	if (range > 0 && range < LEAST_DISTANCE)
		return (double)NAN;
	struct tally_pair part = pair_divide(pair_square(m->distance), n);
	part = (struct tally_pair){ -part.hi, -part.lo };
	struct tally_pair sum = pair_add_pair(m->distance_sq, part);
	double total = sum.hi + sum.lo;
	return total < 0 ? 0 : total;
}

double
tally_moments_sd_population(const struct tally_moments *m)
{
	return sqrt(squares(m) / (double)m->n);
}

double
tally_moments_sd_sample(const struct tally_moments *m)
{
	return sqrt(squares(m) / (double)(m->n - 1));
}

void
tally_moments_record(const struct tally_moments *m, struct tally_statistic_record *out)
{
	out->n = m->n;
	out->integral = m->storage != TALLY_STORAGE_F64;
	if (out->integral) {
		out->sum = m->sum;
		out->sum_sq = m->sum_sq;
	} else {
		out->sum_f64 = m->total.hi + m->total.lo;
		out->sum_sq_f64 = m->total_sq.hi + m->total_sq.lo;
	}
	out->min = m->min;
	out->max = m->max;
	out->mean = tally_moments_mean(m);
	double sum_sq = squares(m);
	out->sd_population = sqrt(sum_sq / (double)m->n);
	out->has_sd_sample = m->n > 1;
	if (out->has_sd_sample)
		out->sd_sample = sqrt(sum_sq / (double)(m->n - 1));
}
