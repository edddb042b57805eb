/* SPDX-License-Identifier: MIT */
/* cli/report/summary.h - one run in a few lines.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_SUMMARY_H
#define PASSTALLY_CLI_REPORT_SUMMARY_H

#include "cli/answer/answer.h"

#include <stdio.h>

/* Prints the answer (cli/answer/answer.h), and additional facts: devices below others, what was
 * left out, how the capture ended if the program did not end it. `wide`: with all changes. */
void tally_summary_print(FILE *out, const struct tally_aggregate *a,
			 const struct tally_answer *answer, int64_t device, bool wide);
/* The worst hitches of each device, one a line with its cause. */
void tally_summary_print_hitches(FILE *out, const struct tally_answer *answer);
/* The run's tags and its machine, one line each, if the log has them. */
void tally_summary_print_identity(FILE *out, const struct tally_aggregate *a);
/* Prints the log's notes, including its marks, except those in `printed` (which may be NULL). */
void tally_summary_print_notes(FILE *out, const struct tally_aggregate *a, GHashTable *printed);

#endif
