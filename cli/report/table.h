/* SPDX-License-Identifier: MIT */
/* cli/report/table.h - the table of a report.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_TABLE_H
#define PASSTALLY_CLI_REPORT_TABLE_H

#include "cli/report/formats.h"

void tally_report_print_table(FILE *out, const struct tally_aggregate *a, const GArray *columns,
			      const GPtrArray *rows, const struct tally_table_style *style);

/* The same as cells, in which every row has its line. */
void tally_report_fill_table(struct tally_table *t, const struct tally_aggregate *a,
			     const GArray *columns, const GPtrArray *rows);

/* Work outside passes of which only estimates are known, and no GPU time: no row shows it. */
bool tally_table_is_nothing(const struct tally_group *g);

#endif
