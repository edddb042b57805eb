/* SPDX-License-Identifier: MIT */
/* cli/answer/hitch.h - frames that take much longer than those around them.
 *
 * A frame is judged when the frames after it are known; only the newest ones and the worst
 * are kept, so memory is bounded. docs/verdicts.md explains the rule. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_HITCH_H
#define PASSTALLY_CLI_ANSWER_HITCH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TALLY_HITCH_AROUND 15 /* frames before and after a frame with which it is compared */
#define TALLY_HITCH_WINDOW (2 * TALLY_HITCH_AROUND + 1)
#define TALLY_HITCH_BEFORE 2 /* frames before it whose GPU work may have delayed it */
#define TALLY_HITCH_WORST 10

/* GPU time of one item in a frame; the caller defines what an item is. */
struct tally_hitch_part {
	void *what;
	uint64_t ns;
	bool first; /* it had never run before this frame */
	bool may_wait; /* the CPU began nothing after it for most of the part's time */
};

struct tally_hitch_frame {
	uint64_t frame, start_ns, frame_ns;
	bool has_thread;
	uint64_t thread_ns; /* how long the thread that ended it worked */
	bool timed; /* all of its GPU work was timed */
	GArray *parts; /* elements: struct tally_hitch_part */
};

struct tally_hitch {
	uint64_t frame, start_ns, frame_ns;
	uint64_t excess_ns; /* longer than the median of the frames around it */
	bool timed; /* also of the frames before it */
	bool has_thread;
	int64_t thread_growth_ns; /* its thread_ns without the median of the frames around it */
	GArray *parts; /* elements: struct tally_hitch_part, the largest of those frames */
};

struct tally_hitches {
	struct tally_hitch_frame ring[TALLY_HITCH_WINDOW];
	uint64_t n; /* frames added */
	uint64_t judged;
	uint64_t count, excess_ns; /* all hitches so far */
	struct tally_hitch worst[TALLY_HITCH_WORST]; /* the largest excess first */
	unsigned n_worst;
};

void tally_hitches_init(struct tally_hitches *h);
void tally_hitches_finish(struct tally_hitches *h);
/* Returns the entry of the next frame, with no parts: fill it in, then call
 * tally_hitches_add(). */
struct tally_hitch_frame *tally_hitches_next(struct tally_hitches *h);
void tally_hitches_add(struct tally_hitches *h);
/* Judges the last frames, which have fewer frames after them. No frame can follow. */
void tally_hitches_conclude(struct tally_hitches *h);

#endif
