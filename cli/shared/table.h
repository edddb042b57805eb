/* SPDX-License-Identifier: MIT */
/* cli/shared/table.h - a table for people: cells, and the lines that they make on a terminal.
 *
 * The first column is the name of a row: where there is little room it is cut in the middle, and no
 * other is, because numbers must stay whole. One thread.
 */
#ifndef PASSTALLY_CLI_SHARED_TABLE_H
#define PASSTALLY_CLI_SHARED_TABLE_H

#include <glib.h>
#include <stdbool.h>

struct tally_table {
	guint n_columns;
	bool *left; /* of each column whether it is aligned left; at first none is */
	GPtrArray *cells; /* elements: char *, row by row, the head first; owned */
};

void tally_table_init(struct tally_table *t, guint n_columns);
void tally_table_finish(struct tally_table *t);
/* The next cell, which the table takes: escaped text. */
void tally_table_add(struct tally_table *t, char *cell);
const char *tally_table_cell(const struct tally_table *t, guint row, guint column);
guint tally_table_n_rows(const struct tally_table *t);

/* A line for each row, in elements char *, which go with the array. `width` 0: there is no limit.
 * What is wider still after the names were cut: `cut` leaves out columns at the right, otherwise
 * rows continue in further lines (\n), indented. */
GPtrArray *tally_table_lines(const struct tally_table *t, size_t width, bool cut);

#endif
