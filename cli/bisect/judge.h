/* SPDX-License-Identifier: MIT */
/* cli/bisect/judge.h - which side of a known change a program is on: by runs of it and of the good
 * one, judged as `compare` does. One thread.
 */
#ifndef PASSTALLY_CLI_BISECT_JUDGE_H
#define PASSTALLY_CLI_BISECT_JUDGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The change that is searched for: of the GPU time of a pass, or of the frame. */
struct tally_bisect_change {
	bool frame, cpu; /* of the frame; its frame time */
	uint32_t device; /* by its place among those that are compared */
	uint64_t id; /* of the pass */
	char *name; /* of the pass, owned by the caller */
	double part; /* of the good one's mean; 0 = not known yet */
	bool others; /* `part` is against the other passes, not that of the means */
	double mean[2]; /* of both sides, in nanoseconds */
	double low, high; /* the interval of the change, as parts of the mean */
};

enum tally_bisect_answer {
	TALLY_BISECT_GOOD = 0,
	TALLY_BISECT_BAD,
	TALLY_BISECT_UNCLEAR, /* more runs are needed */
	TALLY_BISECT_FAILED, /* after an error on standard error: a log cannot be read */
};

/* Finds the largest increase from the good logs (paths, char *) to the bad ones and describes it
 * in `change`: BAD, or UNCLEAR where there is none. */
enum tally_bisect_answer tally_bisect_find(const GPtrArray *good, const GPtrArray *bad,
					   double confidence, struct tally_bisect_change *change);

/* GOOD if less than half of the change is there, BAD if more than half is. */
enum tally_bisect_answer
tally_bisect_judge(const GPtrArray *good, const GPtrArray *other, double confidence,
		   const struct tally_bisect_change *change);

#endif
