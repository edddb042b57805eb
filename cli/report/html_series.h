/* SPDX-License-Identifier: MIT */
/* cli/report/html_series.h - a series of values over the frames of a run, for a chart.
 *
 * It is kept as steps: a point stands where the value changes, and holds up to the next one; NAN
 * is a row without a value. A count that is the same in every frame is therefore one point. Rows
 * are frames, or blocks of frames once the series was halved: then a point is the mean of the
 * block's values. Floats, which have seven digits, are enough for a chart: tables are made from
 * the values themselves. One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_HTML_SERIES_H
#define PASSTALLY_CLI_REPORT_HTML_SERIES_H

#include <stdint.h>

struct tally_html_point {
	uint32_t row;
	float value;
};

/* Zeroed it is empty. */
struct tally_html_series {
	struct tally_html_point *points;
	uint32_t n, room;
	uint32_t end; /* the row after the last one that has a value */
	/* of the row that is not among the points yet */
	uint32_t row, n_pending;
	double pending; /* the sum of its values */
};

void tally_html_series_finish(struct tally_html_series *s);
/* `row` is at least that of the value before. A value no float can hold is left out. */
void tally_html_series_add(struct tally_html_series *s, uint64_t row, double value);
/* Makes points of all that was added: no more is added to this row. */
void tally_html_series_flush(struct tally_html_series *s);
/* Makes one row of two: row / 2. It was flushed. */
void tally_html_series_halve(struct tally_html_series *s);

#endif
