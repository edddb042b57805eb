/* SPDX-License-Identifier: MIT */
/* cli/report/table.h - the table of a report.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_TABLE_H
#define PASSTALLY_CLI_REPORT_TABLE_H

#include "cli/report/columns.h"
#include "cli/shared/table.h"

#include <stdio.h>

struct tally_table_style {
	size_t width; /* 0 = no limit */
	bool cut; /* columns that do not fit are left out; otherwise rows continue below */
	bool color;
	bool all; /* every row gets its line */
};

/* Prints the columns marked in_table of `rows` in their order (cli/shared/table.h). Without `all`,
 * rows that cost almost nothing share one line, which has their number and their sum, and of frames
 * there are the first TALLY_MOST_FRAMES. Roll-ups of labels make a tree, in which the lines of a
 * node follow it, indented. */
#define TALLY_MOST_FRAMES 10
void tally_report_print_table(FILE *out, const struct tally_aggregate *a, const GArray *columns,
			      const GPtrArray *rows, const struct tally_table_style *style);

/* The same as cells, in which every row has its line. */
void tally_report_fill_table(struct tally_table *t, const struct tally_aggregate *a,
			     const GArray *columns, const GPtrArray *rows);

/* Work outside passes of which only estimates are known, and no GPU time: no row shows it. */
bool tally_table_is_nothing(const struct tally_group *g);

#endif
