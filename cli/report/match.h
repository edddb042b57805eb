/* SPDX-License-Identifier: MIT */
/* cli/report/match.h - the rows that --pass names.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_MATCH_H
#define PASSTALLY_CLI_REPORT_MATCH_H

#include "cli/log/aggregate.h"

/* Keeps only the rows of the pass; everything below a matching label is kept with it. `pass`
 * NULL keeps all. Returns false after printing an error if there are none; `path` is the
 * log's. */
bool tally_rows_choose_pass(GPtrArray *rows, const char *pass, const char *path);

/* The names that rows have, the first few, in their order. The caller frees it. */
char *tally_rows_list_names(const GPtrArray *rows);

#endif
