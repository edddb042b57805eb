/* SPDX-License-Identifier: MIT */
/* query/sampler/share_of.h - a fraction of a whole number, without intermediate rounding.
 *
 * The product of two 64-bit numbers needs 128 bits, which 32-bit machines do not have as a
 * type. Any thread; no state is kept.
 */
#ifndef PASSTALLY_QUERY_SHARE_OF_H
#define PASSTALLY_QUERY_SHARE_OF_H

#include <stdint.h>

#include "layer/base/int192.h"

/* amount * part / whole, rounded down, where part <= whole and whole > 0. *rest is the
 * remainder of the division: less than whole. */
static inline uint64_t
tally_share_of_large(uint64_t amount, uint64_t part, uint64_t whole, uint64_t *rest)
{
	uint64_t low, high = tally_multiply(amount, part, &low);
	/* As part <= whole, the quotient is at most amount and fits: high < whole. */
	for (int bit = 0; bit < 64; bit++) {
		uint64_t carry = high >> 63;
		high = high << 1 | low >> 63;
		low <<= 1;
		if (carry || high >= whole) {
			high -= whole;
			low |= 1;
		}
	}
	*rest = high;
	return low;
}

static inline uint64_t
tally_share_of(uint64_t amount, uint64_t part, uint64_t whole, uint64_t *rest)
{
	uint64_t product;
	if (__builtin_mul_overflow(amount, part, &product))
		return tally_share_of_large(amount, part, whole, rest);
	*rest = product % whole;
	return product / whole;
}

#endif
