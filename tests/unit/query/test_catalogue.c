/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "query/mali/catalogue.h"

/* Facts that the tables must contain, whatever else changes. */

static const struct {
	uint64_t id;
	const char *name; /* NULL: no such GPU */
} id_cases[] = {
	{ 0x60000000, "Mali-G71" },
	{ 0x62210030, "Mali-G72" }, /* version bits do not matter */
	{ 0x70930000, "Mali-G31" },
	{ 0x90930000, "Mali-G57" }, /* panfrost, MT8188 */
	{ 0x90010000, "Mali-G57" },
	{ 0x90950000, "Mali-G78AE" },
	{ 0xa8670000, "Mali-G610" },
	{ 0xb8a20000, "Mali-G715" },
	{ 0xe8000000, "Mali G1-Ultra" },
	{ 0x0d00000100000000u | 0xf0000000u, "Mali-G625" },
	{ 0x0e08000300000000u | 0xf0a50000u, "Mali G1-Pro" },
	{ 0x0e00001300000000u | 0xf0000000u, NULL },
	{ 0x1e00000300000000u | 0xf0000000u, NULL }, /* not 14, though its low bits are */
	{ 0x69560000, "Mali-T60x" },
	{ 0x06000000, "Mali-T60x" },
	{ 0x08602000, "Mali-T860" },
	{ 0x08610000, NULL },
	{ 0x80000000, NULL },
	{ 0x60020000, NULL },
	{ 0, NULL },
	{ UINT64_MAX, NULL },
};

static void
test_product_by_id(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(id_cases); i++) {
		const struct tally_mali_product *p = tally_mali_find_product(id_cases[i].id);
		g_test_message("id %#" G_GINT64_MODIFIER "x", id_cases[i].id);
		g_assert_cmpstr(p ? p->name : NULL, ==, id_cases[i].name);
	}
	const struct tally_mali_product *midgard = tally_mali_find_product(0x08602000);
	g_assert_null(midgard->layout);
	g_assert_cmpstr(tally_mali_find_product(0x90940000)->layout->name, ==, "Mali-G78");
}

static const struct {
	const char *name, *product, *layout;
} name_cases[] = {
	{ "Mali-G68", "Mali-G68", "Mali-G78" },
	{ "g68", "Mali-G68", "Mali-G78" },
	{ "MALI G68", "Mali-G68", "Mali-G78" },
	{ "mali_g78ae", "Mali-G78AE", "Mali-G78" },
	{ "G715", "Mali-G715", "Mali-G715" },
	{ "immortalis-g715", "Immortalis-G715", "Mali-G715" },
	{ "g925", "Immortalis-G925", "Mali-G725" },
	{ "G1-Premium", "Mali G1-Premium", "Mali G1" },
	{ "g1", "Mali G1-Ultra", "Mali G1" }, /* a layout: the first GPU that has it */
	{ "Mali G1", "Mali G1-Ultra", "Mali G1" },
	{ "t880", "Mali-T880", NULL },
	{ "g7", NULL, NULL },
	{ "g7155", NULL, NULL },
	{ "mali", NULL, NULL },
	{ "", NULL, NULL },
	{ "-", NULL, NULL },
};

static void
test_product_by_name(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(name_cases); i++) {
		const struct tally_mali_product *p = tally_mali_find_name(name_cases[i].name);
		g_test_message("name \"%s\"", name_cases[i].name);
		g_assert_cmpstr(p ? p->name : NULL, ==, name_cases[i].product);
		g_assert_cmpstr(p && p->layout ? p->layout->name : NULL, ==,
				name_cases[i].layout);
	}
}

static const struct {
	const char *gpu, *name;
	bool year_2022;
	const char *hw_name; /* NULL: no such counter */
} counter_cases[] = {
	{ "G71", "MaliGPUCyclesGPUActive", false, "GPU_ACTIVE" },
	{ "G71", "JM.GPU_ACTIVE", false, "GPU_ACTIVE" },
	{ "G31", "SC.FRAG_QUADS", false, "FRAG_WARPS" },
	{ "G77", "SC.FRAG_QUADS", false, NULL },
	{ "G51", "SC.TEX_INSTRS", false, NULL }, /* only Mali-G71 and G72 have it */
	{ "G72", "SC.TEX_INSTRS", false, "TEX_INSTR" },
	{ "G72", "SC.LSC_WRITE_BEATS", false, "BEATS_WR_LSC" },
	{ "G1", "MaliSCBusLSWrBt", false, "BEATS_WR_LSC" },
	{ "G71", "L2_EXT_READ_BEATS", false, "L2_EXT_READ_BEATS" },
	{ "G71", "l2_ext_read_beats", false, NULL },
	/* 2022: what is called active today was raw then. */
	{ "G715", "MaliGPUCyclesGPUActive", false, NULL },
	{ "G715", "MaliGPUCyclesGPUActive", true, "GPU_ACTIVE" },
	{ "G715", "MaliGPUCyclesGPUActiveRaw", true, "GPU_ACTIVE" },
	{ "G715", "MaliCoreCyclesFragmentActive", false, "FRAG_ACTIVE" },
	{ "G715", "MaliCoreCyclesFragmentActive", true, "FRAG_ACTIVE" },
	{ "G71", "MaliCoreCyclesFragmentActive", true, NULL },
	{ "G71", "MaliGPUCyclesGPUActive", true, "GPU_ACTIVE" },
	{ "G715", "", true, NULL },
	{ "G715", "", false, NULL },
};

static void
test_counter_by_name(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(counter_cases); i++) {
		const struct tally_mali_counter *c = tally_mali_find_counter(
			tally_mali_find_name(counter_cases[i].gpu)->layout,
			counter_cases[i].name, counter_cases[i].year_2022);
		g_test_message("%s of %s", counter_cases[i].name, counter_cases[i].gpu);
		g_assert_cmpstr(c ? c->hw_name : NULL, ==, counter_cases[i].hw_name);
	}
	g_assert_null(tally_mali_find_counter(NULL, "GPU_ACTIVE", false));
}

static const struct {
	const char *gpu;
	uint32_t cores, core_features, thread_features, want;
} engine_cases[] = {
	{ "G71", 1, 0, 0x2000, 3 }, { "G51", 1, 0, 0x12000, 1 }, { "G51", 1, 0, 0x4000, 3 },
	{ "G51", 2, 0, 0x2000, 3 }, { "G31", 1, 0, 0x2000, 1 },  { "G31", 2, 0, 0x2000, 2 },
	{ "G52", 2, 0xf2, 0, 2 },   { "G52", 2, 3, 0, 3 },       { "G52", 2, 0, 0, 0 },
	{ "G310", 1, 5, 0, 1 },     { "G310", 1, 7, 0, 0 },      { "G715", 7, 4, 0, 2 },
	{ "G715", 7, 1, 0, 1 },     { "G720", 7, 0, 0, 0 },      { "T830", 1, 0, 0, 2 },
};

static void
test_engines(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(engine_cases); i++) {
		g_test_message("row %zu, %s", i, engine_cases[i].gpu);
		g_assert_cmpuint(tally_mali_engines(tally_mali_find_name(engine_cases[i].gpu),
						    engine_cases[i].cores,
						    engine_cases[i].core_features,
						    engine_cases[i].thread_features),
				 ==, engine_cases[i].want);
	}
}

static void
check_counter(const struct tally_mali_layout *l, const struct tally_mali_counter *c)
{
	g_test_message("%s %s", l->name, c->counter.key);
	for (const char *at = c->counter.key; *at; at++)
		g_assert_true(g_ascii_isalnum(*at));
	g_assert_cmpstr(c->counter.source, ==, "mali");
	g_assert_cmpint(c->counter.storage, ==, TALLY_STORAGE_U64);
	g_assert_cmpint(c->counter.scope, ==, TALLY_SCOPE_DEVICE);
	g_assert_cmpint(c->counter.kind, ==,
			strcmp(c->counter.unit, "cycles") == 0 ? TALLY_KIND_DURATION
							       : TALLY_KIND_EVENT);
	g_assert_cmpuint(c->index, >=, 4);
	g_assert_cmpuint(c->index, <, l->values_per_block);
	g_assert_cmpuint(strlen(c->counter.description), >=, 40);
	g_assert_true(g_str_has_suffix(c->counter.description, "."));
	g_assert_false(g_str_has_prefix(c->counter.name, c->counter.description));
	if (c->erratum)
		g_assert_true(g_str_has_suffix(c->erratum, "."));
	g_assert_true(tally_mali_find_counter(l, c->counter.key, false) == c);
	g_assert_true(tally_mali_find_counter(l, c->hw_name, false) == c);
	for (const char *const *alias = c->aliases; *alias; alias++)
		g_assert_true(tally_mali_find_counter(l, *alias, false) == c);
}

/* Every counter is in its place, has a description, and is found by all of its names. */
static void
test_layouts(void)
{
	g_assert_cmpuint(tally_mali_n_layouts, ==, 13);
	g_assert_null(tally_mali_layout(tally_mali_n_layouts));
	g_assert_null(tally_mali_product(tally_mali_n_products));
	for (uint32_t i = 0; i < tally_mali_n_layouts; i++) {
		const struct tally_mali_layout *l = tally_mali_layout(i);
		g_assert_true(tally_mali_layout(i) == l);
		uint32_t overview = 0, per_block[TALLY_N_MALI_BLOCKS] = { 0 };
		for (uint32_t k = 0; k < l->n_counters; k++) {
			const struct tally_mali_counter *c = &l->counters[k];
			check_counter(l, c);
			overview += c->overview;
			per_block[c->block]++;
			if (k)
				g_assert_cmpuint(c[-1].block * 1000u + c[-1].index, <,
						 c->block * 1000u + c->index);
		}
		g_assert_cmpuint(overview, >=, 20);
		g_assert_cmpuint(overview, <=, 32);
		for (int b = 0; b < TALLY_N_MALI_BLOCKS; b++)
			g_assert_cmpuint(per_block[b], >, 15);
	}
}

static void
test_errata(void)
{
	for (uint32_t i = 0; i < tally_mali_n_layouts; i++) {
		const struct tally_mali_layout *l = tally_mali_layout(i);
		const struct tally_mali_counter *quads = tally_mali_find_counter(
			l, "FRAG_QUADS_RAST", false);
		g_assert_cmpint(quads->erratum != NULL, ==,
				strcmp(l->architecture, "Bifrost") == 0);
		const struct tally_mali_counter *active = tally_mali_find_counter(
			l, "GPU_ACTIVE", false);
		g_assert_cmpint(active->erratum != NULL, ==, strcmp(l->name, "Mali-G715") == 0);
	}
}

/* Under ThreadSanitizer: the first to ask fills the table, and all threads see the same. */
static gpointer
read_all(gpointer data)
{
	(void)data;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < tally_mali_n_products; i++) {
		const struct tally_mali_product *p = tally_mali_product(i);
		for (uint32_t k = 0; p->layout && k < p->layout->n_counters; k++)
			sum += strlen(p->layout->counters[k].counter.key) +
			       p->layout->counters[k].index;
	}
	return GSIZE_TO_POINTER(sum);
}

static void
test_threads(void)
{
	GThread *threads[4];
	for (int i = 0; i < 4; i++)
		threads[i] = g_thread_new("reader", read_all, NULL);
	gpointer sums[4];
	for (int i = 0; i < 4; i++)
		sums[i] = g_thread_join(threads[i]);
	g_assert_nonnull(sums[0]);
	for (int i = 1; i < 4; i++)
		g_assert_true(sums[i] == sums[0]);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/catalogue/threads", test_threads);
	g_test_add_func("/catalogue/product-by-id", test_product_by_id);
	g_test_add_func("/catalogue/product-by-name", test_product_by_name);
	g_test_add_func("/catalogue/counter-by-name", test_counter_by_name);
	g_test_add_func("/catalogue/engines", test_engines);
	g_test_add_func("/catalogue/layouts", test_layouts);
	g_test_add_func("/catalogue/errata", test_errata);
	return g_test_run();
}
