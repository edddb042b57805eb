/* SPDX-License-Identifier: MIT */
/* cli/report/lines.h - the rows of a report as the lines of a table.
 *
 * A table does not show every row: those that cost almost nothing share one line, which holds
 * their number and their sum. Roll-ups of labels make a tree, in which the lines of a node
 * follow it, indented. Of frames there are the first ten in the order of the rows, the median
 * frame, and the sum of the others. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_LINES_H
#define PASSTALLY_CLI_REPORT_LINES_H

#include "cli/log/aggregate.h"

struct tally_line {
	/* the row; of a line for several rows, the first of them */
	struct tally_group *group;
	unsigned n; /* > 1: the line stands for that many rows, and only their sums are known */
	double frame_ns, share; /* those sums; negative = not known */
	unsigned depth; /* in the tree of labels */
	/* not escaped, without indentation; owned. Of a frame NULL, except where its number does
	 * not say what the line is. */
	char *name;
	struct tally_group *sum; /* `group` where that is no row but a sum of frames; owned */
};

/* An array of struct tally_line, for `rows` in their order; roll-ups among them make it a tree.
 * `all`: every row gets its line. */
GArray *tally_lines_of_rows(const struct tally_aggregate *a, const GPtrArray *rows, bool all);

#endif
