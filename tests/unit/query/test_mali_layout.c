/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "query/mali/choice.h"
#include "tests/unit/query/mali_world.h"

static struct tally_snapshot_source src;
static struct tally_mali_choice choice;
static struct tally_mali_sums sums;

static void
begin_world(void)
{
	src = (struct tally_snapshot_source){ .wanted = "all" };
	g_assert_cmpint(tally_mali_choose(&choice, &src, "mali-test", 32, 64,
					  &world_product, &world_props),
			==, TALLY_OK);
	g_assert_true(tally_mali_sums_init(&sums, &choice));
}

static void
end_world(void)
{
	tally_mali_sums_finish(&sums);
	tally_mali_choice_finish(&choice, &src);
	g_assert_null(src.counters);
	g_assert_null(src.logged);
	g_assert_null(src.constants);
}

static void
deliver(uint64_t totals[N_WORLD], uint64_t *unknown, uint64_t *flags)
{
	struct tally_totals out = { .totals = totals, .unknown = unknown };
	*unknown = 0;
	tally_mali_sums_deliver(&sums, &out);
	*flags = out.flags;
}

/* ---- which counters ---- */

static const struct {
	const char *what, *wanted;
	bool metrics;
	uint32_t n_values;
	enum tally_status status;
	uint32_t n;
	uint64_t logged; /* in the order of the selection */
} choice_cases[] = {
	{ "the overview", NULL, false, 64, TALLY_OK, 4, 0xf },
	{ "the overview, and what metrics need", NULL, true, 64, TALLY_OK, 8, 0x55 },
	{ "all", "all", false, 64, TALLY_OK, 8, 0xff },
	{ "a key", "WorldMemoryB", true, 64, TALLY_OK, 8, 1 << MEMORY_B },
	{ "a key alone", "WorldMemoryB", false, 64, TALLY_OK, 1, 1 },
	{ "a name, whatever the case", "mali worldtilera", true, 64, TALLY_OK, 8, 1 << TILER_A },
	{ "the hardware's name", "CORE_A", true, 64, TALLY_OK, 8, 1 << CORE_A },
	{ "an alias", "SC.QUADS", true, 64, TALLY_OK, 8, 1 << CORE_B },
	{ "an alias by its glob", "Old*", true, 64, TALLY_OK, 8, 1 << CORE_B },
	{ "a block", "mali-l2", true, 64, TALLY_OK, 8, 1 << MEMORY_A | 1 << MEMORY_B },
	{ "every block", "mali", false, 64, TALLY_OK, 8, 0xff },
	{ "what others count", "gpu_busy", true, 64, TALLY_OK, 8, 0 },
	{ "what others count, no metrics", "gpu_busy", false, 64, TALLY_UNSUPPORTED, 0, 0 },
	{ "blocks with fewer values", "all", true, 8, TALLY_OK, 4, 0xf },
};

static void
test_choice(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(choice_cases); i++) {
		g_test_message("%s", choice_cases[i].what);
		src = (struct tally_snapshot_source){
			.wanted = choice_cases[i].wanted,
			.metrics_wanted = choice_cases[i].metrics
		};
		g_assert_cmpint(tally_mali_choose(&choice, &src, "mali-test", 64,
						  choice_cases[i].n_values, &world_product,
						  &world_props),
				==, choice_cases[i].status);
		g_assert_cmpuint(src.n_counters, ==, choice_cases[i].n);
		if (choice_cases[i].status != TALLY_OK) {
			g_assert_nonnull(strstr(src.reason, "--counters gpu_busy"));
			continue;
		}
		g_assert_cmphex(src.logged[0], ==, choice_cases[i].logged);
		g_assert_cmpstr(src.layout, ==, "World");
		for (uint32_t k = 0; k < src.n_counters; k++) {
			g_assert_cmpstr(src.counters[k]->source, ==, "mali-test");
			g_assert_cmpuint(src.counters[k]->width_bits, ==, 64);
			g_assert_cmpint(src.counters[k]->scope, ==, TALLY_SCOPE_DEVICE);
		}
		tally_mali_choice_finish(&choice, &src);
	}
}

static double
constant(const char *name)
{
	for (uint32_t i = 0; i < src.n_constants; i++) {
		if (strcmp(src.constants[i].name, name) == 0)
			return src.constants[i].value;
	}
	return -1;
}

static void
test_constants(void)
{
	begin_world();
	g_assert_cmpfloat(constant("MaliConstantsShaderCoreCount"), ==, 3);
	g_assert_cmpfloat(constant("MALI_CONFIG_SHADER_CORE_COUNT"), ==, 3);
	g_assert_cmpfloat(constant("MaliConstantsL2SliceCount"), ==, 2);
	g_assert_cmpfloat(constant("MALI_CONFIG_L2_CACHE_COUNT"), ==, 2);
	g_assert_cmpfloat(constant("MaliConstantsBusWidthBits"), ==, 128);
	g_assert_cmpfloat(constant("MaliConstantsBusWidthBytes"), ==, 16);
	g_assert_cmpfloat(constant("MALI_CONFIG_EXT_BUS_BYTE_SIZE"), ==, 16);
	g_assert_cmpfloat(constant("MaliConstantsWarpWidth"), ==, 8);
	g_assert_cmpfloat(constant("MaliConstantsExecutionEngineCount"), ==, 3);
	g_assert_cmpfloat(constant("MaliConstantsL2Bytes"), ==, 2048);
	g_assert_cmpfloat(constant("WorldTileSize"), ==, 16);
	end_world();

	/* What the driver does not report is absent, and never 0. */
	struct tally_mali_props props = { .core_mask = 1, .l2_slices = 1 };
	src = (struct tally_snapshot_source){ .wanted = "all" };
	g_assert_cmpint(tally_mali_choose(&choice, &src, "mali-test", 32, 64,
					  &world_product, &props),
			==, TALLY_OK);
	g_assert_cmpfloat(constant("MaliConstantsBusWidthBits"), ==, -1);
	g_assert_cmpfloat(constant("MALI_CONFIG_EXT_BUS_BYTE_SIZE"), ==, -1);
	g_assert_cmpfloat(constant("MaliConstantsL2Bytes"), ==, -1);
	g_assert_cmpfloat(constant("MaliConstantsExecutionEngineCount"), ==, -1);
	tally_mali_choice_finish(&choice, &src);
}

/* ---- dumps ---- */

static const struct {
	const char *what;
	struct tally_mali_dump dump;
	size_t blocks;
} dump_cases[] = {
	{ "one core", { .l2_slices = 1, .core_mask = 1 }, 4 },
	{ "holes count", { .l2_slices = 2, .core_mask = 0x29 }, 10 },
	{ "the highest core there can be",
	  { .l2_slices = 8, .core_mask = UINT64_C(1) << 63 },
	  74 },
	{ "no cores", { .l2_slices = 1 }, 0 },
	{ "no slices", { .core_mask = 1 }, 0 },
	{ "too many slices", { .l2_slices = 65, .core_mask = 1 }, 0 },
};

static void
test_dump_bytes(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(dump_cases); i++) {
		g_test_message("%s", dump_cases[i].what);
		g_assert_cmpuint(tally_mali_dump_bytes(&dump_cases[i].dump), ==,
				 dump_cases[i].blocks * 256);
	}
}

/* Every value of block b, index i is 1000 b + i: sums say which blocks were read. */
static uint32_t *
make_dump(size_t bytes)
{
	uint32_t *words = g_malloc(bytes);
	for (size_t i = 0; i < bytes / 4; i++)
		words[i] = (uint32_t)(i / 64 * 1000 + i % 64);
	return words;
}

static void
add_dump(const struct tally_mali_dump *dump, const uint32_t *words)
{
	tally_mali_sums_begin(&sums);
	tally_mali_dump_add(dump, words, &sums);
	tally_mali_sums_end(&sums);
}

static void
test_dump(void)
{
	struct tally_mali_dump dump = { .l2_slices = 2, .core_mask = 0x29 };
	g_autofree uint32_t *words = make_dump(tally_mali_dump_bytes(&dump));
	uint64_t totals[N_WORLD], unknown, flags;

	begin_world();
	add_dump(&dump, words);
	add_dump(&dump, words);
	deliver(totals, &unknown, &flags);
	g_assert_cmphex(unknown, ==, 0);
	g_assert_cmphex(flags, ==, 0);
	g_assert_cmpuint(totals[FRONT_A], ==, 2 * 4);
	g_assert_cmpuint(totals[FRONT_B], ==, 2 * 9);
	g_assert_cmpuint(totals[TILER_A], ==, 2 * 1004);
	g_assert_cmpuint(totals[MEMORY_A], ==, 2 * (2004 + 3004));
	g_assert_cmpuint(totals[MEMORY_B], ==, 2 * (2009 + 3009));
	/* Cores 0, 3 and 5 are in blocks 4, 7 and 9; the second counter has a shift. */
	g_assert_cmpuint(totals[CORE_A], ==, 2 * (4004 + 7004 + 9004));
	g_assert_cmpuint(totals[CORE_B], ==, 8 * (4009 + 7009 + 9009));
	tally_mali_sums_reset(&sums);
	deliver(totals, &unknown, &flags);
	g_assert_cmpuint(totals[CORE_B], ==, 0);
	end_world();
}

static void
test_saturation(void)
{
	struct tally_mali_dump dump = { .l2_slices = 2, .core_mask = 0x29 };
	g_autofree uint32_t *words = make_dump(tally_mali_dump_bytes(&dump));
	uint64_t totals[N_WORLD], unknown, flags;

	begin_world();
	add_dump(&dump, words);
	words[7 * 64 + 4] = UINT32_MAX; /* of core 3 */
	words[5 * 64 + 4] = UINT32_MAX; /* of a hole */
	words[1 * 64 + 4] = UINT32_MAX - 1;
	add_dump(&dump, words);
	deliver(totals, &unknown, &flags);
	g_assert_cmphex(unknown, ==, 1 << CORE_A);
	g_assert_cmphex(flags, ==, TALLY_FLAG(SATURATED));
	/* The total stays as it was: what one core counted does not give the sum. */
	g_assert_cmpuint(totals[CORE_A], ==, 4004 + 7004 + 9004);
	g_assert_cmpuint(totals[TILER_A], ==, 1004 + (uint64_t)UINT32_MAX - 1);
	/* Sums exceed 32 bits. */
	words[7 * 64 + 4] = words[4 * 64 + 4] = words[9 * 64 + 4] = UINT32_MAX - 1;
	add_dump(&dump, words);
	deliver(totals, &unknown, &flags);
	g_assert_cmphex(unknown, ==, 0);
	g_assert_cmphex(flags, ==, 0);
	g_assert_cmpuint(totals[CORE_A], ==, 20012 + UINT64_C(3) * (UINT32_MAX - 1));
	end_world();
}

static void
test_doubts(void)
{
	struct tally_mali_dump dump = { .l2_slices = 2, .core_mask = 0x29 };
	g_autofree uint32_t *words = make_dump(tally_mali_dump_bytes(&dump));
	uint64_t totals[N_WORLD], unknown, flags;

	begin_world();
	tally_mali_sums_begin(&sums);
	tally_mali_dump_add(&dump, words, &sums);
	tally_mali_sums_invalidate(&sums, TALLY_MALI_L2);
	tally_mali_sums_end(&sums);
	/* "Unknown" lasts until it was reported, even if a good sample follows. */
	add_dump(&dump, words);
	deliver(totals, &unknown, &flags);
	g_assert_cmphex(unknown, ==, 1 << MEMORY_A | 1 << MEMORY_B);
	g_assert_cmpuint(totals[MEMORY_A], ==, 2004 + 3004);
	g_assert_cmpuint(totals[TILER_A], ==, 2 * 1004);
	tally_mali_sums_begin(&sums);
	tally_mali_dump_add(&dump, words, &sums);
	tally_mali_sums_invalidate_all(&sums);
	tally_mali_sums_end(&sums);
	deliver(totals, &unknown, &flags);
	g_assert_cmphex(unknown, ==, 0xff);
	g_assert_cmpuint(totals[TILER_A], ==, 2 * 1004);
	end_world();
}

/* ---- times, reasons ---- */

static const struct {
	const char *what;
	struct tally_mali_clocks first, last;
	uint64_t raw, begin, end;
} clock_cases[] = {
	{ "the same rate",
	  { 1000, 5010, 1020 },
	  { 9000, 13010, 9020 },
	  9010,
	  5000 - 5,
	  5020 + 5 },
	{ "exact brackets", { 1000, 500, 1000 }, { 2024, 1524, 2024 }, 1012, 1511, 1513 },
	{ "from before", { 1000, 500, 1010 }, { 2000, 1500, 2010 }, 499, 1010, 2000 },
	{ "none", { 1000, 500, 1010 }, { 2000, 1500, 2010 }, 0, 1010, 2000 },
	{ "from after", { 1000, 500, 1010 }, { 2000, 1500, 2010 }, 1501, 1010, 2000 },
	{ "far away", { 1000, 500, 1010 }, { 2000, 1500, 2010 }, UINT64_MAX, 1010, 2000 },
};

static void
test_clocks(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(clock_cases); i++) {
		uint64_t begin, end;
		g_test_message("%s", clock_cases[i].what);
		tally_mali_clocks_apply(&clock_cases[i].first, &clock_cases[i].last,
					clock_cases[i].raw, &begin, &end);
		/* The given limits contain the true moment; the reported ones may be
		 * narrower. */
		g_assert_cmpuint(begin, >=, clock_cases[i].begin);
		g_assert_cmpuint(end, <=, clock_cases[i].end);
		g_assert_cmpuint(begin, <=, end);
		if (clock_cases[i].raw < clock_cases[i].first.raw_ns ||
		    clock_cases[i].raw > clock_cases[i].last.raw_ns) {
			g_assert_cmpuint(begin, ==, clock_cases[i].begin);
			g_assert_cmpuint(end, ==, clock_cases[i].end);
		}
	}
}

/* Clocks that drift, with brackets of any width: the true moment lies within the reported
 * limits. */
static void
test_drift(void)
{
	for (int round = 0; round < 20000; round++) {
		double rate = g_test_rand_double_range(0.9995, 1.0005);
		uint64_t offset = (uint64_t)g_test_rand_int_range(1, 1 << 30);
		uint64_t at[7] = { UINT64_C(1) << 40 };
		for (int i = 1; i < 7; i++)
			at[i] = at[i - 1] + (uint64_t)g_test_rand_int_range(
						    0, i == 3 || i == 4 ? 3000000 : 400);
		/* 0..2 the first bracket, 3 the timestamp, 4..6 the last. */
		uint64_t raw[7];
		for (int i = 0; i < 7; i++)
			raw[i] = (uint64_t)((double)(at[i] - at[0]) * rate) + offset;
		struct tally_mali_clocks first = { at[0], raw[1], at[2] };
		struct tally_mali_clocks last = { at[4], raw[5], at[6] };
		uint64_t begin, end;
		tally_mali_clocks_apply(&first, &last, raw[3], &begin, &end);
		g_assert_cmpuint(begin, <=, at[3] + 2);
		g_assert_cmpuint(end + 2, >=, at[3]);
		g_assert_cmpuint(begin, >=, at[2]);
		g_assert_cmpuint(end, <=, at[4]);
	}
	struct tally_mali_clocks now = tally_mali_clocks_read();
	g_assert_cmpuint(now.before_ns, <=, now.after_ns);
	g_assert_cmpuint(now.raw_ns, >, 0);
}

static void
test_reasons(void)
{
	static const struct {
		int error;
		enum tally_status status;
		const char *words;
	} cases[] = {
		{ EACCES, TALLY_DENIED, "ls -l" },
		{ EPERM, TALLY_DENIED, "not permitted" },
		{ EBUSY, TALLY_UNSUPPORTED, "somebody else" },
		{ ENOMEM, TALLY_NO_MEMORY, "memory" },
		{ ENODEV, TALLY_UNSUPPORTED, "gone" },
		{ EXDEV, TALLY_UNSUPPORTED, "error 18" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char reason[TALLY_REASON_BYTES];
		g_assert_cmpint(tally_mali_refuse(reason, "trying", cases[i].error), ==,
				cases[i].status);
		g_assert_true(g_str_has_prefix(reason, "trying: "));
		g_assert_nonnull(strstr(reason, cases[i].words));
		g_assert_cmpuint(strlen(reason), <, sizeof(reason) - 1);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/mali-layout/choice", test_choice);
	g_test_add_func("/mali-layout/constants", test_constants);
	g_test_add_func("/mali-layout/dump-bytes", test_dump_bytes);
	g_test_add_func("/mali-layout/dump", test_dump);
	g_test_add_func("/mali-layout/saturation", test_saturation);
	g_test_add_func("/mali-layout/doubts", test_doubts);
	g_test_add_func("/mali-layout/clocks", test_clocks);
	g_test_add_func("/mali-layout/drift", test_drift);
	g_test_add_func("/mali-layout/reasons", test_reasons);
	return g_test_run();
}
