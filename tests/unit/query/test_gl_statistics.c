/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "query/source/statistics_catalogue.h"
#include "tests/fake_gl/fake_gl_api.h"

#define BIT(which) (1u << TALLY_STATISTIC_##which)
#define OVERVIEW                                                                                   \
	(BIT(PRIMITIVES_SUBMITTED) | BIT(VERTEX_SHADER_INVOCATIONS) |                              \
	 BIT(FRAGMENT_SHADER_INVOCATIONS) | BIT(COMPUTE_SHADER_INVOCATIONS))
#define ALL (BIT(TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN) * 2 - 1)
#define STAGES                                                                                     \
	(BIT(TESS_CONTROL_SHADER_PATCHES) | BIT(TESS_EVALUATION_SHADER_INVOCATIONS) |              \
	 BIT(GEOMETRY_SHADER_INVOCATIONS) | BIT(GEOMETRY_SHADER_PRIMITIVES_EMITTED) |              \
	 BIT(COMPUTE_SHADER_INVOCATIONS))
#define ARB " GL_ARB_pipeline_statistics_query "

static struct tally_value values[TALLY_N_STATISTICS];
static uint64_t valid;

static enum tally_status
read_slot(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	valid = 0;
	*out = (struct tally_sample){ .values = values, .valid = &valid, .n = src->n_counters };
	return src->ops->read(src, slot, out);
}

static void
finish(struct fake_gl *f, struct tally_source *src)
{
	src->ops->close(src);
	tally_source_destroy(src);
	g_assert_cmpuint(f->n_names, ==, 0);
	for (int i = 0; i < FAKE_GL_N_COUNTERS; i++)
		g_assert_true(f->active[i] == 0 || f->active[i] == UINT32_MAX);
	g_assert_cmpstr(f->last_misuse, ==, "");
	g_assert_cmpuint(f->misuse, ==, 0);
	g_assert_cmpuint(f->stalls, ==, 0);
	fake_gl_finish(f);
}

static struct tally_source *
open_source(struct fake_gl *f, const char *wanted)
{
	struct tally_source *src = tally_gl_statistics_create(&f->api);

	src->wanted = wanted;
	g_assert_cmpint(src->ops->open(src, 4), ==, TALLY_OK);
	src->wanted = NULL;
	return src;
}

static const struct {
	const char *what;
	bool es;
	int version;
	const char *extensions;
	const char *wanted;
	uint32_t want;      /* counters; 0 = the source is off */
	const char *reason; /* a part of it, "" = none */
} open_cases[] = {
	{ "GL 4.6", false, 46, " ", NULL, OVERVIEW, "" },
	{ "GL 4.6, all", false, 46, " ", "all", ALL, "" },
	{ "GL 4.5 with the extension", false, 45, ARB, "overview", OVERVIEW, "" },
	{ "GL 3.1 with it has few stages", false, 31, ARB, "all", ALL & ~STAGES,
	  "compute_shader_invocations (needs GL 4.3)" },
	{ "GL 3.1 with it and compute", false, 31, ARB " GL_ARB_compute_shader ", NULL,
	  OVERVIEW, "" },
	{ "GL 4.5 without", false, 45, " ", NULL, 0,
	  "primitives_submitted, vertex_shader_invocations and 2 more (needs desktop GL "
	  "4.6" },
	{ "GL 4.5 without, all", false, 45, " ", "all",
	  BIT(SAMPLES_PASSED) | BIT(PRIMITIVES_GENERATED) |
		  BIT(TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN),
	  "not counted here: " },
	{ "GL 1.5", false, 15, " ", "all", BIT(SAMPLES_PASSED), "needs GL 3.0" },
	{ "GL 1.4", false, 14, " ", "all", 0, "needs desktop GL 1.5" },
	{ "GLES 2.0", true, 20, " ", "all", 0, "needs" },
	{ "GLES 3.0", true, 30, " ", "all", BIT(TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN),
	  "needs" },
	{ "GLES 3.1 with geometry shaders", true, 31, " GL_EXT_geometry_shader ", "all",
	  BIT(PRIMITIVES_GENERATED) | BIT(TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN),
	  "needs" },
	{ "GLES 3.2", true, 32, " ", "primitives_generated", BIT(PRIMITIVES_GENERATED),
	  "" },
	{ "nothing wanted", false, 46, " ", "gpu_cycles", 0, "--counters gpu_cycles" },
};

static void
test_open(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(open_cases); i++) {
		struct fake_gl f;
		uint32_t got = 0;

		g_test_message("%s", open_cases[i].what);
		fake_gl_init(&f, open_cases[i].es, open_cases[i].version,
			     open_cases[i].extensions);
		struct tally_source *src = tally_gl_statistics_create(&f.api);
		src->wanted = open_cases[i].wanted;
		g_assert_cmpint(src->ops->open(src, 2), ==,
				open_cases[i].want ? TALLY_OK : TALLY_UNSUPPORTED);
		for (uint32_t k = 0; k < src->n_counters; k++) {
			const struct tally_counter *c = src->counters[k];
			g_assert_cmpstr(c->source, ==, "gl-statistics");
			g_assert_cmpuint(c->width_bits, ==, open_cases[i].es ? 32 : 64);
			for (uint32_t which = 0; which < TALLY_N_STATISTICS; which++) {
				if (strcmp(c->key, tally_statistics[which].key) == 0)
					got |= 1u << which;
			}
		}
		g_assert_cmphex(got, ==, open_cases[i].want);
		g_test_message("reason: %s", src->reason);
		g_assert_nonnull(strstr(src->reason, open_cases[i].reason));
		g_assert_cmpint(src->reason[0] == '\0', ==, open_cases[i].reason[0] == '\0');
		if (open_cases[i].want)
			src->ops->close(src);
		g_assert_cmpuint(f.misuse, ==, 0);
		tally_source_destroy(src);
		fake_gl_finish(&f);
	}
}

/* Where these queries may corrupt the driver's memory, or make it submit, they are used only if
 * named. */
static void
test_named(void)
{
	static const char intel[] = "Intel Mesa Intel(R) UHD Graphics (TGL GT1)";
	static const char llvmpipe[] = "Mesa llvmpipe (LLVM 15.0.6, 256 bits)";
	static const char zink[] = "Mesa zink (llvmpipe (LLVM 15.0.6, 256 bits))";
	static const struct {
		const char *driver, *sources, *wanted;
		uint32_t want;
	} cases[] = {
		{ llvmpipe, NULL, NULL, 0 },
		{ llvmpipe, "all", "all", 0 },
		{ llvmpipe, NULL, "overview+samples_passed", 0 },
		{ llvmpipe, "api+gl-stat*", NULL, 4 },
		{ llvmpipe, NULL, "samples_passed", 1 },
		{ zink, NULL, "overview+samples_passed", 2 },
		{ intel, "all", NULL, 3 },
		{ intel, NULL, "overview+samples_passed", 4 },
		{ intel, NULL, "overview+compute*", 4 },
		{ intel, NULL, "all", TALLY_N_STATISTICS },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct fake_gl f;
		fake_gl_init(&f, false, 46, " ");
		f.api.driver = cases[i].driver;
		f.api.sources = cases[i].sources;
		struct tally_source *src = tally_gl_statistics_create(&f.api);
		src->wanted = cases[i].wanted;
		g_assert_cmpint(src->ops->open(src, 2), ==,
				cases[i].want ? TALLY_OK : TALLY_UNSUPPORTED);
		g_assert_cmpuint(src->n_counters, ==, cases[i].want);
		if (cases[i].want)
			src->ops->close(src);
		else
			g_assert_nonnull(strstr(src->reason, "name gl-statistics in --sources"));
		g_assert_cmpuint(f.misuse, ==, 0);
		tally_source_destroy(src);
		fake_gl_finish(&f);
	}
}

/* The longest reason possible ends in dots, inside its array. */
static void
test_long_reason(void)
{
	struct fake_gl f;

	fake_gl_init(&f, false, 14, " ");
	struct tally_source *src = tally_gl_statistics_create(&f.api);
	src->wanted = "all";
	g_assert_cmpint(src->ops->open(src, 2), ==, TALLY_UNSUPPORTED);
	g_assert_cmpuint(strlen(src->reason), ==, sizeof(src->reason) - 1);
	g_assert_true(g_str_has_suffix(src->reason, "..."));
	/* Asked again, it gives the same answer. */
	src->wanted = "samples_passed";
	g_assert_cmpint(src->ops->open(src, 2), ==, TALLY_UNSUPPORTED);
	g_assert_cmpstr(src->reason, ==,
			"not counted here: samples_passed (needs desktop GL 1.5 or "
			"ARB_occlusion_query)");
	tally_source_destroy(src);
	fake_gl_finish(&f);
}

static void
test_values(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	struct tally_source *src = open_source(&f, "all");
	for (int round = 1; round < 4; round++) {
		fake_gl_work(&f, 1000);
		src->ops->begin(src, 1);
		fake_gl_work(&f, (uint64_t)round);
		src->ops->end(src, 1);
		fake_gl_work(&f, 1000);
		g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_NOT_READY);
		g_assert_cmpuint(valid, ==, 0);
		fake_gl_complete(&f, 13);
		g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_NOT_READY);
		fake_gl_complete(&f, 1);
		g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_OK);
		g_assert_cmpuint(out.flags, ==, 0);
		g_assert_false(out.has_time);
		g_assert_cmphex(valid, ==, ALL);
		for (uint64_t i = 0; i < TALLY_N_STATISTICS; i++)
			g_assert_cmpuint(values[i].u64, ==, (uint64_t)round * (i + 1) + i);
	}
	/* One block of names was enough: a slot keeps its query objects. */
	g_assert_cmpuint(f.n_gens, ==, 1);
	finish(&f, src);
}

/* One of the results arrives after the others: those are not read again. */
static void
test_read_once(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	struct tally_source *src = open_source(&f, "all");
	for (unsigned late = 1; late <= TALLY_N_STATISTICS; late++) {
		src->ops->begin(src, 0);
		fake_gl_work(&f, late);
		f.lost_from = f.lost_to = f.issued + late;
		src->ops->end(src, 0);
		fake_gl_complete(&f, TALLY_N_STATISTICS);
		for (unsigned again = 0; again < 2; again++)
			g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_NOT_READY);
		f.lost_from = f.lost_to = 0;
		g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
		g_assert_cmphex(valid, ==, ALL);
		for (uint64_t i = 0; i < TALLY_N_STATISTICS; i++)
			g_assert_cmpuint(values[i].u64, ==, late * (i + 1) + i);
	}
	finish(&f, src);
}

static const struct {
	const char *what;
	unsigned bits;
	bool only_32;
	uint64_t work;
	uint32_t want_width;
	bool want_valid;
} width_cases[] = {
	{ "64 bits", 64, false, UINT64_C(1) << 40, 64, true },
	{ "32 bits", 32, false, 70000, 32, true },
	{ "32 bits, stuck", 32, false, UINT32_MAX, 32, false },
	{ "32 bits, the largest that is not", 32, false, UINT32_MAX - 1, 32, true },
	{ "read as 32 bits", 64, true, 70000, 32, true },
	{ "read as 32 bits, clamped", 64, true, UINT64_C(1) << 40, 32, false },
	{ "64 bits, the largest count", 64, false, TALLY_STATISTIC_MOST, 64, true },
	{ "64 bits, no count", 64, false, TALLY_STATISTIC_MOST + 1, 64, false },
};

static void
test_widths(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(width_cases); i++) {
		struct fake_gl f;
		struct tally_sample out;

		g_test_message("%s", width_cases[i].what);
		fake_gl_init(&f, false, 46, " ");
		f.counter_bits[TALLY_STATISTIC_VERTICES_SUBMITTED] = width_cases[i].bits;
		if (width_cases[i].only_32)
			f.api.GetQueryObjectui64v = NULL;
		struct tally_source *src = open_source(&f, "vertices_submitted");
		g_assert_cmpuint(src->n_counters, ==, 1);
		g_assert_cmpuint(src->counters[0]->width_bits, ==, width_cases[i].want_width);
		src->ops->begin(src, 0);
		f.totals[TALLY_STATISTIC_VERTICES_SUBMITTED] += width_cases[i].work;
		src->ops->end(src, 0);
		fake_gl_complete(&f, 1);
		g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
		g_assert_cmpuint(valid, ==, width_cases[i].want_valid);
		bool no_count = width_cases[i].work == TALLY_STATISTIC_MOST + 1;
		g_assert_cmpuint(out.flags, ==,
				 width_cases[i].want_valid ? 0
				 : no_count                ? TALLY_FLAG(LOST)
							   : TALLY_FLAG(SATURATED));
		if (width_cases[i].want_valid)
			g_assert_cmpuint(values[0].u64, ==, width_cases[i].work);
		finish(&f, src);
	}
}

static void
test_zero_bits(void)
{
	struct fake_gl f;

	fake_gl_init(&f, false, 46, " ");
	f.counter_bits[TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS] = 0;
	struct tally_source *src = open_source(&f, NULL);
	g_assert_cmpuint(src->n_counters, ==, 3);
	g_assert_cmpstr(
		src->reason, ==,
		"not counted here: compute_shader_invocations (the driver counts it with "
		"0 bits)");
	finish(&f, src);
}

/* Nothing in the interval can raise a counter: no query, and 0, whoever uses the target. */
static void
test_impossible(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	struct tally_source *src =
		open_source(&f, "vertices_submitted+compute_shader_invocations");
	fake_gl_game_begin(&f, src, TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS);
	for (uint32_t slot = 0; slot < 3; slot++) {
		f.api.impossible = slot == 1 ? 0 : BIT(COMPUTE_SHADER_INVOCATIONS);
		src->ops->begin(src, slot);
		fake_gl_work(&f, 5);
		src->ops->end(src, slot);
	}
	g_assert_cmpuint(f.issued, ==, 3); /* one result each, of the vertices */
	fake_gl_complete(&f, 100);
	for (uint32_t slot = 0; slot < 3; slot++) {
		g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
		g_assert_cmphex(valid, ==, slot == 1 ? 1 : 3);
		g_assert_cmpuint(out.flags, ==, slot == 1 ? TALLY_FLAG(YIELDED) : 0);
		g_assert_cmpuint(values[0].u64, ==, 5);
		g_assert_cmpuint(slot == 1 ? 0 : values[1].u64, ==, 0);
	}
	finish(&f, src);
}

static void
test_yields(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	struct tally_source *src = open_source(&f, "samples_passed+vertices_submitted");
	uint32_t samples = BIT(VERTICES_SUBMITTED) << 1; /* second of two */

	/* In the middle of our query. */
	src->ops->begin(src, 0);
	fake_gl_work(&f, 5);
	fake_gl_game_begin(&f, src, TALLY_STATISTIC_SAMPLES_PASSED);
	fake_gl_game_begin(&f, src, TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS);
	fake_gl_work(&f, 5);
	src->ops->end(src, 0);
	/* During all of our query; statistics that are not measured do not matter. */
	src->ops->begin(src, 1);
	fake_gl_work(&f, 1);
	fake_gl_game_end(&f, TALLY_STATISTIC_SAMPLES_PASSED);
	src->ops->end(src, 1);
	/* After it. */
	src->ops->begin(src, 2);
	fake_gl_work(&f, 1);
	src->ops->end(src, 2);
	fake_gl_complete(&f, 100);
	for (uint32_t slot = 0; slot < 3; slot++) {
		g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
		g_assert_cmphex(valid, ==, slot < 2 ? 1 : 1 | samples);
		g_assert_cmpuint(out.flags, ==, slot < 2 ? TALLY_FLAG(YIELDED) : 0);
		g_assert_cmpuint(values[0].u64, ==, slot == 0 ? 10 : 1);
	}
	finish(&f, src);

	/* A source that is off has nothing to yield. */
	fake_gl_init(&f, false, 14, " ");
	src = tally_gl_statistics_create(&f.api);
	g_assert_cmpint(src->ops->open(src, 1), ==, TALLY_UNSUPPORTED);
	src->ops->yield(src, TALLY_STATISTIC_SAMPLES_PASSED);
	g_assert_cmpuint(f.misuse, ==, 0);
	tally_source_destroy(src);
	fake_gl_finish(&f);
}

/* The outer interval counts, the inner one has no counters. */
static void
test_nested(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	struct tally_source *src = open_source(&f, NULL);
	src->ops->begin(src, 0);
	src->ops->begin(src, 1);
	fake_gl_work(&f, 9);
	src->ops->end(src, 1);
	src->ops->end(src, 0);
	g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_OK);
	g_assert_cmphex(valid, ==, 0);
	fake_gl_complete(&f, 100);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_cmphex(valid, ==, 15);
	finish(&f, src);
}

static void
test_no_names(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	f.no_names = true;
	struct tally_source *src = open_source(&f, NULL);
	for (int i = 0; i < 3; i++) {
		src->ops->begin(src, 0);
		src->ops->end(src, 0);
		g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
		g_assert_cmphex(valid, ==, 0);
	}
	g_assert_cmpuint(f.n_gens, ==, 1);
	finish(&f, src);
}

static void
test_grow_abandon(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	struct tally_source *src = open_source(&f, NULL);
	src->ops->begin(src, 0);
	fake_gl_work(&f, 3);
	src->ops->end(src, 0);
	src->ops->begin(src, 3);
	g_assert_cmpint(src->ops->grow(src, 300), ==, TALLY_OK);
	src->ops->end(src, 3);
	for (uint32_t slot = 4; slot < 300; slot++) {
		src->ops->begin(src, slot);
		src->ops->end(src, slot);
	}
	fake_gl_complete(&f, 10000);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_cmphex(valid, ==, 15);
	g_assert_cmpuint(values[0].u64, ==, 3 * 2 + 1);
	g_assert_cmpint(read_slot(src, 4, &out), ==, TALLY_OK);
	src->ops->begin(src, 4); /* closed while running */
	finish(&f, src);

	fake_gl_init(&f, false, 46, " ");
	src = open_source(&f, NULL);
	src->ops->begin(src, 0);
	f.gone = true;
	src->ops->abandon(src);
	src->ops->yield(src, TALLY_STATISTIC_PRIMITIVES_SUBMITTED);
	tally_source_destroy(src);
	g_assert_cmpuint(f.misuse, ==, 0);
	fake_gl_finish(&f);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gl-statistics/open", test_open);
	g_test_add_func("/gl-statistics/named", test_named);
	g_test_add_func("/gl-statistics/long-reason", test_long_reason);
	g_test_add_func("/gl-statistics/values", test_values);
	g_test_add_func("/gl-statistics/read-once", test_read_once);
	g_test_add_func("/gl-statistics/widths", test_widths);
	g_test_add_func("/gl-statistics/zero-bits", test_zero_bits);
	g_test_add_func("/gl-statistics/impossible", test_impossible);
	g_test_add_func("/gl-statistics/yields", test_yields);
	g_test_add_func("/gl-statistics/nested", test_nested);
	g_test_add_func("/gl-statistics/no-names", test_no_names);
	g_test_add_func("/gl-statistics/grow-abandon", test_grow_abandon);
	return g_test_run();
}
