/* cli/compare/bootstrap.h - do two series of frames differ in their mean, and by how much?
 *
 * Frames follow one another and resemble their neighbours, so they are resampled in blocks
 * (circular block bootstrap); the length of a block follows the rule of Politis and White (2004,
 * corrected 2009), each series its own. The answer is a difference, its standard error, an
 * interval and a p-value; see docs/compare.md for what they rest on. The seed is the caller's and
 * there is no other chance in it: equal input gives equal output. Pure; any thread.
 */
#ifndef PASSTALLY_CLI_BOOTSTRAP_H
#define PASSTALLY_CLI_BOOTSTRAP_H

#include <stdbool.h>
#include <stdint.h>

/* Fewer values on a side than this are shown, not judged; of runs, TALLY_COMPARE_LEAST_RUNS. */
#define TALLY_COMPARE_LEAST 8
#define TALLY_COMPARE_LEAST_RUNS 5

struct tally_bootstrap_settings {
	double confidence; /* of the interval, 0 to 1 */
	double trim; /* share cut off at either end before the mean is taken: 0 or below 0.5 */
	uint32_t resamples;
	uint64_t seed;
	/* The values stand for whole runs, each independent of the next: blocks of one. */
	bool independent;
};

struct tally_bootstrap_side {
	const double *values;
	uint32_t n;
	double mean; /* out: the (trimmed) mean */
	double se; /* out: its standard error */
	double df; /* out: degrees of freedom of that error */
	uint32_t block; /* out: values a block */
};

struct tally_bootstrap_result {
	double difference; /* b less a */
	double se, df;
	double low, high; /* of the difference */
	double p; /* two-sided; 0 where both sides are constant and differ */
};

/* Mean, error and block of each side, and what follows. Both sides have enough values. */
void tally_bootstrap_compare(struct tally_bootstrap_side *a, struct tally_bootstrap_side *b,
			     const struct tally_bootstrap_settings *settings,
			     struct tally_bootstrap_result *out);

/* Mean of what is left after round-down(trim * n) values are cut off at either end; n > 0. */
double tally_trimmed_mean(const double *values, uint32_t n, double trim);

/* Values a block, by Politis and White's rule, but at least the cube root of n, at most n / 3.
 * `long_run` is n times the variance of the mean as their flat-top window sees it (may be 0). */
uint32_t tally_block_length(const double *values, uint32_t n, double *long_run);

/* P(|T| >= t) of Student's distribution with df > 0 degrees of freedom, and the t >= 0 of which
 * that is p, 0 < p < 1. */
double tally_student_tail(double t, double df);
double tally_student_quantile(double p, double df);

/* Holm's step-down over m p-values: p[i] becomes the least family-wise level at which the i-th is
 * rejected, at most 1. */
void tally_holm_adjust(double *p, uint32_t m);

#endif
