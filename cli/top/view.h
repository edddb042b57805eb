/* SPDX-License-Identifier: MIT */
/* cli/top/view.h - the live view as lines of text: the layout, for any terminal size.
 *
 * A view is made from a window (cli/top/window.h) and a look, which holds the user's
 * choices. Lines are no wider than requested and contain nothing that moves a cursor:
 * cli/top/screen.h puts them on a terminal. One thread.
 */
#ifndef PASSTALLY_CLI_TOP_VIEW_H
#define PASSTALLY_CLI_TOP_VIEW_H

#include "cli/top/window.h"

enum tally_top_style {
	TALLY_TOP_PLAIN = 0,
	TALLY_TOP_STRONG,
	TALLY_TOP_FAINT,
	TALLY_TOP_HEAD, /* head of the table */
	TALLY_TOP_SORTED, /* the head of the sort column */
	TALLY_TOP_CHART,
	TALLY_TOP_GOOD,
	TALLY_TOP_WARNING,
	TALLY_TOP_N_STYLES,
};

enum tally_top_page { TALLY_TOP_PASSES = 0, TALLY_TOP_NOTES, TALLY_TOP_HELP };

enum tally_top_what {
	TALLY_TOP_NAME = 0,
	TALLY_TOP_SHARE,
	TALLY_TOP_MEAN,
	TALLY_TOP_MAX,
	TALLY_TOP_HISTORY,
	TALLY_TOP_SEEN,
	TALLY_TOP_SERIES,
};

struct tally_top_column {
	enum tally_top_what what;
	uint32_t series; /* for TALLY_TOP_SERIES: which series */
};

struct tally_top_look {
	unsigned width, height; /* 0 = no limit */
	bool utf8; /* false: only ASCII characters */
	bool blocks; /* charts use block characters; otherwise ASCII */
	bool keys; /* the last line lists the keys */
	enum tally_top_page page;
	struct tally_top_column sort;
	bool reverse;
	int64_t device; /* -1: the device of the newest frame */
	unsigned most_passes; /* 0 = no limit */
	/* number of lines above the first one shown; clamped to the valid range */
	unsigned scroll;
	const char *state; /* for example "running" */
	enum tally_top_style state_style;
	const char *problem; /* NULL = none */
};

struct tally_top_span {
	char *text; /* printable UTF-8 */
	enum tally_top_style style;
};

/* An array of arrays of struct tally_top_span; the caller frees it. */
GPtrArray *tally_top_compose(const struct tally_top_window *w, struct tally_top_look *look);

/* Moves the sort by `steps` columns to the right or (< 0) to the left. */
void tally_top_move_sort(const struct tally_top_window *w, struct tally_top_look *look,
			 int steps);
/* Selects the next device; after the last one, the device of the newest frame (-1). */
void tally_top_next_device(const struct tally_top_window *w, struct tally_top_look *look);
/* Finds "share", "mean", "max", "n", "name", or a series by its name. False: there is no
 * such column (yet). */
bool tally_top_find_column(const struct tally_top_window *w, const char *name,
			   struct tally_top_column *column);
/* The names of the columns, for people; the caller frees it. */
char *tally_top_column_names(const struct tally_top_window *w);

/* Shared by view.c and table.c. */
void tally_top_put(GArray *row, enum tally_top_style style, char *text);
char *tally_top_clean(const struct tally_top_look *look, const char *text); /* printable */
char *tally_top_spark(const struct tally_top_look *look, const double *steps, unsigned n);
const struct tally_top_device *
tally_top_shown_device(const struct tally_top_window *w, const struct tally_top_look *look);
/* The table, head first, in at most `height` lines (0 = no limit); *n_rows receives the
 * number of rows, *n_shown how many of them are shown. */
void tally_top_put_table(GPtrArray *rows, const struct tally_top_window *w,
			 struct tally_top_look *look, unsigned height, unsigned *n_rows,
			 unsigned *n_shown);
GArray *tally_top_new_row(GPtrArray *rows);

#endif
