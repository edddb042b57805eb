/* SPDX-License-Identifier: MIT */
#include "query/sources.h"

#include <string.h>

#include "layer/config/config.h"
#include "layer/config/list.h"
#include "query/gauge/gauge.h"
#include "query/gl/api.h"
#include "query/linux/linux.h"
#include "query/mali/mali.h"
#include "query/microblaze/microblaze.h"

#ifdef PASSTALLY_TEST_SOURCES
#include "tests/sources/test_sources.h"
#endif

#define N_ROWS(rows_) ((uint32_t)(sizeof(rows_) / sizeof((rows_)[0])))
#define NO_TIME "passes will have no GPU time"
#define NO_COUNTERS "passes will have no GPU counters"
#define FOR_MALI "needed for Mali GPUs only"
#define PASS_TIMES "the start and the duration of each pass"

#ifdef PASSTALLY_HAS_VULKAN
#include "query/vk/source.h"
#define VK_CREATE(create_) create_
#else
static struct tally_vk_source *
no_vulkan(const struct tally_vk_api *api)
{
	(void)api;
	return NULL;
}
#define VK_CREATE(create_) no_vulkan
#endif

/* may_count: no counter name selects this source. */
static bool
counts_by_option(const char *counters)
{
	(void)counters;
	return false;
}

#define SOURCE(name_, gives_, ...) .row = { .name = name_, .gives = gives_, __VA_ARGS__ }

const struct tally_source_row tally_api_source = {
	.name = "api",
	.by_default = true,
	.gives = "the program's calls",
	.besides = "draws, vertices, instances, dispatches, copies, clears: always counted",
};

const struct tally_gl_source_row tally_gl_sources[] = {
	{ SOURCE("gl-timestamp", "GPU times", .by_default = true, .besides = PASS_TIMES,
		 .without = NO_TIME
		 "; OpenGL 3.3, GL_ARB_timer_query or (ES) "
		 "GL_EXT_disjoint_timer_query is needed: try a newer driver"),
	  .create = tally_gl_timestamp_create },
	{ SOURCE("gl-statistics", "pipeline statistics", .by_default = true,
		 .without = NO_COUNTERS,
		 .without_es = "OpenGL ES has few such queries: passes of OpenGL ES "
			       "programs will have no GPU counters from it"),
	  .create = tally_gl_statistics_create },
	{ SOURCE("gl-intel", "the counters of gl-intel", .by_default = true,
		 .hardware = true),
	  .yields = TALLY_YIELDS_COUNTERS, .create = tally_gl_intel_create },
	{ SOURCE("gl-amd", "the counters of gl-amd", .by_default = true,
		 .hardware = true),
	  .yields = TALLY_YIELDS_MONITORS, .create = tally_gl_amd_create },
#ifdef PASSTALLY_TEST_SOURCES
	{ SOURCE("fake", NULL, .in_tests = true), .create = tally_fake_of_gl_create },
	{ SOURCE("null", NULL, .in_tests = true), .create = tally_null_of_gl_create },
#endif
};
const uint32_t tally_n_gl_sources = N_ROWS(tally_gl_sources);
_Static_assert(N_ROWS(tally_gl_sources) <= TALLY_MAX_GL_SOURCES, "raise TALLY_MAX_GL_SOURCES");

/* A source that has sets of counters comes last. */
const struct tally_vk_source_row tally_vk_sources[] = {
	{ SOURCE("vk-timestamp", "GPU times", .by_default = true, .besides = PASS_TIMES,
		 .without = NO_TIME),
	  .create = VK_CREATE(tally_vk_timestamp_create) },
	{ SOURCE("vk-statistics", "pipeline statistics", .by_default = true,
		 .without = NO_COUNTERS),
	  .create = VK_CREATE(tally_vk_statistics_create) },
	{ SOURCE("vk-khr", "the counters of vk-khr", .by_default = true, .hardware = true),
	  .performance_query = true, .create = VK_CREATE(tally_vk_khr_create),
	  .on_request = "only on request, as Mesa's Intel driver then submits twice each time: "
			"name its counters in --counters, or vk-khr in --sources" },
};
const uint32_t tally_n_vk_sources = N_ROWS(tally_vk_sources);
_Static_assert(N_ROWS(tally_vk_sources) <= TALLY_MAX_VK_SOURCES, "raise TALLY_MAX_VK_SOURCES");

const struct tally_snapshot_source_row tally_snapshot_sources[] = {
	{ SOURCE("mali-kbase", "the counters of a Mali GPU", .by_default = true,
		 .hardware = true, .without = FOR_MALI),
	  .create = tally_mali_kbase_create, .may_count = tally_mali_may_count },
	{ SOURCE("mali-panfrost", "the counters of a Mali GPU", .by_default = true,
		 .hardware = true, .without = FOR_MALI),
	  .create = tally_mali_panfrost_create, .may_count = tally_mali_may_count },
	{ SOURCE("microblaze", "the counters of a MicroBlaze core", .by_default = true),
	  .create = tally_microblaze_create, .may_count = counts_by_option },
	{ SOURCE("linux-perf", "the program's use of the CPU",
		 .without = "linux-proc counts in its place, without what only perf can "
			    "tell"),
	  .with_cpu = true, .named = tally_linux_named, .create = tally_linux_perf_create,
	  .may_count = tally_linux_may_count },
	{ SOURCE("linux-proc", "the program's use of the CPU", .by_default = false),
	  .with_cpu = true, .named = tally_linux_named, .unless = "linux-perf",
	  .create = tally_linux_proc_create,
	  .may_count = tally_linux_may_count },
	{ SOURCE("gauge", "the GPU's clock, load, temperature, power and memory",
		 .by_default = true,
		 .without = "clock, load and the others are read while a program uses a GPU"),
	  .create = tally_gauge_create, .may_count = counts_by_option },
#ifdef PASSTALLY_TEST_SOURCES
	{ SOURCE("fake-snapshot", NULL, .in_tests = true),
	  .create = tally_fake_snapshot_create, .may_count = tally_fake_may_count },
#endif
};
const uint32_t tally_n_snapshot_sources = N_ROWS(tally_snapshot_sources);
_Static_assert(N_ROWS(tally_snapshot_sources) <= TALLY_MAX_SNAPSHOT_SOURCES,
	       "raise TALLY_MAX_SNAPSHOT_SOURCES");

const struct tally_source_row *
tally_source_row(uint32_t i)
{
	if (i == 0)
		return &tally_api_source;
	i -= 1;
	if (i < tally_n_gl_sources)
		return &tally_gl_sources[i].row;
	i -= tally_n_gl_sources;
	if (i < tally_n_vk_sources)
		return &tally_vk_sources[i].row;
	i -= tally_n_vk_sources;
	return i < tally_n_snapshot_sources ? &tally_snapshot_sources[i].row : NULL;
}

const struct tally_source_row *
tally_source_row_find(const char *name)
{
	const struct tally_source_row *row;
	for (uint32_t i = 0; (row = tally_source_row(i)); i++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

bool
tally_source_wanted(const char *list, const struct tally_source_row *row)
{
	if (!list)
		return row->by_default;
	return tally_list_matches(list, row->name, row->name) ||
	       (row->by_default && tally_list_has(list, "all"));
}

bool
tally_vk_source_wanted(const char *list, const char *counters,
		       const struct tally_vk_source_row *row)
{
	bool asked = !row->on_request || (counters && strcmp(counters, "overview") != 0) ||
		     (list && tally_list_matches(list, row->row.name, row->row.name));

	return asked && tally_source_wanted(list, &row->row);
}
