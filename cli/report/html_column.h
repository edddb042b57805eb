/* cli/report/html_column.h - a column of numbers in few bytes, for a page that draws them.
 *
 * A column is a list of (row, value), rows ascending. Rows are runs (rows skipped, rows
 * there). Whole numbers are differences from the one before, zigzag, seven bits a byte:
 * exact over all 64 bits. Other numbers are 32-bit floats, their bytes by place: true to
 * seven digits, which a chart does not outrun (tables are made from the numbers themselves).
 * A mixed column is of the latter. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_HTML_COLUMN_H
#define PASSTALLY_CLI_HTML_COLUMN_H

#include "layer/record.h"

#include <glib.h>

struct tally_html_column {
	GByteArray *values, *runs; /* NULL while empty */
	uint64_t n;
	uint64_t last; /* whole numbers: the value before */
	uint64_t run_first, run_end, covered; /* the open run; where the one before ended */
	uint64_t n_runs;
	bool real; /* 32-bit floats */
	bool wide; /* some value needs more than a double's 53 bits */
	bool is_signed;
};

void tally_html_column_finish(struct tally_html_column *c);
/* `row` is more than any before. A value that is not finite is left out. */
void tally_html_column_add(struct tally_html_column *c, uint64_t row, struct tally_value v);
/* Bytes that write() takes, near enough. */
size_t tally_html_column_size(const struct tally_html_column *c);
/* Append the column: n, number of runs, runs, values. */
void tally_html_column_write(const struct tally_html_column *c, GByteArray *out);
/* A new column of the means of each block of `block` rows, at rows row / block. */
void tally_html_column_thin(const struct tally_html_column *c, uint64_t block,
			    struct tally_html_column *out);

void tally_html_put_unsigned(GByteArray *out, uint64_t v);
void tally_html_put_signed(GByteArray *out, int64_t v);

#endif
