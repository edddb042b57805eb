/* SPDX-License-Identifier: MIT */
#include "cli/shared/table.h"

#include "cli/shared/text.h"

#include <string.h>

/* A name shorter than this is no longer useful. */
#define LEAST_NAME 16
#define MOST_NAME 60
#define GAP 2 /* between columns, and by which a further line is indented */

void
tally_table_init(struct tally_table *t, guint n_columns)
{
	t->n_columns = n_columns;
	t->left = g_new0(bool, n_columns);
	t->cells = g_ptr_array_new_with_free_func(g_free);
}

void
tally_table_finish(struct tally_table *t)
{
	g_free(t->left);
	g_ptr_array_unref(t->cells);
}

void
tally_table_add(struct tally_table *t, char *cell)
{
	g_ptr_array_add(t->cells, cell);
}

const char *
tally_table_cell(const struct tally_table *t, guint row, guint column)
{
	return g_ptr_array_index(t->cells, row * t->n_columns + column);
}

guint
tally_table_n_rows(const struct tally_table *t)
{
	return t->cells->len / t->n_columns;
}

/* The width of each column. *n receives how many there is room for. */
static size_t *
fit_columns(const struct tally_table *t, size_t width, bool cut, guint *n)
{
	size_t *widths = g_new0(size_t, t->n_columns);
	for (guint i = 0; i < t->cells->len; i++)
		widths[i % t->n_columns] = MAX(widths[i % t->n_columns],
					       tally_text_width(g_ptr_array_index(t->cells, i)));
	size_t least = t->left[0] ? MIN(widths[0], LEAST_NAME) : widths[0], others = 0;
	for (*n = 1; *n < t->n_columns; others += GAP + widths[(*n)++])
		if (width && cut && least + others + GAP + widths[*n] > width)
			break;
	size_t room = !width ? MOST_NAME : width > others ? width - others : 0;
	if (width && !cut && room < least)
		room = MIN(width, MOST_NAME); /* a row takes several lines anyway */
	if (t->left[0] && widths[0] > room)
		widths[0] = MAX(least, room);
	return widths;
}

static void
put_cell(GString *line, const char *cell, size_t width, bool left, bool last)
{
	g_autofree char *text = tally_text_fit(cell, width);
	int gap = (int)(width - tally_text_width(text));
	g_string_append_printf(line, "%*s%s%*s", left ? 0 : gap, "", text, left && !last ? gap : 0,
			       "");
}

/* The row's cells in the first `n` columns, without empty ones at the end. */
static char *
make_line(const struct tally_table *t, guint row, guint n, const size_t *widths, size_t width)
{
	GString *line = g_string_new(NULL);
	size_t at = widths[0];
	while (n > 1 && !*tally_table_cell(t, row, n - 1))
		n--;
	put_cell(line, tally_table_cell(t, row, 0), widths[0], t->left[0], n == 1);
	for (guint c = 1; c < n; c++) {
		const char *cell = tally_table_cell(t, row, c);
		bool last = c + 1 == n;
		size_t columns = last && t->left[c] ? tally_text_width(cell) : widths[c];
		if (width && at + GAP + columns > width) {
			g_string_truncate(line, strlen(g_strchomp(line->str)));
			g_string_append_printf(line, "\n%*s", GAP, "");
			at = GAP;
		}
		g_string_append_printf(line, "%*s", GAP, "");
		put_cell(line, cell, columns, t->left[c], last);
		at += GAP + columns;
	}
	return g_string_free(line, FALSE);
}

GPtrArray *
tally_table_lines(const struct tally_table *t, size_t width, bool cut)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	guint n;
	g_autofree size_t *widths = fit_columns(t, width, cut, &n);
	for (guint row = 0; row < tally_table_n_rows(t); row++)
		g_ptr_array_add(lines, make_line(t, row, n, widths, cut ? 0 : width));
	return lines;
}
