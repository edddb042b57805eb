/* SPDX-License-Identifier: MIT */
#include "cli/compare/bootstrap.h"

#include "cli/shared/sort.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* Limit of blocks per resample and side; more blocks only add time. */
#define MOST_BLOCKS 256
/* If neighbors correlate at least this much, a first-order model is used in addition to the
 * blocks. */
#define STRONG 0.5
/* The level at which the bootstrap's tail is compared with Student's. */
#define HELD_LEVEL 0.01
/* More widening than this is an artifact of bootstrapping very few blocks. */
#define MOST_WIDENING 4.0

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

double
tally_binomial_tail(double x, double n, double p)
{
	if (x <= 0)
		return 1;
	return x > n ? 0 : incomplete_beta(x, n - x + 1, p, 1 - p);
}

/* Blocks */

static double
mean_of(const double *values, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	return sum / n;
}

/* The lag beyond which correlations are no larger than chance would give: the rule of
 * Politis and White, with their c = 2 and K = max(5, sqrt(log10 n)). Fills `r` with the
 * autocovariances up to the largest lag used. */
static uint32_t
correlated_lags(const double *deviations, uint32_t n, double *r, uint32_t most)
{
	uint32_t run = (uint32_t)MAX(5.0, ceil(sqrt(log10(n))));
	double bound = 2 * sqrt(log10(n) / n);
	for (uint32_t k = 0; k <= most; k++) {
		double sum = 0;
		for (uint32_t i = 0; i + k < n; i++)
			sum += deviations[i] * deviations[i + k];
		r[k] = sum / n;
	}
	uint32_t quiet = 0, last = 0;
	for (uint32_t k = 1; k <= most; k++) {
		if (fabs(r[k]) >= bound * r[0]) {
			quiet = 0;
			last = k;
		} else if (++quiet == run) {
			break;
		}
	}
	return MIN(2 * last, most);
}

/* n times the variance of the mean if each value depended on the previous one only (AR(1)).
 * Blocks and windows underestimate a correlation that lasts nearly as long as the run. */
static double
first_order(double correlation, double variance, uint32_t n)
{
	if (correlation < STRONG)
		return 0;
	/* The estimate of a correlation is too small by about this much (Kendall). */
	double c = MIN(correlation + (1 + 3 * correlation) / n, 1 - 1.0 / n);
	return variance * (1 + c) / (1 - c);
}

uint32_t
tally_block_length(const double *values, uint32_t n, double *long_run)
{
	*long_run = 0;
	if (n < 4)
		return 1;
	uint32_t most_lag = MIN((uint32_t)ceil(2 * sqrt(n)) + 10, n - 1);
	g_autofree double *r = g_new(double, most_lag + 1),
			  *deviations = g_new(double, n);
	double mean = mean_of(values, n);
	for (uint32_t i = 0; i < n; i++)
		deviations[i] = values[i] - mean;
	uint32_t lags = correlated_lags(deviations, n, r, most_lag);
	double spectrum = r[0], slope = 0;
	for (uint32_t k = 1; k <= lags; k++) {
		double share = (double)k / lags;
		double window = share <= 0.5 ? 1 : 2 * (1 - share);
		spectrum += 2 * window * r[k];
		slope += 2 * window * k * r[k];
	}
	double most = ceil(MIN(3 * sqrt(n), n / 3.0)), length = 1;
	if (spectrum > 0)
		length = cbrt(1.5 * slope * slope / (spectrum * spectrum) * n);
	else if (r[0] > 0 && lags > 0)
		length = most; /* The estimate is not usable: use the most cautious length. */
	double variance = r[0], correlation = r[0] > 0 ? r[1] / r[0] : 0;
	*long_run = MAX(MAX(spectrum, 0), first_order(correlation, variance, n));
	/* In a short run the rule does not see weak correlation. */
	length = MIN(MAX(ceil(length), ceil(cbrt(n))), most);
	return (uint32_t)length;
}

/* Trimming */

double
tally_median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), tally_order_double);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double
tally_trimmed_mean(const double *values, uint32_t n, double trim)
{
	uint32_t cut = (uint32_t)(trim * n);
	if (cut == 0 || 2 * cut >= n)
		return mean_of(values, n);
	g_autofree double *sorted = g_memdup2(values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), tally_order_double);
	return mean_of(sorted + cut, n - 2 * cut);
}

/* Values that are cut off are replaced by the last value that is kept (winsorized): the
 * error of a trimmed mean is that of the mean of these values, divided by the fraction that
 * is kept (Yuen). */
static double *
winsorized(const double *values, uint32_t n, double trim)
{
	double *copy = g_memdup2(values, n * sizeof(*values));
	uint32_t cut = (uint32_t)(trim * n);
	if (cut == 0 || 2 * cut >= n)
		return copy;
	qsort(copy, n, sizeof(*copy), tally_order_double);
	double low = copy[cut], high = copy[n - 1 - cut];
	for (uint32_t i = 0; i < n; i++)
		copy[i] = CLAMP(values[i], low, high);
	return copy;
}

/* One side, ready for resampling */

struct sampler {
	/* for each start index, the mean of the block that begins there, less the overall
	 * mean; n entries */
	double *block_means;
	uint32_t n, blocks; /* `blocks`: blocks per resample */
	double stays; /* fraction of the values that the trimmed mean keeps */
};

/* splitmix64: small, and good enough to choose blocks. */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void
prepare(struct sampler *s, struct tally_bootstrap_side *side,
	const struct tally_bootstrap_settings *settings)
{
	uint32_t n = side->n;
	uint32_t cut = (uint32_t)(settings->trim * n);
	double *values = winsorized(side->values, n, settings->trim), long_run = 0;
	side->mean = tally_trimmed_mean(side->values, n, settings->trim);
	side->block = 1;
	if (!settings->independent) {
		side->block = tally_block_length(values, n, &long_run);
		side->block = MAX(side->block, (n + MOST_BLOCKS - 1) / MOST_BLOCKS);
	}
	uint32_t b = side->block;
	double mean = mean_of(values, n), sum = 0, squares = 0;
	s->n = n;
	s->blocks = (n + b - 1) / b;
	s->stays = 2 * cut < n ? 1 - 2.0 * cut / n : 1;
	s->block_means = g_new(double, n);
	for (uint32_t i = 0; i < b; i++)
		sum += values[i] - mean;
	for (uint32_t i = 0; i < n; i++) {
		s->block_means[i] = sum / b;
		squares += s->block_means[i] * s->block_means[i];
		sum += values[(i + b) % n] - values[i];
	}
	g_free(values);
	/* The block bootstrap's variance of the mean in closed form, corrected for the
	 * estimated mean. Blocks underestimate a correlation that outlasts them; the window
	 * does so less. */
	double k = (double)n / b;
	double variance = squares / n * b * k / (k - 1);
	side->se = sqrt(MAX(variance, long_run) / n) / s->stays;
	side->df = MAX(k * s->stays - 1, 1);
}

/* One resample: the distance of its mean from the overall mean, and the square of its own
 * estimate of the error. */
static void
resample(const struct sampler *s, uint64_t *random, double *distance, double *square)
{
	double sum = 0, squares = 0;
	for (uint32_t i = 0; i < s->blocks; i++) {
		/* The high half of the random number, scaled by n, avoids a division in the
		 * innermost loop. */
		double v = s->block_means[(next_random(random) >> 32) * s->n >> 32];
		sum += v;
		squares += v * v;
	}
	double k = s->blocks;
	*distance = sum / k;
	*square = MAX(squares / k - *distance * *distance, 0) / (k - 1);
	*distance /= s->stays;
	*square /= s->stays * s->stays;
}

/* How much longer the bootstrap's tail is than Student's (at least 1). */
static double
widening(const struct sampler *a, const struct sampler *b, double df,
	 const struct tally_bootstrap_settings *settings)
{
	uint32_t m = settings->resamples;
	g_autofree double *t = g_new(double, m);
	uint64_t random = settings->seed;
	for (uint32_t i = 0; i < m; i++) {
		double distance[2], square[2];
		resample(a, &random, &distance[0], &square[0]);
		resample(b, &random, &distance[1], &square[1]);
		double error = sqrt(square[0] + square[1]);
		double apart = fabs(distance[1] - distance[0]);
		t[i] = error > 0 ? apart / error : apart > 0 ? HUGE_VAL : 0;
	}
	qsort(t, m, sizeof(*t), tally_order_double);
	uint32_t rank = (uint32_t)ceil((1 - HELD_LEVEL) * (m + 1));
	double tail = t[MIN(MAX(rank, 1), m) - 1];
	return CLAMP(tail / tally_student_quantile(HELD_LEVEL, df), 1.0, MOST_WIDENING);
}

/* Welch and Satterthwaite's degrees of freedom for a difference of means. */
static double
joint_df(const struct tally_bootstrap_side *a, const struct tally_bootstrap_side *b)
{
	double x = a->se * a->se, y = b->se * b->se;
	return (x + y) * (x + y) / (x * x / a->df + y * y / b->df);
}

void
tally_bootstrap_compare(struct tally_bootstrap_side *a, struct tally_bootstrap_side *b,
			const struct tally_bootstrap_settings *settings,
			struct tally_bootstrap_result *out)
{
	struct sampler samplers[2] = { 0 };
	prepare(&samplers[0], a, settings);
	prepare(&samplers[1], b, settings);
	*out = (struct tally_bootstrap_result){ .difference = b->mean - a->mean };
	out->se = sqrt(a->se * a->se + b->se * b->se);
	out->low = out->high = out->difference;
	out->p = out->difference != 0 ? 0 : 1;
	if (out->se > 0) {
		out->df = joint_df(a, b);
		/* Resamples of very few runs give no information about a tail, so Student's
		 * is used. */
		double wide = settings->independent
				      ? 1
				      : widening(&samplers[0], &samplers[1], out->df, settings);
		double reach = wide * out->se *
			       tally_student_quantile(1 - settings->confidence, out->df);
		out->low = out->difference - reach;
		out->high = out->difference + reach;
		out->p = tally_student_tail(fabs(out->difference) / (wide * out->se), out->df);
	}
	g_free(samplers[0].block_means);
	g_free(samplers[1].block_means);
}

/* Quantiles */

struct placed {
	double value;
	uint32_t block;
};

static int
placed_compare(const void *a, const void *b)
{
	double x = ((const struct placed *)a)->value, y = ((const struct placed *)b)->value;
	return (x < y) - (x > y);
}

/* `sorted` has the largest first; block i is there weights[i] times. */
static double
weighted_quantile(const struct placed *sorted, uint32_t n, const uint32_t *weights, uint64_t total,
		  double q)
{
	uint64_t rank = total - MIN((uint64_t)ceil(q * (double)total), total) + 1, seen = 0;
	uint32_t i = 0;
	while (i + 1 < n && (seen += weights[sorted[i].block]) < rank)
		i++;
	return sorted[i].value;
}

uint32_t
tally_bootstrap_quantile(const double *values, uint32_t n, double q, uint64_t seed, double *out,
			 uint32_t resamples)
{
	double long_run;
	uint32_t b = MAX(tally_block_length(values, n, &long_run), (uint32_t)ceil(sqrt(n)));
	uint32_t blocks = (n + b - 1) / b;
	g_autofree struct placed *sorted = g_new(struct placed, n);
	g_autofree uint32_t *weights = g_new(uint32_t, blocks);
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct placed){ values[i], i / b };
	qsort(sorted, n, sizeof(*sorted), placed_compare);
	for (uint32_t r = 0; r < resamples; r++) {
		uint64_t total = 0;
		memset(weights, 0, blocks * sizeof(*weights));
		for (uint32_t i = 0; i < blocks; i++) {
			uint32_t chosen = (uint32_t)((next_random(&seed) >> 32) * blocks >> 32);
			weights[chosen]++;
			total += MIN(b, n - chosen * b);
		}
		out[r] = weighted_quantile(sorted, n, weights, total, q);
	}
	return b;
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
