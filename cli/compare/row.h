/* SPDX-License-Identifier: MIT */
/* cli/compare/row.h - what a row of a comparison says, in numbers and as the cells of tables.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_ROW_H
#define PASSTALLY_CLI_COMPARE_ROW_H

#include "cli/compare/compare.h"

/* The number shown for a slot: that of its device in the first log that has it. */
uint32_t tally_compare_device(const struct tally_compare *c, uint32_t slot);
/* The part of the frames that have the pass, of those that could. */
double tally_subject_share(const struct tally_compare_subject *s, unsigned side);
/* The least change that matters, as a part of the base. */
double tally_compare_limit(const struct tally_compare *c);
/* The GPU time of a frame of the base where the value is of it; 0: not known. */
double tally_compare_frame_time(const struct tally_compare_row *row);

bool tally_row_changed(const struct tally_compare_row *row);
/* The new mean less the base's. */
double tally_row_seen(const struct tally_compare_row *row);
/* The change divided by the base's mean; false where that mean is 0. */
bool tally_compare_relative(const struct tally_compare_row *row, double value, double *out);
extern const char *const tally_verdict_names[TALLY_N_VERDICTS];

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
