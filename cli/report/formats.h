/* SPDX-License-Identifier: MIT */
/* cli/report/formats.h - a report as a table and as JSON, and one run in a few lines.
 *
 * All functions print an aggregate that was read completely. Text is safe for terminals
 * (labels are escaped), JSON follows RFC 8259; a missing value is "-" in a table and an omitted
 * member in JSON.
 */
#ifndef PASSTALLY_CLI_FORMATS_H
#define PASSTALLY_CLI_FORMATS_H

#include "cli/answer/answer.h"
#include "cli/report/columns.h"
#include "cli/shared/out.h"
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

#endif
