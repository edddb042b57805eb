/* SPDX-License-Identifier: MIT */
/* query/mali/catalogue.h - what each GPU can count, as data: Mali counters by layout, products,
 * metrics.
 *
 * It is generated at build time from data/. Pointers are filled in when a layout is first
 * requested, and are constant from then on; any thread may call, nothing allocates, nothing
 * fails. Several products share a layout ("Mali-G78" serves Mali-G68 too). Keys are Arm's
 * current Streamline names; a counter is also found under each of its aliases.
 */
#ifndef PASSTALLY_QUERY_CATALOGUE_H
#define PASSTALLY_QUERY_CATALOGUE_H

#include "layer/record.h"
#include "query/source/snapshot.h"

enum tally_mali_block {
	TALLY_MALI_FRONTEND = 0, /* job manager or command stream front end */
	TALLY_MALI_TILER,
	TALLY_MALI_L2,
	TALLY_MALI_CORE,
	TALLY_N_MALI_BLOCKS,
};

enum tally_mali_visibility { TALLY_MALI_NOVICE = 0, TALLY_MALI_APPLICATION, TALLY_MALI_SYSTEM };

struct tally_mali_counter {
	struct tally_counter counter; /* key, name, unit, description; source "mali"; width 0 */
	enum tally_mali_block block;
	enum tally_mali_visibility visibility;
	uint16_t index; /* index in the block's values, including the four header words */
	uint8_t shift;	/* value = raw << shift */
	bool overview;
	const char *hw_name;
	/* Ends with NULL: names of 2022, names of the Bifrost document, Arm's ids. */
	const char *const *aliases;
	const char *erratum; /* what the hardware counts wrongly, or NULL */
};

struct tally_mali_layout {
	const char *name; /* "Mali-G715" */
	const char *architecture; /* "Bifrost", "Valhall", "Arm 5th Gen" */
	bool csf;
	uint32_t values_per_block; /* 64 or 128 */
	uint32_t warp_width;
	const struct tally_mali_counter *counters; /* ordered by block, then index */
	uint32_t n_counters;
	const struct tally_constant *constants; /* literals of this GPU: "MaliGPUTileSize" ... */
	uint32_t n_constants;
};

struct tally_mali_product {
	const char *name; /* "Mali-G68" */
	/* Upper half of the GPU id, masked: 0x9004; Midgard: 0x0860. The second may be 0 for
	 * none. */
	uint16_t ids[2];
	/* Execution engines per core, indexed by CORE_FEATURES & 15 (0: not known); and those
	 * of the smallest version, which has one core with 0x2000 registers (0: there is no
	 * such version). */
	uint8_t engines[16], engines_least;
	const struct tally_mali_layout *layout; /* NULL: Midgard (recognized, not described) */
};

/* A counter that no layout has, but that some kernels report with each sample: the cycles of
 * the GPU's clock, whether it worked or not. */
extern const struct tally_counter tally_mali_clock;

extern const uint32_t tally_mali_n_layouts, tally_mali_n_products;
/* The layout with index i; NULL when i is out of range. */
const struct tally_mali_layout *tally_mali_layout(uint32_t i);
const struct tally_mali_product *tally_mali_product(uint32_t i);

/* Finds a product by the 64-bit or 32-bit GPU id that kbase gives (id 55), or by panfrost's
 * GPU_PROD_ID << 16. NULL: not known. */
const struct tally_mali_product *tally_mali_find_product(uint64_t gpu_id);
/* Finds a product by its name or its layout's, ignoring case; "g68" and "Mali-G68" are the
 * same. */
const struct tally_mali_product *tally_mali_find_name(const char *name);
/* Finds a counter by key, alias or hardware name. A name of 2022 that means another counter
 * today is looked up in its current meaning; `year_2022` selects the older one. */
const struct tally_mali_counter *tally_mali_find_counter(const struct tally_mali_layout *layout,
							 const char *name, bool year_2022);
/* The number of execution engines in a shader core; 0: not known. */
uint32_t tally_mali_engines(const struct tally_mali_product *product, uint32_t cores,
			    uint32_t core_features, uint32_t thread_features);

#endif
