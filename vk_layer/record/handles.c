/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/handles.h"

#include <pthread.h>
#include <stdlib.h>

#define REMOVED UINT64_MAX
#define FIRST_SHIFT 58 /* 64 slots */
#define LAST_SHIFT 36  /* 2^28 slots: no game has that many handles */

/* Guards every map against two writers. It is a leaf lock: nothing is called while it is
 * held. Games use handles far more often than they create or free them, so one lock for
 * all maps is enough. */
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

static uint32_t
home(const struct vk_handle_table *t, uint64_t key)
{
	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> t->shift) & t->mask;
}

static uint64_t
key_at(struct vk_handle_table *t, uint32_t i)
{
	return atomic_load_explicit(&t->slots[i & t->mask].key, memory_order_relaxed);
}

static void
set(struct vk_handle_table *t, uint32_t i, uint64_t key, void *value)
{
	struct vk_handle_slot *slot = &t->slots[i & t->mask];
	atomic_store_explicit(&slot->value, value, memory_order_release);
	atomic_store_explicit(&slot->key, key, memory_order_release);
}

/* The slot that holds the key, or the one to put it into. */
static struct vk_handle_slot *
place(struct vk_handle_table *t, uint64_t key, bool *found)
{
	struct vk_handle_slot *free_slot = NULL;
	for (uint32_t i = home(t, key);; i++) {
		uint64_t k = key_at(t, i);
		if (k == key) {
			*found = true;
			return &t->slots[i & t->mask];
		}
		if (!free_slot && (k == 0 || k == REMOVED))
			free_slot = &t->slots[i & t->mask];
		if (k == 0) {
			*found = false;
			return free_slot;
		}
	}
}

static struct vk_handle_table *
make_table(uint32_t shift, struct vk_handle_table *older)
{
	size_t n = (size_t)1 << (64 - shift);
	struct vk_handle_table *t = calloc(1, sizeof(*t) + n * sizeof(t->slots[0]));
	if (!t)
		return NULL;
	t->shift = shift;
	t->mask = (uint32_t)(n - 1);
	t->older = older;
	return t;
}

/* Twice as large, even when the table is full of removed entries: the replaced tables, which
 * readers may still use, are then together smaller than this one. */
static struct vk_handle_table *
grow(struct vk_handle_table *old)
{
	uint32_t shift = old ? old->shift - 1 : FIRST_SHIFT;
	if (shift < LAST_SHIFT)
		return NULL;
	struct vk_handle_table *t = make_table(shift, old);
	for (uint32_t i = 0; t && old && i <= old->mask; i++) {
		uint64_t key = key_at(old, i);
		if (key == 0 || key == REMOVED)
			continue;
		uint32_t to = home(t, key);
		while (key_at(t, to))
			to++;
		set(t, to, key,
		    atomic_load_explicit(&old->slots[i].value, memory_order_relaxed));
		t->n_used++;
	}
	return t;
}

static bool
has_room(const struct vk_handle_table *t)
{
	return t->n_used < t->mask - t->mask / 4;
}

static bool
put(struct vk_handles *map, uint64_t key, void *value)
{
	struct vk_handle_table *t =
		atomic_load_explicit(&map->table, memory_order_relaxed);
	if (!t || !has_room(t)) {
		t = grow(t);
		if (!t)
			return false;
		atomic_store_explicit(&map->table, t, memory_order_release);
	}
	bool found;
	struct vk_handle_slot *slot = place(t, key, &found);
	if (!found)
		t->n_used += atomic_load_explicit(&slot->key, memory_order_relaxed) == 0;
	set(t, (uint32_t)(slot - t->slots), key, value);
	return true;
}

bool
vk_handles_put(struct vk_handles *map, uint64_t key, void *value)
{
	if (key == 0 || key == REMOVED)
		return false;
	pthread_mutex_lock(&writers);
	bool done = put(map, key, value);
	pthread_mutex_unlock(&writers);
	return done;
}

/* A removed entry right before an empty one is on no search path, and becomes empty again. */
static void
sweep(struct vk_handle_table *t, uint32_t i)
{
	if (key_at(t, i + 1) != 0)
		return;
	for (; key_at(t, i) == REMOVED; i--) {
		set(t, i, 0, NULL);
		t->n_used--;
	}
}

void *
vk_handles_remove(struct vk_handles *map, uint64_t key)
{
	if (key == 0 || key == REMOVED)
		return NULL;
	void *value = NULL;
	pthread_mutex_lock(&writers);
	struct vk_handle_table *t =
		atomic_load_explicit(&map->table, memory_order_relaxed);
	bool found = false;
	struct vk_handle_slot *slot = t ? place(t, key, &found) : NULL;
	if (found) {
		value = atomic_load_explicit(&slot->value, memory_order_relaxed);
		set(t, (uint32_t)(slot - t->slots), REMOVED, NULL);
		sweep(t, (uint32_t)(slot - t->slots));
	}
	pthread_mutex_unlock(&writers);
	return value;
}

void
vk_handles_each(struct vk_handles *map, void (*visit)(void *value, void *data), void *data)
{
	struct vk_handle_table *t = atomic_load_explicit(&map->table, memory_order_acquire);
	for (uint32_t i = 0; t && i <= t->mask; i++) {
		uint64_t key = key_at(t, i);
		if (key != 0 && key != REMOVED)
			visit(atomic_load_explicit(&t->slots[i].value,
						   memory_order_acquire),
			      data);
	}
}

void
vk_handles_finish(struct vk_handles *map)
{
	struct vk_handle_table *t = atomic_exchange(&map->table, NULL);
	while (t) {
		struct vk_handle_table *older = t->older;
		free(t);
		t = older;
	}
}
