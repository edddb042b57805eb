/* SPDX-License-Identifier: MIT */
/* json/utf8.h - checks UTF-8 by RFC 3629: no overlong forms, no surrogates, at most U+10FFFF.
 *
 * Any thread; nothing here can fail.
 */
#ifndef PASSTALLY_JSON_UTF8_H
#define PASSTALLY_JSON_UTF8_H

#include <stddef.h>

/* The length of the sequence at `s` that begins with a byte of 0x80 or more, 0 when it is
 * invalid. Reads no byte after the first that does not fit, nor beyond `len`. */
static inline size_t
tally_utf8_length(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned lead = s[0];
	unsigned low = 0x80, high = 0xbf; /* allowed range of the second byte */
	size_t n;
	if (lead >= 0xc2 && lead <= 0xdf) {
		n = 2;
	} else if (lead >= 0xe0 && lead <= 0xef) {
		n = 3;
		if (lead == 0xe0)
			low = 0xa0;
		else if (lead == 0xed)
			high = 0x9f;
	} else if (lead >= 0xf0 && lead <= 0xf4) {
		n = 4;
		if (lead == 0xf0)
			low = 0x90;
		else if (lead == 0xf4)
			high = 0x8f;
	} else {
		return 0;
	}
	if (n > len || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	return n;
}

#endif
