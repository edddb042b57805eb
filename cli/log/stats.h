/* SPDX-License-Identifier: MIT */
/* cli/log/stats.h - N, sum, mean, deviation, extremes and quantiles of one series of values.
 *
 * Sums, mean and deviation come from query/statistics/moments.h, as in a run. Quantiles
 * follow the nearest-rank definition: the q-quantile of N values is the ceil(q * N)-th
 * smallest, at least the first, so it is always a value that was seen. They are exact while
 * the series fits in what `keep` allows (equal values count once); beyond that, values fall
 * into buckets whose width is at most 1/512 of the value, and a quantile is the middle of
 * its bucket, accurate to 0.1 %. Whole numbers need at most 32768 buckets. No randomness: equal
 * input gives equal output. One thread at a time. Out of memory ends the program, as everywhere
 * in the command.
 */
#ifndef PASSTALLY_CLI_STATS_H
#define PASSTALLY_CLI_STATS_H

#include "layer/record.h"
#include "query/statistics/moments.h"

struct tally_stats_run;

struct tally_stats {
	struct tally_moments moments;
	uint32_t keep; /* maximum number of distinct values before buckets are used */
	/* Values, or buckets once `sketched`, with their counts: the first n_sorted are ascending
	 * and distinct, those after them are as they came. */
	uint32_t n_sorted, n_runs, room;
	struct tally_stats_run *runs;
	bool sketched;
};

/* Distinct values kept for a pass and for a frame. */
#define TALLY_STATS_KEEP_PASS 4096
#define TALLY_STATS_KEEP_FRAME (1u << 20)

void tally_stats_init(struct tally_stats *s, uint32_t keep);
void tally_stats_finish(struct tally_stats *s);

/* A value that is not finite is not counted. */
void tally_stats_add(struct tally_stats *s, struct tally_value v);
void tally_stats_add_u64(struct tally_stats *s, uint64_t v);

/* Requires moments.n > 0. */
/* `q` is from 0 to 1. May reorder the kept values. */
struct tally_value tally_stats_quantile(struct tally_stats *s, double q);
/* False: quantiles are accurate to 0.1 % only. */
bool tally_stats_exact(struct tally_stats *s);

/* Calls `visit` for each distinct value kept, in ascending order, with the number of times it
 * was seen; past `keep` the values are those of tally_stats_quantile(). */
void tally_stats_visit(struct tally_stats *s,
		       void (*visit)(void *user, double value, uint64_t count), void *user);
/* How many values lie from `low` to `high`, both included. */
uint64_t tally_stats_count_between(struct tally_stats *s, double low, double high);
/* The mean of the `n` largest values; n is from 1 to moments.n. */
double tally_stats_mean_of_largest(struct tally_stats *s, uint64_t n);

struct tally_value tally_u64(uint64_t v);
struct tally_value tally_f64(double v);

#endif
