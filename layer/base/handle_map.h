/* SPDX-License-Identifier: MIT */
/* layer/base/handle_map.h - a map from a handle of the game to what we know about it: pointer to
 * pointer, over uthash.
 *
 * For context and drawable handles: few entries, looked up at boundaries, never at a draw. The
 * map owns its entries, not what keys and values point to. No locking: the caller's mutex
 * guards it. When out of memory, put() returns false; the process never exits.
 */
#ifndef PASSTALLY_LAYER_BASE_HANDLE_MAP_H
#define PASSTALLY_LAYER_BASE_HANDLE_MAP_H

#ifndef HASH_NONFATAL_OOM
#define HASH_NONFATAL_OOM 1
#elif !HASH_NONFATAL_OOM
#error "uthash would end the game when memory runs out: build with HASH_NONFATAL_OOM=1"
#endif

#include <stdbool.h>
#include <stdlib.h>
#include <uthash.h>

struct tally_handle {
	const void *key;
	void *value;
	UT_hash_handle hh;
};

/* A zeroed map is empty. */
struct tally_handle_map {
	struct tally_handle *entries; /* walk with entry->hh.next; insertion order */
};

/* The value of a key, NULL when there is none. */
static inline void *
tally_handle_map_find(const struct tally_handle_map *map, const void *key)
{
	struct tally_handle *entry = NULL;
	HASH_FIND_PTR(map->entries, &key, entry);
	return entry ? entry->value : NULL;
}

/* Adds or replaces; `value` must not be NULL. False on OOM, with the map unchanged. */
static inline bool
tally_handle_map_put(struct tally_handle_map *map, const void *key, void *value)
{
	struct tally_handle *entry = NULL;
	HASH_FIND_PTR(map->entries, &key, entry);
	if (entry) {
		entry->value = value;
		return true;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return false;
	entry->key = key;
	entry->value = value;
	HASH_ADD_PTR(map->entries, key, entry);
	if (!entry->hh.tbl) { /* how uthash says that it ran out of memory */
		free(entry);
		return false;
	}
	return true;
}

/* Removes a key; returns its value, NULL when there was none. */
static inline void *
tally_handle_map_remove(struct tally_handle_map *map, const void *key)
{
	struct tally_handle *entry = NULL;
	HASH_FIND_PTR(map->entries, &key, entry);
	if (!entry)
		return NULL;
	void *value = entry->value;
	HASH_DEL(map->entries, entry);
	free(entry);
	return value;
}

#endif
