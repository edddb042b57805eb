/* SPDX-License-Identifier: MIT */
/* cli/answer/answer.h - what a log shows about a program, in a few lines: how fast it is, what
 * limits it, which passes the typical frame consists of, which frames were hitches and why, and
 * what passtally itself cost.
 *
 * One answer is computed for `report`, the summary of `run`, the page and `top`, so that they
 * never differ. docs/verdicts.md has each rule with its thresholds. Use:
 *
 *	struct tally_aggregate log;
 *	struct tally_answer *answer = tally_answer_create(&log);
 *	tally_aggregate_read_watched(&log, ..., tally_answer_watch(answer));
 *	tally_answer_conclude(answer);
 *	tally_answer_print(stdout, answer, -1);
 *	tally_answer_destroy(answer);   (before the log)
 *
 * A caller that has its own watcher has this one called after it (`then`). Memory grows with the
 * number of passes, not with the log. One thread. Out of memory ends the program, as everywhere in
 * the command.
 */
#ifndef PASSTALLY_CLI_ANSWER_H
#define PASSTALLY_CLI_ANSWER_H

#include "cli/answer/bound.h"
#include "cli/answer/cause.h"
#include "cli/answer/change.h"
#include "cli/answer/load.h"
#include "cli/answer/parts.h"
#include "cli/answer/start.h"
#include "cli/answer/words.h"
#include "cli/shared/out.h"

#include <stdio.h>

/* The lines of an answer, and the columns of a line, at most. */
#define TALLY_ANSWER_LINES 14
#define TALLY_ANSWER_COLUMNS 80
/* Above this share of the frame time, passtally's own cost is a warning. */
#define TALLY_ANSWER_COST_LIMIT 0.05

struct tally_answer_pass {
	const char *name; /* not escaped */
	/* Where it is passes drawn together: the largest one, and how many more; else NULL. */
	const char *largest;
	unsigned others;
	double ns; /* the median in the frames in which it ran */
	double share; /* of the sum of these medians, 0 to 1 */
	uint64_t frames;
	/* Means of these frames; 0 where they are not known, or the log has each draw. */
	double draws, vertices;
};

/* A time of frames that changed; `what`: NULL, none did. */
struct tally_answer_time {
	const char *what;
	double before_ns, after_ns; /* medians */
	const char *in; /* "sleep: nanosleep": where the thread waited in it; NULL: not known */
};

/* Memory in bytes that grew all the time, from a frame on (0: the first); `to` 0: it did not. */
struct tally_answer_growth {
	uint64_t frame;
	double from, to;
	double end; /* grown or not, over the last quarter of the run; NAN: not known */
};

/* From a frame on the run was slower or faster, for long. */
struct tally_answer_change {
	uint64_t frame, until; /* the first one, and the first after it was complete */
	bool about; /* within some frames */
	double before_ns, after_ns; /* medians of the frame time */
	/* What changed with it: a pass by name, "GPU", "CPU", "waits", or NULL; its medians, and
	 * the draws of a pass or of all. */
	const char *what;
	bool is_pass;
	bool seldom; /* a few frames have it on the side where its median is 0 */
	bool starved; /* or the software driver's threads had no CPU for it */
	bool no_cpu; /* it is a wait for a CPU: other programs had it */
	double what_before_ns, what_after_ns;
	double work[TALLY_N_WORK][2]; /* of what is named, before and after; 0: not known */
	/* The one of several passes whose draws, or size, these are; or NULL. */
	const char *drew, *draws; /* what they are, as tally_part_draws(); NULL: draws */
	/* The pass that is most of all passes' change; beside what is named another pass or time
	 * of the thread; calls, as a part of that. */
	struct tally_answer_time within, also, calls;
	/* Of the log's clock: the stretches before and after it. */
	uint64_t begin_ns[2], end_ns[2];
	double waits_ns; /* so much of it is no work, or may be a wait; 0: none */
	const char *in; /* as of a time, of what is named */
	const char *thread; /* that worked so much more of a frame meanwhile; or NULL */
	double thread_ns[2];
	double clock_before, clock_after; /* of the GPU in MHz, where it went along; else 0 */
	bool held; /* after it, and not before, the clock was held down */
};

/* How many hitches have the same cause, in words; it owns them. */
struct tally_answer_sum {
	char *what;
	uint64_t n;
};

#define TALLY_ANSWER_WORST 10 /* hitches in a list to read */

/* The answer about a device, or about one of its windows if it has several. */
struct tally_answer_device {
	uint32_t device;
	/* From 1, the one with the most GPU work first; 0 = the device. */
	guint window, n_windows;
	uint32_t width, height; /* of the window */
	bool unplaced; /* its frames may have more passes, those that draw to no window */
	uint64_t frames; /* complete ones, without those left out at the start */
	uint64_t skipped, skipped_ns;
	double seconds; /* the sum of their frame times */
	/* From the process's start to the end of its first frame, and that frame's own time. 0: not
	 * known, or another device had it. */
	uint64_t first_ns, first_own_ns;
	/* What was loaded in that frame and those left out, in all; ns 0: not worth a line. */
	struct tally_answer_event loaded[TALLY_N_EVENT_GROUPS];
	const struct tally_start *start;
	/* Of frame times; valid if frames > 0. */
	double fps, median_ns, p99_ns;
	double idle_ns; /* it draws on demand, and waited so long for events; 0: it does not */
	double low_1_fps, low_01_fps; /* of the slowest 1 % and 0.1 % of frames */
	struct tally_bound_verdict bound;
	struct tally_answer_change changes[TALLY_CHANGE_MOST]; /* in order of time */
	unsigned n_changes;
	struct tally_range range; /* of the typical frame: the longest without a change */
	struct tally_alternating alternating;
	/* A pass that is new or gone, or has other work, from a frame on, which no change names;
	 * and how many more at that frame. */
	struct tally_answer_change began;
	unsigned n_more_began;
	/* Calls that nearly all frames make from a frame on, or up to one; ns 0: none. */
	struct tally_answer_event calls_began;
	uint64_t calls_frame;
	bool calls_ended;
	struct tally_answer_growth memory, resident; /* the GPU's, and the process's */
	const char *busiest; /* the thread besides the one that ends frames that works most */
	double busiest_share; /* of the time */
	uint64_t range_frame; /* the number of its first frame */
	double range_ns; /* the median frame time of it */
	double typical_ns; /* the sum of the medians of `passes` */
	double range_gpu_ns; /* the median of a frame's GPU time in the range; 0 = not known */
	double seldom_ns; /* on average, of passes that the typical frame has not */
	double mean_gpu_ns; /* of all frames whose time is known; 0 = of none */
	bool at_once; /* queues worked at the same time: less than their passes' sum */
	struct tally_answer_pass *passes; /* the typical frame's, in order of execution */
	guint n_passes;
	/* Calls that most frames make and that take a good part of them; by group, means. */
	struct tally_answer_event calls[TALLY_N_EVENT_GROUPS];
	double calls_in[TALLY_N_EVENT_GROUPS]; /* that share of the frames; 0 = not worth a line */
	uint64_t n_hitches, hitch_ns; /* and by how much they were too long, in all */
	const struct tally_answer_hitch *hitches; /* `n_listed`, the worst first */
	unsigned n_listed; /* not more than n_hitches */
	GArray *sums; /* elements: struct tally_answer_sum, the most frequent first */
	uint64_t period; /* about so many frames between hitches, 0 = it varies */
	/* What passtally used in the program's threads: of a frame, median and mean; and its
	 * share of all time. */
	double cost_ns, mean_cost_ns, cost_share;
	double once_ns; /* at the start, in all; 0 = nothing worth mentioning */
	/* Private to answer.c. */
	struct tally_answer_state *state;
};

/* Private to the files of cli/answer/. */
struct tally_answer {
	const struct tally_aggregate *log;
	struct tally_aggregate_watch watch;
	GPtrArray *read; /* elements: struct tally_answer_device *, of each device; owned */
	/* Those to show, once it is concluded: of each device that, or those of its windows. */
	GPtrArray *devices;
	struct tally_loads loads;
	struct tally_start start;
	uint64_t last_ns; /* when the last frame of the log ended, of any device */
	/* From then to the last process line; how long the thread that ended it worked; what it
	 * slept in, the longest first. */
	uint64_t quiet_ns, quiet_work_ns;
	struct tally_asleep_record quiet_asleep[TALLY_HITCH_PLACES];
};

/* `log` must outlive the answer; nothing is read from it yet. */
struct tally_answer *tally_answer_create(const struct tally_aggregate *log);
void tally_answer_destroy(struct tally_answer *answer);

/* A watcher that adds all frames; valid for the answer's life. */
const struct tally_aggregate_watch *tally_answer_watch(struct tally_answer *answer);
/* A frame that the caller itself leaves out. */
void tally_answer_skip_frame(void *answer, const struct tally_frame_record *f);
/* Computes the answers; no frame can be added afterwards. */
void tally_answer_conclude(struct tally_answer *answer);

/* After tally_answer_conclude(): NULL if the device has no complete frame. */
const struct tally_answer_device *
tally_answer_find(const struct tally_answer *answer, uint32_t device);

/* Writes an array with an object for each device that has frames: the numbers, and `lines`. */
void tally_answer_put_json(struct tally_out *o, const char *key,
			   const struct tally_answer *answer);

#endif
