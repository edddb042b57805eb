/* SPDX-License-Identifier: MIT */
/* json/number.h - converts numbers to decimal text and back, exactly.
 *
 * Doubles are written with the fewest digits that read back as the same double, and read with
 * correct rounding. Nothing here depends on the locale (a game may have set a decimal comma),
 * allocates or fails. Any thread.
 */
#ifndef PASSTALLY_JSON_NUMBER_H
#define PASSTALLY_JSON_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define TALLY_U64_CHARS 20 /* longest unsigned 64-bit integer */
#define TALLY_F64_CHARS 32 /* longest double: sign, 17 digits, point, exponent; and see below */

#define TALLY_EIGHT_DIGITS 100000000

/* Each writes to `out`, without a NUL, and returns the length. `out` has room for as many
 * characters as stated above: some after the number may be overwritten. */
size_t tally_number_format_u64(char *out, uint64_t v);
/* A finite double, as JSON: always with a '.' or an 'e', so that it never looks like an integer. */
size_t tally_number_format_f64(char *out, double v);

/* Exactly eight digits of a number below 10^8, with zeros in front. */
void tally_number_format_eight(char *out, uint32_t v);

/* The same; they return the address after it. */
static inline char *
tally_number_put_u64(char *at, uint64_t v)
{
	if (v >= 10)
		return at + tally_number_format_u64(at, v);
	*at = (char)('0' + v);
	return at + 1;
}
static inline char *
tally_number_put_f64(char *at, double v)
{
	return at + tally_number_format_f64(at, v);
}

/* The number by JSON's grammar at the beginning of `text`, whatever follows it. Infinite when it
 * is too large for a double. */
double tally_number_parse_f64(const char *text);

#endif
