/* SPDX-License-Identifier: MIT */
#include "cli/log/keys.h"

#include "query/statistics/run_statistics.h"

#include <string.h>

struct tally_key *
tally_series_key(const struct tally_aggregate *a, uint32_t series)
{
	return &g_array_index(a->keys, struct tally_key, series);
}

void
tally_keys_init(struct tally_aggregate *a)
{
	struct tally_key fixed = { .key = "gpu_ns", .unit = "ns" };
	a->keys = g_array_new(FALSE, FALSE, sizeof(fixed));
	g_array_append_val(a->keys, fixed);
	for (unsigned k = 0; k < TALLY_N_CALL_COUNTS; k++) {
		fixed = (struct tally_key){ .key = tally_call_count_names[k].key, .unit = "1" };
		g_array_append_val(a->keys, fixed);
	}
	a->state->keys = g_hash_table_new(NULL, NULL);
}

uint32_t
tally_aggregate_key(struct tally_aggregate *a, const char *key, bool metric)
{
	gpointer found = g_hash_table_lookup(a->state->keys, key);
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	/* The pointer is new; the text may still be known if a metric has the same name. */
	uint32_t i = TALLY_N_FIXED_SERIES;
	while (i < a->keys->len &&
	       strcmp(tally_series_key(a, i)->key, key) != 0)
		i++;
	if (i == a->keys->len) {
		struct tally_key k = { .key = g_intern_string(key), .metric = metric };
		k.join = metric ? TALLY_JOIN_NONE : tally_join_of_key(key);
		g_array_append_val(a->keys, k);
	}
	g_hash_table_insert(a->state->keys, (gpointer)key, GUINT_TO_POINTER(i + 1));
	return i;
}
