/* SPDX-License-Identifier: MIT */
/* cli/answer/explain.h - what changed over a run: its speed with what explains it, the GPU's
 * clock, memory that grows. docs/verdicts.md has the rules. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_EXPLAIN_H
#define PASSTALLY_CLI_ANSWER_EXPLAIN_H

#include "cli/answer/over_run.h"

/* Sets the changes, the stretch that the typical frame is of, and the memory. */
void tally_explain_run(const struct tally_over_run *r, struct tally_answer_device *d);
/* The pass or time of the thread, of at least `least_ns`, that each second to fourth frame has. */
struct tally_alternating
tally_explain_alternating(const struct tally_over_run *r, double least_ns);

#endif
