/* SPDX-License-Identifier: MIT */
#include "cli/log/keys.h"

#include <string.h>

uint32_t
tally_aggregate_key(struct tally_aggregate *a, const char *key, bool metric)
{
	gpointer found = g_hash_table_lookup(a->state->keys, key);
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	/* The pointer is new; the text may still be known if a metric has the same name. */
	uint32_t i = 0;
	while (i < a->keys->len &&
	       strcmp(g_array_index(a->keys, struct tally_key, i).key, key) != 0)
		i++;
	if (i == a->keys->len) {
		struct tally_key k = { .key = g_intern_string(key), .metric = metric };
		k.join = metric ? TALLY_JOIN_NONE : tally_join_of_key(key);
		g_array_append_val(a->keys, k);
	}
	g_hash_table_insert(a->state->keys, (gpointer)key, GUINT_TO_POINTER(i + 1));
	return i;
}
