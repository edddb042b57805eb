/* cli/report/columns.h - the columns of a report: their names, their values, their order.
 *
 * One list serves the table, the CSV file and --sort. Times are nanoseconds here; how they are
 * shown is the table's business. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_COLUMNS_H
#define PASSTALLY_CLI_COLUMNS_H

#include "cli/log/aggregate.h"

enum tally_column_type {
	TALLY_COLUMN_TEXT = 0,
	TALLY_COLUMN_NUMBER,
	TALLY_COLUMN_TIME, /* ns */
	TALLY_COLUMN_SHARE, /* 0 to 1 */
};

enum tally_column_what {
	TALLY_COLUMN_NAME = 0,
	TALLY_COLUMN_DEVICE,
	TALLY_COLUMN_ID,
	TALLY_COLUMN_LABEL,
	TALLY_COLUMN_KIND,
	TALLY_COLUMN_QUEUE,
	TALLY_COLUMN_N,
	TALLY_COLUMN_MEAN,
	TALLY_COLUMN_SD,
	TALLY_COLUMN_MIN,
	TALLY_COLUMN_MAX,
	TALLY_COLUMN_P50,
	TALLY_COLUMN_P90,
	TALLY_COLUMN_P99,
	TALLY_COLUMN_TOTAL,
	TALLY_COLUMN_GPU_SHARE,
	TALLY_COLUMN_SERIES, /* the mean; by frame the value */
	TALLY_COLUMN_FLAGS,
	/* By frame. */
	TALLY_COLUMN_FRAME,
	TALLY_COLUMN_START,
	TALLY_COLUMN_CPU,
	TALLY_COLUMN_GPU,
	TALLY_COLUMN_ENVELOPE,
	TALLY_COLUMN_COVERAGE,
	TALLY_COLUMN_UNATTRIBUTED,
	TALLY_COLUMN_OVERHEAD,
	TALLY_COLUMN_DROPPED,
};

struct tally_column {
	const char *key; /* in CSV and for --sort; lives as long as the aggregate */
	const char *title; /* in the table */
	enum tally_column_type type;
	enum tally_column_what what;
	uint32_t series;
	bool in_table;
};

/* Array of struct tally_column; the first is the one a table row starts with. */
GArray *tally_columns_create(const struct tally_aggregate *a);
/* "mean" finds "mean_ns" too. NULL after listing the valid keys on standard error; `option`
 * is the one that named it. */
const struct tally_column *
tally_columns_find(const GArray *columns, const char *command, const char *option, const char *key);
/* Leave the first column and those of `list`, in its order: keys as above, or globs, ',' or
 * '+' between them. Returns false after printing an error: an item matches none. */
bool tally_columns_choose(GArray *columns, const char *command, const char *list);

/* False: absent. Not for text columns. */
bool tally_column_value(const struct tally_aggregate *a, const struct tally_group *g,
			const struct tally_column *c, struct tally_value *out);
/* A text column's value, not escaped; the caller frees it. */
char *tally_column_text(const struct tally_group *g, const struct tally_column *c);
/* Is any value that went into it an estimate? */
bool tally_column_estimated(const struct tally_group *g, const struct tally_column *c);
/* The queue that a row's passes ran on, as in the log, "several", or "" (OpenGL); the caller
 * frees it. */
char *tally_queue_text(const struct tally_group *g);
/* The words of flags, joined by `separator`. */
char *tally_flags_text(uint64_t flags, const char *separator);

/* The groups of a report in their order (borrowed): of `device` alone, or (-1) of all that are
 * not beneath another; by `sort`, or NULL: most expensive first, frames in order. */
GPtrArray *tally_rows_create(const struct tally_aggregate *a, int64_t device,
			     const struct tally_column *sort, bool reverse);

#endif
