/* SPDX-License-Identifier: MIT */
/* tests/unit/query/mali_world.h - a GPU of few counters, for tests of what is read from Mali
 * drivers.
 *
 * Two counters in each block, at indices 4 and 9; the second core counter has a shift of 2, the
 * first of each block is in the overview. One thread.
 */
#ifndef PASSTALLY_TESTS_UNIT_MALI_WORLD_H
#define PASSTALLY_TESTS_UNIT_MALI_WORLD_H

#include "query/mali/layout.h"

#define WORLD_COUNTER(key_, block_, index_, shift_, overview_, hw_, aliases_) \
	{ \
		.counter = { \
			.key = key_, .name = "Mali " key_, .unit = "1", .source = "mali", \
			.description = "A counter of the tests.", \
			.storage = TALLY_STORAGE_U64, .scope = TALLY_SCOPE_DEVICE, \
		}, \
		.block = block_, .index = index_, .shift = shift_, .overview = overview_, \
		.hw_name = hw_, .aliases = aliases_ \
	}

static const char *const world_core_aliases[] = { "SC.QUADS", "OldQuads", NULL };

/* Not by block, so that no test depends on the order. */
static const struct tally_mali_counter world_counters[] = {
	WORLD_COUNTER("WorldCoreA", TALLY_MALI_CORE, 4, 0, true, "CORE_A", NULL),
	WORLD_COUNTER("WorldFrontA", TALLY_MALI_FRONTEND, 4, 0, true, "FRONT_A", NULL),
	WORLD_COUNTER("WorldFrontB", TALLY_MALI_FRONTEND, 9, 0, false, "FRONT_B", NULL),
	WORLD_COUNTER("WorldTilerA", TALLY_MALI_TILER, 4, 0, true, "TILER_A", NULL),
	WORLD_COUNTER("WorldTilerB", TALLY_MALI_TILER, 9, 0, false, "TILER_B", NULL),
	WORLD_COUNTER("WorldMemoryA", TALLY_MALI_L2, 4, 0, true, "MEMORY_A", NULL),
	WORLD_COUNTER("WorldMemoryB", TALLY_MALI_L2, 9, 0, false, "MEMORY_B", NULL),
	WORLD_COUNTER("WorldCoreB", TALLY_MALI_CORE, 9, 2, false, "CORE_B", world_core_aliases),
};
enum { FRONT_A, FRONT_B, TILER_A, TILER_B, MEMORY_A, MEMORY_B, CORE_A, CORE_B, N_WORLD };

static const struct tally_constant world_constants[] = { { "WorldTileSize", 16 } };
static const struct tally_mali_layout world_layout = {
	.name = "World",
	.values_per_block = 64,
	.warp_width = 8,
	.counters = world_counters,
	.n_counters = N_WORLD,
	.constants = world_constants,
	.n_constants = 1,
};
static const struct tally_mali_product world_product = {
	.name = "World-1",
	.engines = { [2] = 3 },
	.layout = &world_layout,
};
static const struct tally_mali_props world_props = {
	.core_mask = 0x29, /* 0, 3 and 5 */
	.l2_slices = 2,
	.l2_slice_bytes = 1024,
	.bus_bits = 128,
	.core_features = 2,
};

#endif
