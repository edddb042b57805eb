/* SPDX-License-Identifier: MIT */
#include "layer/base/int192.h"

#include <math.h>
#include <string.h>

/* ---- words ---- */

/* words[from...] += v; a carry out of the last word is lost. */
static void
add_at(uint64_t *words, unsigned n, unsigned from, uint64_t v)
{
	for (unsigned i = from; i < n && v; i++)
		v = __builtin_add_overflow(words[i], v, &words[i]);
}

void
tally_words_multiply(const uint64_t *a, unsigned na, const uint64_t *b, unsigned nb,
		     uint64_t *out)
{
	memset(out, 0, (na + nb) * sizeof(*out));
	for (unsigned i = 0; i < na; i++) {
		for (unsigned j = 0; j < nb && a[i]; j++) {
			uint64_t lo, hi = tally_multiply(a[i], b[j], &lo);
			add_at(out, na + nb, i + j, lo);
			add_at(out, na + nb, i + j + 1, hi);
		}
	}
}

bool
tally_words_subtract(uint64_t *a, const uint64_t *b, unsigned n)
{
	bool borrow = false;
	for (unsigned i = 0; i < n; i++) {
		bool first = __builtin_sub_overflow(a[i], b[i], &a[i]);
		bool second = __builtin_sub_overflow(a[i], (uint64_t)borrow, &a[i]);
		borrow = first || second;
	}
	return borrow;
}

double
tally_words_f64(const uint64_t *words, unsigned n)
{
	while (n && words[n - 1] == 0)
		n--;
	if (n == 0)
		return 0;
	unsigned shift = (unsigned)__builtin_clzll(words[n - 1]);
	uint64_t top = words[n - 1] << shift;
	bool rest = false;
	if (n > 1) {
		if (shift)
			top |= words[n - 2] >> (64 - shift);
		rest = words[n - 2] << shift != 0;
	}
	for (unsigned i = 0; i + 2 < n; i++)
		rest |= words[i] != 0;
	/* 53 bits are kept; the eleven below them decide the rounding, with a sticky
	 * bit for all lower ones. */
	uint64_t kept = top >> 11, below = top & 0x7ff;
	bool up = below > 0x400 || (below == 0x400 && (rest || (kept & 1)));
	return ldexp((double)(kept + up), (int)(64 * (n - 1)) + 11 - (int)shift);
}

/* ---- 192 bits ---- */

bool
tally_int192_is_negative(const struct tally_int192 *w)
{
	return w->word[TALLY_INT192_WORDS - 1] >> 63;
}

static struct tally_int192
negated(const struct tally_int192 *w)
{
	struct tally_int192 out = { { 0 } };
	tally_words_subtract(out.word, w->word, TALLY_INT192_WORDS);
	return out;
}

void
tally_int192_add_u64(struct tally_int192 *w, uint64_t v)
{
	add_at(w->word, TALLY_INT192_WORDS, 0, v);
}

void
tally_int192_add_i64(struct tally_int192 *w, int64_t v)
{
	if (v >= 0) {
		tally_int192_add_u64(w, (uint64_t)v);
		return;
	}
	const uint64_t less[TALLY_INT192_WORDS] = { 0 - (uint64_t)v };
	tally_words_subtract(w->word, less, TALLY_INT192_WORDS);
}

void
tally_int192_add_square(struct tally_int192 *w, uint64_t v)
{
	uint64_t lo, hi = tally_multiply(v, v, &lo);
	add_at(w->word, TALLY_INT192_WORDS, 0, lo);
	add_at(w->word, TALLY_INT192_WORDS, 1, hi);
}

void
tally_int192_subtract_f64(struct tally_int192 *w, double whole)
{
	int exponent; /* |whole| = mantissa * 2^exponent, mantissa from 1/2 to 1 */
	double mantissa = frexp(fabs(whole), &exponent);
	uint64_t words[TALLY_INT192_WORDS] = { 0 };
	if (exponent <= 64) {
		words[0] = (uint64_t)fabs(whole);
	} else {
		unsigned shift = (unsigned)exponent - 53;
		unsigned word = shift / 64, bit = shift % 64;
		uint64_t top = (uint64_t)ldexp(mantissa, 53);
		words[word] = top << bit;
		if (bit && word + 1 < TALLY_INT192_WORDS)
			words[word + 1] = top >> (64 - bit);
	}
	if (whole < 0) {
		const struct tally_int192 less = { { words[0], words[1], words[2] } };
		const struct tally_int192 more = negated(&less);
		tally_words_subtract(w->word, more.word, TALLY_INT192_WORDS);
	} else {
		tally_words_subtract(w->word, words, TALLY_INT192_WORDS);
	}
}

double
tally_int192_f64(const struct tally_int192 *w)
{
	if (!tally_int192_is_negative(w))
		return tally_words_f64(w->word, TALLY_INT192_WORDS);
	struct tally_int192 positive = negated(w);
	return -tally_words_f64(positive.word, TALLY_INT192_WORDS);
}

/* Divide by a number below 2^32; returns the remainder. */
static uint32_t
divide_small(uint64_t *words, unsigned n, uint32_t by)
{
	uint64_t rest = 0;
	for (unsigned i = n; i-- > 0;) {
		uint64_t high = rest << 32 | words[i] >> 32;
		rest = high % by;
		uint64_t low = rest << 32 | (uint32_t)words[i];
		rest = low % by;
		words[i] = (high / by) << 32 | low / by;
	}
	return (uint32_t)rest;
}

size_t
tally_int192_print(const struct tally_int192 *w, char out[TALLY_INT192_DIGITS])
{
	bool negative = tally_int192_is_negative(w);
	struct tally_int192 left = negative ? negated(w) : *w;
	char digits[TALLY_INT192_DIGITS + 9];
	size_t n = 0;
	do {
		uint32_t nine = divide_small(left.word, TALLY_INT192_WORDS, 1000000000);
		for (int i = 0; i < 9; i++, nine /= 10)
			digits[n++] = (char)('0' + nine % 10);
	} while (left.word[0] | left.word[1] | left.word[2]);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	size_t at = 0;
	if (negative)
		out[at++] = '-';
	while (n)
		out[at++] = digits[--n];
	out[at] = '\0';
	return at;
}

bool
tally_int192_parse(const char *text, size_t len, struct tally_int192 *out)
{
	bool negative = len && text[0] == '-';
	size_t i = negative;
	if (i == len)
		return false;
	struct tally_int192 w = { { 0 } };
	for (; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		const uint64_t ten = 10;
		uint64_t product[TALLY_INT192_WORDS + 1];
		tally_words_multiply(w.word, TALLY_INT192_WORDS, &ten, 1, product);
		add_at(product, TALLY_INT192_WORDS + 1, 0, (uint64_t)(text[i] - '0'));
		if (product[TALLY_INT192_WORDS] || product[TALLY_INT192_WORDS - 1] >> 63)
			return false;
		memcpy(w.word, product, sizeof(w.word));
	}
	*out = negative ? negated(&w) : w;
	return true;
}
