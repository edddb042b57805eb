/* SPDX-License-Identifier: MIT */
/* cli/report/columns.h - the columns of a report: their names, their values, their order.
 *
 * The table, the CSV file and --sort share one list. Times are nanoseconds here; the table
 * decides how they are shown. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_COLUMNS_H
#define PASSTALLY_CLI_COLUMNS_H

#include "cli/log/grouping.h"

enum tally_column_type {
	TALLY_COLUMN_TEXT = 0,
	TALLY_COLUMN_NUMBER,
	TALLY_COLUMN_TIME, /* in nanoseconds */
	TALLY_COLUMN_SHARE, /* from 0 to 1 */
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
	TALLY_COLUMN_SERIES, /* the mean; when grouping by frame, the value */
	TALLY_COLUMN_FLAGS,
	TALLY_COLUMN_PER_FRAME,
	TALLY_COLUMN_ORDER,
	TALLY_COLUMN_IN_FRAME,
	TALLY_COLUMN_PIPELINE,
	TALLY_COLUMN_GROUPS,
	TALLY_COLUMN_OWN, /* its `own` makes its text */
	/* Only when grouping by frame. */
	TALLY_COLUMN_FRAME,
	TALLY_COLUMN_UNATTRIBUTED,
	TALLY_COLUMN_FIELD, /* the field of the frame's line that the key names */
};

struct tally_column {
	const char *key; /* the name in CSV and for --sort; lives as long as the aggregate */
	const char *title; /* the heading in the table */
	enum tally_column_type type;
	enum tally_column_what what;
	uint32_t series;
	bool in_table;
	const char *(*own)(void *user, const struct tally_group *g);
	void *user;
};

/* An array of struct tally_column; the first is the column that a table row starts with. */
GArray *tally_columns_create(const struct tally_aggregate *a);
/* Finds a column by its key, with or without the unit ("mean" is "mean_ns"), or by its heading,
 * likewise ("mean ms" is "mean"); NULL: there is none. */
const struct tally_column *tally_columns_seek(const GArray *columns, const char *key);
/* The same, but NULL after listing the valid keys on standard error; `option` is the option that
 * contained `key`. */
const struct tally_column *tally_columns_find(const GArray *columns, const char *command,
					      const char *option, const char *key);
/* Keeps only the first column and those in `list`, in its order: keys as above, or globs,
 * separated by ',' or '+'. Returns false after printing an error: an item matches no column. */
bool tally_columns_choose(GArray *columns, const char *command, const char *list);
/* Keeps the few columns that a table has by default: those of them with a value in `rows`. */
void tally_columns_choose_default(GArray *columns, const struct tally_aggregate *a,
				  const GPtrArray *rows);
/* Whether the rows belong to more than one device. */
bool tally_rows_mix_devices(const GPtrArray *rows);

/* Returns false if the value is missing. Not for text columns. */
bool tally_column_value(const struct tally_aggregate *a, const struct tally_group *g,
			const struct tally_column *c, struct tally_value *out);
/* The value of a text column, not escaped; valid as that of tally_phrase(). */
const char *tally_column_text(const struct tally_group *g, const struct tally_column *c);
/* Whether an estimate contributed to the value. */
bool tally_column_estimated(const struct tally_group *g, const struct tally_column *c);
/* The queue that a row's passes ran on, as in the log, "several", or "" (OpenGL); the same. */
const char *tally_queue_text(const struct tally_group *g);
/* The names of the flags, joined by `separator`. */
char *tally_flags_text(uint64_t flags, const char *separator);

/* Sorts groups; `sort` NULL: the most expensive first. */
void tally_rows_sort(const struct tally_aggregate *a, GPtrArray *rows,
		     const struct tally_column *sort);

/* The groups of a report in order (borrowed): those of `device`, or (-1) of all devices that are
 * not below another; with `rollups` the roll-ups of labels among them. Sorted by `sort`, or, if
 * that is NULL, the most expensive first and frames in order. */
GPtrArray *tally_rows_create(const struct tally_aggregate *a, int64_t device,
			     const struct tally_column *sort, bool rollups);

#endif
