/* SPDX-License-Identifier: MIT */
/* cli/top/view.h - the parts of the live view; private to it and to run --live.
 * One thread.
 */
#ifndef PASSTALLY_CLI_TOP_VIEW_H
#define PASSTALLY_CLI_TOP_VIEW_H

#include "cli/answer/answer.h"

/* ---- window.c: statistics of the last seconds of a log, pass by pass.
 *
 * Time is the log's own (start_ns of frames), divided into slices; the window ends with the
 * newest frame. Of each slice only count, sum and largest value are kept, so memory depends
 * on the number of passes that ran within the window, not on its frames; only the answer
 * about the window (cli/answer/answer.h) has frames: each with the GPU times of its passes, at
 * most TALLY_TOP_MOST_FRAMES frames and TALLY_TOP_MOST_TIMES passes in all, the newest; so a
 * window of more of them has an answer about its end. At most TALLY_TOP_MOST_PASSES passes are
 * kept, and at most TALLY_TOP_MOST_SERIES of their counters in all; the rest is counted in
 * `left_out`. Names of passes stay for the whole log, as in a report. */

#define TALLY_TOP_SLICES 120
/* slices for call_counts, counters and metrics, which have no sparkline */
#define TALLY_TOP_COARSE 10
#define TALLY_TOP_MOST_PASSES 4096
#define TALLY_TOP_MOST_SERIES 131072
#define TALLY_TOP_MOST_FRAMES 8192
#define TALLY_TOP_MOST_TIMES 262144

/* Values within one slice of time; `number` identifies it, 0 = none. */
struct tally_top_slice {
	uint64_t number;
	uint32_t n;
	float largest;
	double sum;
};

struct tally_top_pass {
	struct tally_group *group; /* from the aggregate: name, device, flags */
	uint64_t last; /* the slice in which it was last seen */
	struct tally_top_slice gpu[TALLY_TOP_SLICES];
	struct tally_top_slice seen[TALLY_TOP_COARSE];
	struct tally_top_slice **series; /* each is NULL or an array of TALLY_TOP_COARSE */
	uint32_t n_series;
};

struct tally_top_device {
	uint32_t device;
	uint64_t frames; /* number of frames of the log so far */
	uint64_t last; /* slice of the newest frame */
	uint64_t last_ns;
	struct tally_top_slice cpu[TALLY_TOP_SLICES], gpu[TALLY_TOP_SLICES];
	struct tally_top_slice covered[TALLY_TOP_COARSE], coverable[TALLY_TOP_COARSE];
	GQueue recent; /* elements: struct kept_frame *, the oldest first */
	uint64_t n_times; /* passes of those frames */
};

struct tally_top_window {
	struct tally_aggregate log;
	uint64_t slice_ns;
	uint64_t now; /* slice of the newest frame */
	uint64_t frame_ns; /* start of the frame being read */
	uint64_t first_ns; /* start of the log's first frame */
	GPtrArray *passes; /* elements: struct tally_top_pass *, unordered */
	GPtrArray *devices; /* elements: struct tally_top_device *, in order of appearance */
	GArray *series_in_use; /* elements: bool, whether the series was ever nonzero */
	uint32_t n_kept; /* number of series kept over all passes */
	uint64_t left_out;
	uint64_t frames;
	struct tally_aggregate_watch watch;
};

void tally_top_window_init(struct tally_top_window *w, const char *path, double seconds);
void tally_top_window_finish(struct tally_top_window *w);
void tally_top_window_add(struct tally_top_window *w, const struct tally_log_line *line);

struct tally_top_figures {
	uint64_t n; /* 0: nothing was measured, and the other members have no meaning */
	double sum, largest;
};
struct tally_top_figures
tally_top_sum(const struct tally_top_window *w, const struct tally_top_slice *slices);
/* Sums TALLY_TOP_COARSE slices. */
struct tally_top_figures
tally_top_sum_coarse(const struct tally_top_window *w, const struct tally_top_slice *slices);
/* Sums a call count, counter or metric of a pass. */
struct tally_top_figures tally_top_sum_series(const struct tally_top_window *w,
					      const struct tally_top_pass *p, uint32_t series);
/* Means of the slices in `n` steps of time, oldest first; NAN if there is no value. A step
 * in which no frame of `device` began repeats the previous step. */
void tally_top_steps(const struct tally_top_window *w, const struct tally_top_device *device,
		     const struct tally_top_slice *slices, double *steps, unsigned n);

/* The answer about the frames of a device in the window, without those in which the program
 * loaded; the caller destroys it. */
struct tally_answer *tally_top_window_answer(const struct tally_top_window *w,
					     const struct tally_top_device *d);

/* The device of the newest frame that is on top of all others, or NULL. */
struct tally_top_device *tally_top_newest_device(const struct tally_top_window *w);
bool tally_top_series_in_use(const struct tally_top_window *w, uint32_t series);

/* ---- view.c: the live view as lines of text: the layout, for any terminal size.
 *
 * A view is made from a window (window.c) and a look, which holds the user's
 * choices. Lines are no wider than requested and contain nothing that moves a cursor:
 * screen.c puts them on a terminal. */

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

/* ---- screen.c: the live view's terminal: full screen, keys, resizing.
 *
 * It uses ncurses, which knows the capabilities of each terminal, draws only what changed
 * (which matters over a slow line), stops and resumes with job control and restores the
 * terminal. If passtally is built without ncurses, opening fails with that reason. One terminal
 * at a time. */

/* Keys that are not characters. */
enum {
	TALLY_TOP_KEY_NONE = -1,
	TALLY_TOP_KEY_UP = 0x200000,
	TALLY_TOP_KEY_DOWN,
	TALLY_TOP_KEY_LEFT,
	TALLY_TOP_KEY_RIGHT,
	TALLY_TOP_KEY_PAGE_UP,
	TALLY_TOP_KEY_PAGE_DOWN,
	TALLY_TOP_KEY_HOME,
	TALLY_TOP_KEY_END,
	TALLY_TOP_KEY_RESIZE,
	TALLY_TOP_KEY_GONE, /* the terminal is closed */
	TALLY_TOP_KEY_OTHER,
};

/* Whether a full screen can be shown here. False with a reason; changes nothing. */
bool tally_top_screen_check(char *why, size_t size);
/* A full screen that is shown. */
struct tally_top_screen {
	void (*close)(void);
	bool (*has_blocks)(void); /* whether it can show the characters of charts */
	void (*size)(unsigned *width, unsigned *height);
	void (*show)(const GPtrArray *rows);
	int (*fd)(void); /* file descriptor of the key input, for poll(2) */
	int (*key)(void);
};
/* Takes over the terminal on standard output. NULL with a reason; then nothing was changed. */
const struct tally_top_screen *tally_top_screen_open(bool colour, char *why, size_t size);

#endif
