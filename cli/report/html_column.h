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

#include "cli/report/html_bytes.h"
#include "layer/record.h"

#define TALLY_HTML_EXACT_IN_DOUBLE (UINT64_C(1) << 53)

struct tally_html_column {
	struct tally_html_bytes values, runs;
	uint64_t n; /* 0 = empty */
	uint64_t last; /* for whole numbers: the previous value */
	/* the open run, and the end of the previous one */
	uint64_t run_first, run_end, covered;
	uint64_t n_runs;
	bool real; /* stored as 32-bit floats */
	bool wide; /* some value needs more than the 53 bits of a double */
	bool is_signed;
	bool plain; /* not empty, and neither real nor signed, as most are */
};

void tally_html_column_finish(struct tally_html_column *c);
void tally_html_column_add_any(struct tally_html_column *c, struct tally_html_spill *spill,
			       uint64_t row, struct tally_value v);

/* `row` is larger than all before. A value that is not finite is left out. `spill` is the same
 * for the column's whole life; NULL: it stays in memory. */
static inline void
tally_html_column_add(struct tally_html_column *c, struct tally_html_spill *spill, uint64_t row,
		      struct tally_value v)
{
	bool usual = c->plain && row == c->run_end && v.storage == TALLY_STORAGE_U64 &&
		     v.u64 <= TALLY_HTML_EXACT_IN_DOUBLE;
	if (!usual) {
		tally_html_column_add_any(c, spill, row, v);
		return;
	}
	c->run_end++;
	c->n++;
	tally_html_put_signed(&c->values, spill, (int64_t)(v.u64 - c->last));
	c->last = v.u64;
}
/* Ends the last run: called once, after the last value and before the functions below. */
void tally_html_column_close(struct tally_html_column *c, struct tally_html_spill *spill);
/* Creates a new column of the means over blocks of `block` rows, at rows row / block. It is in
 * memory, and closed. */
void tally_html_column_thin(const struct tally_html_column *c, struct tally_html_spill *spill,
			    uint64_t block, struct tally_html_column *out);

#endif
