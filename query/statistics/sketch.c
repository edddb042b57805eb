/* SPDX-License-Identifier: MIT */
#include "query/statistics/sketch.h"

#include "layer/base/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
rounded(double value, int digits)
{
	int exponent;
	double mantissa = frexp(value, &exponent);
	return ldexp(nearbyint(ldexp(mantissa, digits)), exponent - digits);
}

/* The index of the first bucket whose value is not smaller. */
static uint32_t
place_of(const struct tally_sketch *s, double value)
{
	uint32_t low = 0, high = s->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (s->buckets[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Rounds all to a digit less: the order stays. */
static void
lose_digit(struct tally_sketch *s)
{
	uint32_t n = 0;
	s->lost++;
	for (uint32_t i = 0; i < s->n; i++) {
		double value = rounded(s->buckets[i].value, TALLY_SKETCH_DIGITS - s->lost);
		uint64_t count = s->buckets[i].n;
		if (n && s->buckets[n - 1].value == value)
			s->buckets[n - 1].n += count;
		else
			s->buckets[n++] = (struct tally_bucket){ value, count };
	}
	s->n = n;
}

bool
tally_sketch_add(struct tally_sketch *s, double value, uint64_t n)
{
	if (!isfinite(value) || n == 0)
		return true;
	while (s->n == TALLY_MAX_BUCKETS && s->lost + 1 < TALLY_SKETCH_DIGITS)
		lose_digit(s);
	value = rounded(value, TALLY_SKETCH_DIGITS - s->lost);
	uint32_t at = place_of(s, value);
	if (at < s->n && s->buckets[at].value == value) {
		s->buckets[at].n += n;
		return true;
	}
	if (!tally_array_fit(&s->buckets, s->n, &s->room, sizeof(*s->buckets)))
		return false;
	memmove(&s->buckets[at + 1], &s->buckets[at], (s->n - at) * sizeof(*s->buckets));
	s->buckets[at] = (struct tally_bucket){ value, n };
	s->n++;
	return true;
}

double
tally_sketch_error(const struct tally_sketch *s)
{
	/* Each rounding adds half of its last digit. */
	double error = 0;
	for (int i = 0; i <= s->lost; i++)
		error += ldexp(1, i - TALLY_SKETCH_DIGITS);
	return error;
}

size_t
tally_sketch_print(const struct tally_sketch *s, char *out, size_t size)
{
	size_t len = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		int exponent;
		double mantissa = frexp(s->buckets[i].value, &exponent);
		int whole = (int)ldexp(mantissa, TALLY_SKETCH_DIGITS);
		exponent = whole ? exponent - TALLY_SKETCH_DIGITS : 0;
		for (; whole && whole % 2 == 0; whole /= 2)
			exponent++;
		int n = snprintf(len < size ? out + len : NULL, len < size ? size - len : 0,
				 "%s%d,%d,%" PRIu64, i ? " " : "", whole, exponent,
				 s->buckets[i].n);
		len += n > 0 ? (size_t)n : 0;
	}
	return len;
}

void
tally_sketch_finish(struct tally_sketch *s)
{
	free(s->buckets);
	*s = (struct tally_sketch){ 0 };
}
