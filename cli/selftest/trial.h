/* SPDX-License-Identifier: MIT */
/* cli/selftest/trial.h - one scene drawn twice, without and with capture, and both results.
 *
 * The rows of tally_trials list which scene with which options tests which laws; laws that
 * every scene must obey need no row. Judges only read the trial and write to its device's laws.
 */
#ifndef PASSTALLY_CLI_SELFTEST_TRIAL_H
#define PASSTALLY_CLI_SELFTEST_TRIAL_H

#include "cli/selftest/child.h"
#include "cli/selftest/laws.h"
#include "cli/selftest/reading.h"

struct tally_trial {
	const struct tally_trial_row *row;
	struct tally_tested_device *device;
	bool known; /* an earlier row drew the scene bare: `bare` is not run */
	struct tally_child bare, ours;
	struct tally_expected expected;
	struct tally_seen_log log;
	/* The log of the same scene at granularity pass, once it was read; NULL = not yet. */
	const struct tally_seen_log *work;
};

struct tally_trial_row {
	bool vulkan;
	const char *scene; /* of scenes/gl or scenes/vk */
	/* Its name if an earlier row has the scene; NULL = the scene's. */
	const char *label;
	enum tally_law feature; /* fails when anything in the scene fails; 0 = none */
	unsigned frames; /* 0 = 3 */
	const char *options; /* of `run`, with blanks between; NULL = none */
	void (*judge)(struct tally_trial
			      *trial); /* NULL = frames as the scene expects them */
};

extern const struct tally_trial_row tally_trials[];
extern const size_t tally_n_trials;

/* Judges both children, and the log if both ended as they should. */
void tally_trial_judge(struct tally_trial *trial);
/* How many frames are drawn. */
unsigned tally_trial_frames(const struct tally_trial_row *row);
/* The name of a trial. */
const char *tally_trial_name(const struct tally_trial_row *row);

/* What a log must contain for a scene, law by law (judges.c). Each judge is called with a trial
 * whose log was read completely, and writes its findings to the laws of the trial's device;
 * none keeps any state. Units: ns and counts as in the log. */

/* Every frame has the passes, calls and statistics that the scene expects. */
void tally_judge_frames(struct tally_trial *trial);
/* Scene "work": equal passes, more work. */
void tally_judge_work(struct tally_trial *trial);
/* Scene "work" at another granularity. */
void tally_judge_sums(struct tally_trial *trial);
/* Scene "beside". */
void tally_judge_beside(struct tally_trial *trial);
/* Scene "clock". */
void tally_judge_clock(struct tally_trial *trial);
/* Scene "twins", with all counters. */
void tally_judge_counters(struct tally_trial *trial);

#endif
