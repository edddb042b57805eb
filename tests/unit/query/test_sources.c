/* SPDX-License-Identifier: MIT */
#include "layer/config/config.h"
#include "query/gl/api.h"
#include "query/source/snapshot.h"
#include "query/sources.h"
#ifdef PASSTALLY_HAS_VULKAN
#include "query/vk/source.h"
#endif

#include <glib.h>

static void
test_wanted(void)
{
	static const struct {
		const char *list, *name;
		bool want;
	} rows[] = {
		{ NULL, "api", true },
		{ NULL, "vk-timestamp", true },
		{ NULL, "fake", false },
		{ "all", "gl-statistics", true },
		{ "all", "null", false }, /* a test's source, used only if named */
		{ "all+null", "null", true },
		{ "fake", "fake", true },
		{ "fake", "api", false },
		{ "*-timestamp", "gl-timestamp", true },
		{ "*-timestamp", "vk-timestamp", true },
		{ "*-timestamp", "vk-statistics", false },
		{ "gl-timestamp,api", "api", true },
		{ "VK-Statistics", "vk-statistics", true },
		{ "", "api", false },
		{ NULL, "mali-kbase", true },
		{ NULL, "mali-panfrost", true },
		{ NULL, "microblaze", true },
		{ NULL, "linux-perf", false },
		{ NULL, "linux-proc", false },
		{ "all", "linux-perf", false },
		{ "linux-*", "linux-proc", true },
		{ "mali-*", "mali-panfrost", true },
		{ "mali-*", "linux-perf", false },
		{ NULL, "fake-snapshot", false },
		{ "all", "fake-snapshot", false },
		{ "fake", "fake-snapshot", false },
		{ "fake-snapshot", "fake-snapshot", true },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s in %s", rows[i].name, rows[i].list ? rows[i].list : "(none)");
		const struct tally_source_row *row = tally_source_row_find(rows[i].name);
		g_assert_nonnull(row);
		g_assert_cmpint(tally_source_wanted(rows[i].list, row), ==, rows[i].want);
	}
}

/* What makes a driver do more each time counts only where it was asked for. */
static void
test_on_request(void)
{
	static const struct {
		const char *list, *counters;
		bool want;
	} rows[] = {
		{ NULL, "overview", false },
		{ NULL, NULL, false },
		{ "all", "overview", false },
		{ "vk-khr", "overview", true },
		{ "all+vk-khr", "overview", true },
		{ "vk-*", "overview", true },
		{ NULL, "all", true },
		{ NULL, "overview+GpuBusy", true },
		{ "vk-timestamp", "all", false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("row %zu", i);
		for (uint32_t k = 0; k < tally_n_vk_sources; k++)
			if (tally_vk_sources[k].on_request)
				g_assert_cmpint(tally_vk_source_wanted(rows[i].list,
								       rows[i].counters,
								       &tally_vk_sources[k]),
						==, rows[i].want);
	}
}

static void
test_rows(void)
{
	const struct tally_source_row *a, *b;
	uint32_t n = 0;
	for (uint32_t i = 0; (a = tally_source_row(i)); i++, n++) {
		g_test_message("%s", a->name);
		g_assert_true(a->gives || a->in_tests);
		g_assert_false(a->in_tests && a->by_default);
		g_assert_true(tally_source_row_find(a->name) == a);
		for (uint32_t k = 0; k < i && (b = tally_source_row(k)); k++)
			g_assert_cmpstr(a->name, !=, b->name);
	}
	g_assert_cmpuint(n, ==,
			 1 + tally_n_gl_sources + tally_n_vk_sources + tally_n_snapshot_sources);
	g_assert_null(tally_source_row_find("no-such-source"));
}

/* ---- each row against a driver that has nothing ---- */

static bool
no_extension(const struct tally_gl_api *api, const char *name)
{
	(void)api;
	(void)name;
	return false;
}

static void
test_gl_without_driver(void)
{
	for (uint32_t i = 0; i < tally_n_gl_sources; i++) {
		struct tally_gl_api api = { .version = 11, .has_extension = no_extension };
		struct tally_source *src = tally_gl_sources[i].create(&api);
		g_test_message("%s", tally_gl_sources[i].row.name);
		g_assert_nonnull(src);
		g_assert_cmpstr(src->ops->name, ==, tally_gl_sources[i].row.name);
		enum tally_status status = src->ops->open(src, 4);
		if (tally_gl_sources[i].row.in_tests) {
			g_assert_cmpint(status, ==, TALLY_OK);
			src->ops->close(src);
		} else {
			g_assert_cmpint(status, ==, TALLY_UNSUPPORTED);
			g_assert_cmpstr(src->reason, !=, "");
		}
		g_assert_false(src->ops->yield(src, 0));
		tally_source_destroy(src);
	}
}

static void
test_vk_without_driver(void)
{
#ifdef PASSTALLY_HAS_VULKAN
	for (uint32_t i = 0; i < tally_n_vk_sources; i++) {
		struct tally_vk_api api = { .n_families = 1 };
		struct tally_vk_source *src = tally_vk_sources[i].create(&api);
		const struct tally_vk_family family = { .flags = 0 };
		g_test_message("%s", tally_vk_sources[i].row.name);
		g_assert_nonnull(src);
		g_assert_cmpstr(src->ops->name, ==, tally_vk_sources[i].row.name);
		/* Only queues can have time stamps. */
		if (src->ops->open(src) == TALLY_OK) {
			g_assert_false(src->ops->covers(src, &family));
			src->ops->close(src);
		} else {
			g_assert_cmpstr(src->reason, !=, "");
		}
		tally_vk_source_destroy(src);
	}
#else
	g_test_skip("this build has no Vulkan");
#endif
}

static void
test_snapshots(void)
{
	for (uint32_t i = 0; i < tally_n_snapshot_sources; i++) {
		const struct tally_snapshot_source_row *row = &tally_snapshot_sources[i];
		struct tally_snapshot_source *src = row->create();
		struct tally_config config;
		g_test_message("%s", row->row.name);
		g_assert_nonnull(src);
		g_assert_cmpstr(src->ops->name, ==, row->row.name);
		g_assert_false(row->may_count("no such counter"));
		g_assert_true(!row->with_cpu || !row->named("no such counter"));
		g_assert_true(!row->unless || tally_source_row_find(row->unless));
		tally_config_init(&config);
		src->config = &config;
		if (src->ops->probe(src) != TALLY_OK)
			g_assert_cmpstr(src->reason, !=, "");
		src->ops->destroy(src);
		tally_config_finish(&config);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sources/wanted", test_wanted);
	g_test_add_func("/sources/rows", test_rows);
	g_test_add_func("/sources/on_request", test_on_request);
	g_test_add_func("/sources/gl_without_driver", test_gl_without_driver);
	g_test_add_func("/sources/vk_without_driver", test_vk_without_driver);
	g_test_add_func("/sources/snapshots", test_snapshots);
	return g_test_run();
}
