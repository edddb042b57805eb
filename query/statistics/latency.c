/* SPDX-License-Identifier: MIT */
#include "query/statistics/latency.h"

#include <math.h>

/* The sum of squared distances from the mean, in two parts, both of which are whole:
 * S - r * r / n, where the mean is q + r / n and S is the sum of squared distances from q.
 * Intermediate wraps cancel. */
static bool
squares_around_mean(const struct tally_latency *l, uint64_t *around_q, uint64_t *r_squared)
{
	if (l->n == 0 || l->n >> 32)
		return false;
	uint64_t q = l->sum / l->n, r = l->sum % l->n, product;
	uint64_t most;
	if (__builtin_add_overflow(l->sum, r, &most) ||
	    __builtin_mul_overflow(q, most, &product) || product > l->sum_sq)
		return false;
	*around_q = l->sum_sq - product;
	*r_squared = r * r;
	/* S >= r * r / n, in whole numbers. */
	return *around_q >= *r_squared / l->n + (*r_squared % l->n != 0);
}

bool
tally_latency_is_possible(const struct tally_latency *l)
{
	uint64_t around_q, r_squared;
	if (l->n == 0)
		return l->sum == 0 && l->sum_sq == 0;
	if (l->n >> 32)
		return true; /* not representable in 64 bits */
	return squares_around_mean(l, &around_q, &r_squared);
}

bool
tally_latency_sd_population(const struct tally_latency *l, double *out)
{
	uint64_t around_q, r_squared;
	if (!squares_around_mean(l, &around_q, &r_squared))
		return false;
	/* Whole part and remainder separately, as above. */
	uint64_t whole = around_q - r_squared / l->n;
	double rest = (double)(r_squared % l->n) / (double)l->n;
	double variance = ((double)whole - rest) / (double)l->n;
	*out = sqrt(variance > 0 ? variance : 0);
	return true;
}

/* From 2^53 on a double does not represent every whole number. */
#define EXACT_END 9007199254740992.0
#define END 18446744073709551616.0

static bool
is_whole(double value)
{
	return value >= 0 && value < END && value == floor(value);
}

bool
tally_latency_sd_of_doubles(double n, double sum, double sum_sq, double *out)
{
	if (!is_whole(n) || !is_whole(sum) || !is_whole(sum_sq))
		return false;
	const struct tally_latency l = { (uint64_t)n, (uint64_t)sum, (uint64_t)sum_sq };
	if (!tally_latency_sd_population(&l, out))
		return false;
	if (sum < EXACT_END && sum_sq < EXACT_END)
		return true;
	/* Both may be off by one part in 2^53, and twice that error of the squares goes into
	 * the deviation: the remaining difference must be much larger. */
	return *out * *out * n > sum_sq / (double)(UINT64_C(1) << 40);
}
