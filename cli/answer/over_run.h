/* SPDX-License-Identifier: MIT */
/* cli/answer/over_run.h - how a run's times, work, clock and memory went. Frames are added in
 * order; memory is bounded. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_OVER_RUN_H
#define PASSTALLY_CLI_ANSWER_OVER_RUN_H

#include "cli/answer/answer.h"

#define TALLY_COURSE_ROOM 512 /* blocks in which a run is looked at */
#define TALLY_RUN_PLACES 16

enum {
	TALLY_COURSE_FRAME,
	TALLY_COURSE_GPU,
	TALLY_COURSE_WORK,
	TALLY_COURSE_WAIT,
	TALLY_COURSE_REST, /* neither work nor a driver's wait */
	TALLY_COURSE_UNSURE, /* of the GPU's time */
	TALLY_COURSE_DRAWS, /* as enum tally_work */
	TALLY_COURSE_VERTICES,
	TALLY_COURSE_FRAGMENTS,
	TALLY_COURSE_CALLS, /* of the frames' thread, by enum tally_event_group */
	TALLY_COURSE_CLOCK = TALLY_COURSE_CALLS + TALLY_N_EVENT_GROUPS,
	TALLY_COURSE_HELD,
	TALLY_COURSE_MEMORY,
	TALLY_COURSE_ALLOCATED, /* of the GPU's memory, by calls (Vulkan) */
	/* Not of frames, of process lines: */
	TALLY_COURSE_RESIDENT,
	TALLY_COURSE_READY, /* of a frame: how long its frames' thread had no CPU */
	TALLY_COURSE_DREW, /* the same: how long threads of a driver on the CPU worked */
	TALLY_COURSE_NO_CPU, /* and had none */
	TALLY_COURSE_OTHERS, /* and how long the program's other threads worked */
	TALLY_N_COURSES
};

struct tally_over_run {
	const struct tally_parts *parts; /* of the same frames */
	struct tally_course courses[TALLY_N_COURSES];
	/* The first ones in which frames' thread was found asleep, in words, and how long. */
	struct {
		const char *in; /* interned; NULL: free */
		struct tally_course ns;
	} places[TALLY_RUN_PLACES];
	/* In the log, of the first frame of each block of the course of frame times. */
	uint64_t numbers[TALLY_COURSE_ROOM], starts_ns[TALLY_COURSE_ROOM], block;
	struct tally_beats work, rest; /* of the same courses */
	uint64_t end_ns; /* of the last frame */
	uint64_t n; /* frames added */
	uint64_t allocated; /* bytes, as last said; 0: not yet */
	/* Since the last process line with a frame: frames, and of process lines. */
	struct {
		uint64_t frames, frames_ns, period_ns;
		double ns[4]; /* from TALLY_COURSE_READY on */
	} since;
	struct tally_driver_load driver; /* over the run */
};

void tally_over_run_init(struct tally_over_run *r, const struct tally_parts *parts);
void tally_over_run_finish(struct tally_over_run *r);
/* `unsure_ns`: how much of its GPU time may be the CPU's; `asleep`: as of hitches. */
void tally_over_run_add(struct tally_over_run *r, const struct tally_frame_record *f,
			uint64_t unsure_ns, const struct tally_frame_events *events,
			const struct tally_asleep_record asleep[TALLY_HITCH_PLACES]);
/* What a process line says at this point of the frames. */
void tally_over_run_add_process(struct tally_over_run *r, const struct tally_process_record *p,
				struct tally_driver_load driver);

#endif
