/* SPDX-License-Identifier: MIT */
#include "layer/base/numbers.h"

#include <stdlib.h>

/* The key's slot, or the empty one where it belongs. There is always an empty one. */
static struct tally_number *
find_slot(struct tally_number *slots, size_t size, uint64_t key)
{
	/* The upper bits of the product: those of the key change them, too. */
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (__builtin_clzll(size) + 1));
	while (slots[at].used && slots[at].key != key)
		at = (at + 1) & (size - 1);
	return &slots[at];
}

struct tally_number *
tally_numbers_find(const struct tally_numbers *numbers, uint64_t key)
{
	if (!numbers->size)
		return NULL;
	struct tally_number *slot = find_slot(numbers->slots, numbers->size, key);
	return slot->used ? slot : NULL;
}

static bool
grow_numbers(struct tally_numbers *numbers)
{
	size_t size = numbers->size ? numbers->size * 2 : 64;
	struct tally_number *slots = calloc(size, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < numbers->size; i++) {
		if (numbers->slots[i].used)
			*find_slot(slots, size, numbers->slots[i].key) = numbers->slots[i];
	}
	free(numbers->slots);
	numbers->slots = slots;
	numbers->size = size;
	return true;
}

struct tally_number *
tally_numbers_add(struct tally_numbers *numbers, uint64_t key, size_t most)
{
	struct tally_number *slot = tally_numbers_find(numbers, key);
	if (slot)
		return slot;
	if (numbers->n == most)
		return NULL;
	if (numbers->n * 2 >= numbers->size && !grow_numbers(numbers))
		return NULL;
	slot = find_slot(numbers->slots, numbers->size, key);
	*slot = (struct tally_number){ .key = key, .used = true };
	numbers->n++;
	return slot;
}

void
tally_numbers_finish(struct tally_numbers *numbers)
{
	free(numbers->slots);
	*numbers = (struct tally_numbers){ 0 };
}
