/* SPDX-License-Identifier: MIT */
/* cli/compare/row_text.h - the texts of the cells of a comparison's tables.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_ROW_TEXT_H
#define PASSTALLY_CLI_COMPARE_ROW_TEXT_H

#include "cli/compare/compare.h"

struct tally_unit {
	const char *word;
	double ns;
	int decimals;
};

struct tally_printer {
	FILE *out;
	const struct tally_compare *c;
	const struct tally_compare_style *style;
	struct tally_unit unit; /* common to all times */
	const char *plus_minus;
	GPtrArray *lines; /* not NULL: takes the lines below the tables instead of `out` */
};

/* GPU time of a pass or frame, frame time and its p99: the values of the first table. */
bool tally_row_is_main(const struct tally_compare_row *row);

/* Texts that are valid as those of tally_phrase(). */
const char *
tally_subject_text(const struct tally_compare *c, const struct tally_compare_subject *s);
const char *tally_row_name(const struct tally_compare *c, const struct tally_compare_row *row);
/* The key with its unit, as in "draws" and "gpu_ns [ms]". */
const char *tally_row_key(const struct tally_printer *p, const struct tally_compare_row *row);
/* In percent, or as a number with a sign. */
const char *
tally_row_change(const struct tally_printer *p, const struct tally_compare_row *row, double value);
/* "-" where there is none. */
const char *tally_row_mean(const struct tally_printer *p, const struct tally_compare_row *row,
			   enum tally_side side);
const char *tally_row_interval(const struct tally_printer *p, const struct tally_compare_row *row);

/* Prints a sentence and a newline; in Markdown escaped, as an item without indentation. */
void tally_print_line(const struct tally_printer *p, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Text with Markdown and HTML markup escaped: no links, no @mentions, no table borders. The
 * caller frees it. */
char *tally_markdown_escape(const char *text);

#endif
