/* SPDX-License-Identifier: MIT */
/* cli/top/window.h - the frames of the last seconds of a log, and their sums pass by pass.
 *
 * Time is the log's own (start_ns of frames); the window ends with the newest frame. Its
 * frames are stored, each with its passes and the values of its groups, at most
 * TALLY_TOP_MOST_BYTES of them, the newest: a window of more is shorter (`cut`). What is shown
 * is added up from them. Names of passes stay for the whole log, as in a report. One thread.
 */
#ifndef PASSTALLY_CLI_TOP_WINDOW_H
#define PASSTALLY_CLI_TOP_WINDOW_H

#include "cli/answer/answer.h"

#define TALLY_TOP_SLICES 120 /* of the window, for charts */
#define TALLY_TOP_MOST_BYTES (32 << 20)

struct tally_top_figures {
	uint64_t n; /* 0: nothing was measured, and the other members have no meaning */
	double sum, largest;
};

/* A value over the frames of the window, in slices of time, the oldest first. */
struct tally_top_course {
	struct tally_top_figures all, slices[TALLY_TOP_SLICES];
};

struct tally_top_pass {
	struct tally_group *group; /* from the aggregate: name, device, flags */
	uint64_t frames; /* that have it */
	struct tally_top_course gpu;
	struct tally_top_figures *series; /* call counts, counters and metrics */
	uint32_t n_series;
};

struct tally_top_sums {
	uint32_t device;
	struct tally_top_course cpu, gpu; /* of its frames */
	GPtrArray *passes; /* elements: struct tally_top_pass *, unordered */
	unsigned first_slice; /* those before it are older than the log */
};

struct tally_top_device {
	uint32_t device;
	uint64_t frames; /* number of frames of the log so far */
	uint64_t last_ns; /* start of the newest */
};

struct tally_top_window {
	struct tally_aggregate log; /* lines are added to it */
	uint64_t slice_ns;
	uint64_t now_ns, first_ns; /* start of the newest frame, and of the log's first */
	GQueue stored; /* elements: struct stored_frame *, in the order of the log */
	uint64_t n_bytes; /* of those frames */
	uint64_t cut_ns; /* start of the newest frame dropped for its size, 0 = none */
	bool cut; /* it is in the window */
	GQueue processes; /* elements: struct stored_process *, those of the frames */
	GArray *devices; /* elements: struct tally_top_device, in order of appearance */
	GArray *series_in_use; /* elements: bool, whether the series was ever nonzero */
	uint64_t frames;
	struct tally_aggregate_watch watch;
};

void tally_top_window_init(struct tally_top_window *w, const char *path, double seconds);
void tally_top_window_finish(struct tally_top_window *w);

/* Adds up the frames of a device, without those in which the program loaded; NULL (no device) has
 * no sums. The caller destroys them before the window. */
struct tally_top_sums *tally_top_sums_create(const struct tally_top_window *w,
					     const struct tally_top_device *d);
void tally_top_sums_destroy(struct tally_top_sums *sums);
/* Means of a value in `n` steps of time, oldest first; NAN if there is no value. A step in
 * which no frame of the device began repeats the previous step. */
void tally_top_steps(const struct tally_top_sums *sums, const struct tally_top_course *course,
		     double *steps, unsigned n);

/* The answer about the frames of a device in the window, without those in which the program
 * loaded; the caller destroys it. */
struct tally_answer *tally_top_window_answer(const struct tally_top_window *w,
					     const struct tally_top_device *d);

/* The device to show: `number`, or (-1, or there is none) that of the newest frame among those
 * that are not below another. NULL: there is none. */
const struct tally_top_device *
tally_top_shown_device(const struct tally_top_window *w, int64_t number);

#endif
