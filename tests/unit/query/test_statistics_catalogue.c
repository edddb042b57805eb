/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "query/source/statistics_catalogue.h"

static void
test_texts(void)
{
	for (int i = 0; i < TALLY_N_STATISTICS; i++) {
		const struct tally_statistic_info *info = &tally_statistics[i];
		g_assert_nonnull(info->key);
		for (const char *at = info->key; *at; at++)
			g_assert_true(g_ascii_islower(*at) || *at == '_');
		g_assert_cmpuint(strlen(info->name), >, 5);
		g_assert_cmpuint(strlen(info->description), >, 40);
		g_assert_true(g_str_has_suffix(info->description, "."));
		for (int k = 0; k < i; k++)
			g_assert_cmpstr(info->key, !=, tally_statistics[k].key);
	}
}

static const struct {
	const char *list;
	uint32_t want;
} wanted_cases[] = {
	{ NULL, 1u << 1 | 1u << 2 | 1u << 7 | 1u << 8 },
	{ "overview", 1u << 1 | 1u << 2 | 1u << 7 | 1u << 8 },
	{ "all", (1u << TALLY_N_STATISTICS) - 1 },
	{ "samples_passed", 1u << TALLY_STATISTIC_SAMPLES_PASSED },
	{ "overview+samples_passed", 1u << 1 | 1u << 2 | 1u << 7 | 1u << 8 | 1u << 11 },
	{ "geometry_*", 1u << 5 | 1u << 6 },
	{ "SAMPLES PASSED", 1u << TALLY_STATISTIC_SAMPLES_PASSED },
	{ "nothing_of_ours", 0 },
	{ "overviews", 0 },
};

static void
test_wanted(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(wanted_cases); i++) {
		uint32_t got = 0;
		for (unsigned k = 0; k < TALLY_N_STATISTICS; k++)
			got |= (uint32_t)tally_statistics_wanted(wanted_cases[i].list, k) << k;
		g_test_message("list %s",
			       wanted_cases[i].list ? wanted_cases[i].list : "(none)");
		g_assert_cmphex(got, ==, wanted_cases[i].want);
	}
}

static void
test_counter(void)
{
	const struct tally_counter *c =
		tally_statistics_counter(TALLY_STATISTIC_SAMPLES_PASSED, "gl-statistics", 64);
	char copy[] = "gl-statistics";

	g_assert_cmpstr(c->key, ==, "samples_passed");
	g_assert_cmpstr(c->unit, ==, "1");
	g_assert_cmpint(c->kind, ==, TALLY_KIND_EVENT);
	g_assert_cmpint(c->storage, ==, TALLY_STORAGE_U64);
	g_assert_cmpint(c->scope, ==, TALLY_SCOPE_PASS);
	g_assert_cmpuint(c->width_bits, ==, 64);
	g_assert_true(c == tally_statistics_counter(TALLY_STATISTIC_SAMPLES_PASSED, copy, 64));
	g_assert_true(c != tally_statistics_counter(TALLY_STATISTIC_SAMPLES_PASSED, copy, 32));
	const struct tally_counter *other =
		tally_statistics_counter(TALLY_STATISTIC_SAMPLES_PASSED, "vk-statistics", 64);
	g_assert_true(c != other);
}

static gpointer
ask_for_all(gpointer found)
{
	for (unsigned i = 0; i < TALLY_N_STATISTICS; i++)
		((const struct tally_counter **)found)[i] = tally_statistics_counter(
			i, "race", 48);
	return NULL;
}

static void
test_threads(void)
{
	const struct tally_counter *found[4][TALLY_N_STATISTICS];
	GThread *threads[4];

	for (int i = 0; i < 4; i++)
		threads[i] = g_thread_new("ask", ask_for_all, found[i]);
	for (int i = 0; i < 4; i++)
		g_thread_join(threads[i]);
	for (int i = 1; i < 4; i++)
		g_assert_cmpmem(found[0], sizeof(found[0]), found[i], sizeof(found[i]));
}

#define BIT(which) (1u << TALLY_STATISTIC_##which)
#define NOT_A_STATISTIC TALLY_N_STATISTICS

static const struct {
	const char *what;
	uint64_t valid; /* bits of enum tally_statistic, and the counter after them */
	int not_zero; /* -1: all are 0 */
	uint64_t left;
} zero_cases[] = {
	{ "nothing valid", 0, -1, 0 },
	{ "a draw raises these", BIT(PRIMITIVES_SUBMITTED) | BIT(SAMPLES_PASSED), -1, 0 },
	{ "one of them not 0", BIT(PRIMITIVES_SUBMITTED) | BIT(SAMPLES_PASSED),
	  TALLY_STATISTIC_PRIMITIVES_SUBMITTED, BIT(PRIMITIVES_SUBMITTED) | BIT(SAMPLES_PASSED) },
	{ "a broken counter beside one that counts",
	  BIT(VERTICES_SUBMITTED) | BIT(VERTEX_SHADER_INVOCATIONS),
	  TALLY_STATISTIC_VERTEX_SHADER_INVOCATIONS,
	  BIT(VERTICES_SUBMITTED) | BIT(VERTEX_SHADER_INVOCATIONS) },
	{ "nothing may pass the tests", BIT(SAMPLES_PASSED), -1, BIT(SAMPLES_PASSED) },
	{ "one that is not valid does not count", BIT(SAMPLES_PASSED),
	  TALLY_STATISTIC_VERTICES_SUBMITTED, BIT(SAMPLES_PASSED) },
	{ "counters of other sources stay", BIT(VERTICES_SUBMITTED) | 1u << NOT_A_STATISTIC,
	  NOT_A_STATISTIC, 1u << NOT_A_STATISTIC },
};

static void
test_zeros(void)
{
	static const struct tally_counter other = { .key = "samples_passed", .source = "other" };
	const struct tally_counter *counters[TALLY_N_STATISTICS + 1];
	for (unsigned i = 0; i < TALLY_N_STATISTICS; i++)
		counters[i] = tally_statistics_counter(i, "gl-statistics", 64);
	counters[NOT_A_STATISTIC] = &other;
	for (size_t i = 0; i < G_N_ELEMENTS(zero_cases); i++) {
		struct tally_value values[TALLY_N_STATISTICS + 1] = { 0 };
		uint64_t valid = zero_cases[i].valid;
		g_test_message("%s", zero_cases[i].what);
		if (zero_cases[i].not_zero >= 0)
			values[zero_cases[i].not_zero].u64 = 7;
		bool refuted = tally_statistics_refute_zeros(
			"gl-statistics", counters, G_N_ELEMENTS(counters), values, &valid);
		g_assert_cmphex(valid, ==, zero_cases[i].left);
		g_assert_cmpint(refuted, ==, zero_cases[i].left != zero_cases[i].valid);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/statistics-catalogue/texts", test_texts);
	g_test_add_func("/statistics-catalogue/wanted", test_wanted);
	g_test_add_func("/statistics-catalogue/counter", test_counter);
	g_test_add_func("/statistics-catalogue/threads", test_threads);
	g_test_add_func("/statistics-catalogue/zeros", test_zeros);
	return g_test_run();
}
