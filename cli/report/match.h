/* SPDX-License-Identifier: MIT */
/* cli/report/match.h - the rows that --pass names.
 *
 * The option's value is a name as the table has it, a label or an id. Where nothing is called
 * exactly so, it is a part of names, in any case, and standard error says what matched. One
 * thread.
 */
#ifndef PASSTALLY_CLI_REPORT_MATCH_H
#define PASSTALLY_CLI_REPORT_MATCH_H

#include "cli/log/aggregate.h"

/* Keeps only the rows of the pass; what is below a matching label stays with it. `pass` NULL
 * keeps all. Returns false after printing an error if there are none; `path` is the log's. */
bool tally_rows_choose_pass(GPtrArray *rows, const char *pass, const char *path);

#endif
