/* SPDX-License-Identifier: MIT */
#include "cli/compare/means.h"

#include <glib.h>
#include <math.h>

/* Degrees of freedom of an error that is known, not estimated. */
#define KNOWN 1e6

/* Student's distribution */

/* Lentz's algorithm for the continued fraction of the incomplete beta function. */
static double
beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double h = d;
	for (int m = 1; m <= 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		double step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

/* I_x(a, b), with y = 1 - x passed in to avoid cancellation. */
static double
incomplete_beta(double a, double b, double x, double y)
{
	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double
tally_student_tail(double t, double df)
{
	double square = t * t;
	return incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

double
tally_student_quantile(double p, double df)
{
	double low = 0, high = 1;
	while (tally_student_tail(high, df) > p && high < 1e150)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = low + (high - low) / 2;
		if (tally_student_tail(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Means */

double
tally_mean(const double *values, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	return sum / n;
}

/* The square of the mean's error, and its degrees of freedom. */
static double
square_error(const struct tally_means_side *side, double *df)
{
	double mean = tally_mean(side->values, side->n), squares = 0;
	for (uint32_t i = 0; i < side->n; i++)
		squares += (side->values[i] - mean) * (side->values[i] - mean);
	double found = squares / side->n / (side->n - 1), least = side->least_se * side->least_se;
	*df = found > least ? side->n - 1 : KNOWN;
	return MAX(found, least);
}

void
tally_means_compare(const struct tally_means_side *a, const struct tally_means_side *b,
		    double confidence, struct tally_means *out)
{
	double df_a, df_b, x = square_error(a, &df_a), y = square_error(b, &df_b);
	double difference = tally_mean(b->values, b->n) - tally_mean(a->values, a->n);
	*out = (struct tally_means){ .difference = difference, .p = difference != 0 ? 0 : 1 };
	if (x + y > 0) {
		out->se = sqrt(x + y);
		out->df = (x + y) * (x + y) / (x * x / df_a + y * y / df_b);
		out->reach = out->se * tally_student_quantile(1 - confidence, out->df);
		out->p = tally_student_tail(fabs(difference) / out->se, out->df);
	}
}

/* Multiple tests */

struct ranked {
	double p;
	uint32_t place;
};

static int
ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void
tally_holm_adjust(double *p, uint32_t m)
{
	g_autofree struct ranked *order = g_new(struct ranked, MAX(m, 1));
	for (uint32_t i = 0; i < m; i++)
		order[i] = (struct ranked){ p[i], i };
	qsort(order, m, sizeof(*order), ranked_compare);
	double most = 0;
	for (uint32_t i = 0; i < m; i++) {
		most = MAX(most, MIN(1, order[i].p * (m - i)));
		p[order[i].place] = most;
	}
}
