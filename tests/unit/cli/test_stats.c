/* SPDX-License-Identifier: MIT */
#include "cli/log/stats.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const struct {
	const char *what;
	double values[8];
	unsigned n;
	double mean, sd, p50, p90, p99;
} series_cases[] = {
	{ "one value", { 7 }, 1, 7, NAN, 7, 7, 7 },
	{ "two values: the lower is the median", { 9, 3 }, 2, 6, 4.242640687119285, 3, 9, 9 },
	{ "equal values", { 4, 4, 4 }, 3, 4, 0, 4, 4, 4 },
	{ "unsorted", { 5, 1, 4, 2, 3 }, 5, 3, 1.5811388300841898, 3, 5, 5 },
	{ "an even number", { 1, 2, 3, 4 }, 4, 2.5, 1.2909944487358056, 2, 4, 4 },
};

static void
check_series(struct tally_stats *s, size_t i)
{
	g_assert_cmpuint(s->moments.n, ==, series_cases[i].n);
	g_assert_cmpfloat(tally_moments_mean(&s->moments), ==, series_cases[i].mean);
	if (s->moments.n > 1)
		g_assert_cmpfloat_with_epsilon(tally_moments_sd_sample(&s->moments),
					       series_cases[i].sd, 1e-15);
	g_assert_cmpfloat(tally_value_f64(tally_stats_quantile(s, 0.50)), ==, series_cases[i].p50);
	g_assert_cmpfloat(tally_value_f64(tally_stats_quantile(s, 0.90)), ==, series_cases[i].p90);
	g_assert_cmpfloat(tally_value_f64(tally_stats_quantile(s, 0.99)), ==, series_cases[i].p99);
	g_assert_true(tally_stats_exact(s));
}

static void
test_series(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(series_cases); i++) {
		struct tally_stats integers, floats;
		tally_stats_init(&integers, TALLY_STATS_KEEP_PASS);
		tally_stats_init(&floats, TALLY_STATS_KEEP_PASS);
		for (unsigned k = 0; k < series_cases[i].n; k++) {
			tally_stats_add_u64(&integers, (uint64_t)series_cases[i].values[k]);
			tally_stats_add(&floats, tally_f64(series_cases[i].values[k]));
		}
		g_test_message("%s", series_cases[i].what);
		check_series(&integers, i);
		check_series(&floats, i);
		g_assert_cmpint(integers.moments.storage, ==, TALLY_STORAGE_U64);
		g_assert_cmpint(floats.moments.storage, ==, TALLY_STORAGE_F64);
		tally_stats_finish(&integers);
		tally_stats_finish(&floats);
	}
}

/* The deviation of large, close values must not be lost in their squares. */
static void
test_cancellation(void)
{
	struct tally_stats s;
	tally_stats_init(&s, TALLY_STATS_KEEP_PASS);
	for (unsigned i = 0; i < 1000; i++)
		tally_stats_add_u64(&s, UINT64_C(4000000000000000000) + i % 2);
	g_assert_cmpfloat_with_epsilon(tally_moments_sd_sample(&s.moments), 0.5002501876563868,
				       1e-15);
	char text[TALLY_INT192_DIGITS];
	tally_int192_print(&s.moments.sum, text);
	g_assert_cmpstr(text, ==, "4000000000000000000500");
	g_assert_cmpuint(tally_stats_quantile(&s, 0.5).u64, ==, UINT64_C(4000000000000000000));
	tally_stats_finish(&s);
}

static void
test_mixed_storages(void)
{
	struct tally_stats s;
	tally_stats_init(&s, TALLY_STATS_KEEP_PASS);
	tally_stats_add_u64(&s, UINT64_MAX);
	tally_stats_add(&s, (struct tally_value){ .storage = TALLY_STORAGE_I64, .i64 = -3 });
	g_assert_cmpint(s.moments.storage, ==, TALLY_STORAGE_I64);
	g_assert_cmpint(s.moments.min.i64, ==, -3);
	g_assert_cmpuint(s.moments.max.u64, ==, UINT64_MAX);
	tally_stats_add(&s, tally_f64(0.5));
	tally_stats_add(&s, tally_f64(NAN));
	tally_stats_add(&s, tally_f64(INFINITY));
	g_assert_cmpuint(s.moments.n, ==, 3);
	g_assert_cmpint(s.moments.storage, ==, TALLY_STORAGE_F64);
	g_assert_cmpfloat(tally_value_f64(tally_stats_quantile(&s, 0.5)), ==, 0.5);
	tally_stats_finish(&s);
}

static int
compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void
check_ascending(void *user, double value, uint64_t count)
{
	double *last = user;
	g_assert_cmpfloat(value, >, *last);
	g_assert_cmpuint(count, >, 0);
	*last = value;
}

/* The function that walks the distribution, compared with the sorted values. */
static void
check_visits(struct tally_stats *s, const uint64_t *values, size_t n)
{
	static const size_t largest[] = { 1, 7, 200, 2000 };
	double last = -1;
	tally_stats_visit(s, check_ascending, &last);
	for (size_t i = 0; i < G_N_ELEMENTS(largest); i++) {
		double sum = 0;
		for (size_t k = n - largest[i]; k < n; k++)
			sum += (double)values[k];
		double want = sum / (double)largest[i];
		double got = tally_stats_mean_of_largest(s, largest[i]);
		g_assert_cmpfloat(fabs(got - want), <=, want / 1000);
	}
	g_assert_cmpuint(tally_stats_count_between(s, 0, 1e20), ==, n);
	g_assert_cmpuint(tally_stats_count_between(s, 1e20, 1e21), ==, 0);
	size_t low = 0;
	double middle = (double)values[n / 2];
	while (low < n && (double)values[low] < 0.9 * middle)
		low++;
	/* Values near the boundaries may fall into a neighboring bucket. */
	double got = (double)tally_stats_count_between(s, 0, 0.9 * middle);
	g_assert_cmpfloat(fabs(got - (double)low), <=, 0.01 * (double)n);
}

/* Beyond `keep` values, quantiles stay within 0.1 % of the true ones, for any values. */
static void
check_sketch(unsigned shape)
{
	enum { N = 20000 };
	uint64_t *values = g_new(uint64_t, N);
	GRand *rand = g_rand_new_with_seed(42 + shape);
	struct tally_stats s;
	tally_stats_init(&s, 1024);
	for (unsigned i = 0; i < N; i++) {
		uint64_t r = g_rand_int(rand);
		values[i] = shape == 0   ? 1000000 + r % 5000000 /* frame times */
			    : shape == 1 ? r % 600 /* few values: exact */
			    : shape == 2 ? r << (r % 31) /* all magnitudes */
					 : (uint64_t)i * 997; /* in order */
		tally_stats_add_u64(&s, values[i]);
	}
	qsort(values, N, sizeof(*values), compare_u64);
	static const double quantiles[] = { 0.001, 0.5, 0.9, 0.99, 0.9999 };
	for (size_t q = 0; q < G_N_ELEMENTS(quantiles); q++) {
		double want = (double)values[(size_t)ceil(quantiles[q] * N - 1e-9) - 1];
		double got = tally_value_f64(tally_stats_quantile(&s, quantiles[q]));
		g_assert_cmpfloat(fabs(got - want), <=, want / 1000);
		if (shape == 1)
			g_assert_cmpfloat(got, ==, want);
	}
	g_assert_cmpuint(tally_stats_quantile(&s, 0).u64, ==, values[0]);
	g_assert_cmpuint(tally_stats_quantile(&s, 1).u64, ==, values[N - 1]);
	g_assert_cmpuint(s.n_runs, <=, 32768);
	check_visits(&s, values, N);
	tally_stats_finish(&s);
	g_rand_free(rand);
	g_free(values);
}

static void
test_sketch(void)
{
	for (unsigned shape = 0; shape < 4; shape++)
		check_sketch(shape);
}

/* Negative and tiny numbers have buckets too, and the number of buckets is limited. */
static void
test_sketch_bounds(void)
{
	struct tally_stats s;
	tally_stats_init(&s, 16);
	for (int i = -300; i < 300; i += 2)
		for (unsigned k = 0; k < 60; k++)
			tally_stats_add(&s,
					tally_f64((k % 2 ? -1 : 1) * pow(10, i) * (1 + k / 100.0)));
	g_assert_false(tally_stats_exact(&s));
	g_assert_cmpuint(s.n_runs, <=, 32768);
	double low = tally_value_f64(tally_stats_quantile(&s, 0.25));
	double middle = tally_value_f64(tally_stats_quantile(&s, 0.5));
	double high = tally_value_f64(tally_stats_quantile(&s, 0.75));
	g_assert_cmpfloat(low, <, middle);
	g_assert_cmpfloat(middle, <, high);
	g_assert_cmpfloat(low, <, 0);
	g_assert_cmpfloat(high, >, 0);
	g_assert_cmpfloat(fabs(middle), <, 1e-290);
	tally_stats_finish(&s);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stats/series", test_series);
	g_test_add_func("/stats/cancellation", test_cancellation);
	g_test_add_func("/stats/mixed-storages", test_mixed_storages);
	g_test_add_func("/stats/sketch", test_sketch);
	g_test_add_func("/stats/sketch-bounds", test_sketch_bounds);
	return g_test_run();
}
