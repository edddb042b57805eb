/* SPDX-License-Identifier: MIT */
/* cli/top/window.h - the frames of the last seconds of a log, and a summary of them.
 *
 * Time is the log's own (start_ns of frames); the window ends with the newest frame. Its frames and
 * process lines are stored, at most TALLY_TOP_MOST_BYTES of them, the newest: a window of more is
 * shorter (`cut`). What is shown is the ordinary summary of a log (cli/log/aggregate.h), made anew
 * from them. Names of passes stay for the whole log, as in a report. One thread.
 */
#ifndef PASSTALLY_CLI_TOP_WINDOW_H
#define PASSTALLY_CLI_TOP_WINDOW_H

#include "cli/answer/answer.h"

#define TALLY_TOP_SLICES 120 /* of the window, for charts */
#define TALLY_TOP_MOST_BYTES (32 << 20)

/* A value over the window, in slices of time, the oldest first. */
struct tally_top_course {
	double sums[TALLY_TOP_SLICES];
	uint64_t n[TALLY_TOP_SLICES];
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
	GQueue stored; /* elements: struct stored_line *, in the order of the log */
	uint64_t n_bytes; /* of those lines */
	uint64_t cut_ns; /* start of the newest frame dropped for its size, 0 = none */
	bool cut; /* it is in the window */
	GArray *devices; /* elements: struct tally_top_device, in order of appearance */
	uint64_t frames;
	struct tally_warmup *warmup;
	struct tally_aggregate_watch watch;
};

void tally_top_window_init(struct tally_top_window *w, const char *path, double seconds);
void tally_top_window_finish(struct tally_top_window *w);

/* The summary of the window, without the frames in which the program loaded: `log` of the window
 * has it until the next line is added. The courses are those of one device. */
struct tally_top_sums {
	struct tally_top_window *w;
	uint32_t device;
	struct tally_answer *answer;
	unsigned first_slice; /* those before it are older than the log */
	struct tally_top_course cpu, gpu; /* of its frames */
	GHashTable *passes; /* maps struct tally_group * to a struct tally_top_course * */
};

/* `d` may be NULL. The caller destroys the sums before the window. */
struct tally_top_sums *
tally_top_sums_create(struct tally_top_window *w, const struct tally_top_device *d);
void tally_top_sums_destroy(struct tally_top_sums *sums);
/* Means of a value in `n` steps of time, oldest first; NAN if there is no value. A step in
 * which no frame of the device began repeats the previous step. */
void tally_top_steps(const struct tally_top_sums *sums, const struct tally_top_course *course,
		     double *steps, unsigned n);

/* The device to show: `number`, or (-1, or there is none) that of the newest frame among those
 * that are not below another. NULL: there is none. */
const struct tally_top_device *
tally_top_shown_device(const struct tally_top_window *w, int64_t number);

#endif
