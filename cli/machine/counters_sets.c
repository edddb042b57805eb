/* SPDX-License-Identifier: MIT */
#include "cli/machine/counters_sets.h"

#include "cli/shared/text.h"

#include "layer/config/config.h"
#include "layer/config/list.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* Whether --set, with this value, means the set. */
static bool
is_set(const struct tally_set_info *set, const char *pinned)
{
	return set->name && (strcmp(set->name, pinned) == 0 ||
			     tally_list_matches(pinned, set->name, NULL));
}

uint32_t
tally_sets_rotation(const struct tally_device_record *device, const char *pinned)
{
	if (!pinned)
		return device->n_sets;
	for (uint32_t i = 0; i < device->n_sets; i++)
		if (is_set(&device->sets[i], pinned))
			return 1;
	return 0;
}

/* The counter of a key; NULL: the line lacks it. */
static const struct tally_counter *
find_counter(const struct tally_device_record *device, const char *key)
{
	for (uint32_t i = 0; i < device->n_counters; i++)
		if (device->counters[i]->key == key) /* equal keys of a log are one */
			return device->counters[i];
	return NULL;
}

char *
tally_set_size(const struct tally_device_record *device, const struct tally_set_info *set)
{
	uint32_t n = set->n_keys;
	const struct tally_counter *last = n ? find_counter(device, set->keys[n - 1]) : NULL;
	char bytes[32] = "";
	if (set->bytes)
		g_snprintf(bytes, sizeof(bytes), ", %u byte%s", set->bytes, TALLY_S(set->bytes));
	bool whole = last && last->scope == TALLY_SCOPE_SUBMISSION;
	return g_strdup_printf("%u counter%s%s%s", n, TALLY_S(n), bytes,
			       whole ? ", of whole command buffers only" : "");
}

static bool
holds(const struct tally_set_info *set, const struct tally_counter *counter)
{
	for (uint32_t i = 0; i < set->n_keys; i++)
		if (set->keys[i] == counter->key)
			return true;
	return false;
}

/* The numbers (as printed, from 1) of the sets that contain the counter: "1-3,5"; "" for none. */
static char *
sets_with(const struct tally_device_record *device, const struct tally_counter *counter)
{
	GString *out = g_string_new(NULL);
	for (uint32_t i = 0; i < device->n_sets; i++) {
		if (!holds(&device->sets[i], counter))
			continue;
		uint32_t first = i;
		while (i + 1 < device->n_sets && holds(&device->sets[i + 1], counter))
			i++;
		g_string_append_printf(out, "%s%u", out->len ? "," : "", first + 1);
		if (i > first)
			g_string_append_printf(out, "-%u", i + 1);
	}
	return g_string_free(out, FALSE);
}

char *
tally_sets_rotation_text(const struct tally_device_record *device, const char *pinned)
{
	uint32_t n = tally_sets_rotation(device, pinned);
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

/* ---- the list ---- */

bool
tally_counters_print(const struct tally_device_record *device, const char *source)
{
	bool any = false;
	for (uint32_t i = 0; i < device->n_counters; i++) {
		const struct tally_counter *c = device->counters[i];
		if (strcmp(c->source, source) != 0)
			continue;
		any = true;
		g_autofree char *sets = sets_with(device, c);
		tally_text_print_folded(4, "  %s (%s, %s, %s%s%s)", c->key, c->unit,
					tally_counter_kind_name(c->kind),
					tally_scope_name(c->scope), *sets ? ", set " : "", sets);
		tally_text_print_folded(6, "      %s", c->description ? c->description : c->name);
	}
	return any;
}
