/* SPDX-License-Identifier: MIT */
#include "cli/machine/counters_sets.h"

#include "cli/shared/text.h"

#include "layer/config/config.h"
#include "layer/config/list.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* Fewer columns than this are not enough for a description. */
#define LEAST_TEXT 40

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

char *
tally_sets_with(const struct tally_device_record *device, const struct tally_counter *counter)
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

/* ---- the table ---- */

/* Widest entry of each column, over the counters of a source. */
struct widths {
	size_t key, unit, kind, scope, sets;
	size_t indent; /* where descriptions begin */
	bool apart; /* there is no room for them next to the others: they have separate lines */
	bool none; /* nor for the columns */
};

static struct widths
measure(const struct tally_device_record *device, const char *source)
{
	struct widths w = { 0 };
	for (uint32_t i = 0; i < device->n_counters; i++) {
		const struct tally_counter *c = device->counters[i];
		if (strcmp(c->source, source) != 0)
			continue;
		g_autofree char *sets = tally_sets_with(device, c);
		w.key = MAX(w.key, strlen(c->key));
		w.unit = MAX(w.unit, strlen(c->unit));
		w.kind = MAX(w.kind, strlen(tally_counter_kind_name(c->kind)));
		w.scope = MAX(w.scope, strlen(tally_scope_name(c->scope)));
		w.sets = MAX(w.sets, strlen(sets));
	}
	/* The columns are at least as wide as their heads. */
	if (w.key) {
		w.unit = MAX(w.unit, strlen("UNIT"));
		w.kind = MAX(w.kind, strlen("KIND"));
		w.scope = MAX(w.scope, strlen("SCOPE"));
		w.sets = w.sets ? MAX(w.sets, strlen("SET")) : 0;
	}
	w.indent = 2 + w.key + 2 + w.unit + 2 + w.kind + 2 + w.scope + 2;
	w.indent += w.sets ? w.sets + 2 : 0;
	w.apart = w.indent + LEAST_TEXT > tally_text_columns();
	w.none = w.indent > tally_text_columns() + 2;
	return w;
}

/* Prints the columns before the description. */
static void
print_columns(const struct widths *w, const char *key, const char *unit, const char *kind,
	      const char *scope, const char *sets)
{
	g_autoptr(GString) line = g_string_new(NULL);
	g_string_printf(line, "  %-*s  %-*s  %-*s  %-*s  ", (int)w->key, key, (int)w->unit, unit,
			(int)w->kind, kind, (int)w->scope, scope);
	if (w->sets)
		g_string_append_printf(line, "%-*s  ", (int)w->sets, sets);
	tally_text_print(stdout, "%s", w->apart ? g_strchomp(line->str) : line->str);
}

static void
print_counter(const struct tally_device_record *device, const struct tally_counter *c,
	      const struct widths *w)
{
	const char *text = c->description ? c->description : c->name;
	const char *kind = tally_counter_kind_name(c->kind), *scope = tally_scope_name(c->scope);
	g_autofree char *sets = tally_sets_with(device, c);
	if (w->none)
		tally_text_print_folded(4, "  %s (%s, %s, %s%s%s)", c->key, c->unit, kind,
					scope, *sets ? ", set " : "", sets);
	else
		print_columns(w, c->key, c->unit, kind, scope, sets);
	if (w->apart && !w->none)
		putchar('\n');
	if (w->apart)
		tally_text_print_folded(6, "      %s", text);
	else
		tally_text_print_folded(w->indent, "%s", text);
}

bool
tally_counters_print(const struct tally_device_record *device, const char *source)
{
	struct widths w = measure(device, source);
	if (w.key && !w.none) {
		print_columns(&w, "KEY", "UNIT", "KIND", "SCOPE", "SET");
		tally_text_print(stdout, "%s\n", w.apart ? "" : "DESCRIPTION");
	}
	for (uint32_t i = 0; i < device->n_counters; i++)
		if (strcmp(device->counters[i]->source, source) == 0)
			print_counter(device, device->counters[i], &w);
	return w.key != 0;
}
