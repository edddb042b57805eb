/* SPDX-License-Identifier: MIT */
/* query/sources.h - the registry: every source of counters in this version, one row each.
 *
 * A new source is a folder below query/ and a row in query/sources.c; docs/adding-a-source.md
 * explains how. Every user of sources (the shim, the layer, the sampler, `doctor`, `counters`)
 * walks these tables and compares no names. The tables are constant: any thread may read them,
 * and nothing here allocates or blocks.
 */
#ifndef PASSTALLY_QUERY_SOURCES_H
#define PASSTALLY_QUERY_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct tally_config;
struct tally_gl_api;
struct tally_snapshot_source;
struct tally_source;
struct tally_vk_api;
struct tally_vk_source;

/* Members that a source of any kind has. */
struct tally_source_row {
	const char *name; /* as in the log and in --sources */
	bool by_default;  /* it counts without being named */
	bool in_tests;    /* for tests only: not in any list shown to people */
	bool hardware;    /* its counters are the hardware's own */
	/* For people; NULL = nothing to report: what the source provides ("GPU times"), what it
	 * provides besides counters, what its absence means and what to do about it, and the
	 * same for OpenGL ES. */
	const char *gives, *besides, *without, *without_es;
};

/* The uses by the game that prevent the source from being created at all. */
enum tally_gl_yields {
	TALLY_YIELDS_NOT = 0,
	TALLY_YIELDS_COUNTERS, /* any hardware counters */
	/* Monitors; where one unit counts everything (Intel), any counters. */
	TALLY_YIELDS_MONITORS,
};

/* An interval source of OpenGL contexts (query/source/source.h). */
struct tally_gl_source_row {
	struct tally_source_row row;
	enum tally_gl_yields yields;
	/* Creates the source unopened, over an api that outlives it; NULL on OOM. */
	struct tally_source *(*create)(struct tally_gl_api *api);
};

/* An interval source of Vulkan devices (query/vk/source.h). */
struct tally_vk_source_row {
	struct tally_source_row row;
	bool performance_query; /* needs VK_KHR_performance_query enabled on the device */
	/* Not NULL: it counts only where --sources names it, or --counters asks for more than the
	 * overview; why, and how to ask. */
	const char *on_request;
	/* As above; also NULL where this build has no Vulkan. */
	struct tally_vk_source *(*create)(const struct tally_vk_api *api);
};

/* A snapshot source (query/source/snapshot.h). */
struct tally_snapshot_source_row {
	struct tally_source_row row;
	/* It is off where the source of this name counts; NULL = never off for that reason. */
	const char *unless;
	/* It counts in each of these cases: --sources lists it; with_cpu is set and --cpu is
	 * given; with_cpu is set, `named` finds that an item of --counters selects it, and
	 * --sources is not given. */
	bool with_cpu;
	bool (*named)(const char *counters); /* only with with_cpu */
	struct tally_snapshot_source *(*create)(void); /* NULL on OOM */
	/* For `counters`: could this name be a counter of the source on some machine? No
	 * driver is queried. */
	bool (*may_count)(const char *counters);
};

/* One table for each kind of source, with its length. */
extern const struct tally_gl_source_row tally_gl_sources[];
extern const uint32_t tally_n_gl_sources;
extern const struct tally_vk_source_row tally_vk_sources[];
extern const uint32_t tally_n_vk_sources;
extern const struct tally_snapshot_source_row tally_snapshot_sources[];
extern const uint32_t tally_n_snapshot_sources;

/* The API calls themselves: the source that needs no driver and is in none of the tables. */
extern const struct tally_source_row tally_api_source;

#define TALLY_MAX_GL_SOURCES 8
#define TALLY_MAX_VK_SOURCES 4
#define TALLY_MAX_SNAPSHOT_SOURCES 8

/* Number i of all rows: calls first, then GL, Vulkan, snapshots; NULL past the end. */
const struct tally_source_row *tally_source_row(uint32_t i);
/* The row with that name, or NULL. */
const struct tally_source_row *tally_source_row_find(const char *name);

/* Whether a --sources list selects the source. NULL represents the default, and the word `all`
 * all sources that are on by default. */
bool tally_source_wanted(const char *list, const struct tally_source_row *row);
/* ... and whether it was asked for, if it counts on request only. `counters`: the --counters list,
 * or NULL. */
bool tally_vk_source_wanted(const char *list, const char *counters,
			    const struct tally_vk_source_row *row);

#endif
