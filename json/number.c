/* SPDX-License-Identifier: MIT */
#include "json/number.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "json/pow10.h"
#include "json/swar.h"
#include "layer/base/int192.h"

/* Eight digits of a number below 10^8, a byte each, the first in the lowest byte: its halves,
 * then its quarters, are divided side by side by multiplying and shifting. */
static inline uint64_t
split_digits(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t upper = (x * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
	x = upper | (x - upper * 100) << 16;
	upper = (x * 103 >> 10) & UINT64_C(0x000f000f000f000f);
	return upper | (x - upper * 10) << 8;
}

static inline void
store_digits(char *out, uint64_t digits)
{
	digits += TALLY_SWAR_ONES * '0';
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	memcpy(out, &digits, sizeof(digits));
}

static inline size_t
format_short(char *out, uint32_t v)
{
	uint64_t digits = split_digits(v);
	unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
	store_digits(out, digits >> 8 * zeros);
	return 8 - zeros;
}

void
tally_number_format_eight(char *out, uint32_t v)
{
	store_digits(out, split_digits(v));
}

static __attribute__((noinline)) size_t
format_long(char *out, uint64_t v)
{
	uint64_t upper = v / TALLY_EIGHT_DIGITS;
	size_t n = upper < TALLY_EIGHT_DIGITS ? format_short(out, (uint32_t)upper)
					: format_long(out, upper);
	store_digits(out + n, split_digits((uint32_t)(v % TALLY_EIGHT_DIGITS)));
	return n + 8;
}

size_t
tally_number_format_u64(char *out, uint64_t v)
{
	return v < TALLY_EIGHT_DIGITS ? format_short(out, (uint32_t)v) : format_long(out, v);
}

/* Bits 128 and up of g * factor; the lowest bit is set when anything below was not zero. */
static uint64_t
round_to_odd(unsigned row, uint64_t factor)
{
	uint64_t unused, low;
	uint64_t carry = tally_multiply(tally_pow10[row].lo, factor, &unused);
	uint64_t high = tally_multiply(tally_pow10[row].hi, factor, &low);
	low += carry;
	high += low < carry;
	return high | (low > 1);
}

struct decimal {
	uint64_t digits;
	int exponent; /* the value is digits * 10^exponent */
};

/* The shortest decimal inside the rounding interval of c * 2^q, the closest one if several are
 * equally short: R. Giulietti, "The Schubfach way to render doubles", 2020. */
static struct decimal
find_shortest(uint64_t fraction, int biased)
{
	uint64_t c = biased ? fraction | UINT64_C(1) << 52 : fraction;
	int q = (biased ? biased : 1) - 1075;
	if (biased && q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0)
		return (struct decimal){ c >> -q, 0 };

	uint64_t odd = c & 1;
	bool uneven = fraction == 0 && biased > 1; /* the lower neighbor is half as far away */
	int k = (q * 1262611 - (uneven ? 524031 : 0)) >> 22; /* floor(log10(width)) */
	int h = q + ((-k * 1741647) >> 19) + 1; /* floor(log2(10^-k)) */
	unsigned row = (unsigned)(-k - TALLY_POW10_FIRST);
	uint64_t lower = round_to_odd(row, (4 * c - 2 + uneven) << h) + odd;
	uint64_t value = round_to_odd(row, (4 * c) << h);
	uint64_t upper = round_to_odd(row, (4 * c + 2) << h) - odd;

	uint64_t s = value / 4;
	if (s >= 10) {
		uint64_t tens = s / 10;
		bool below = lower <= 40 * tens;
		bool above = 40 * tens + 40 <= upper;
		if (below != above)
			return (struct decimal){ tens + above, k + 1 };
	}
	bool below = lower <= 4 * s;
	bool above = 4 * s + 4 <= upper;
	if (below != above)
		return (struct decimal){ s + above, k };
	uint64_t middle = 4 * s + 2;
	return (struct decimal){ s + (value > middle || (value == middle && (s & 1))), k };
}

/* digits d1d2d3... with the decimal point after `point` of them. */
static size_t
place_point(char *out, const char *digits, int n, int point)
{
	char *at = out;
	if (point > 16 || point < -3) {
		*at++ = digits[0];
		if (n > 1) {
			*at++ = '.';
			memcpy(at, digits + 1, (size_t)n - 1);
			at += n - 1;
		}
		*at++ = 'e';
		int exponent = point - 1;
		if (exponent < 0) {
			*at++ = '-';
			exponent = -exponent;
		}
		at += tally_number_format_u64(at, (uint64_t)exponent);
	} else if (point <= 0) {
		*at++ = '0';
		*at++ = '.';
		memset(at, '0', (size_t)-point);
		at += -point;
		memcpy(at, digits, (size_t)n);
		at += n;
	} else if (point >= n) {
		memcpy(at, digits, (size_t)n);
		memset(at + n, '0', (size_t)(point - n));
		at += point;
		*at++ = '.';
		*at++ = '0';
	} else {
		memcpy(at, digits, (size_t)point);
		at[point] = '.';
		memcpy(at + point + 1, digits + point, (size_t)(n - point));
		at += n + 1;
	}
	return (size_t)(at - out);
}

size_t
tally_number_format_f64(char *out, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	char *at = out;
	if (bits >> 63)
		*at++ = '-';
	bits &= ~(UINT64_C(1) << 63);
	if (bits == 0) {
		memcpy(at, "0.0", 3);
		return (size_t)(at - out) + 3;
	}
	struct decimal d = find_shortest(bits & ((UINT64_C(1) << 52) - 1), (int)(bits >> 52));
	while (d.digits % 10 == 0) {
		d.digits /= 10;
		d.exponent++;
	}
	char digits[TALLY_U64_CHARS];
	int n = (int)tally_number_format_u64(digits, d.digits);
	at += place_point(at, digits, n, n + d.exponent);
	return (size_t)(at - out);
}

double
tally_number_parse_f64(const char *text)
{
	/* glibc's own object: nothing is allocated, and it rounds correctly. */
	return strtod_l(text, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
}
