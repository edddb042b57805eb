/* SPDX-License-Identifier: MIT */
/* cli/answer/cause_rules.h - what both the cause of a hitch and its words depend on.
 *
 * Private to cause.c and cause_text.c. Pure; any thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_CAUSE_RULES_H
#define PASSTALLY_CLI_ANSWER_CAUSE_RULES_H

#include "cli/answer/cause.h"

/* The thresholds of docs/verdicts.md: of what the frame lost. */
#define SAME 0.2
#define PART 0.1
#define MENTIONED 0.05
#define FAULT_NS 500 /* a page fault takes at least */
#define DISK_RATE 0.4 /* bytes a nanosecond */

static inline bool
has_more_draws(const struct tally_answer_hitch *out)
{
	return out->seldom || out->draws > out->around_draws + out->around_draws / 4;
}

/* "(not in a pass)", "(passes drawn together)" */
static inline bool
is_no_pass(const char *name)
{
	return name && name[0] == '(';
}

/* Whether a disk was read so fast that this is what the frame lost. */
static inline bool
is_read(const struct tally_answer_hitch *h)
{
	return (double)h->read >= DISK_RATE * (double)h->excess_ns;
}

#endif
