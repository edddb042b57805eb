/* SPDX-License-Identifier: MIT */
/* cli/answer/cause.h - why a frame was a hitch: one cause with its proof, or what was ruled out.
 *
 * A cause is named where it explains at least half of the lost time and nothing else does;
 * docs/verdicts.md has the rules. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_CAUSE_H
#define PASSTALLY_CLI_ANSWER_CAUSE_H

#include "cli/answer/hitch.h"

enum tally_cause {
	TALLY_CAUSE_UNKNOWN = 0,
	TALLY_CAUSE_PASS, /* `pass` took longer */
	TALLY_CAUSE_GPU, /* all passes took longer, or `some`: `pass` and others */
	TALLY_CAUSE_CPU, /* the thread that ended the frame worked longer */
	TALLY_CAUSE_EVENT, /* `event`: shaders made, an upload, ... */
	TALLY_CAUSE_FAULTS, /* page faults; beside those up to here it may have waited, too */
	TALLY_CAUSE_DISK, /* it read from a disk */
	TALLY_CAUSE_WAIT, /* it waited longer, and the GPU did not work longer */
	TALLY_CAUSE_NOT_GPU, /* the GPU did not work longer; the thread is not known */
	TALLY_CAUSE_OWN, /* passtally itself */
	TALLY_N_CAUSES,
};

struct tally_answer_hitch {
	struct tally_hitch was; /* what was measured */
	enum tally_cause cause;
	/* Names of parts (struct tally_part), not escaped; NULL = none. The pass that took longer,
	 * or in whose commands the CPU worked; and what ran for the first time in the frame. */
	const char *pass, *first;
	const char *drew; /* of passes drawn together, the one that drew more: `draws` are its */
	bool by_gpu, some; /* passes explain it; not all and not one: */
	bool seldom; /* few of the frames around have `pass` */
	bool or_wait; /* a wait after the last draw may be in their time */
	uint64_t growth_ns; /* of what is named */
	struct tally_hitch_part of; /* PASS, GPU: the pass, or the sum of all */
	bool part; /* UNKNOWN: the thread worked for a part of it */
	bool driver; /* WAIT: in driver calls */
	const char *waits; /* in which they grew most, in words */
	const char *place; /* the pass in which OpenGL's driver may have waited; or NULL */
	struct tally_answer_event calls, more_calls; /* those that grew most, and second most */
	bool by_calls; /* they may explain it; EVENT: they do */
	uint64_t over; /* bytes of GPU memory above the budget */
	struct tally_hitch_part sure; /* the pass that grew alone of those whose time is sure */
	/* What is beside the CPU's part, or a wait: the pass that grew most, or, if it is
	 * `grew_with` others, the sum of all. NULL: none. */
	const char *grew;
	bool grew_with;
	struct tally_hitch_part beside;
	uint64_t grown_ns, sure_ns; /* of all passes, and without what may be the CPU's */
	bool starved; /* UNKNOWN: a software driver's threads had no CPU for what took longer */
	/* Where it waited: the thread that worked so much more than usual meanwhile, or NULL; and
	 * how long the thread that ends frames was ready to run without a CPU, where that explains
	 * it, and as far as it is sure: UINT64_MAX if it is not known. */
	const char *thread;
	uint64_t thread_ns, ready_ns, no_cpu_ns;
	uint64_t thread_ready_ns; /* the same of `thread`; 0: its work alone explains it */
	uint64_t others_bytes; /* read from a disk for other threads, more than usual */
	bool ready_sure; /* most of that time is the frame's, and no `thread` worked */
};

/* "pass", "gpu", "cpu", "wait", "not-gpu", "passtally", "shaders", "upload", "readback", "map",
 * "memory", "faults", "disk", "unknown". */
const char *tally_cause_name(const struct tally_answer_hitch *h);

/* `opengl`: passes end where the CPU begins the next one. */
struct tally_answer_hitch
tally_cause_find(const struct tally_hitch *h, const struct tally_hitch_seen *seen, bool opengl);
/* The thread that ends frames was ready without a CPU for `ready_ns`, on average for `usual_ns`;
 * `sure`: most of that time was in the frame. */
void tally_cause_ready(struct tally_answer_hitch *h, uint64_t ready_ns, double usual_ns, bool sure);

/* What a driver on the CPU did while passes took longer without more draws. */
enum tally_driver_did {
	TALLY_DRIVER_UNKNOWN = 0,
	TALLY_DRIVER_DREW,
	TALLY_DRIVER_HAD_NO_CPU,
	TALLY_DRIVER_WAITED, /* none of it: for something else */
};

/* Its threads worked, and had no CPU, for such parts of that; NAN: not known. */
enum tally_driver_did tally_cause_driver_did(double drew, double had_no_cpu);
/* The same of a hitch, for so much more meanwhile than around it. */
void tally_cause_driver(struct tally_answer_hitch *h, double drew_ns, double no_cpu_ns);
/* "Bloom 0.35 -> 20.1 ms, same draws"; valid as that of tally_phrase(). */
const char *tally_cause_text(const struct tally_answer_hitch *h);
/* The cause in a sum of many: the pass's name, "the CPU", ...; valid likewise. */
const char *tally_cause_short_text(const struct tally_answer_hitch *h);

#endif
