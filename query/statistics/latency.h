/* SPDX-License-Identifier: MIT */
/* query/statistics/latency.h - the deviation of latencies, from their N, sum and
 * sum of squares.
 *
 * Exact in 64-bit integers up to the last division, so that latencies of thousands of millions
 * of cycles that differ by one still have their deviation. Any thread; nothing allocates, and
 * the only failure is to report that there is no answer.
 */
#ifndef PASSTALLY_QUERY_LATENCY_H
#define PASSTALLY_QUERY_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

/* n counts events, sum and sum_sq are those of their latencies; n is below 2^32. */
struct tally_latency {
	uint64_t n, sum, sum_sq;
};

/* Whether they could belong to any n whole numbers at all: n * sum_sq >= sum * sum. */
bool tally_latency_is_possible(const struct tally_latency *l);
/* The deviation of the population. False: there is none (n is 0 or 2^32), or the three contradict
 * each other (a counter wrapped). */
bool tally_latency_sd_population(const struct tally_latency *l, double *out);
/* The deviation of the population, from whole numbers in doubles. False also where sums past
 * 2^53 lost the digits that the deviation depends on. */
bool tally_latency_sd_of_doubles(double n, double sum, double sum_sq, double *out);

#endif
