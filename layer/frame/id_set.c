/* SPDX-License-Identifier: MIT */
#include "layer/frame/frame.h"

#include <stdlib.h>

/* Open addressing, at most half full. 0 marks an empty slot: the id 0 is
 * stored outside the table. */
struct tally_id_set {
	uint64_t *slots;
	size_t n_slots, n;
	bool has_zero;
};

struct tally_id_set *
tally_id_set_create(void)
{
	return calloc(1, sizeof(struct tally_id_set));
}

void
tally_id_set_destroy(struct tally_id_set *set)
{
	if (!set)
		return;
	free(set->slots);
	free(set);
}

/* The slot where the id is or belongs. */
static uint64_t *
find(uint64_t *slots, size_t n_slots, uint64_t id)
{
	/* Ids are hashes, but those of similar passes may differ in the upper bits alone. */
	size_t slot = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n_slots - 1);
	while (slots[slot] && slots[slot] != id)
		slot = (slot + 1) & (n_slots - 1);
	return &slots[slot];
}

static bool
grow(struct tally_id_set *set)
{
	size_t n_slots = set->n_slots ? 2 * set->n_slots : 256;
	uint64_t *slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < set->n_slots; i++) {
		if (set->slots[i])
			*find(slots, n_slots, set->slots[i]) = set->slots[i];
	}
	free(set->slots);
	set->slots = slots;
	set->n_slots = n_slots;
	return true;
}

bool
tally_id_set_add(struct tally_id_set *set, uint64_t id)
{
	if (id == 0) {
		bool fresh = !set->has_zero;
		set->has_zero = true;
		return fresh;
	}
	if (set->n_slots && *find(set->slots, set->n_slots, id) == id)
		return false;
	if (set->n == TALLY_MAX_SEEN)
		return false;
	if (2 * (set->n + 1) > set->n_slots && !grow(set))
		return false;
	*find(set->slots, set->n_slots, id) = id;
	set->n++;
	return true;
}
