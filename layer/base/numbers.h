/* SPDX-License-Identifier: MIT */
/* layer/base/numbers.h - a table of numbers that occurred: identities of passes, devices.
 *
 * Each maps to one number of the caller's. All zeros is an empty table. Open addressing, at most
 * half full: 48 to 96 bytes a key. One thread at a time; only adding allocates.
 */
#ifndef PASSTALLY_LAYER_BASE_NUMBERS_H
#define PASSTALLY_LAYER_BASE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_number {
	uint64_t key, value;
	bool used, has_value; /* `used` belongs to numbers.c; has_value is false at first */
};

struct tally_numbers {
	struct tally_number *slots;
	size_t n, size;
};

/* NULL when the key was not added. */
struct tally_number *tally_numbers_find(const struct tally_numbers *numbers, uint64_t key);
/* The entry of the key, created when missing (allocates); earlier pointers become invalid.
 * NULL: out of memory, or the table has `most` other keys. */
struct tally_number *
tally_numbers_add(struct tally_numbers *numbers, uint64_t key, size_t most);
void tally_numbers_finish(struct tally_numbers *numbers);

#endif
