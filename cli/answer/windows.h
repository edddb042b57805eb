/* SPDX-License-Identifier: MIT */
/* cli/answer/windows.h - programs with several windows: which window a frame presents, and what
 * happened between two presents of the same one.
 *
 * There are several once frames go back to a window after another one; a swapchain that is
 * made again is none. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_WINDOWS_H
#define PASSTALLY_CLI_ANSWER_WINDOWS_H

#include "cli/answer/event.h"

#include <glib.h>

#define TALLY_MOST_WINDOWS 8

struct tally_answer_device;

struct tally_window {
	int64_t surface; /* in the log */
	struct tally_answer_device *answer; /* the caller's */
	/* Of the frames since its last one, of all windows: sums in the members of times and
	 * counts, and start_ns; what is missing in one frame is missing. */
	struct tally_frame_record sum;
	struct tally_frame_events events;
	GArray *passes; /* its own: struct tally_pass_record, with a copy of counters */
	struct tally_pass_record drew; /* the last that drew to it; no pointer is valid */
	bool begun, timed;
	bool alone; /* all passes of the last frame are its own */
	uint64_t unsure_ns, others_ns; /* others_ns: GPU time of other passes */
};

struct tally_windows {
	struct tally_window all[TALLY_MOST_WINDOWS];
	unsigned n;
	bool several;
	bool in_turns; /* several threads end frames */
	uint64_t n_unplaced; /* passes that may be of any of them */
	unsigned last; /* which of them presented last */
	uint64_t next_frame; /* expected; after a gap each window begins again */
};

/* The window that the frame presents; NULL: not known. */
struct tally_window *
tally_windows_find(struct tally_windows *w, const struct tally_frame_record *f);
/* Adds the frame, of the window `of` (or NULL), to the sums of all. */
void tally_windows_add(struct tally_windows *w, const struct tally_window *of,
		       const struct tally_frame_record *f, bool timed, uint64_t unsure_ns);
/* After its frame was taken. */
void tally_window_begin(struct tally_window *window, const struct tally_frame_record *f);

#endif
