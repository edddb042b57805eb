/* SPDX-License-Identifier: MIT */
/* The counters and metrics of a log, each with one column. */
#include "cli/log/aggregate_parts.h"

#include <string.h>

uint32_t
tally_aggregate_look_up_key(struct tally_aggregate *a, const char *key, bool metric)
{
	struct tally_keys *s = &a->state->keys;
	gpointer found = g_hash_table_lookup(s->index, key);
	uint32_t i;
	if (found) {
		i = GPOINTER_TO_UINT(found) - 1;
	} else {
		/* The pointer is new; the text may still be known if a metric has the same
		 * name. */
		for (i = 0; i < a->keys->len; i++)
			if (strcmp(g_array_index(a->keys, struct tally_key, i).key, key) == 0)
				break;
		if (i == a->keys->len) {
			struct tally_key k = { .key = g_intern_string(key), .metric = metric };
			k.join = metric ? TALLY_JOIN_NONE : tally_join_of_key(key);
			g_array_append_val(a->keys, k);
			s->pointers = g_renew(const void *, s->pointers, i + 1);
			s->pointers[i] = key;
			s->n_pointers = i + 1;
		}
		g_hash_table_insert(s->index, (gpointer)key, GUINT_TO_POINTER(i + 1));
	}
	return i;
}

void
tally_keys_init(struct tally_aggregate *a)
{
	a->keys = g_array_new(FALSE, TRUE, sizeof(struct tally_key));
	a->state->keys.index = g_hash_table_new(NULL, NULL);
}

void
tally_keys_finish(struct tally_aggregate *a)
{
	g_hash_table_destroy(a->state->keys.index);
	g_free(a->state->keys.pointers);
	g_array_unref(a->keys);
}
