/* SPDX-License-Identifier: MIT */
/* cli/compare/print_verdict.h - the lines below the tables of a comparison.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_PRINT_VERDICT_H
#define PASSTALLY_CLI_COMPARE_PRINT_VERDICT_H

#include "cli/compare/compare.h"
#include "cli/compare/row.h"

/* The conclusion, one line whatever its length; `mark` precedes it in Markdown. */
void tally_print_conclusion(const struct tally_printer *p, const char *mark);
/* The lines below the tables; the last one is the conclusion. */
void tally_print_verdict(const struct tally_printer *p);

#endif
