/* SPDX-License-Identifier: MIT */
/* cli/compare/print.h - a comparison as tables, for people.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_PRINT_H
#define PASSTALLY_CLI_COMPARE_PRINT_H

#include "cli/compare/compare.h"

void tally_compare_print(FILE *out, const struct tally_compare *c,
			 const struct tally_compare_style *style);
/* What differs, then the lines below the tables, as they are printed, the last one the
 * conclusion: elements char *, which go with the array. The caller releases it. */
GPtrArray *tally_compare_lines(const struct tally_compare *c);

#endif
