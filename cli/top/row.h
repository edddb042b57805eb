/* SPDX-License-Identifier: MIT */
/* cli/top/row.h - lines of the live view: rows of text in a few styles, and the user's choices
 * by which they are made. A row is printable UTF-8, in which a byte that is the number of a style
 * begins it; nothing in a row moves a cursor. One thread.
 */
#ifndef PASSTALLY_CLI_TOP_ROW_H
#define PASSTALLY_CLI_TOP_ROW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum tally_top_style {
	TALLY_TOP_PLAIN = 1,
	TALLY_TOP_STRONG,
	TALLY_TOP_FAINT,
	TALLY_TOP_HEAD, /* head of the table */
	TALLY_TOP_CHART,
	TALLY_TOP_GOOD,
	TALLY_TOP_WARNING,
	TALLY_TOP_N_STYLES,
};
#define TALLY_TOP_STYLES "\1\2\3\4\5\6\7"

struct tally_top_look {
	unsigned width, height; /* 0 = no limit */
	bool utf8; /* false: only ASCII characters */
	bool keys; /* the last line lists the keys */
	const char *sort; /* the column: its key, with or without the unit */
	int64_t device; /* -1: the device of the newest frame */
	/* number of lines above the first one shown; clamped to the valid range */
	unsigned scroll;
	const char *state; /* for example "running" */
	enum tally_top_style state_style;
	char *problem; /* NULL = none; owned */
};

/* An empty array of rows (elements: GString *), which owns them. */
GPtrArray *tally_top_new_rows(void);
/* Appends an empty row. */
GString *tally_top_new_row(GPtrArray *rows);
/* Appends text in a style. */
void tally_top_put(GString *row, enum tally_top_style style, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* Cuts the row at `width` columns. */
void tally_top_clip(GString *row, unsigned width);
/* Without the styles; the caller frees it. */
char *tally_top_row_text(const GString *row);
unsigned tally_top_row_width(const GString *row);
/* `text` as the look can show it; the caller frees it. */
char *tally_top_clean(const struct tally_top_look *look, const char *text);
/* A chart from 0 to the largest step; a step without a value (NAN) is blank. The caller frees
 * it. */
char *tally_top_spark(const struct tally_top_look *look, const double *steps, unsigned n);

#endif
