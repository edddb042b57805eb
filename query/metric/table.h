/* SPDX-License-Identifier: MIT */
/* query/metric/table.h - the built-in metrics as scripts/gen_metrics.py generates them.
 *
 * Strings are offsets into one text, so that loading the library relocates nothing. Only
 * query/metric/metric.c uses this. Constant; any thread.
 */
#ifndef PASSTALLY_QUERY_METRIC_TABLE_H
#define PASSTALLY_QUERY_METRIC_TABLE_H

#include <stddef.h>

#include "query/metric/metric.h"

#define TALLY_NO_TEXT UINT32_MAX

struct tally_metric_row {
	uint32_t key, name, unit, expression, printed, description, erratum, layouts;
	enum tally_dialect dialect;
	bool overview;
};
extern const struct tally_metric_row tally_metric_rows[]; /* has tally_n_metrics rows */
const char *tally_metric_text(uint32_t offset); /* NULL for TALLY_NO_TEXT */

#endif
