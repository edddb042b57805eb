/* cli/compare/table.h - a small table of ready cells, printed for a terminal or as Markdown.
 *
 * The first columns are texts, aligned left, the very first of which gives way where the terminal
 * is narrow; the others are numbers, aligned right, but for the last, which is a word. Nothing
 * here knows what cells mean. One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_TABLE_H
#define PASSTALLY_CLI_COMPARE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <glib.h>

struct tally_cells {
	guint n_columns, n_texts; /* of which texts, on the left, less the last */
	GPtrArray *cells; /* of char *, row after row; the first row is the head */
};

void tally_cells_init(struct tally_cells *t, guint n_columns, guint n_texts);
void tally_cells_finish(struct tally_cells *t);
/* Takes the text, which is fit for a terminal (escaped). */
void tally_cells_add(struct tally_cells *t, char *text);
guint tally_cells_rows(const struct tally_cells *t); /* less the head */

/* `width` 0 = no limit. */
void tally_cells_print(FILE *out, const struct tally_cells *t, size_t width);
void tally_cells_print_markdown(FILE *out, const struct tally_cells *t);

/* Text that Markdown and HTML leave as it is: no markup, no links, no @mentions, no table
 * borders. The caller's. */
char *tally_markdown_escape(const char *text);

#endif
