/* SPDX-License-Identifier: MIT */
/* cli/compare/table.h - a small table of ready-made cells, printed for a terminal or as
 * Markdown.
 *
 * The first columns are texts, aligned left; the very first is shortened where the terminal
 * is narrow. The others are numbers, aligned right, except the last, which is a word. This
 * file does not know what the cells mean. One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_TABLE_H
#define PASSTALLY_CLI_COMPARE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <glib.h>

struct tally_cells {
	/* n_texts: text columns on the left, not counting the last column */
	guint n_columns, n_texts;
	GPtrArray *cells; /* elements: char *, row by row; the first row is the head */
};

void tally_cells_init(struct tally_cells *t, guint n_columns, guint n_texts);
void tally_cells_finish(struct tally_cells *t);
/* Takes ownership of the text, which must be safe for a terminal (escaped). */
void tally_cells_add(struct tally_cells *t, char *text);
guint tally_cells_rows(const struct tally_cells *t); /* Number of rows without the head. */

/* A row that is wider than `width` (0 = no limit) goes on in a second line. */
void tally_cells_print(FILE *out, const struct tally_cells *t, size_t width);
void tally_cells_print_markdown(FILE *out, const struct tally_cells *t);

/* Text with Markdown and HTML markup escaped: no links, no @mentions, no table borders. The
 * caller frees it. */
char *tally_markdown_escape(const char *text);

#endif
