/* SPDX-License-Identifier: MIT */
/* vk_layer/record/handles.h - a map from a handle of the game to its data, read without a lock.
 *
 * One open-addressed table, written under a mutex and read without one. The game may not use a
 * handle while it is created or destroyed, so a reader always finds the entry that the handle's
 * creation made, even in a table that has been replaced since. Replaced tables are kept
 * (together no larger than the newest). A handle may be used again as soon as the driver has
 * freed it: call remove() before calling down.
 */
#ifndef PASSTALLY_VK_LAYER_HANDLES_H
#define PASSTALLY_VK_LAYER_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vk_handle_slot {
	_Atomic uint64_t key; /* 0: empty; UINT64_MAX: removed */
	void *_Atomic value;
};

struct vk_handle_table {
	struct vk_handle_table *older;
	uint32_t shift; /* 64 - log2(slots) */
	uint32_t mask;
	uint32_t n_used; /* including removed ones */
	struct vk_handle_slot slots[];
};

struct vk_handles {
	struct vk_handle_table *_Atomic table; /* NULL: empty */
};

/* For dispatchable and other handles; the latter are 64-bit integers on 32-bit machines. */
#define VK_HANDLE_KEY(h) _Generic((h), uint64_t: (h), default: (uint64_t)(uintptr_t)(h))

static inline void *
vk_handles_find(struct vk_handles *map, uint64_t key)
{
	struct vk_handle_table *t = atomic_load_explicit(&map->table, memory_order_acquire);
	if (!t)
		return NULL;
	uint32_t i = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> t->shift);
	for (;; i++) {
		struct vk_handle_slot *slot = &t->slots[i & t->mask];
		uint64_t k = atomic_load_explicit(&slot->key, memory_order_acquire);
		if (k == key)
			return atomic_load_explicit(&slot->value, memory_order_acquire);
		if (k == 0)
			return NULL;
	}
}

/* Adds or replaces. False on OOM, with the map unchanged. */
bool vk_handles_put(struct vk_handles *map, uint64_t key, void *value);
/* Returns the value, or NULL when there was none. */
void *vk_handles_remove(struct vk_handles *map, uint64_t key);
/* Visits all values, in no order; only while no thread adds or removes. */
void vk_handles_each(struct vk_handles *map, void (*visit)(void *value, void *data), void *data);
/* Frees the tables, not the values; the map is empty again. Only while no thread uses it. */
void vk_handles_finish(struct vk_handles *map);

#endif
