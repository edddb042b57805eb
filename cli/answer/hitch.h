/* SPDX-License-Identifier: MIT */
/* cli/answer/hitch.h - frames that take much longer than those around them, and what in them
 * was longer than around them.
 *
 * A frame is judged when the frames after it are known; only the newest ones are kept, so
 * memory is bounded. docs/verdicts.md explains the rule; cli/answer/cause.h says why. One
 * thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_HITCH_H
#define PASSTALLY_CLI_ANSWER_HITCH_H

#include "cli/answer/asleep.h"
#include "cli/answer/event.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TALLY_HITCH_AROUND 15 /* frames before and after a frame with which it is compared */
#define TALLY_HITCH_WINDOW (2 * TALLY_HITCH_AROUND + 1)
/* Frames before it whose GPU work may have delayed it, where it is not known when that was. */
#define TALLY_HITCH_BEFORE 2
#define TALLY_HITCH_PLACES 2 /* in which its thread slept */

/* What is known of a whole frame, in nanoseconds. */
enum tally_hitch_time {
	TALLY_HITCH_FRAME = 0, /* its length; always known */
	TALLY_HITCH_WORK, /* how long the thread that ended it worked */
	TALLY_HITCH_KERNEL, /* how long in the kernel, where that was most of it */
	TALLY_HITCH_WAIT, /* how long it was in calls in which drivers wait */
	TALLY_HITCH_OWN, /* what passtally used of it */
	TALLY_HITCH_IDLE, /* how long the GPU did nothing */
	/* OpenGL: of the GPU's time, what was before the CPU began the next pass. */
	TALLY_HITCH_UNSURE,
	/* Not times but counts: page faults of that thread, without a disk and with one, and what a
	 * disk read for it. */
	TALLY_HITCH_FAULTS,
	TALLY_HITCH_DISK_FAULTS,
	TALLY_HITCH_DISK_BYTES,
	TALLY_HITCH_EVENTS, /* from here on the times of calls, by their kinds */
	TALLY_N_HITCH_TIMES = TALLY_HITCH_EVENTS + TALLY_N_EVENTS,
};

/* GPU time and draws of one item in a frame; the caller defines what an item is. */
struct tally_hitch_part {
	void *what;
	const char *name; /* not escaped */
	uint64_t ns, draws;
	uint64_t cpu_ns; /* OpenGL: from its begin to the next one's */
	bool no_draws; /* they are other work */
	bool joined; /* of several passes */
	bool first; /* it had never run before this frame */
	bool after; /* the GPU began it after the frame's end */
	bool may_wait; /* the CPU began nothing after it for most of the part's time */
	uint64_t around_ns, around_draws, around_cpu_ns; /* medians of the frames around */
};

struct tally_hitch_frame {
	uint64_t frame, start_ns;
	uint64_t ns[TALLY_N_HITCH_TIMES];
	bool known[TALLY_N_HITCH_TIMES];
	bool timed; /* all of its GPU work was timed */
	bool placed; /* it is known when the GPU did it: */
	uint64_t behind_ns; /* the last of it ended so long after the frame's end */
	struct tally_frame_events events;
	/* In what it slept most outside drivers' waits, most first, texts interned; in NULL: - */
	struct tally_asleep_record asleep[TALLY_HITCH_PLACES];
	GArray *parts; /* elements: struct tally_hitch_part */
};

/* A hitch as it was measured. */
struct tally_hitch {
	uint64_t frame, start_ns, frame_ns;
	uint64_t excess_ns; /* longer than the median of the frames around it */
	bool timed; /* also of the frames before it */
	/* Its values, their medians in the frames around, and whether both are known. */
	uint64_t ns[TALLY_N_HITCH_TIMES], usual[TALLY_N_HITCH_TIMES];
	bool known[TALLY_N_HITCH_TIMES];
	uint64_t made; /* as tally_event_made(); also before, where that work delayed it */
	uint64_t draws; /* of the one of those frames that has most */
	struct tally_asleep_record asleep[TALLY_HITCH_PLACES]; /* in NULL: not known */
	struct tally_asleep_record limiter; /* where it slept as usual frames may; likewise */
};

/* What happened in it: valid while it is reported. */
struct tally_hitch_seen {
	const struct tally_frame_events *events;
	/* Such calls elsewhere end in the next frame, too, or began before it and ended later. */
	bool goes_on[TALLY_N_EVENT_GROUPS];
	/* Elements: struct tally_hitch_part, the largest of those frames, and those around. */
	GArray *parts;
};

struct tally_hitches {
	struct tally_hitch_frame ring[TALLY_HITCH_WINDOW];
	uint64_t n; /* frames added */
	uint64_t judged;
	uint64_t count, excess_ns; /* all hitches so far */
	bool from_start; /* the first frame is the program's first: it is none */
	/* Called for each hitch, in order of time; NULL: they are counted. */
	void (*found)(void *user, const struct tally_hitch *hitch,
		      const struct tally_hitch_seen *seen);
	void *user;
};

/* Whether a frame of `ns` among others of `around_ns` is one. */
bool tally_hitch_is_one(uint64_t ns, uint64_t around_ns);

/* So much more than usual; less: 0. */
static inline uint64_t
tally_hitch_more(const struct tally_hitch *h, enum tally_hitch_time what)
{
	return h->ns[what] - MIN(h->ns[what], h->usual[what]);
}

void tally_hitches_init(struct tally_hitches *h);
void tally_hitches_finish(struct tally_hitches *h);
/* Returns the entry of the next frame, empty: fill it in, then call tally_hitches_add(). */
struct tally_hitch_frame *tally_hitches_next(struct tally_hitches *h);
void tally_hitches_add(struct tally_hitches *h);
/* Judges the last frames, which have fewer frames after them. No frame can follow. */
void tally_hitches_conclude(struct tally_hitches *h);

#endif
