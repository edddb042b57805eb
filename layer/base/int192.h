/* SPDX-License-Identifier: MIT */
/* layer/base/int192.h - whole numbers of 192 bits: sums of 64-bit values, and of their squares.
 *
 * They are in two's complement; sums of 2^63 values of any size, or of as many squares, cannot
 * overflow. The code works without a 128-bit type of the compiler. Any thread; nothing
 * allocates or fails.
 */
#ifndef PASSTALLY_LAYER_BASE_INT192_H
#define PASSTALLY_LAYER_BASE_INT192_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_INT192_WORDS 3
#define TALLY_INT192_DIGITS 60 /* with sign and NUL */

struct tally_int192 {
	uint64_t word[TALLY_INT192_WORDS]; /* least first */
};

/* The upper half of a * b; the lower half goes to *low. */
static inline uint64_t
tally_multiply(uint64_t a, uint64_t b, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 u128;
	u128 product = (u128)a * b;
	*low = (uint64_t)product;
	return (uint64_t)(product >> 64);
#else
	uint64_t a_hi = a >> 32, a_lo = (uint32_t)a, b_hi = b >> 32, b_lo = (uint32_t)b;
	uint64_t low_low = a_lo * b_lo;
	uint64_t middle = a_hi * b_lo + (low_low >> 32);
	uint64_t other = a_lo * b_hi + (uint32_t)middle;
	*low = other << 32 | (uint32_t)low_low;
	return a_hi * b_hi + (middle >> 32) + (other >> 32);
#endif
}

/* high * 2^64 + low; high is not 2^64 - 1. */
static inline void
tally_int192_add_parts(struct tally_int192 *w, uint64_t high, uint64_t low)
{
	high += __builtin_add_overflow(w->word[0], low, &w->word[0]);
	w->word[2] += __builtin_add_overflow(w->word[1], high, &w->word[1]);
}

void tally_int192_add_u64(struct tally_int192 *w, uint64_t v);
void tally_int192_add_i64(struct tally_int192 *w, int64_t v);
void tally_int192_add_square(struct tally_int192 *w, uint64_t v);
bool tally_int192_is_negative(const struct tally_int192 *w);
/* `whole` has no fraction and fits. */
void tally_int192_subtract_f64(struct tally_int192 *w, double whole);
/* The nearest double; ties go to even. */
double tally_int192_f64(const struct tally_int192 *w);
/* Prints it in decimal; returns the length. */
size_t tally_int192_print(const struct tally_int192 *w, char out[TALLY_INT192_DIGITS]);
/* Parses decimal digits with or without '-'. False: something else, or a
 * number that does not fit. */
bool tally_int192_parse(const char *text, size_t len, struct tally_int192 *out);

/* out = a * b, all in little-endian words; `out` has na + nb of them. */
void tally_words_multiply(const uint64_t *a, unsigned na, const uint64_t *b, unsigned nb,
			  uint64_t *out);
/* a -= b; true if a was less than b and wrapped. */
bool tally_words_subtract(uint64_t *a, const uint64_t *b, unsigned n);
/* The nearest double of unsigned words; ties go to even. */
double tally_words_f64(const uint64_t *words, unsigned n);

#endif
