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
		uint32_t n;
		g_test_message("%s", growth_cases[i].what);
		fill(&s, 5, 2, growth_cases[i].n);
		g_assert_cmpuint(s.points.block, ==, growth_cases[i].stride);
		g_assert_cmpuint(s.moments.n, ==, growth_cases[i].n);
		double *points = tally_compare_values_part(&s, 0, 1, &n);
		g_assert_cmpuint(n, ==, growth_cases[i].points);
		double stride = (double)growth_cases[i].stride;
		for (uint32_t k = 0; k < n; k++) {
			/* The mean of a stride of equal steps lies in the middle of the
			 * stride. */
			double want = 5 + 2 * (k * stride + (stride - 1) / 2);
			g_assert_cmpfloat_with_epsilon(points[k], want, 1e-5 * want);
		}
		g_free(points);
		tally_course_finish(&s.points);
	}
}

/* Small changes of large numbers matter: a float of the number itself would not hold them. */
static void
test_large_values(void)
{
	struct tally_compare_values s;
	uint32_t n;
	fill(&s, 9007199254740000.0, 1, 500);
	double *points = tally_compare_values_part(&s, 0, 1, &n);
	for (uint32_t k = 0; k < n; k++)
		g_assert_cmpfloat(points[k], ==, 9007199254740000.0 + k);
	g_free(points);
	tally_course_finish(&s.points);
}

static void
test_parts(void)
{
	struct tally_compare_values s;
	uint32_t n, all = 0;
	fill(&s, 0, 1, 4100); /* four to a point: 1025 of them */
	for (uint32_t part = 0; part < 8; part++) {
		double *points = tally_compare_values_part(&s, part, 8, &n);
		g_assert_cmpuint(n, ==, part < 7 ? 128 : 129);
		g_assert_cmpfloat(points[0], ==, 4 * all + 1.5);
		all += n;
		g_free(points);
	}
	g_assert_cmpuint(all, ==, 1025);
	tally_course_finish(&s.points);
}

static void
test_filter(void)
{
	struct tally_compare_filter filter = { 0 };
	g_assert_true(tally_compare_wants(&filter, "anything"));
	filter.patterns = g_ptr_array_new();
	g_ptr_array_add(filter.patterns, (gpointer) "gpu_*");
	g_ptr_array_add(filter.patterns, (gpointer) "draws");
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
	g_test_add_func("/compare-series/parts", test_parts);
	g_test_add_func("/compare-series/filter", test_filter);
	return g_test_run();
}
