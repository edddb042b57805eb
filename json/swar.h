/* json/swar.h - eight bytes of text looked at together.
 *
 * Any thread; nothing here can fail. The callers fall back to single bytes around what is found.
 */
#ifndef PASSTALLY_JSON_SWAR_H
#define PASSTALLY_JSON_SWAR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TALLY_SWAR_ONES UINT64_C(0x0101010101010101)
#define TALLY_SWAR_TOPS UINT64_C(0x8080808080808080)

/* The top bit of every byte that JSON text cannot hold as it is or that is not ASCII: below 0x20,
 * '"', '\\', 0x80 and up. Bytes after the first one found may be marked wrongly. */
static inline uint64_t
tally_swar_find_special(const char *eight)
{
	uint64_t x;
	memcpy(&x, eight, sizeof(x));
	uint64_t quote = x ^ TALLY_SWAR_ONES * '"';
	uint64_t backslash = x ^ TALLY_SWAR_ONES * '\\';
	return ((x - TALLY_SWAR_ONES * 0x20) | (quote - TALLY_SWAR_ONES) |
		(backslash - TALLY_SWAR_ONES) | x) & TALLY_SWAR_TOPS;
}

/* How many bytes before the first marked one are surely plain; `marks` is not 0. */
static inline unsigned
tally_swar_first(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (unsigned)__builtin_ctzll(marks) / 8;
#else
	(void)marks; /* borrows run against the order of addresses: look at each byte */
	return 0;
#endif
}

#endif
