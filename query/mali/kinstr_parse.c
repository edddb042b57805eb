/* SPDX-License-Identifier: MIT */
#include "query/mali/kinstr_parse.h"

#include <string.h>

#include "query/mali/abi.h"

#define MAX_UNKNOWN_ITEMS 16u

/* ---- what the kernel offers ---- */

/* The items of the enumeration list so far. A block type is the number of one of our types, or
 * is ignored. */
struct offer_state {
	uint32_t n_mode, n_enable, n_sample_info;
	bool has_block;
};

static bool
fail(const char **why, const char *what)
{
	*why = what;
	return false;
}

static bool
take_request(struct offer_state *state, const struct kinstr_enum_item *item, const char **why)
{
	if (item->request.kind == KINSTR_KIND_MODE)
		state->n_mode++;
	else if (item->request.kind == KINSTR_KIND_ENABLE)
		state->n_enable++;
	else
		return true;
	if (!(item->request.versions_mask & 1))
		return fail(why, "it wants requests of another version");
	return true;
}

static bool
take_block(struct offer_state *state, const struct kinstr_enum_item *item,
	   struct tally_kinstr_offer *offer, const char **why)
{
	offer->n_blocks += item->block.n_instances;
	if (item->block.type >= TALLY_N_MALI_BLOCKS)
		return true;
	if (item->block.set != KINSTR_SET_PRIMARY)
		return fail(why, "it was built to count another set than the primary one");
	if (offer->n_instances[item->block.type])
		return fail(why, "it lists a block type twice");
	if (state->has_block && offer->n_values != item->block.n_values)
		return fail(why, "its blocks differ in size");
	if (item->block.n_instances == 0 || item->block.n_instances > 255 ||
	    item->block.n_values <= TALLY_MALI_HEADER_WORDS)
		return fail(why, "a block of it has no counters, or too many instances");
	state->has_block = true;
	offer->n_values = item->block.n_values;
	offer->n_instances[item->block.type] = item->block.n_instances;
	return true;
}

bool
tally_kinstr_parse_offer(const uint8_t *list, size_t item_size, size_t n_items,
			 struct tally_kinstr_offer *offer, const char **why)
{
	struct offer_state state = { 0 };

	*offer = (struct tally_kinstr_offer){ .n_items = (uint32_t)n_items };
	if (item_size < sizeof(struct kinstr_enum_item))
		return fail(why, "its items are too small");
	for (size_t i = 0; i < n_items; i++) {
		struct kinstr_enum_item item;
		memcpy(&item, list + i * item_size, sizeof(item));
		bool ok = true;
		if (item.item.type == KINSTR_ENUM_REQUEST) {
			ok = take_request(&state, &item, why);
		} else if (item.item.type == KINSTR_ENUM_SAMPLE_INFO) {
			state.n_sample_info++;
			offer->n_clock_domains = item.sample_info.n_clock_domains;
		} else if (item.item.type == KINSTR_ENUM_BLOCK) {
			/* The end item has the type of a block, but no contents. */
			if (item.block.n_values == 0 && item.block.n_instances == 0)
				break;
			ok = take_block(&state, &item, offer, why);
		}
		if (!ok)
			return false;
	}
	if (state.n_mode != 1 || state.n_enable != 1 || state.n_sample_info != 1)
		return fail(why, "its list lacks what every session needs");
	return state.has_block || fail(why, "it lists no blocks");
}

/* ---- one sample ---- */

struct block_tally {
	uint32_t seen, off, closed; /* numbers of instances; closed: protected or unavailable */
	bool off_counted; /* one that was off has counted anyway */
};

struct walk {
	const struct tally_kinstr_format *format;
	const uint8_t *map;
	size_t map_size;
	struct tally_mali_sums *sums;
	struct block_tally blocks[TALLY_N_MALI_BLOCKS];
	const uint64_t *frontend; /* values of the front end */
	uint32_t n_sample, n_clock;
	const char **why;
};

/* Instance indices of a type increase from 0 without gaps; physical ones follow the mask's
 * bits. */
static bool
index_fits(const struct walk *walk, unsigned type, uint32_t index)
{
	uint32_t seen = walk->blocks[type].seen;

	if (type != TALLY_MALI_CORE || !walk->format->physical_cores)
		return index == seen;
	if (index >= TALLY_MALI_MAX_CORES || !(walk->format->core_mask >> index & 1))
		return false;
	uint64_t below = walk->format->core_mask & ((UINT64_C(1) << index) - 1);
	return (uint32_t)__builtin_popcountll(below) == seen;
}

static bool
take_values(struct walk *walk, const struct kinstr_metadata_item *item)
{
	unsigned type = item->block.type;
	struct block_tally *block = &walk->blocks[type];
	size_t bytes = (size_t)walk->format->offer.n_values * sizeof(uint64_t);

	if (item->block.values_offset % sizeof(uint64_t) != 0 ||
	    item->block.values_offset > walk->map_size ||
	    walk->map_size - item->block.values_offset < bytes)
		return fail(walk->why, "values of a block lie outside");
	const uint64_t *values = (const uint64_t *)(const void *)(walk->map +
								  item->block.values_offset);
	bool counted = walk->sums &&
		       tally_mali_sums_add64(walk->sums, (enum tally_mali_block)type,
					     values, walk->format->offer.n_values);
	uint32_t state = item->block.state & walk->format->states;
	if (state & (KINSTR_STATE_UNAVAILABLE | KINSTR_STATE_PROTECTED))
		block->closed++;
	if ((state & (KINSTR_STATE_ON | KINSTR_STATE_OFF)) == KINSTR_STATE_OFF) {
		block->off++;
		block->off_counted |= counted;
	}
	if (type == TALLY_MALI_FRONTEND)
		walk->frontend = values;
	return true;
}

static bool
take_metadata_block(struct walk *walk, const struct kinstr_metadata_item *item)
{
	unsigned type = item->block.type;

	if (type >= TALLY_N_MALI_BLOCKS || item->block.set != KINSTR_SET_PRIMARY)
		return true;
	if (!index_fits(walk, type, item->block.index))
		return fail(walk->why, "blocks are out of order");
	if (walk->blocks[type].seen >= walk->format->offer.n_instances[type])
		return fail(walk->why, "there are more blocks than were announced");
	if (walk->format->enabled[type] && !take_values(walk, item))
		return false;
	walk->blocks[type].seen++;
	return true;
}

/* The first domain is that of the whole GPU. */
static bool
take_clock(struct walk *walk, const struct kinstr_metadata_item *item)
{
	if (walk->n_clock++)
		return fail(walk->why, "it has two items of clocks");
	if (walk->sums)
		tally_mali_sums_add_clock(walk->sums, item->clock.n_domains > 0,
					  item->clock.cycles[0]);
	return true;
}

static bool
take_item(struct walk *walk, const struct kinstr_metadata_item *item,
	  struct tally_kinstr_sample *sample)
{
	if (item->item.version != 0)
		return true;
	switch (item->item.type) {
	case KINSTR_METADATA_SAMPLE:
		if (walk->n_sample++)
			return fail(walk->why, "it begins twice");
		*sample = (struct tally_kinstr_sample){
			.begin_ns = item->sample.begin_ns,
			.end_ns = item->sample.end_ns,
			.seq = item->sample.seq,
			.flags = item->sample.flags,
		};
		return true;
	case KINSTR_METADATA_CLOCK:
		return take_clock(walk, item);
	case KINSTR_METADATA_BLOCK:
		return take_metadata_block(walk, item);
	default:
		return true; /* an item of a newer kernel */
	}
}

/* Whether the GPU worked: its front end counts cycles and jobs whenever it does. */
static bool
was_idle(const struct walk *walk)
{
	const struct block_tally *frontend = &walk->blocks[TALLY_MALI_FRONTEND];

	if (!walk->frontend || frontend->closed)
		return false;
	for (uint32_t i = TALLY_MALI_HEADER_WORDS; i < walk->format->offer.n_values; i++) {
		if (walk->frontend[i] != 0)
			return false;
	}
	return true;
}

/* Marks the blocks that cannot be trusted. If only some of several cores were off, they really
 * counted nothing: the power governor switches cores off. If all blocks of a type were off
 * while the GPU worked, an unknown amount was missed. */
static void
doubt_blocks(const struct walk *walk)
{
	for (unsigned type = 0; type < TALLY_N_MALI_BLOCKS; type++) {
		const struct block_tally *block = &walk->blocks[type];
		bool is_missing = !walk->format->enabled[type] || !block->seen;
		bool is_short = block->seen < walk->format->offer.n_instances[type];
		bool all_off = block->seen && block->off == block->seen;
		if (is_missing || is_short || block->closed || block->off_counted ||
		    (all_off && !was_idle(walk)))
			tally_mali_sums_invalidate(walk->sums,
						   (enum tally_mali_block)type);
	}
}

bool
tally_kinstr_parse_sample(const struct tally_kinstr_format *format, const uint8_t *map,
			  size_t map_size, uint64_t offset, struct tally_kinstr_sample *sample,
			  struct tally_mali_sums *sums, const char **why)
{
	struct walk walk = {
		.format = format,
		.map = map,
		.map_size = map_size,
		.sums = sums,
		.why = why,
	};
	struct kinstr_metadata_item item;
	/* Two items, the blocks, the end, and some items of newer kernels. */
	uint32_t most = format->offer.n_blocks + 3 + MAX_UNKNOWN_ITEMS, n = 0;

	for (uint64_t at = offset;; at += format->item_size) {
		if (n++ == most || at > map_size || map_size - at < sizeof(item))
			return fail(why, "it has no end");
		memcpy(&item, map + at, sizeof(item));
		if (item.item.type == KINSTR_METADATA_END)
			break;
		if (!take_item(&walk, &item, sample))
			return false;
	}
	if (walk.n_sample != 1 || walk.n_clock != 1)
		return fail(why, "it lacks its first items");
	if (sums)
		doubt_blocks(&walk);
	return true;
}
