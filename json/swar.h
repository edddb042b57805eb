/* SPDX-License-Identifier: MIT */
/* json/swar.h - examines eight bytes of text together.
 *
 * Any thread; nothing here can fail. The callers fall back to single bytes around a match.
 */
#ifndef PASSTALLY_JSON_SWAR_H
#define PASSTALLY_JSON_SWAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TALLY_SWAR_ONES UINT64_C(0x0101010101010101)
#define TALLY_SWAR_TOPS UINT64_C(0x8080808080808080)

/* Sets the top bit of every byte that JSON text cannot contain literally or that is not ASCII:
 * below 0x20, '"', '\\', 0x80 and up. Bytes after the first one found may be marked wrongly. */
static inline uint64_t
tally_swar_find_special(const char *eight)
{
	uint64_t x;
	memcpy(&x, eight, sizeof(x));
	uint64_t quote = x ^ TALLY_SWAR_ONES * '"';
	uint64_t backslash = x ^ TALLY_SWAR_ONES * '\\';
	return ((x - TALLY_SWAR_ONES * 0x20) | (quote - TALLY_SWAR_ONES) |
		(backslash - TALLY_SWAR_ONES) | x) &
	       TALLY_SWAR_TOPS;
}

/* How many bytes before the first marked one are certainly plain; `marks` is not 0. */
static inline unsigned
tally_swar_first(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (unsigned)__builtin_ctzll(marks) / 8;
#else
	(void)marks; /* borrows propagate against the order of addresses: checks each byte */
	return 0;
#endif
}

/* The number that up to eight digits at `eight` spell, and the number of digits. */
static inline uint64_t
tally_swar_read_digits(const char *eight, unsigned *n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t x;
	memcpy(&x, eight, sizeof(x));
	x -= TALLY_SWAR_ONES * '0';
	/* The first byte that is not a digit is marked exactly, and those before it not at
	 * all. */
	uint64_t other = ((x + TALLY_SWAR_ONES * (0x80 - 10)) | x) & TALLY_SWAR_TOPS;
	*n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
	if (*n == 0)
		return 0;
	x <<= 64 - 8 * *n; /* zeros in front */
	x = x * 10 + (x >> 8);
	x = ((x & UINT64_C(0x000000ff000000ff)) * (100 + (UINT64_C(1000000) << 32)) +
	     (x >> 16 & UINT64_C(0x000000ff000000ff)) * (1 + (UINT64_C(10000) << 32))) >>
	    32;
	return x;
#else
	uint64_t v = 0;
	for (*n = 0; *n < 8 && eight[*n] >= '0' && eight[*n] <= '9'; ++*n)
		v = v * 10 + (uint64_t)(eight[*n] - '0');
	return v;
#endif
}

/* The number that up to 16 digits at `at` spell; returns the address after them. */
static inline char *
tally_swar_scan_digits(char *at, uint64_t *v)
{
	static const uint32_t powers[] = { 1,      10,      100,      1000,     10000,
					   100000, 1000000, 10000000, 100000000 };
	unsigned n;
	*v = tally_swar_read_digits(at, &n);
	if (n < 8)
		return at + n;
	uint64_t low = tally_swar_read_digits(at + 8, &n);
	*v = *v * powers[n] + low;
	return at + 8 + n;
}

/* The number that eight digits of 0-9 and a-f spell; *good becomes false if there are
 * others. */
static inline uint32_t
tally_swar_read_hex(const char *eight, bool *good)
{
	const uint64_t even = UINT64_C(0x00ff00ff00ff00ff), low = UINT64_C(0x0000ffff0000ffff);
	uint64_t x;
	memcpy(&x, eight, sizeof(x));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	/* Sets the top bits of bytes that are at least the one and below the other. Bytes from
	 * 0x80 up carry into their neighbors: they are invalid anyway. */
	uint64_t digits = (x + TALLY_SWAR_ONES * (0x80 - '0')) &
			  ~(x + TALLY_SWAR_ONES * (0x80 - '9' - 1)) & TALLY_SWAR_TOPS;
	uint64_t letters = (x + TALLY_SWAR_ONES * (0x80 - 'a')) &
			   ~(x + TALLY_SWAR_ONES * (0x80 - 'f' - 1)) & TALLY_SWAR_TOPS;
	*good &= (x & TALLY_SWAR_TOPS) == 0 && (digits | letters) == TALLY_SWAR_TOPS;
	x = (x & TALLY_SWAR_ONES * 0x0f) + (letters >> 7) * 9;
	x = (x & even) << 4 | (x >> 8 & even);
	x = (x & low) << 8 | (x >> 16 & low);
	return (uint32_t)(x << 16 | x >> 32);
}

/* Eight hex digits: a byte for each digit, then 0-9 and a-f from 0 to 15. */
static inline void
tally_swar_write_hex(char *eight, uint32_t v)
{
	uint64_t x = v;
	x = (x << 16 | x) & UINT64_C(0x0000ffff0000ffff);
	x = (x << 8 | x) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x << 4 | x) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	uint64_t letters = (x + TALLY_SWAR_ONES * 6) >> 4 & TALLY_SWAR_ONES;
	x += TALLY_SWAR_ONES * '0' + letters * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	memcpy(eight, &x, sizeof(x));
}

/* Whether `len` bytes, four or more, are the same. */
static inline bool
tally_swar_is_equal(const char *a, const char *b, size_t len)
{
	if (len < 8) {
		uint32_t x, y, x_last, y_last;
		memcpy(&x, a, 4);
		memcpy(&y, b, 4);
		memcpy(&x_last, a + len - 4, 4);
		memcpy(&y_last, b + len - 4, 4);
		return ((x ^ y) | (x_last ^ y_last)) == 0;
	}
	for (size_t i = 0;; i += 8) {
		if (i + 8 > len)
			i = len - 8; /* the remainder, with some bytes compared again */
		uint64_t x, y;
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			return false;
		if (i + 8 == len)
			return true;
	}
}

#endif
