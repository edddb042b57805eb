/* SPDX-License-Identifier: MIT */
/* cli/answer/cause_rules.h - what both the cause of a hitch and its words depend on.
 *
 * Private to cause.c and cause_text.c. Pure; any thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_CAUSE_RULES_H
#define PASSTALLY_CLI_ANSWER_CAUSE_RULES_H

#include "cli/answer/cause.h"

#include <string.h>

/* The thresholds of docs/verdicts.md: of what the frame lost. */
#define EXPLAINS 0.5
#define PART 0.1
#define LOOKED 0.25 /* what it was seen to sleep in */
#define SAME 0.2
#define MENTIONED 0.05
#define DISK_FAULTS 10
#define FAULT_NS 500.0 /* a page fault takes at least */
#define SLOW_FAULT_NS 2000 /* on a virtual machine */
#define DISK_RATE 0.4 /* bytes a nanosecond */
#define SLOW_DISK 0.1

/* Such a part of what the frame lost. */
static inline double
part_of(const struct tally_answer_hitch *h, double ns)
{
	return ns / (double)h->was.excess_ns;
}

static inline double
share_of(const struct tally_answer_hitch *h, uint64_t ns)
{
	return part_of(h, (double)ns);
}

/* How much more of it than usual, as a part of that. */
static inline double
more_of(const struct tally_answer_hitch *h, enum tally_hitch_time what)
{
	return share_of(h, tally_hitch_more(&h->was, what));
}

/* Whether such a part, a tenth at least, alone would be a hitch. */
static inline bool
is_hitch(const struct tally_answer_hitch *h, double part)
{
	uint64_t usual_ns = h->was.usual[TALLY_HITCH_FRAME];
	double ns = part * (double)h->was.excess_ns;
	return part >= PART && tally_hitch_is_one(usual_ns + (uint64_t)ns, usual_ns);
}

/* Whether it is to be said besides the cause. */
static inline bool
is_much(const struct tally_answer_hitch *h, double part)
{
	return part > SAME || is_hitch(h, part);
}

/* Most of the time in which it did not work it was seen to sleep, not for a driver. */
static inline bool
is_asleep(const struct tally_answer_hitch *h)
{
	const struct tally_asleep_record *a = h->was.asleep;
	return a->in && share_of(h, a[0].ns + a[1].ns) >=
				EXPLAINS * (1 - MIN(more_of(h, TALLY_HITCH_WORK), 1));
}

static inline bool
has_more_draws(const struct tally_answer_hitch *out)
{
	return out->seldom || out->of.draws > out->of.around_draws + out->of.around_draws / 4;
}

/* What its page faults took at least. */
static inline double
faults_ns(const struct tally_answer_hitch *h)
{
	return FAULT_NS * (double)tally_hitch_more(&h->was, TALLY_HITCH_FAULTS);
}

/* How much more it worked in the kernel, at least: up to half of its usual work may be there. */
static inline double
kernel_ns(const struct tally_answer_hitch *h)
{
	const uint64_t *usual = h->was.usual;
	const uint64_t most = MAX(usual[TALLY_HITCH_KERNEL], usual[TALLY_HITCH_WORK] / 2);
	return MAX((double)h->was.ns[TALLY_HITCH_KERNEL] - (double)most, 0);
}

/* "(not in a pass)", "(passes drawn together)" */
static inline bool
is_no_pass(const char *name)
{
	return name && name[0] == '(';
}

/* Whether page faults waited for a disk. */
static inline bool
has_disk_faults(const struct tally_answer_hitch *h)
{
	return tally_hitch_more(&h->was, TALLY_HITCH_DISK_FAULTS) >= DISK_FAULTS;
}

/* Whether a disk was read so fast that this is what the frame lost; it was seen to wait for a
 * slower one. */
static inline bool
is_read(const struct tally_answer_hitch *h)
{
	const struct tally_asleep_record *a = h->was.asleep;
	bool seen = tally_asleep_kind(a) == TALLY_ASLEEP_READ && tally_asleep_in_file(a);
	return more_of(h, TALLY_HITCH_DISK_BYTES) >= (seen ? SLOW_DISK : DISK_RATE);
}

#endif
