/* SPDX-License-Identifier: MIT */
/* cli/report/below.h - what the rows of a table do not say: why times or counters are missing,
 * what a row sums up.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_BELOW_H
#define PASSTALLY_CLI_REPORT_BELOW_H

#include "cli/answer/answer.h"

#include <stdio.h>

/* `part`: the rows are some of them. */
void tally_report_print_below(FILE *to, const struct tally_aggregate *a,
			      const struct tally_answer *answer, const GPtrArray *rows, bool part);

#endif
