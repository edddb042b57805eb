/* SPDX-License-Identifier: MIT */
/* cli/report/html_column.h - a compact encoding for a column of numbers, for a page that
 * draws them.
 *
 * A column is a list of (row, value), with ascending rows. Rows are stored as runs (rows
 * skipped, rows present). Whole numbers are stored as the difference from the previous one,
 * zigzag-encoded, seven bits per byte: exact over all 64 bits. Other numbers are 32-bit
 * floats, with their bytes grouped by position: accurate to seven digits, which is enough
 * for a chart (tables are made from the numbers themselves). A mixed column is stored as
 * floats. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_HTML_COLUMN_H
#define PASSTALLY_CLI_HTML_COLUMN_H

#include "layer/record.h"

#include <glib.h>

struct tally_html_column {
	GByteArray *values, *runs; /* NULL while empty */
	uint64_t n;
	uint64_t last; /* for whole numbers: the previous value */
	/* the open run, and the end of the previous one */
	uint64_t run_first, run_end, covered;
	uint64_t n_runs;
	bool real; /* stored as 32-bit floats */
	bool wide; /* some value needs more than the 53 bits of a double */
	bool is_signed;
};

void tally_html_column_finish(struct tally_html_column *c);
/* `row` is larger than all before. A value that is not finite is left out. */
void tally_html_column_add(struct tally_html_column *c, uint64_t row, struct tally_value v);
/* Appends the column: n, number of runs, runs, values. */
void tally_html_column_write(const struct tally_html_column *c, GByteArray *out);
/* Creates a new column of the means over blocks of `block` rows, at rows row / block. */
void tally_html_column_thin(const struct tally_html_column *c, uint64_t block,
			    struct tally_html_column *out);

void tally_html_put_unsigned(GByteArray *out, uint64_t v);

/* At most so many bytes a number. */
#define TALLY_HTML_NUMBER_BYTES 10

/* Write a number to `at` and return where it ends. */
static inline guint8 *
tally_html_write_unsigned(guint8 *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (guint8)(v | 0x80);
	*at++ = (guint8)v;
	return at;
}

static inline guint8 *
tally_html_write_signed(guint8 *at, int64_t v)
{
	return tally_html_write_unsigned(at, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

#endif
