/* SPDX-License-Identifier: MIT */
/* query/mali/catalogue_tables.h - the catalogue as scripts/gen_catalogue.py packs it; for
 * catalogue.c.
 *
 * Strings are offsets into one text, so that nothing has to be relocated when the library is
 * loaded. Offset 0 is the empty string and means none. A counter that several layouts share is
 * stored once; a layout is a list of places. Everything is constant and any thread may read it,
 * except the rooms, which catalogue.c fills.
 */
#ifndef PASSTALLY_QUERY_CATALOGUE_TABLES_H
#define PASSTALLY_QUERY_CATALOGUE_TABLES_H

#include "query/mali/catalogue.h"

#include <stdatomic.h>

struct tally_mali_packed_counter {
	uint32_t key, name, hw_name, unit, description, erratum;
	uint32_t name_2022; /* its name in 2022, where that is not an alias today */
	uint16_t aliases; /* offset in `aliases`, a list that ends with 0 */
	uint8_t kind, block, visibility, shift;
	bool overview;
};

struct tally_mali_packed_place {
	uint16_t counter;
	uint16_t index;
};

struct tally_mali_packed_constant {
	uint32_t name;
	double value;
};

struct tally_mali_packed_layout {
	uint32_t name, architecture;
	bool csf;
	uint8_t warp_width;
	uint16_t values_per_block;
	uint16_t first_place, n_places;
	uint16_t first_constant, n_constants;
	uint16_t first_alias; /* start of its room for aliases; each list ends with NULL */
};

struct tally_mali_packed_product {
	uint32_t name;
	uint16_t ids[2];
	uint8_t engines[16], engines_least;
	uint8_t layout; /* layout number + 1; 0: none */
};

struct tally_mali_packed {
	const char *text;
	const struct tally_mali_packed_counter *counters;
	const uint32_t *aliases;
	const struct tally_mali_packed_place *places;
	const struct tally_mali_packed_constant *constants;
	const struct tally_mali_packed_layout *layouts;
	const struct tally_mali_packed_product *products;
};
extern const struct tally_mali_packed tally_mali_packed;

/* Room for the unpacked tables: it stays untouched, and so uses no memory, until the first
 * request. */
struct tally_mali_rooms {
	struct tally_mali_layout *layouts;
	struct tally_mali_product *products;
	struct tally_mali_counter *counters; /* one per place */
	struct tally_constant *constants;
	const char **aliases;
	atomic_bool *filled; /* one per layout, and one for the products */
};
extern const struct tally_mali_rooms tally_mali_rooms;

#endif
