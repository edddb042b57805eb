/* SPDX-License-Identifier: MIT */
#include "cli/compare/means.h"
#include "cli/shared/sort.h"

#include <glib.h>
#include <math.h>

/* Reference values: incomplete beta functions to 30 digits. */
static const struct {
	double t, df, p;
} student_cases[] = {
	{ 0, 3, 1 },
	{ 1, 1, 0.5 },
	{ 2.228138851964939, 10, 0.0500000000018086 },
	{ 4, 3.5, 0.0209206163654037 },
	{ 20, 5, 5.77551637322417e-6 },
	{ 1.96, 1e6, 0.0499960675852697 },
	{ 8, 80, 8.08793818139458e-12 },
	{ 0.1, 2, 0.929465438414140 },
	{ 6, 8, 0.000323393221885149 },
};

static void
test_student(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(student_cases); i++) {
		double t = student_cases[i].t, df = student_cases[i].df, p = student_cases[i].p;
		g_test_message("t %g, df %g", t, df);
		g_assert_cmpfloat_with_epsilon(tally_student_tail(t, df) / p, 1, 1e-8);
		if (t > 0)
			g_assert_cmpfloat_with_epsilon(tally_student_quantile(p, df) / t, 1, 1e-8);
	}
}

static void
test_holm(void)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 };
	const double want[] = { 0.03, 0.06, 0.06, 0.02 };
	tally_holm_adjust(p, G_N_ELEMENTS(p));
	for (size_t i = 0; i < G_N_ELEMENTS(p); i++)
		g_assert_cmpfloat_with_epsilon(p[i], want[i], 1e-15);
	double large[] = { 0.9, 0.6, 0 };
	tally_holm_adjust(large, G_N_ELEMENTS(large));
	g_assert_cmpfloat(large[0], ==, 1);
	g_assert_cmpfloat(large[1], ==, 1);
	g_assert_cmpfloat(large[2], ==, 0);
	tally_holm_adjust(NULL, 0);
}

static struct tally_means
compare(const double *a, uint32_t n_a, const double *b, uint32_t n_b, double least_se)
{
	const struct tally_means_side x = { a, n_a, 0 }, y = { b, n_b, least_se };
	struct tally_means r;
	tally_means_compare(&x, &y, 0.99, &r);
	return r;
}

/* Reference values by hand: Welch's test. */
static void
test_welch(void)
{
	const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0 }, b[] = { 27.1, 22.0, 20.8, 23.4, 40.5 };
	double mean_a = 21.62, mean_b = 26.76, ss_a = 0, ss_b = 0;
	for (unsigned i = 0; i < 5; i++) {
		ss_a += (a[i] - mean_a) * (a[i] - mean_a) / 20;
		ss_b += (b[i] - mean_b) * (b[i] - mean_b) / 20;
	}
	struct tally_means r = compare(a, 5, b, 5, 0);
	double df = (ss_a + ss_b) * (ss_a + ss_b) / (ss_a * ss_a / 4 + ss_b * ss_b / 4);
	double t = (mean_b - mean_a) / sqrt(ss_a + ss_b);
	g_assert_cmpfloat_with_epsilon(r.difference, mean_b - mean_a, 1e-9);
	g_assert_cmpfloat_with_epsilon(r.se, sqrt(ss_a + ss_b), 1e-9);
	g_assert_cmpfloat_with_epsilon(r.df, df, 1e-9);
	g_assert_cmpfloat_with_epsilon(r.p, tally_student_tail(t, df), 1e-9);
	g_assert_cmpfloat_with_epsilon(r.reach, r.se * tally_student_quantile(0.01, df), 1e-9);
	/* Sides exchanged: the sign changes too. A side does not differ from itself. */
	g_assert_cmpfloat_with_epsilon(compare(b, 5, a, 5, 0).difference, -r.difference, 1e-9);
	g_assert_cmpfloat(compare(a, 5, a, 5, 0).p, ==, 1);
}

static void
test_constants(void)
{
	const double a[] = { 3, 3, 3, 3 }, b[] = { 4, 4, 4, 4 }, c[] = { 4, 40, 4, 4 };
	struct tally_means r = compare(a, 4, b, 4, 0);
	g_assert_cmpfloat(r.p, ==, 0);
	g_assert_cmpfloat(r.reach, ==, 0);
	g_assert_cmpfloat(r.difference, ==, 1);
	/* One side that varies is enough for an error, and so is an error that is known. */
	g_assert_cmpfloat(compare(a, 4, c, 4, 0).p, >, 0.01);
	r = compare(a, 4, b, 4, 0.5);
	g_assert_cmpfloat_with_epsilon(r.se, 0.5, 1e-12);
	g_assert_cmpfloat_with_epsilon(r.p, 0.0455, 1e-4);
	double one[] = { 5 }, odd[] = { 9, 1, 5 };
	g_assert_cmpfloat(tally_median(one, 1), ==, 5);
	g_assert_cmpfloat(tally_median(odd, 3), ==, 5);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/means/student", test_student);
	g_test_add_func("/means/holm", test_holm);
	g_test_add_func("/means/welch", test_welch);
	g_test_add_func("/means/constants", test_constants);
	return g_test_run();
}
