/* SPDX-License-Identifier: MIT */
#include "cli/compare/series.h"

#include <glib.h>
#include <string.h>

static void
fill(struct tally_compare_values *s, double first, double step, unsigned n)
{
	*s = (struct tally_compare_values){ 0 };
	for (unsigned i = 0; i < n; i++)
		tally_compare_values_add(s, (struct tally_value){ .storage = TALLY_STORAGE_F64,
								  .f64 = first + step * i });
}

static const struct {
	const char *what;
	unsigned n;
	uint32_t points;
	uint64_t stride;
} growth_cases[] = {
	{ "nothing", 0, 0, 0 },
	{ "one", 1, 1, 1 },
	{ "just full", 2048, 2048, 1 },
	{ "one more waits for its neighbour", 2049, 1024, 2 },
	{ "and has it", 2050, 1025, 2 },
	{ "full again", 4096, 2048, 2 },
	{ "four to a point", 4100, 1025, 4 },
	{ "a long run", 1000000, 1953, 512 },
};

static void
test_growth(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(growth_cases); i++) {
		struct tally_compare_values s;
		const struct tally_compare_values *list[] = { &s };
		uint32_t n;
		g_test_message("%s", growth_cases[i].what);
		fill(&s, 5, 2, growth_cases[i].n);
		g_assert_cmpuint(s.n, ==, growth_cases[i].points);
		g_assert_cmpuint(s.stride, ==, growth_cases[i].stride);
		g_assert_cmpuint(s.moments.n, ==, growth_cases[i].n);
		double *points = tally_compare_values_join(list, 1, &n);
		g_assert_cmpuint(n, ==, growth_cases[i].points);
		double stride = (double)growth_cases[i].stride;
		for (uint32_t k = 0; k < n; k++) {
			/* The mean of a stride of equal steps lies in the middle of the
			 * stride. */
			double want = 5 + 2 * (k * stride + (stride - 1) / 2);
			g_assert_cmpfloat_with_epsilon(points[k], want, 1e-6 * want);
		}
		g_free(points);
		tally_compare_values_finish(&s);
	}
}

/* Small changes of large numbers matter: a float of the number itself would not hold them. */
static void
test_large_values(void)
{
	struct tally_compare_values s;
	const struct tally_compare_values *list[] = { &s };
	uint32_t n;
	fill(&s, 9007199254740000.0, 1, 500);
	double *points = tally_compare_values_join(list, 1, &n);
	for (uint32_t k = 0; k < n; k++)
		g_assert_cmpfloat(points[k], ==, 9007199254740000.0 + k);
	g_free(points);
	tally_compare_values_finish(&s);
}

static void
test_join(void)
{
	struct tally_compare_values a, b, none;
	const struct tally_compare_values *list[] = { &a, &none, &b };
	uint32_t n;
	fill(&a, 1000, 0, 5);
	fill(&none, 0, 0, 0);
	fill(&b, 0, 1, 4096); /* two to a point */
	double *points = tally_compare_values_join(list, 3, &n);
	g_assert_cmpuint(n, ==, 2 + 2048); /* the fifth of a has no neighbor */
	g_assert_cmpfloat(points[1], ==, 1000);
	g_assert_cmpfloat(points[2], ==, 0.5);
	g_assert_cmpfloat(points[n - 1], ==, 4094.5);
	g_free(points);
	tally_compare_values_finish(&a);
	tally_compare_values_finish(&b);
	tally_compare_values_finish(&none);
}

static void
test_filter(void)
{
	struct tally_compare_filter filter = { 0 };
	g_assert_true(tally_compare_wants(&filter, "anything"));
	filter.patterns = g_ptr_array_new();
	g_ptr_array_add(filter.patterns, (gpointer)"gpu_*");
	g_ptr_array_add(filter.patterns, (gpointer)"draws");
	g_assert_true(tally_compare_wants(&filter, "gpu_ns"));
	g_assert_true(tally_compare_wants(&filter, "draws"));
	g_assert_false(tally_compare_wants(&filter, "cpu_ns"));
	g_ptr_array_unref(filter.patterns);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/compare-series/growth", test_growth);
	g_test_add_func("/compare-series/large-values", test_large_values);
	g_test_add_func("/compare-series/join", test_join);
	g_test_add_func("/compare-series/filter", test_filter);
	return g_test_run();
}
