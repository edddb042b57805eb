/* SPDX-License-Identifier: MIT */
#include "cli/compare/bootstrap.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>

#define N 20
#define PARTS 24
#define LEVEL 0.01

/* The first six move together; the others move independently. A wave of another period is
 * independent. */
static double
deviation(unsigned item, unsigned part)
{
	unsigned period = item < 6 ? 1 : item;
	double own = 0.1 * sin(7.0 * (item + 1) * (part + 1));
	return 0.05 * (cos(2 * G_PI * period * part / PARTS + 0.3 * period) + own);
}

/* Changes: the shift that all have in common, and 0.15 more for the item that is slower (-1:
 * none). */
static const struct {
	const char *what;
	double together;
	int slower;
	double found; /* the value found, within 0.04 */
} cases[] = {
	{ "nothing", 0, -1, 0 },
	{ "what moves together did", 0.15, -1, 0 },
	{ "one of them besides", 0.15, 2, 0.15 },
	{ "one of them, they did not", 0, 5, 0.15 },
	{ "another one", 0.15, 12, 0.15 },
};

static void
test_table(void)
{
	static double deviations[N][PARTS];
	for (unsigned k = 0; k < N; k++)
		for (unsigned i = 0; i < PARTS; i++)
			deviations[k][i] = deviation(k, i);
	for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
		g_test_message("%s", cases[c].what);
		struct tally_outlier items[N];
		for (int k = 0; k < N; k++) {
			/* Small changes of both signs, as they occur by chance. */
			double shift = 0.004 * (k % 5 - 2) + (k < 6 ? cases[c].together : 0);
			items[k] = (struct tally_outlier){
				.shift = shift + 0.15 * (k == cases[c].slower),
				.se = k < 6 ? 0.04 : 0.01,
				.df = 20,
				.deviations = deviations[k],
			};
		}
		tally_outliers_judge(items, N, PARTS, LEVEL);
		for (int k = 0; k < N; k++) {
			bool slower = k == cases[c].slower;
			g_test_message("%d: %g, p %g", k, items[k].shift, items[k].p);
			g_assert_cmpint(items[k].p < LEVEL / N, ==, slower);
			if (slower)
				g_assert_cmpfloat_with_epsilon(items[k].shift,
							       cases[c].found, 0.04);
		}
	}
}

/* More than a matrix is made for, and a single one. */
static void
test_sizes(void)
{
	static const double still[3] = { 0 };
	static struct tally_outlier many[300];
	for (unsigned k = 0; k < G_N_ELEMENTS(many); k++)
		many[k] = (struct tally_outlier){ (k % 3) - 1.0, 1, 20, 0, still };
	many[7].shift = 30;
	tally_outliers_judge(many, G_N_ELEMENTS(many), 3, LEVEL);
	for (unsigned k = 0; k < G_N_ELEMENTS(many); k++)
		g_assert_cmpint(many[k].p < LEVEL / G_N_ELEMENTS(many), ==, k == 7);
	struct tally_outlier one = { 0.5, 1, 20, 0, still };
	tally_outliers_judge(&one, 1, 3, LEVEL);
	g_assert_cmpfloat(one.p, >, 0.5);
}

/* An error that was too small, computed from six parts, comes closer to that of the others. */
static void
test_moderate(void)
{
	static double deviations[N][PARTS];
	struct tally_outlier items[N];
	for (unsigned k = 0; k < N; k++) {
		for (unsigned i = 0; i < PARTS; i++)
			deviations[k][i] = (k + 1) * (i % 2 ? 0.01 : -0.01);
		items[k] = (struct tally_outlier){ 0, 0.005 * (k + 1), 20, 0, deviations[k] };
	}
	items[9].se /= 10;
	tally_outliers_moderate(items, N, PARTS);
	g_assert_cmpfloat(items[9].se, >, 0.02);
	g_assert_cmpfloat(items[9].se, <, 0.05);
	g_assert_cmpfloat_with_epsilon(items[4].se, 0.025, 0.005);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/outliers/table", test_table);
	g_test_add_func("/outliers/sizes", test_sizes);
	g_test_add_func("/outliers/moderate", test_moderate);
	return g_test_run();
}
