/* SPDX-License-Identifier: MIT */
/* cli/compare/bootstrap.h - whether two series of frames differ in their mean, and by how much.
 *
 * Successive frames are correlated, so they are resampled in blocks (circular block
 * bootstrap). The block length follows the rule of Politis and White (2004, corrected 2009),
 * separately for each series. The result is a difference, its standard error, an interval
 * and a p-value; docs/compare.md states the assumptions. The caller supplies the seed, which
 * is the only source of randomness: equal input gives equal output. Pure; any thread.
 */
#ifndef PASSTALLY_CLI_BOOTSTRAP_H
#define PASSTALLY_CLI_BOOTSTRAP_H

#include <stdbool.h>
#include <stdint.h>

/* A side with fewer values than this is shown but not judged; for runs the limit is
 * TALLY_COMPARE_LEAST_RUNS. */
#define TALLY_COMPARE_LEAST 8
#define TALLY_COMPARE_RESAMPLES 999
#define TALLY_COMPARE_LEAST_RUNS 5

struct tally_bootstrap_settings {
	double confidence; /* of the interval, from 0 to 1 */
	/* fraction cut off at either end before the mean is taken: 0 or more, below 0.5 */
	double trim;
	uint32_t resamples;
	uint64_t seed;
	/* Each value is a whole run, independent of the others: blocks have length one. */
	bool independent;
};

struct tally_bootstrap_side {
	const double *values;
	uint32_t n;
	double mean; /* out: the (trimmed) mean */
	double se; /* out: its standard error */
	double df; /* out: the degrees of freedom of that error */
	uint32_t block; /* out: values per block */
};

struct tally_bootstrap_result {
	double difference; /* b minus a */
	double se, df;
	double low, high; /* the interval of the difference */
	double p; /* two-sided; 0 where both sides are constant and differ */
};

/* Computes mean, error and block length of each side, and the comparison. Both sides must
 * have enough values. */
void tally_bootstrap_compare(struct tally_bootstrap_side *a, struct tally_bootstrap_side *b,
			     const struct tally_bootstrap_settings *settings,
			     struct tally_bootstrap_result *out);

/* Sorts the values; n > 0. */
double tally_median(double *values, uint32_t n);
/* The mean after floor(trim * n) values are cut off at either end; n > 0. */
double tally_trimmed_mean(const double *values, uint32_t n, double trim);

/* Values per block by Politis and White's rule, but at least the cube root of n and at most
 * n / 3. `long_run` receives n times the variance of the mean as estimated by their flat-top
 * window (may be 0). */
uint32_t tally_block_length(const double *values, uint32_t n, double *long_run);

/* P(|T| >= t) of Student's distribution with df > 0 degrees of freedom; and its inverse: the
 * t >= 0 at which that probability is p, 0 < p < 1. */
double tally_student_tail(double t, double df);
double tally_student_quantile(double p, double df);

/* P(X >= x) of a binomial distribution: n draws, each with probability p. x and n may be
 * fractions, as the counts of draws that resemble each other are. */
double tally_binomial_tail(double x, double n, double p);

/* Quantiles (nearest rank) of `resamples` series of blocks of consecutive values; n > 0. Blocks
 * have Politis and White's length, at least the root of n, which also covers periodic frames.
 * Returns the frames of a block. */
uint32_t tally_bootstrap_quantile(const double *values, uint32_t n, double q, uint64_t seed,
				  double *out, uint32_t resamples);

/* Holm's step-down procedure over m p-values: p[i] becomes the smallest family-wise level at
 * which hypothesis i is rejected, at most 1. */
void tally_holm_adjust(double *p, uint32_t m);

#endif
