/* SPDX-License-Identifier: MIT */
/* cli/top/recent.h - the newest frames of a device, for an answer (cli/answer/answer.h) about
 * the window.
 *
 * Each frame is kept with the GPU times of its passes, at most TALLY_TOP_MOST_FRAMES frames
 * and TALLY_TOP_MOST_TIMES passes in all, the newest; so a window of more of them has an
 * answer about its end. One thread.
 */
#ifndef PASSTALLY_CLI_TOP_RECENT_H
#define PASSTALLY_CLI_TOP_RECENT_H

#include "cli/answer/answer.h"

#define TALLY_TOP_MOST_FRAMES 8192
#define TALLY_TOP_MOST_TIMES 262144

/* Zeroed at first. */
struct tally_top_recent {
	GQueue frames; /* elements: struct kept_frame *, the oldest first */
	uint64_t n_times;
	uint64_t n_seen; /* frames added since the log's start */
};

void tally_top_recent_finish(struct tally_top_recent *r);
/* Adds a frame, and drops those that began before `oldest_ns`. */
void tally_top_recent_add(struct tally_top_recent *r, const struct tally_frame_record *f,
			  uint64_t oldest_ns);
/* The answer about the frames that began at `oldest_ns` or later, without those in which the
 * program loaded; the caller destroys it. `log` has their passes. */
struct tally_answer *tally_top_recent_answer(const struct tally_top_recent *r,
					     const struct tally_aggregate *log, uint64_t oldest_ns);

#endif
