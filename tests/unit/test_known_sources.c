#include "query/known_sources.h"

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
		{ NULL, "no-such-source", false },
		{ "all", "gl-statistics", true },
		{ "all", "null", false }, /* a test's, only by its name */
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
		g_assert_cmpint(tally_source_wanted(rows[i].list, rows[i].name), ==, rows[i].want);
	}
}

static void
test_names_differ(void)
{
	for (unsigned i = 0; i < TALLY_N_KNOWN_SOURCES; i++)
		for (unsigned k = 0; k < i; k++)
			g_assert_cmpstr(tally_known_sources[i].name, !=,
					tally_known_sources[k].name);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/known_sources/wanted", test_wanted);
	g_test_add_func("/known_sources/names_differ", test_names_differ);
	return g_test_run();
}
