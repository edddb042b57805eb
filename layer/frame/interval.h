/* SPDX-License-Identifier: MIT */
/* layer/frame/interval.h - lengths of intervals that overlap.
 *
 * Pure functions over the caller's arrays, which get sorted. Any thread; nothing here blocks.
 */
#ifndef PASSTALLY_LAYER_FRAME_INTERVAL_H
#define PASSTALLY_LAYER_FRAME_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

/* begin <= end, in ns. */
struct tally_interval {
	uint64_t begin, end;
};

struct tally_span {
	uint64_t union_ns; /* time that at least one interval covers */
	uint64_t envelope_ns; /* last end minus first begin */
};

/* The lengths for `some` alone, and for `some` and `others` together; 0 if there are none. */
void tally_interval_spans(struct tally_interval *some, size_t n_some,
			  struct tally_interval *others, size_t n_others,
			  struct tally_span *of_some, struct tally_span *of_all);

#endif
