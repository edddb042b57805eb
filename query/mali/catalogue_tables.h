/* query/mali/catalogue_tables.h - the catalogue as scripts/gen_catalogue.py packs it; for
 * catalogue.c.
 *
 * Strings are offsets into one text, so that nothing has to be relocated when the library is
 * loaded. Offset 0 is the empty string: none. Counters that several layouts share stand here once;
 * a layout is a list of places. Constant, any thread; but for the rooms, which catalogue.c fills.
 */
#ifndef PASSTALLY_QUERY_CATALOGUE_TABLES_H
#define PASSTALLY_QUERY_CATALOGUE_TABLES_H

#include "query/mali/catalogue.h"

#include <stdatomic.h>

struct tally_mali_packed_counter {
	uint32_t key, name, hw_name, unit, description, erratum;
	uint32_t name_2022; /* what it was called then, where that is no alias today */
	uint16_t aliases; /* in `aliases`, up to a 0 */
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
	uint16_t first_alias; /* of its room for aliases, each counter's up to a NULL */
};

struct tally_mali_packed_product {
	uint32_t name;
	uint16_t ids[2];
	uint8_t engines[16], engines_least;
	uint8_t layout; /* its number, + 1; 0: none */
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

/* What the tables become: untouched, and so without memory of its own, until someone asks. */
struct tally_mali_rooms {
	struct tally_mali_layout *layouts;
	struct tally_mali_product *products;
	struct tally_mali_counter *counters; /* one a place */
	struct tally_constant *constants;
	const char **aliases;
	atomic_bool *filled; /* one a layout, and one for the products */
};
extern const struct tally_mali_rooms tally_mali_rooms;

#endif
