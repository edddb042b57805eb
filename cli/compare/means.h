/* SPDX-License-Identifier: MIT */
/* cli/compare/means.h - whether two samples differ in their means, and by how much.
 *
 * The values of a sample are whole runs, or parts of runs that are long enough to know nothing
 * of each other. Welch's test; docs/compare.md states the assumptions. Pure; any thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_MEANS_H
#define PASSTALLY_CLI_COMPARE_MEANS_H

#include <stdint.h>

struct tally_means_side {
	const double *values;
	uint32_t n; /* at least 2 */
	double least_se; /* the mean's error is known to be no smaller; 0 = nothing is known */
};

struct tally_means {
	double difference; /* b minus a */
	double se, df;
	double reach; /* the interval is the difference plus and minus this */
	double p; /* two-sided; 0 where both sides are constant and differ */
};

void tally_means_compare(const struct tally_means_side *a, const struct tally_means_side *b,
			 double confidence, struct tally_means *out);

double tally_mean(const double *values, uint32_t n);

/* P(|T| >= t) of Student's distribution with df > 0 degrees of freedom; and its inverse: the
 * t >= 0 at which that probability is p, 0 < p < 1. */
double tally_student_tail(double t, double df);
double tally_student_quantile(double p, double df);

/* Holm's step-down procedure over m p-values: p[i] becomes the smallest family-wise level at
 * which hypothesis i is rejected, at most 1. */
void tally_holm_adjust(double *p, uint32_t m);

#endif
