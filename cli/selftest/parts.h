/* SPDX-License-Identifier: MIT */
/* cli/selftest/parts.h - one scene drawn twice, without and with capture, and both results.
 *
 * The rows of tally_trials list which scene with which options tests which laws; laws that every
 * scene must obey need no row. Judges only read the trial and write to its device's laws. One
 * thread.
 */
#ifndef PASSTALLY_CLI_SELFTEST_PARTS_H
#define PASSTALLY_CLI_SELFTEST_PARTS_H

#include "cli/selftest/laws.h"
#include "cli/selftest/reading.h"
#include "cli/shared/child.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

struct tally_trial {
	const struct tally_trial_row *row;
	struct tally_tested_device *device;
	struct tally_child plain, ours;
	char **expected; /* see tally_expected_split() */
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
static inline unsigned
tally_trial_frames(const struct tally_trial_row *row)
{
	return row->frames ? row->frames : 3;
}
/* The name of a trial. */
static inline const char *
tally_trial_name(const struct tally_trial_row *row)
{
	return row->label ? row->label : row->scene;
}

#endif
