/* SPDX-License-Identifier: MIT */
#include "cli/machine/counters.h"

#include "cli/shared/text.h"

#include <glib.h>
#include <stdio.h>

uint32_t
tally_sets_rotation(const struct tally_probe_found *found, const char *pinned)
{
	if (!pinned)
		return found->n_sets;
	return tally_counter_turn(found->sets, found->n_sets, pinned, 0) != TALLY_NO_SET;
}

char *
tally_set_size(const struct tally_counter_set *set)
{
	uint32_t n = set->layout.n_counters;
	char bytes[32] = "";
	if (set->bytes)
		g_snprintf(bytes, sizeof(bytes), ", %u byte%s", set->bytes, TALLY_S(set->bytes));
	bool whole = set->layout.counters[n - 1]->scope == TALLY_SCOPE_SUBMISSION;
	return g_strdup_printf("%u counter%s%s%s", n, TALLY_S(n), bytes,
			       whole ? ", of whole command buffers only" : "");
}

static bool
holds(const struct tally_counter_set *set, const struct tally_counter *counter)
{
	for (uint32_t i = 0; i < set->layout.n_counters; i++)
		if (set->layout.counters[i] == counter)
			return true;
	return false;
}

char *
tally_sets_with(const struct tally_probe_found *found, const struct tally_counter *counter)
{
	GString *out = g_string_new(NULL);
	for (uint32_t i = 0; i < found->n_sets; i++) {
		if (!holds(found->sets[i], counter))
			continue;
		uint32_t first = i;
		while (i + 1 < found->n_sets && holds(found->sets[i + 1], counter))
			i++;
		g_string_append_printf(out, "%s%u", out->len ? "," : "", first + 1);
		if (i > first)
			g_string_append_printf(out, "-%u", i + 1);
	}
	return g_string_free(out, FALSE);
}

char *
tally_sets_tell_rotation(const struct tally_probe_found *found, const char *pinned)
{
	uint32_t n = tally_sets_rotation(found, pinned);
	if (pinned && n)
		return g_strdup_printf(
			"--set %s stays with this set: every captured frame counts it",
			pinned);
	if (pinned)
		return g_strdup_printf("no set is called %s: `passtally counters` lists them",
				       pinned);
	if (n == 1)
		return g_strdup("there is one set: every captured frame counts it");
	return g_strdup_printf(
		"the sets take turns: each counter is counted once in %u captured "
		"frames, which a full rotation takes; --set NAME stays with one",
		n);
}

static void
put_set(struct tally_out *o, const struct tally_counter_set *set)
{
	tally_out_object(o, NULL);
	tally_out_text(o, "name", set->layout.set);
	tally_out_text(o, "source", tally_probe_set_source(set));
	tally_out_text(o, "category", set->category);
	if (set->bytes)
		tally_out_u64(o, "bytes", set->bytes);
	tally_out_array(o, "counters");
	for (uint32_t k = 0; k < set->layout.n_counters; k++)
		tally_out_text(o, NULL, set->layout.counters[k]->key);
	tally_out_end_array(o);
	tally_out_end_object(o);
}

void
tally_sets_put(struct tally_out *o, const struct tally_probe_found *found, const char *pinned)
{
	if (!found->n_sets)
		return;
	tally_out_array(o, "sets");
	for (uint32_t i = 0; i < found->n_sets; i++)
		put_set(o, found->sets[i]);
	tally_out_end_array(o);
	tally_out_u64(o, "rotation_frames", tally_sets_rotation(found, pinned));
}
