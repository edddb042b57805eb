/* query/statistics/latency.h - what N, sum and sum of squares of latencies say: their mean and
 * deviation.
 *
 * Exact in 64-bit integers up to the last division, so that latencies of thousands of millions of
 * cycles that differ by one still have their deviation. Any thread; nothing allocates or fails
 * but by saying that there is no answer.
 */
#ifndef PASSTALLY_QUERY_LATENCY_H
#define PASSTALLY_QUERY_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

/* n counts events, sum and sum_sq are of their latencies; n below 2^32. */
struct tally_latency {
	uint64_t n, sum, sum_sq;
};

/* False: n is 0. */
bool tally_latency_mean(const struct tally_latency *l, double *out);
/* Could they be of any n whole numbers at all: n * sum_sq >= sum * sum? */
bool tally_latency_is_possible(const struct tally_latency *l);
/* Deviation of the population; of a sample, which needs n > 1. False: there is none, or the three
 * contradict each other (a counter wrapped). */
bool tally_latency_sd_population(const struct tally_latency *l, double *out);
bool tally_latency_sd_sample(const struct tally_latency *l, double *out);
/* Of the population, from whole numbers in doubles. False also where sums past 2^53 lost what the
 * deviation would be made of. */
bool tally_latency_sd_of_doubles(double n, double sum, double sum_sq, double *out);

#endif
