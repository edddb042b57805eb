/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "query/mali/abi.h"
#include "query/mali/choice.h"
#include "query/mali/kinstr_parse.h"
#include "query/mali/reader.h"
#include "tests/unit/query/mali_world.h"

/* ---- what is offered ---- */

struct list {
	struct kinstr_enum_item items[16];
	size_t n;
};

static struct kinstr_enum_item *
add_item(struct list *list, uint16_t type)
{
	struct kinstr_enum_item *item = &list->items[list->n++];
	*item = (struct kinstr_enum_item){ .item.type = type };
	return item;
}

static void
add_request(struct list *list, uint16_t kind)
{
	struct kinstr_enum_item *item = add_item(list, KINSTR_ENUM_REQUEST);
	item->request.kind = kind;
	item->request.versions_mask = 1;
}

static void
add_kind(struct list *list, uint8_t type, uint16_t n_instances, uint16_t n_values)
{
	struct kinstr_enum_item *item = add_item(list, KINSTR_ENUM_BLOCK);
	item->block.type = type;
	item->block.n_instances = n_instances;
	item->block.n_values = n_values;
}

/* 0, 1 mode and enable; 2 sample info; 3 to 7 blocks, one of a type of no interest; 8 the end. */
static struct list
good_list(void)
{
	struct list list = { .n = 0 };
	add_request(&list, KINSTR_KIND_MODE);
	add_request(&list, KINSTR_KIND_ENABLE);
	add_item(&list, KINSTR_ENUM_SAMPLE_INFO)->sample_info.n_clock_domains = 2;
	add_kind(&list, TALLY_MALI_FRONTEND, 1, 64);
	add_kind(&list, TALLY_MALI_TILER, 1, 64);
	add_kind(&list, TALLY_MALI_L2, 2, 64);
	add_kind(&list, TALLY_MALI_CORE, 3, 64);
	add_kind(&list, 4, 1, 200);
	add_item(&list, KINSTR_ENUM_BLOCK);
	return list;
}

static bool
parse_offer(const struct list *list, struct tally_kinstr_offer *offer, const char **why)
{
	*why = NULL;
	bool ok = tally_kinstr_parse_offer((const uint8_t *)list->items, sizeof(list->items[0]),
					   list->n, offer, why);
	g_assert_cmpint(ok, ==, !*why);
	return ok;
}

static void
test_offer(void)
{
	struct list list = good_list();
	struct tally_kinstr_offer offer;
	const char *why;

	g_assert_true(parse_offer(&list, &offer, &why));
	g_assert_cmpuint(offer.n_values, ==, 64);
	g_assert_cmpuint(offer.n_blocks, ==, 8);
	g_assert_cmpuint(offer.n_instances[TALLY_MALI_FRONTEND], ==, 1);
	g_assert_cmpuint(offer.n_instances[TALLY_MALI_L2], ==, 2);
	g_assert_cmpuint(offer.n_instances[TALLY_MALI_CORE], ==, 3);

	/* Larger items, unknown types, and anything after the end. */
	uint8_t wide[16][56];
	memset(wide, 0xee, sizeof(wide));
	for (size_t i = 0; i < list.n; i++)
		memcpy(wide[i + (i > 4)], &list.items[i], sizeof(list.items[i]));
	struct kinstr_enum_item unknown = { .item.type = 0x0007 };
	memcpy(wide[5], &unknown, sizeof(unknown));
	g_assert_true(tally_kinstr_parse_offer(wide[0], sizeof(wide[0]), 16, &offer, &why));
	g_assert_cmpuint(offer.n_instances[TALLY_MALI_CORE], ==, 3);
	g_assert_cmpuint(offer.n_items, ==, 16);
	g_assert_false(tally_kinstr_parse_offer(wide[0], 31, 16, &offer, &why));
}

static void
test_bad_offers(void)
{
	struct tally_kinstr_offer offer;
	const char *why;

	/* Without one of the first three items, or with one of them twice, the list is
	 * unusable. */
	for (unsigned i = 0; i < 3; i++) {
		struct list list = good_list();
		list.items[i] = (struct kinstr_enum_item){ .item.type = 0x0009 };
		g_assert_false(parse_offer(&list, &offer, &why));
		list = good_list();
		list.items[7] = list.items[i];
		g_assert_false(parse_offer(&list, &offer, &why));
	}
	struct list list = good_list();
	list.items[0].request.versions_mask = 2;
	g_assert_false(parse_offer(&list, &offer, &why));
	list = good_list();
	list.items[4].block.set = 1;
	g_assert_false(parse_offer(&list, &offer, &why));
	g_assert_nonnull(strstr(why, "primary"));
	list = good_list();
	list.items[4].block.n_values = 128;
	g_assert_false(parse_offer(&list, &offer, &why));
	list = good_list();
	list.items[4].block.n_instances = 256;
	g_assert_false(parse_offer(&list, &offer, &why));
	list = good_list();
	list.items[4] = list.items[3];
	g_assert_false(parse_offer(&list, &offer, &why));
	list = good_list();
	list.n = 3;
	g_assert_false(parse_offer(&list, &offer, &why));
	list.n = 0;
	g_assert_false(parse_offer(&list, &offer, &why));
}

/* ---- samples ---- */

#define MAX_ITEMS 24u
#define N_VALUES 64u
#define FIRST_VALUES 4096u
#define AT 128u

/* A mapping as the kernel fills it. */
struct map {
	struct kinstr_metadata_item items[MAX_ITEMS]; /* copied to bytes by finish() */
	size_t n, n_blocks;
	_Alignas(8) uint8_t bytes[FIRST_VALUES + MAX_ITEMS * N_VALUES * 8];
};

static struct tally_kinstr_format format;
static struct map map;
static struct tally_snapshot_source src;
static struct tally_mali_choice choice;
static struct tally_mali_sums sums;

static struct kinstr_metadata_item *
put(uint16_t type)
{
	struct kinstr_metadata_item *item = &map.items[map.n++];
	*item = (struct kinstr_metadata_item){ .item.type = type };
	return item;
}

/* Its values are 1000 n + index, n counting all blocks. */
static struct kinstr_metadata_item *
put_block(uint8_t type, uint8_t index)
{
	struct kinstr_metadata_item *item = put(KINSTR_METADATA_BLOCK);
	item->block.type = type;
	item->block.index = index;
	item->block.state = KINSTR_STATE_ON;
	item->block.values_offset = (uint32_t)(FIRST_VALUES + map.n_blocks * N_VALUES * 8);
	for (uint64_t i = 0; i < N_VALUES; i++) {
		uint64_t value = map.n_blocks * 1000 + i;
		memcpy(map.bytes + item->block.values_offset + i * 8, &value, sizeof(value));
	}
	map.n_blocks++;
	return item;
}

/* 0 sample, 1 clock, 2 front end, 3 tiler, 4 and 5 memory, 6 to 8 cores, 9 the end. */
enum { SAMPLE, CLOCK, FRONT, TILER, MEMORY, CORE = 6, END = 9 };

static void
good_sample(void)
{
	memset(&map, 0, sizeof(map));
	struct kinstr_metadata_item *sample = put(KINSTR_METADATA_SAMPLE);
	sample->sample.begin_ns = 100;
	sample->sample.end_ns = 200;
	sample->sample.seq = 7;
	put(KINSTR_METADATA_CLOCK)->clock.n_domains = 2;
	put_block(TALLY_MALI_FRONTEND, 0);
	put_block(TALLY_MALI_TILER, 0);
	put_block(TALLY_MALI_L2, 0);
	put_block(TALLY_MALI_L2, 1);
	for (uint8_t i = 0; i < 3; i++)
		put_block(TALLY_MALI_CORE, i);
	put(KINSTR_METADATA_END);
}

static void
set_value(unsigned item, unsigned index, uint64_t value)
{
	memcpy(map.bytes + map.items[item].block.values_offset + (size_t)index * 8, &value,
	       sizeof(value));
}

static bool
parse(struct tally_kinstr_sample *sample, const char **why)
{
	size_t stride = format.item_size;
	/* The bytes between items are not read. */
	memset(map.bytes, 0xff, FIRST_VALUES);
	for (size_t i = 0; i < map.n; i++)
		memcpy(map.bytes + AT + i * stride, &map.items[i], sizeof(map.items[i]));
	tally_mali_sums_begin(&sums);
	bool ok = tally_kinstr_parse_sample(&format, map.bytes, sizeof(map.bytes), AT, sample,
					    &sums, why);
	if (!ok)
		tally_mali_sums_invalidate_all(&sums);
	tally_mali_sums_end(&sums);
	return ok;
}

static void
begin_world(void)
{
	src = (struct tally_snapshot_source){ .wanted = "all" };
	g_assert_cmpint(tally_mali_choose(&choice, &src, "mali-test", 64, N_VALUES,
					  &world_product, &world_props),
			==, TALLY_OK);
	g_assert_true(tally_mali_sums_init(&sums, &choice));
	format = (struct tally_kinstr_format){
		.offer = { .n_blocks = 8, .n_values = N_VALUES, .n_instances = { 1, 1, 2, 3 } },
		.item_size = sizeof(struct kinstr_metadata_item),
		.enabled = { true, true, true, true },
		.core_mask = 0x29,
		.states = KINSTR_STATE_ON | KINSTR_STATE_OFF | KINSTR_STATE_PROTECTED,
	};
}

static void
end_world(void)
{
	tally_mali_sums_finish(&sums);
	tally_mali_choice_finish(&choice, &src);
}

static uint64_t
deliver(uint64_t totals[N_WORLD])
{
	uint64_t unknown = 0;
	struct tally_totals out = { .totals = totals, .unknown = &unknown };
	tally_mali_sums_deliver(&sums, &out);
	return unknown;
}

static void
assert_good(const char *what)
{
	struct tally_kinstr_sample sample;
	const char *why = "";
	uint64_t totals[N_WORLD];

	g_test_message("%s", what);
	tally_mali_sums_reset(&sums);
	g_assert_true(parse(&sample, &why));
	g_assert_cmphex(deliver(totals), ==, 0);
	g_assert_cmpuint(sample.begin_ns, ==, 100);
	g_assert_cmpuint(sample.end_ns, ==, 200);
	g_assert_cmpuint(sample.seq, ==, 7);
	g_assert_cmpuint(totals[FRONT_A], ==, 4);
	g_assert_cmpuint(totals[TILER_B], ==, 1009);
	g_assert_cmpuint(totals[MEMORY_A], ==, 2004 + 3004);
	g_assert_cmpuint(totals[CORE_A], ==, 4004 + 5004 + 6004);
	g_assert_cmpuint(totals[CORE_B], ==, 4 * (4009 + 5009 + 6009));
}

static void
test_sample(void)
{
	begin_world();
	good_sample();
	assert_good("as it should be");
	format.item_size = 72;
	assert_good("larger items");
	format.item_size = sizeof(struct kinstr_metadata_item);
	good_sample();
	map.n--;
	put(0x2007);
	put(KINSTR_METADATA_END);
	assert_good("an item of a newer kernel");
	good_sample();
	map.n--;
	put_block(4, 0);
	put(KINSTR_METADATA_BLOCK)->item.version = 1;
	put(KINSTR_METADATA_END);
	assert_good("a firmware block, and a block of another version");
	good_sample();
	map.items[CORE].block.index = 0;
	map.items[CORE + 1].block.index = 3;
	map.items[CORE + 2].block.index = 5;
	format.physical_cores = true;
	assert_good("physical core numbers");
	end_world();
}

static void
swap(unsigned a, unsigned b)
{
	struct kinstr_metadata_item item = map.items[a];
	map.items[a] = map.items[b];
	map.items[b] = item;
}

static void
assert_bad(const char *what)
{
	struct tally_kinstr_sample sample;
	const char *why = NULL;
	uint64_t totals[N_WORLD];

	g_test_message("%s", what);
	tally_mali_sums_reset(&sums);
	g_assert_false(parse(&sample, &why));
	g_assert_nonnull(why);
	g_assert_cmphex(deliver(totals), ==, 0xff);
	for (unsigned i = 0; i < N_WORLD; i++)
		g_assert_cmpuint(totals[i], ==, 0);
	good_sample();
}

static void
test_bad_samples(void)
{
	begin_world();
	good_sample();
	map.items[SAMPLE].item.type = 0x2009;
	assert_bad("no sample item");
	map.items[CLOCK] = map.items[SAMPLE];
	assert_bad("two sample items");
	map.items[CLOCK].item.type = 0x2009;
	assert_bad("no clock item");
	map.n--;
	put(KINSTR_METADATA_CLOCK);
	put(KINSTR_METADATA_END);
	assert_bad("two clock items");
	swap(CORE, CORE + 1);
	assert_bad("cores out of order");
	map.items[CORE + 2].block.index = 3;
	assert_bad("a gap");
	map.n--;
	put_block(TALLY_MALI_TILER, 1);
	put(KINSTR_METADATA_END);
	assert_bad("more tilers than announced");
	map.items[MEMORY].block.values_offset += 4;
	assert_bad("values that are not aligned");
	map.items[MEMORY].block.values_offset = sizeof(map.bytes) - 64 * 8 + 8;
	assert_bad("values past the end");
	map.items[MEMORY].block.values_offset = 0xfffffff8;
	assert_bad("values far past the end");
	map.n--;
	assert_bad("no end");
	format.physical_cores = true;
	assert_bad("core numbers that the GPU has not");

	/* Where the first item would be. */
	struct tally_kinstr_sample sample;
	const char *why;
	static const uint64_t outside[] = { sizeof(map.bytes) - 47, sizeof(map.bytes),
					    UINT64_MAX - 47, UINT64_MAX };
	for (size_t i = 0; i < G_N_ELEMENTS(outside); i++)
		g_assert_false(tally_kinstr_parse_sample(&format, map.bytes, sizeof(map.bytes),
							 outside[i], &sample, NULL, &why));
	end_world();
}

static void
clear_values(unsigned item)
{
	for (unsigned i = 0; i < N_VALUES; i++)
		set_value(item, i, 0);
}

/* Counters whose blocks are unknown; everything else is known. */
static void
assert_unknown(const char *what, uint64_t unknown)
{
	struct tally_kinstr_sample sample;
	const char *why = "";
	uint64_t totals[N_WORLD];

	g_test_message("%s", what);
	tally_mali_sums_reset(&sums);
	g_assert_true(parse(&sample, &why));
	g_assert_cmphex(deliver(totals), ==, unknown);
	for (unsigned i = 0; i < N_WORLD; i++) {
		if (unknown >> i & 1)
			g_assert_cmpuint(totals[i], ==, 0);
	}
	if (!(unknown >> FRONT_B & 1) && map.items[FRONT].block.state == KINSTR_STATE_ON)
		g_assert_cmpuint(totals[FRONT_B], >, 0);
	good_sample();
}

#define OF_TILER (1u << TILER_A | 1u << TILER_B)
#define OF_MEMORY (1u << MEMORY_A | 1u << MEMORY_B)
#define OF_CORES (1u << CORE_A | 1u << CORE_B)

static void
test_states(void)
{
	begin_world();
	good_sample();
	map.items[CORE + 1].block.state = KINSTR_STATE_ON | KINSTR_STATE_PROTECTED | 16;
	assert_unknown("one core in protected mode for a time", OF_CORES);
	map.items[TILER].block.state = KINSTR_STATE_ON | KINSTR_STATE_UNAVAILABLE;
	assert_unknown("what this kernel does not tell", 0);
	map.items[TILER].block.state = KINSTR_STATE_ON | KINSTR_STATE_OFF;
	assert_unknown("off for a time", 0);
	map.items[TILER].block.state = 0;
	assert_unknown("not known", 0);
	map.items[TILER].block.state = KINSTR_STATE_OFF;
	assert_unknown("off, and it has counted", OF_TILER);
	map.items[TILER].block.state = KINSTR_STATE_OFF;
	clear_values(TILER);
	assert_unknown("off while the GPU worked", OF_TILER);
	map.items[CORE + 1].block.state = KINSTR_STATE_OFF;
	clear_values(CORE + 1);
	assert_unknown("one core of three off counts 0", 0);
	map.items[CORE + 1].block.state = KINSTR_STATE_OFF;
	assert_unknown("one core off that has counted", OF_CORES);
	for (unsigned i = FRONT; i < END; i++) {
		map.items[i].block.state = KINSTR_STATE_OFF;
		clear_values(i);
	}
	/* Header words are not counts. */
	set_value(FRONT, 2, 0xffff);
	assert_unknown("all asleep: truly 0", 0);
	format.states = 0;
	map.items[TILER].block.state = KINSTR_STATE_OFF | KINSTR_STATE_PROTECTED;
	assert_unknown("a kernel that tells no states", 0);
	end_world();
}

static void
test_short(void)
{
	begin_world();
	good_sample();
	map.items[CORE + 2] = map.items[END];
	assert_unknown("a core is missing", OF_CORES);
	map.items[MEMORY].item.type = map.items[MEMORY + 1].item.type = 0x2009;
	assert_unknown("all of a kind are missing", OF_MEMORY);
	format.enabled[TALLY_MALI_TILER] = false;
	assert_unknown("not enabled, listed all the same", OF_TILER);
	end_world();
}

/* The cycles of the first domain are one more counter, after all blocks. */
static void
test_clock(void)
{
	static const struct {
		uint32_t n_domains;
		uint64_t cycles, total, unknown;
	} rows[] = {
		{ 2, 77, 77, 0 },
		{ 1, UINT64_C(1) << 40, UINT64_C(1) << 40, 0 },
		{ 2, 0, 0, 0 },
		{ 0, 77, 0, UINT64_C(1) << N_WORLD },
	};
	struct tally_mali_props props = world_props;
	struct tally_kinstr_sample sample;
	const char *why;

	begin_world();
	end_world();
	props.reports_clock = true;
	g_assert_cmpint(tally_mali_choose(&choice, &src, "mali-test", 64, N_VALUES,
					  &world_product, &props),
			==, TALLY_OK);
	g_assert_cmpuint(choice.n, ==, N_WORLD + 1);
	g_assert_cmpstr(choice.counters[N_WORLD]->key, ==, "mali_clock_cycles");
	g_assert_true(tally_mali_sums_init(&sums, &choice));
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		uint64_t totals[N_WORLD + 1], unknown = 0;
		struct tally_totals out = { .totals = totals, .unknown = &unknown };
		tally_mali_sums_reset(&sums);
		good_sample();
		map.items[CLOCK].clock.n_domains = rows[i].n_domains;
		map.items[CLOCK].clock.cycles[0] = rows[i].cycles;
		map.items[CLOCK].clock.cycles[1] = 5;
		g_assert_true(parse(&sample, &why));
		tally_mali_sums_deliver(&sums, &out);
		g_assert_cmphex(unknown, ==, rows[i].unknown);
		g_assert_cmpuint(totals[N_WORLD], ==, rows[i].total);
		g_assert_cmpuint(totals[FRONT_A], ==, 4);
	}
	end_world();
}

/* Whatever the bytes are, nothing outside is read, and each value is correct or reported as
 * unknown. */
static void
test_random(void)
{
	begin_world();
	unsigned n_good = 0, n_bad = 0;
	for (int round = 0; round < 100000; round++) {
		struct tally_kinstr_sample sample;
		const char *why;
		if (round % 64 == 0)
			good_sample();
		unsigned item = (unsigned)g_test_rand_int_range(0, END);
		unsigned byte = (unsigned)g_test_rand_int_range(0, 48);
		uint8_t *at = (uint8_t *)&map.items[item] + byte;
		uint8_t before = *at;
		*at ^= (uint8_t)(1u << g_test_rand_int_range(0, 8));
		format.physical_cores = g_test_rand_bit();
		if (parse(&sample, &why))
			n_good++;
		else
			n_bad++;
		*at = before;
	}
	g_assert_cmpuint(n_good, >, 1000);
	g_assert_cmpuint(n_bad, >, 1000);
	end_world();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/mali-kinstr/offer", test_offer);
	g_test_add_func("/mali-kinstr/bad-offers", test_bad_offers);
	g_test_add_func("/mali-kinstr/sample", test_sample);
	g_test_add_func("/mali-kinstr/bad-samples", test_bad_samples);
	g_test_add_func("/mali-kinstr/states", test_states);
	g_test_add_func("/mali-kinstr/short", test_short);
	g_test_add_func("/mali-kinstr/clock", test_clock);
	g_test_add_func("/mali-kinstr/random", test_random);
	return g_test_run();
}
