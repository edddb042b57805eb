/* SPDX-License-Identifier: MIT */
/* The catalogue, field by field, against the reference tables beside the sources. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "query/mali/catalogue.h"

/* Rows of ../shared/mali/NAME (or of PASSTALLY_SHARED); the first has the titles. */
struct rows {
	char *text;
	char **lines;
	char **titles;
	char **fields; /* of the current row */
	guint next;
};

static bool
rows_open(struct rows *rows, const char *name)
{
	const char *shared = g_getenv("PASSTALLY_SHARED");
	char *path = shared ? g_build_filename(shared, "mali", name, NULL)
			    : g_test_build_filename(G_TEST_DIST, "..", "..", "..",
						    "shared", "mali", name, NULL);
	*rows = (struct rows){ 0 };
	if (g_file_get_contents(path, &rows->text, NULL, NULL)) {
		rows->lines = g_strsplit(rows->text, "\n", -1);
		rows->titles = g_strsplit(rows->lines[0], "\t", -1);
		rows->next = 1;
	} else {
		char *why = g_strdup_printf("no reference table %s", name);
		g_test_skip(why);
		g_free(why);
	}
	g_free(path);
	return rows->text;
}

static bool
rows_next(struct rows *rows)
{
	g_strfreev(rows->fields);
	rows->fields = NULL;
	if (!rows->lines[rows->next] || !*rows->lines[rows->next])
		return false;
	rows->fields = g_strsplit(rows->lines[rows->next++], "\t", -1);
	g_assert_cmpuint(g_strv_length(rows->fields), ==, g_strv_length(rows->titles));
	return true;
}

static void
rows_close(struct rows *rows)
{
	g_strfreev(rows->fields);
	g_strfreev(rows->titles);
	g_strfreev(rows->lines);
	g_free(rows->text);
}

static const char *
field(const struct rows *rows, const char *title)
{
	for (guint i = 0; rows->titles[i]; i++)
		if (strcmp(rows->titles[i], title) == 0)
			return rows->fields[i];
	g_error("the reference table has no column %s", title);
}

static unsigned
number(const struct rows *rows, const char *title)
{
	return (unsigned)strtoul(field(rows, title), NULL, 0);
}

static const struct tally_mali_layout *
find_layout(const char *name)
{
	for (uint32_t i = 0; i < tally_mali_n_layouts; i++)
		if (strcmp(tally_mali_layout(i)->name, name) == 0)
			return tally_mali_layout(i);
	return NULL;
}

static bool
has_alias(const struct tally_mali_counter *c, const char *name)
{
	bool found = strcmp(c->counter.key, name) == 0;
	for (const char *const *alias = c->aliases; *alias; alias++)
		found |= strcmp(*alias, name) == 0;
	return found;
}

static void
test_counters(void)
{
	static const char *const blocks[] = { "frontend", "tiler", "l2", "core" };
	static const char *const levels[] = { "Novice", "Advanced application",
					      "Advanced system" };
	struct rows rows;
	if (!rows_open(&rows, "counters.tsv"))
		return;
	unsigned n = 0, known = 0;
	for (; rows_next(&rows); n++) {
		const struct tally_mali_layout *l = find_layout(field(&rows, "gpu"));
		const char *key = field(&rows, "streamline_source_name");
		g_test_message("%s %s", field(&rows, "gpu"), key);
		g_assert_nonnull(l);
		const struct tally_mali_counter *c = tally_mali_find_counter(l, key, false);
		g_assert_nonnull(c);
		g_assert_cmpstr(c->counter.key, ==, key);
		g_assert_cmpstr(c->counter.name, ==, field(&rows, "human_name"));
		g_assert_cmpstr(c->counter.unit, ==, field(&rows, "units"));
		g_assert_cmpstr(blocks[c->block], ==, field(&rows, "block"));
		g_assert_cmpstr(levels[c->visibility], ==, field(&rows, "visibility"));
		g_assert_cmpstr(c->hw_name, ==, field(&rows, "hw_name"));
		g_assert_cmpuint(c->index, ==, number(&rows, "index"));
		g_assert_cmpuint(c->shift, ==, number(&rows, "shift"));
		g_assert_cmpuint(l->values_per_block, ==, number(&rows, "block_size"));
		g_assert_true(has_alias(c, field(&rows, "machine_name")));
	}
	rows_close(&rows);
	for (uint32_t i = 0; i < tally_mali_n_layouts; i++)
		known += tally_mali_layout(i)->n_counters;
	g_assert_cmpuint(known, ==, n);
	g_assert_cmpuint(n, >, 2000);
}

/* Engines by the low bits of CORE_FEATURES, as the reference writes it. */
static unsigned
reference_engines(const char *rule, unsigned variant)
{
	if (strcmp(rule, "CORE_FEATURES & 0xf") == 0)
		return variant;
	const char *colon = strchr(rule, ':');
	if (!colon)
		return (unsigned)strtoul(rule, NULL, 10);
	unsigned found = 0;
	char **parts = g_strsplit(colon + 1, ";", -1);
	for (guint i = 0; parts[i]; i++) {
		char *arrow = strstr(parts[i], "->");
		*arrow = '\0';
		char **variants = g_strsplit(parts[i], ",", -1);
		for (guint k = 0; variants[k]; k++)
			if (strtoul(variants[k], NULL, 10) == variant)
				found = (unsigned)strtoul(arrow + 2, NULL, 10);
		g_strfreev(variants);
	}
	g_strfreev(parts);
	return found;
}

static void
check_product(const struct rows *rows, const struct tally_mali_product *p)
{
	const char *rule = field(rows, "exec_engines_per_core");
	for (unsigned variant = 0; variant < 16; variant++)
		g_assert_cmpuint(tally_mali_engines(p, 4, variant, 0x2000), ==,
				 reference_engines(rule, variant));
	g_assert_cmpuint(tally_mali_engines(p, 1, 1, 0x2000), ==,
			 strstr(rule, "core_count==1") ? 1 : reference_engines(rule, 1));
	char **ids = g_strsplit(field(rows, "product_id"), " ", -1);
	for (guint i = 0; ids[i]; i++) {
		uint64_t id = strtoul(ids[i], NULL, 16);
		g_assert_true(p->ids[0] == id || p->ids[1] == id);
		/* Two names of one id: the first one. */
		const struct tally_mali_product *by_id = tally_mali_find_product(id << 16);
		g_assert_nonnull(by_id);
		g_assert_true(by_id->layout == p->layout);
		g_assert_true(by_id->ids[0] == p->ids[0]);
		if (!g_str_has_prefix(p->name, "Immortalis"))
			g_assert_cmpstr(by_id->name, ==, p->name);
	}
	g_strfreev(ids);
}

static void
test_products(void)
{
	struct rows rows;
	if (!rows_open(&rows, "products.tsv"))
		return;
	unsigned n = 0;
	for (; rows_next(&rows); n++) {
		const char *name = field(&rows, "product");
		const struct tally_mali_product *p = tally_mali_find_name(name);
		g_test_message("%s", name);
		g_assert_nonnull(p);
		g_assert_cmpstr(p->name, ==, name);
		check_product(&rows, p);
		if (strcmp(field(&rows, "architecture"), "Midgard") == 0) {
			g_assert_null(p->layout);
			continue;
		}
		const struct tally_mali_layout *l = p->layout;
		g_assert_cmpstr(l->name, ==, field(&rows, "gpu"));
		g_assert_cmpstr(l->architecture, ==, field(&rows, "architecture"));
		g_assert_cmpint(l->csf, ==, strcmp(field(&rows, "frontend"), "csf") == 0);
		g_assert_cmpuint(l->warp_width, ==, number(&rows, "warp_width"));
		g_assert_cmpuint(l->values_per_block, ==, number(&rows, "block_size"));
		g_assert_cmpuint(p->ids[0] >> 12, ==, number(&rows, "arch_major"));
	}
	rows_close(&rows);
	g_assert_cmpuint(n, ==, tally_mali_n_products);
}

static bool
has_constant(const struct tally_mali_layout *l, const char *name, double value)
{
	for (uint32_t i = 0; i < l->n_constants; i++)
		if (strcmp(l->constants[i].name, name) == 0)
			return l->constants[i].value == value;
	return false;
}

static void
test_constants(void)
{
	struct rows rows;
	if (!rows_open(&rows, "constants.tsv"))
		return;
	unsigned want = 0, known = 0;
	while (rows_next(&rows)) {
		const char *gpu = field(&rows, "gpu"), *value = field(&rows, "value");
		if (!*value) /* known at run time only */
			continue;
		for (uint32_t i = 0; i < tally_mali_n_layouts; i++) {
			const struct tally_mali_layout *l = tally_mali_layout(i);
			if (strcmp(gpu, "all") != 0 && strcmp(gpu, l->name) != 0)
				continue;
			g_test_message("%s of %s", field(&rows, "name"), l->name);
			g_assert_true(has_constant(l, field(&rows, "name"),
						   g_ascii_strtod(value, NULL)));
			want++;
		}
	}
	rows_close(&rows);
	for (uint32_t i = 0; i < tally_mali_n_layouts; i++)
		known += tally_mali_layout(i)->n_constants;
	g_assert_cmpuint(known, ==, want);
	g_assert_cmpuint(want, >, 100);
}

static void
test_names_of_2022(void)
{
	struct rows rows;
	if (!rows_open(&rows, "streamline_2022_names.tsv"))
		return;
	unsigned n = 0, clashes = 0;
	for (; rows_next(&rows); n++) {
		const struct tally_mali_layout *l = find_layout(field(&rows, "gpu"));
		const char *name = field(&rows, "streamline_2022_name");
		const struct tally_mali_counter *c = tally_mali_find_counter(l, name, true);
		g_test_message("%s", name);
		g_assert_nonnull(c);
		g_assert_cmpstr(c->hw_name, ==, field(&rows, "hw_name"));
		g_assert_cmpuint(c->index, ==, number(&rows, "index"));
		g_assert_cmpstr(c->counter.key, ==, field(&rows, "streamline_source_name"));
		if (tally_mali_find_counter(l, name, false) != c)
			clashes++;
		else
			g_assert_true(has_alias(c, name));
	}
	rows_close(&rows);
	g_assert_cmpuint(clashes, ==, 1);
	g_assert_cmpuint(n, >, 140);
}

/* Every raw name of both documents, on every GPU that the reference says has it, and no other. */
static void
test_names_of_documents(void)
{
	struct rows rows;
	if (!rows_open(&rows, "seed_map.tsv"))
		return;
	unsigned n = 0;
	while (rows_next(&rows)) {
		if (strcmp(field(&rows, "kind"), "raw") != 0)
			continue;
		char **gpus = g_strsplit(field(&rows, "gpus"), " ", -1);
		for (uint32_t i = 0; i < tally_mali_n_layouts; i++) {
			const struct tally_mali_layout *l = tally_mali_layout(i);
			bool has = g_strv_contains((const char *const *)gpus, l->name);
			const struct tally_mali_counter *c = tally_mali_find_counter(
				l, field(&rows, "name"), true);
			g_test_message("%s of %s", field(&rows, "name"), l->name);
			if (!has) {
				/* Today's keys that were the same in 2022 have other names
				 * elsewhere. */
				g_assert_true(!c || strchr(field(&rows, "name"), '.') == NULL);
				continue;
			}
			g_assert_nonnull(c);
			g_assert_cmpstr(c->hw_name, ==, field(&rows, "hw_names"));
			g_assert_cmpstr(c->counter.key, ==,
					field(&rows, "streamline_source_name"));
			g_assert_cmpuint(c->index, ==, number(&rows, "index"));
			n++;
		}
		g_strfreev(gpus);
	}
	rows_close(&rows);
	g_assert_cmpuint(n, ==, 86 + 68 * 6 + 7 * 2);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/catalogue/reference/counters", test_counters);
	g_test_add_func("/catalogue/reference/products", test_products);
	g_test_add_func("/catalogue/reference/constants", test_constants);
	g_test_add_func("/catalogue/reference/names-of-2022", test_names_of_2022);
	g_test_add_func("/catalogue/reference/names-of-documents", test_names_of_documents);
	return g_test_run();
}
