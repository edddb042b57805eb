/* SPDX-License-Identifier: MIT */
/* layer/base/array.h - arrays that grow as things are added to them.
 *
 * The owner keeps the pointer, the count and the room; items move when the array grows. Any thread;
 * allocates, and never shrinks or frees.
 */
#ifndef PASSTALLY_LAYER_BASE_ARRAY_H
#define PASSTALLY_LAYER_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the array one of exactly n items, n > 0. False: out of memory; it is then unchanged. */
bool tally_array_resize(void *array, size_t n, size_t size);
/* Room for at least one item of `size` bytes after the first `n`. `array` is the address of the
 * pointer to the items; *room counts items and doubles when they do not fit. False: out of memory,
 * or the room would not fit in 32 bits; pointer and room are then unchanged. */
bool tally_array_fit(void *array, uint32_t n, uint32_t *room, size_t size);

#endif
