/* SPDX-License-Identifier: MIT */
#include "cli/compare/print_parts.h"

#include "cli/shared/text.h"

#include <string.h>

/* A name shorter than this is no longer useful. */
#define LEAST_NAME 14
#define MOST_NAME 60

void
tally_cells_init(struct tally_cells *t, guint n_columns, guint n_texts)
{
	t->n_columns = n_columns;
	t->n_texts = n_texts;
	t->cells = g_ptr_array_new_with_free_func(g_free);
}

void
tally_cells_finish(struct tally_cells *t)
{
	g_ptr_array_unref(t->cells);
	t->cells = NULL;
}

void
tally_cells_add(struct tally_cells *t, char *text)
{
	g_ptr_array_add(t->cells, text);
}

guint
tally_cells_rows(const struct tally_cells *t)
{
	guint rows = t->cells->len / t->n_columns;
	return rows ? rows - 1 : 0;
}

static const char *
cell(const struct tally_cells *t, guint row, guint column)
{
	return g_ptr_array_index(t->cells, row * t->n_columns + column);
}

/* Prints the text in this many columns, aligned right, or left if `left`. */
static void
print_cell(FILE *out, const char *text, size_t columns, bool left)
{
	int gap = (int)(columns - tally_text_width(text));
	tally_text_print(out, "%*s%s%*s", left ? 0 : gap, "", text, left ? gap : 0, "");
}

/* Prints the row's cells, in as many lines as `width` requires (0 = no limit). */
static void
print_row(FILE *out, const struct tally_cells *t, guint row, const size_t *widths, size_t width)
{
	g_autofree char *name = tally_text_fit(cell(t, row, 0), widths[0]);
	guint last = t->n_columns - 1;
	size_t at = widths[0];
	const char *word = cell(t, row, last);
	print_cell(out, name, widths[0], t->n_texts > 0);
	for (guint c = 1; c < t->n_columns - !*word; c++) {
		size_t columns = c == last ? tally_text_width(word) : widths[c];
		bool fits = !width || at + 2 + columns <= width;
		if (!fits)
			fputs("\n  ", out);
		fputs("  ", out);
		at = (fits ? at + 2 : 4) + columns;
		print_cell(out, cell(t, row, c), columns, c < t->n_texts);
	}
	putc('\n', out);
}

void
tally_cells_print(FILE *out, const struct tally_cells *t, size_t width)
{
	guint rows = t->cells->len / t->n_columns;
	g_autofree size_t *widths = g_new0(size_t, t->n_columns);
	size_t all = 0;
	for (guint c = 0; c < t->n_columns; c++) {
		for (guint r = 0; r < rows; r++)
			widths[c] = MAX(widths[c], tally_text_width(cell(t, r, c)));
		all += widths[c] + (c ? 2 : 0);
	}
	/* The name is shortened first: numbers must not be cut. */
	size_t least = MIN(widths[0], LEAST_NAME);
	if (width && all > width)
		widths[0] = widths[0] > all - width ? MAX(least, widths[0] - (all - width)) : least;
	else if (!width)
		widths[0] = MIN(widths[0], MOST_NAME);
	for (guint r = 0; r < rows; r++)
		print_row(out, t, r, widths, width);
}

char *
tally_markdown_escape(const char *text)
{
	GString *out = g_string_new(NULL);
	for (const char *s = text; *s; s++) {
		/* An underscore inside a word is not Markdown markup. */
		bool word = *s == '_' && s > text && g_ascii_isalnum(s[-1]) &&
			    g_ascii_isalnum(s[1]);
		if (strchr("\\`*_[]<>|~&@#!$", *s) && !word)
			g_string_append_printf(out, "&#%d;", *s);
		else
			g_string_append_c(out, *s);
	}
	return g_string_free(out, FALSE);
}

void
tally_cells_print_markdown(FILE *out, const struct tally_cells *t)
{
	guint rows = t->cells->len / t->n_columns;
	for (guint r = 0; r < rows; r++) {
		for (guint c = 0; c < t->n_columns; c++) {
			g_autofree char *safe = tally_markdown_escape(cell(t, r, c));
			tally_text_print(out, "| %s ", safe);
		}
		fputs("|\n", out);
		if (r > 0)
			continue;
		for (guint c = 0; c < t->n_columns; c++)
			tally_text_print(out, "%s",
					 c < t->n_texts || c + 1 == t->n_columns ? "|---" : "|--:");
		fputs("|\n", out);
	}
}

void
tally_print_line(const struct tally_printer *p, const char *format, ...)
{
	TALLY_FORMATTED(text, format);
	/* Lines after the first are indented by two columns more than it. */
	size_t indent = strspn(text, " ");
	g_autofree char *safe = p->style->markdown ? tally_markdown_escape(text + indent) : NULL;
	if (safe || !p->style->width)
		tally_text_print(p->out, "%s%s\n", safe ? "- " : "", safe ? safe : text);
	else
		tally_text_print_wrapped(p->out, text, indent + 2, p->style->width);
}
