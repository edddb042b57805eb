/* SPDX-License-Identifier: MIT */
/* layer/base/clear.h - zeroes memory of known size in place.
 *
 * For an initializer or a memset() of more than 80 bytes gcc 12 generates a loop of 8 bytes at
 * a time, `rep stos` or a call; for less it generates stores of 16 bytes. Any thread; never
 * fails.
 */
#ifndef PASSTALLY_LAYER_BASE_CLEAR_H
#define PASSTALLY_LAYER_BASE_CLEAR_H

#include <stddef.h>
#include <string.h>

/* `n` is a constant. */
static inline __attribute__((always_inline)) void
tally_clear(void *memory, size_t n)
{
	char *at = memory;
#pragma GCC unroll 8
	for (size_t i = 0; i < n / 64; i++)
		memset(at + i * 64, 0, 64);
	memset(at + n / 64 * 64, 0, n % 64);
}

#endif
