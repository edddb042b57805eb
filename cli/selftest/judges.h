/* SPDX-License-Identifier: MIT */
/* cli/selftest/judges.h - the judges of the rows of trials (parts.h): each compares a scene's log
 * with what the scene expects.
 *
 * A judge is called with a trial whose log was read completely, and writes its findings to the laws
 * of the trial's device; none keeps any state. Units: ns and counts as in the log.
 */
#ifndef PASSTALLY_CLI_SELFTEST_JUDGES_H
#define PASSTALLY_CLI_SELFTEST_JUDGES_H

#include "cli/selftest/parts.h"

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
