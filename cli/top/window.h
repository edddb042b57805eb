/* SPDX-License-Identifier: MIT */
/* cli/top/window.h - statistics of the last seconds of a log, pass by pass.
 *
 * Time is the log's own (start_ns of frames), divided into slices; the window ends with the
 * newest frame. Of each slice only count, sum and largest value are kept, so memory depends
 * on the number of passes that ran within the window, not on its frames; only the answer
 * about the window (cli/answer/answer.h) has frames: each with the GPU times of its passes, at
 * most TALLY_TOP_MOST_FRAMES frames and TALLY_TOP_MOST_TIMES passes in all, the newest; so a
 * window of more of them has an answer about its end. At most TALLY_TOP_MOST_PASSES passes are
 * kept, and at most TALLY_TOP_MOST_SERIES of their counters in all; the rest is counted in
 * `left_out`. Names of passes stay for the whole log, as in a report. One thread.
 */
#ifndef PASSTALLY_CLI_TOP_WINDOW_H
#define PASSTALLY_CLI_TOP_WINDOW_H

#include "cli/answer/answer.h"

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
	struct tally_top_slice *
		*series; /* each is NULL or an array of TALLY_TOP_COARSE */
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
	GPtrArray *
		devices; /* elements: struct tally_top_device *, in order of appearance */
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
struct tally_top_figures tally_top_sum_coarse(const struct tally_top_window *w,
					      const struct tally_top_slice *slices);
/* Sums a call count, counter or metric of a pass. */
struct tally_top_figures
tally_top_sum_series(const struct tally_top_window *w, const struct tally_top_pass *p,
		     uint32_t series);
/* Means of the slices in `n` steps of time, oldest first; NAN if there is no value. A step
 * in which no frame of `device` began repeats the previous step. */
void
tally_top_steps(const struct tally_top_window *w, const struct tally_top_device *device,
		const struct tally_top_slice *slices, double *steps, unsigned n);

/* The answer about the frames of a device in the window, without those in which the program
 * loaded; the caller destroys it. */
struct tally_answer *tally_top_window_answer(const struct tally_top_window *w,
					     const struct tally_top_device *d);

/* The device to show: `number`, or (-1, or there is none) the one of the newest frame. */
const struct tally_top_device *
tally_top_shown_device(const struct tally_top_window *w, int64_t number);
bool tally_top_series_in_use(const struct tally_top_window *w, uint32_t series);

#endif
