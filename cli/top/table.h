/* SPDX-License-Identifier: MIT */
/* cli/top/table.h - the table of the live view: which columns fit, the rows, their order.
 * One thread.
 */
#ifndef PASSTALLY_CLI_TOP_TABLE_H
#define PASSTALLY_CLI_TOP_TABLE_H

#include "cli/top/row.h"
#include "cli/top/window.h"

/* The table, head first, in at most `height` lines (0 = no limit); *n_rows receives the
 * number of rows, *n_shown how many of them are shown. */
void tally_top_put_table(GPtrArray *rows, const struct tally_top_window *w,
			 const struct tally_top_sums *sums, struct tally_top_look *look,
			 unsigned height, unsigned *n_rows, unsigned *n_shown);

/* Moves the sort by a column to the right (1) or to the left (-1). */
void
tally_top_move_sort(const struct tally_top_window *w, struct tally_top_look *look, int direction);
/* Finds "share", "mean", "max", "n", "name", or a series by its name. False: there is no
 * such column (yet). */
bool tally_top_find_column(const struct tally_top_window *w, const char *name, unsigned *column);
/* The names of the columns, for people; the caller frees it. */
char *tally_top_column_names(const struct tally_top_window *w);

#endif
