/* SPDX-License-Identifier: MIT */
#include "cli/report/match.h"

#include "cli/log/series.h"
#include "cli/shared/each.h"

#include <string.h>

#define MOST_NAMES 12
#define SHORT_ID 8 /* digits, as in compare's names */

/* Whether a group has this name, label or id, or its id begins so. */
static bool
is_called(const struct tally_group *g, const char *name)
{
	char id[17];
	g_snprintf(id, sizeof(id), "%016" G_GINT64_MODIFIER "x", g->id);
	bool has_id = !g->outside && !tally_is_rollup(g);
	bool is_id = strlen(name) >= SHORT_ID && g_str_has_prefix(id, name);
	return g_strcmp0(name, tally_name_of_pass(g)) == 0 || g_strcmp0(name, g->label) == 0 ||
	       (has_id && is_id);
}

/* Whether `part`, in lower case, occurs in the name or label of a group. */
static bool
has_in_name(const struct tally_group *g, const char *part)
{
	const char *const names[] = { tally_name_of_pass(g), g->label };
	bool has = false;
	for (size_t i = 0; i < G_N_ELEMENTS(names) && !has; i++) {
		g_autofree char *low = g_utf8_strdown(names[i] ? names[i] : "", -1);
		has = strstr(low, part) != NULL;
	}
	return has;
}

char *
tally_rows_list_names(const GPtrArray *rows)
{
	GString *list = g_string_new(NULL);
	g_autoptr(GHashTable) listed = g_hash_table_new(g_str_hash, g_str_equal);
	TALLY_EACH (const struct tally_group, row, rows) {
		const struct tally_group *g = row;
		while (tally_row_parent(g))
			g = tally_row_parent(g);
		const char *name = tally_name_of_pass(g);
		if (!name || !g_hash_table_add(listed, (gpointer)name))
			continue;
		if (g_hash_table_size(listed) <= MOST_NAMES)
			g_string_append_printf(list, "%s%s", list->len ? ", " : "", name);
	}
	guint n = g_hash_table_size(listed);
	if (n > MOST_NAMES)
		g_string_append_printf(list, " and %u more", n - MOST_NAMES);
	return g_string_free(list, FALSE);
}

bool
tally_rows_choose_pass(GPtrArray *rows, const char *pass, const char *path)
{
	if (!pass)
		return true;
	/* Names are UTF-8; text from the command line need not be. */
	bool valid = g_utf8_validate(pass, -1, NULL);
	g_autofree char *part = valid ? g_utf8_strdown(pass, -1)
				      : g_ascii_strdown(pass, -1);
	g_autofree char *names = tally_rows_list_names(rows);
	bool exact = false, any = false;
	for (guint i = 0; i < rows->len && !exact; i++)
		exact = is_called(g_ptr_array_index(rows, i), pass);
	for (guint i = rows->len; i-- > 0;) {
		bool matches = false;
		for (const struct tally_group *g = g_ptr_array_index(rows, i); g && !matches;
		     g = tally_row_parent(g))
			matches = exact ? is_called(g, pass) : *part && has_in_name(g, part);
		any |= matches;
		if (!matches)
			g_ptr_array_remove_index(rows, i);
	}
	if (!any)
		tally_cli_complain("report",
				   "--pass %s: %s has no row with that name, label or "
				   "id; there are %s",
				   pass, path, names);
	return any;
}
