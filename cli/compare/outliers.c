/* SPDX-License-Identifier: MIT */
#include "cli/compare/bootstrap.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* With more values than this each is judged as independent: the matrix has a row and a column
 * for each. */
#define MOST_CORRELATED 256
/* The least fraction of a correlation that is attributed to chance; keeps the matrix
 * regular. */
#define LEAST_SHRINKAGE 0.05
/* From a median absolute deviation to a standard deviation of the normal distribution. */
#define MAD_TO_SD 1.4826
/* Deviations of more than this many standard deviations are cut to it. */
#define FAR 4.0
/* Least variance of logarithms: steps of a clock. */
#define TINY 1e-10

static double
median_size(const double *values, uint32_t n)
{
	g_autofree double *sizes = g_new(double, n);
	for (uint32_t i = 0; i < n; i++)
		sizes[i] = fabs(values[i]);
	return tally_median(sizes, n);
}

/* Copies the deviations of a value without its outliers, and returns their mean square. */
static double
clip(const struct tally_outlier *item, uint32_t n_parts, double *out)
{
	double far = FAR * MAD_TO_SD * median_size(item->deviations, n_parts), squares = 0;
	for (uint32_t i = 0; i < n_parts; i++) {
		out[i] = CLAMP(item->deviations[i], -far, far);
		squares += out[i] * out[i] / n_parts;
	}
	return squares;
}

/* The deviations with a mean square of 1, without outliers; all 0 where there are none. */
static double *
standardize(const struct tally_outlier *items, uint32_t n, uint32_t n_parts)
{
	double *out = g_new(double, (size_t)n * n_parts);
	for (uint32_t k = 0; k < n; k++) {
		double *row = &out[(size_t)k * n_parts];
		double squares = clip(&items[k], n_parts, row);
		for (uint32_t i = 0; i < n_parts && squares > 0; i++)
			row[i] /= sqrt(squares);
	}
	return out;
}

/* The dependence of y on x: the slope, at least 0, and the middles of both. */
static double
fit(const double *x, const double *y, uint32_t n, double *mx, double *my)
{
	double xx = 0, xy = 0;
	*mx = *my = 0;
	for (uint32_t k = 0; k < n; k++) {
		*mx += x[k] / n;
		*my += y[k] / n;
	}
	for (uint32_t k = 0; k < n; k++) {
		xx += (x[k] - *mx) * (x[k] - *mx);
		xy += (x[k] - *mx) * (y[k] - *my);
	}
	return xx > 0 ? CLAMP(xy / xx, 0, 2) : 0;
}

void
tally_outliers_moderate(struct tally_outlier *items, uint32_t n, uint32_t n_parts)
{
	g_autofree double *x = g_new(double, n), *y = g_new(double, n);
	g_autofree double *copy = g_new(double, n_parts);
	double mx, my;
	for (uint32_t k = 0; k < n; k++) {
		x[k] = log(clip(&items[k], n_parts, copy) + TINY);
		y[k] = log(items[k].se * items[k].se + TINY);
	}
	double slope = fit(x, y, n, &mx, &my);
	for (uint32_t k = 0; k < n; k++) {
		double usual = exp(my + slope * (x[k] - mx));
		items[k].se = sqrt((items[k].se * items[k].se + usual) / 2);
	}
}

/* Correlations, all shrunk toward 0 by the same factor, which minimizes the expected error of the
 * matrix (Schaefer and Strimmer 2005). The caller frees it. */
static double *
correlate(const struct tally_outlier *items, uint32_t n, uint32_t n_parts)
{
	double *r = g_new0(double, (size_t)n * n), *z = standardize(items, n, n_parts);
	double chance = 0, all = 0;
	for (uint32_t j = 0; j < n; j++) {
		for (uint32_t k = 0; k < j; k++) {
			double sum = 0, squares = 0;
			for (uint32_t i = 0; i < n_parts; i++) {
				double product = z[j * n_parts + i] * z[k * n_parts + i];
				sum += product;
				squares += product * product;
			}
			double mean = sum / n_parts;
			chance += (squares / n_parts - mean * mean) / (n_parts - 1);
			all += mean * mean;
			r[j * n + k] = r[k * n + j] = mean;
		}
	}
	g_free(z);
	double shrinkage = all > 0 ? CLAMP(chance / all, LEAST_SHRINKAGE, 1) : 1;
	for (uint32_t i = 0; i < n * n; i++)
		r[i] = i % (n + 1) == 0 ? 1 : r[i] * (1 - shrinkage);
	return r;
}

/* Gauss and Jordan's step at the diagonal element k: over all k it inverts the matrix. */
static void
sweep(double *m, uint32_t n, uint32_t k)
{
	double pivot = m[k * n + k];
	for (uint32_t i = 0; i < n; i++) {
		double factor = m[i * n + k] / pivot;
		for (uint32_t j = 0; j < n && i != k; j++)
			if (j != k)
				m[i * n + j] -= factor * m[k * n + j];
		if (i != k)
			m[i * n + k] = -factor;
	}
	for (uint32_t j = 0; j < n; j++)
		m[k * n + j] = j == k ? 1 / pivot : m[k * n + j] / pivot;
}

/* The changes in units of their errors, and the inverse of their correlations; NULL = none is
 * correlated. */
struct field {
	struct tally_outlier *items;
	double *u, *inverse, *z;
	bool *taken;
	uint32_t n;
};

/* For each remaining change: the part that the others do not predict; returns how much more
 * these scatter than their errors predict, at least 1. */
static double
predict(struct field *f)
{
	g_autofree double *sizes = g_new(double, f->n);
	uint32_t left = 0;
	for (uint32_t k = 0; k < f->n; k++) {
		if (f->taken[k])
			continue;
		double sum = f->inverse ? 0 : f->u[k];
		for (uint32_t j = 0; f->inverse && j < f->n; j++)
			if (!f->taken[j])
				sum += f->inverse[k * f->n + j] * f->u[j];
		f->z[k] = sum / sqrt(f->inverse ? f->inverse[k * f->n + k] : 1);
		sizes[left++] = f->z[k];
	}
	double found = left ? MAD_TO_SD * median_size(sizes, left) : 1;
	return MAX(found, 1);
}

static void
settle(struct field *f, uint32_t k, double excess)
{
	struct tally_outlier *o = &f->items[k];
	double size = sqrt(f->inverse ? f->inverse[k * f->n + k] : 1);
	o->se = o->se * excess / size;
	o->shift = o->se * f->z[k] / excess;
	/* The scatter is estimated from no more than n values. */
	if (excess > 1)
		o->df = MIN(o->df, MAX(f->n - 1, 1));
	o->p = tally_student_tail(fabs(f->z[k]) / excess, o->df);
	f->taken[k] = true;
}

void
tally_outliers_judge(struct tally_outlier *items, uint32_t n, uint32_t n_parts, double level)
{
	struct field f = { .items = items, .n = n, .u = g_new(double, n), .z = g_new(double, n) };
	f.taken = g_new0(bool, n);
	for (uint32_t k = 0; k < n; k++)
		f.u[k] = items[k].shift / items[k].se;
	if (n <= MOST_CORRELATED && n_parts > 2) {
		f.inverse = correlate(items, n, n_parts);
		for (uint32_t k = 0; k < n; k++)
			sweep(f.inverse, n, k);
	}
	/* No more than half: otherwise most have changed, and there is no reference left. */
	double excess = predict(&f);
	for (uint32_t left = n; left > n / 2; left--, excess = predict(&f)) {
		uint32_t most = n;
		for (uint32_t k = 0; k < n; k++)
			if (!f.taken[k] && (most == n || fabs(f.z[k]) > fabs(f.z[most])))
				most = k;
		double p = tally_student_tail(fabs(f.z[most]) / excess, items[most].df);
		if (p * left > level)
			break;
		settle(&f, most, excess);
		/* Removes it from the inverse: the others are predicted without it. */
		if (f.inverse)
			sweep(f.inverse, n, most);
	}
	for (uint32_t k = 0; k < n; k++)
		if (!f.taken[k])
			settle(&f, k, excess);
	g_free(f.u);
	g_free(f.z);
	g_free(f.inverse);
	g_free(f.taken);
}
