/* SPDX-License-Identifier: MIT */
#include "tests/unit/query/vk_khr_driver.h"

/* ---- what is offered ---- */

static const struct {
	const char *key, *unit;
	enum tally_counter_kind kind;
	enum tally_storage storage;
	uint32_t width;
	enum tally_scope scope;
	const char *description;
} told[] = {
	{ "draws_issued", "1", TALLY_KIND_EVENT, TALLY_STORAGE_U64, 64, TALLY_SCOPE_WORKLOAD,
	  "Draws that came. [00000000000000000000000000000001]" },
	{ "busy", "percent", TALLY_KIND_RATIO, TALLY_STORAGE_F64, 32, TALLY_SCOPE_WORKLOAD,
	  "Busy. Includes what runs at the same time. [00000000000000000000000000000002]" },
	{ "time", "ns", TALLY_KIND_DURATION, TALLY_STORAGE_I64, 64, TALLY_SCOPE_WORKLOAD,
	  "Time that went by. [00000000000000000000000000000003]" },
	{ "clock", "hertz", TALLY_KIND_RAW, TALLY_STORAGE_U64, 64, TALLY_SCOPE_WORKLOAD,
	  "Clock. Counting it slows the GPU down. [0000000000000000000000000000000a]" },
	{ "cycles", "cycles", TALLY_KIND_DURATION, TALLY_STORAGE_U64, 64, TALLY_SCOPE_WORKLOAD,
	  "Cycles. [0000000000000000000000000000000b]" },
	{ "l0_cache_hit_ratio", "percent", TALLY_KIND_RATIO, TALLY_STORAGE_F64, 64,
	  TALLY_SCOPE_WORKLOAD, "Hits. [0000000000000000000000000000000c]" },
	{ "read", "bytes", TALLY_KIND_THROUGHPUT, TALLY_STORAGE_U64, 32, TALLY_SCOPE_PASS,
	  "Read. [00000000000000000000000000000004]" },
	{ "read_rate", "bytes/s", TALLY_KIND_THROUGHPUT, TALLY_STORAGE_F64, 64, TALLY_SCOPE_PASS,
	  "Rate. [00000000000000000000000000000005]" },
	{ "heat", "kelvin", TALLY_KIND_RAW, TALLY_STORAGE_I64, 32, TALLY_SCOPE_SUBMISSION,
	  "Heat. Of whole command buffers only. [00000000000000000000000000000006]" },
	{ "power", "watts", TALLY_KIND_RAW, TALLY_STORAGE_F64, 32, TALLY_SCOPE_SUBMISSION,
	  "Power. Of whole command buffers only. [00000000000000000000000000000007]" },
	{ "tension", "volts", TALLY_KIND_RAW, TALLY_STORAGE_F64, 32, TALLY_SCOPE_SUBMISSION,
	  "Volts. Of whole command buffers only. [00000000000000000000000000000008]" },
	{ "current", "amps", TALLY_KIND_RAW, TALLY_STORAGE_F64, 32, TALLY_SCOPE_SUBMISSION,
	  "Amps. Of whole command buffers only. [00000000000000000000000000000009]" },
};

/* Every unit, storage and scope reaches the log; scopes never share a set. */
static void
test_counters(void)
{
	struct tally_vk_api api;
	drv_init(&api);
	struct tally_vk_source *src = open_source(&api, "all", TALLY_OK);
	uint32_t n = 0;

	g_assert_true(drv.with_arrays[0]);
	g_assert_cmpuint(src->n_counters, ==, N_UNITS);
	g_assert_cmpuint(src->n_sets, ==, 3);
	for (uint32_t i = 0; i < src->n_sets; i++) {
		const struct tally_layout *layout = &src->sets[i]->layout;
		for (uint32_t k = 0; k < layout->n_counters; k++, n++) {
			const struct tally_counter *c = layout->counters[k];
			g_test_message("%s", told[n].key);
			g_assert_cmpstr(c->key, ==, told[n].key);
			g_assert_cmpstr(c->unit, ==, told[n].unit);
			g_assert_cmpint(c->kind, ==, told[n].kind);
			g_assert_cmpint(c->storage, ==, told[n].storage);
			g_assert_cmpuint(c->width_bits, ==, told[n].width);
			g_assert_cmpint(c->scope, ==, told[n].scope);
			g_assert_cmpstr(c->description, ==, told[n].description);
			g_assert_cmpstr(c->source, ==, "vk-khr");
		}
	}
	g_assert_cmpuint(n, ==, G_N_ELEMENTS(told));
	g_assert_cmpint(tally_vk_khr_scope(src, 1), ==, TALLY_SCOPE_WORKLOAD);
	g_assert_cmpint(tally_vk_khr_scope(src, 2), ==, TALLY_SCOPE_PASS);
	g_assert_cmpint(tally_vk_khr_scope(src, 3), ==, TALLY_SCOPE_SUBMISSION);
	g_assert_cmpstr(src->sets[2]->category, ==, "Board");
	g_assert_null(src->sets[0]->category);
	g_assert_nonnull(strstr(src->reason, "what else runs"));
	close_source(src);
}

static const struct {
	const char *what, *wanted;
	unsigned room;
	enum tally_status want;
	const char *sets;
	const char *reason;
} choices[] = {
	{ "overview is one set that bears on passes", NULL, 100, TALLY_OK,
	  "vk-khr-1: draws_issued busy time cycles l0_cache_hit_ratio",
	  "what else runs" },
	{ "overview is what fits", NULL, 3, TALLY_OK, "vk-khr-1: draws_issued busy time",
	  "what" },
	{ "shares come first", NULL, 1, TALLY_OK, "vk-khr-1: busy",
	  "what" },
	{ "groups of a run", "all", 4, TALLY_OK,
	  "vk-khr-1: draws_issued busy time clock | vk-khr-2: read read_rate | "
	  "vk-khr-3: heat power tension current | vk-khr-4: cycles l0_cache_hit_ratio",
	  "" },
	{ "a key", "cycles", 100, TALLY_OK, "vk-khr-1: cycles", "" },
	{ "a name", "draws ISSUED", 100, TALLY_OK, "vk-khr-1: draws_issued", "" },
	{ "a glob", "read*", 100, TALLY_OK, "vk-khr-1: read read_rate", "" },
	{ "a category", "memory", 100, TALLY_OK,
	  "vk-khr-1: read read_rate | vk-khr-2: l0_cache_hit_ratio", "" },
	{ "a UUID", "0000000000000000000000000000000B", 100, TALLY_OK, "vk-khr-1: cycles",
	  "" },
	{ "overview and one", "overview+heat", 2, TALLY_OK,
	  "vk-khr-1: draws_issued busy | vk-khr-2: heat", "" },
	{ "nothing", "gpu_cycles", 100, TALLY_UNSUPPORTED, "",
	  "none of its counters is in --counters gpu_cycles" },
};

static void
test_choice(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(choices); i++) {
		struct tally_vk_api api;
		drv_init(&api);
		drv.room = choices[i].room;
		g_test_message("%s", choices[i].what);
		struct tally_vk_source *src = open_source(&api, choices[i].wanted,
							  choices[i].want);
		expect_sets(src, choices[i].sets);
		g_assert_nonnull(strstr(src->reason, choices[i].reason));
		g_assert_cmpuint(drv.locked, ==, choices[i].want == TALLY_OK);
		close_source(src);
		g_assert_cmpuint(drv.released, ==, drv.locked);
	}
}

static const struct listed odd[] = {
	{ "Hits", "A", "Of A.", 1, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR },
	{ "Hits", "B", "Of B.", 2, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR },
	{ "Too dear", "B", "Dear.", 3, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR, .cost = 9 },
	{ "Newer", "B", "New.", 4, .storage = (VkPerformanceCounterStorageKHR)77,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR },
	{ "Hits", "A", "Of A.", 1, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR },
	{ "New unit", "B", "New.", 5, .unit = (VkPerformanceCounterUnitKHR)99,
	  .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR },
};

/* No key twice; counters that cannot be counted in one run, or are not understood, are left out
 * and reported. */
static void
test_odd_lists(void)
{
	struct tally_vk_api api;
	drv_init(&api);
	drv.families[0] = odd;
	drv.n[0] = G_N_ELEMENTS(odd);
	drv.room = 4;
	struct tally_vk_source *src = open_source(&api, "all", TALLY_OK);
	expect_sets(src, "vk-khr-1: hits vk-khr.hits new_unit");
	g_assert_cmpstr(src->counters[2]->unit, ==, "?");
	g_assert_nonnull(strstr(src->reason, "2 counters that do not fit"));
	close_source(src);

	src = open_source(&api, "too_dear", TALLY_UNSUPPORTED);
	g_assert_nonnull(strstr(src->reason, "in one run"));
	g_assert_cmpuint(drv.locked, ==, 1);
	close_source(src);
}

/* Keys that another source of the device has remain that source's. */
static void
test_shared_keys(void)
{
	static const struct tally_counter other = { .key = "cycles",
						    .unit = "1",
						    .source = "x" };
	struct tally_key_table keys = { NULL };
	struct tally_vk_api api;
	drv_init(&api);
	g_assert_true(tally_key_table_reserve(&keys, &other));
	struct tally_vk_source *src = tally_vk_khr_create(&api);
	src->wanted = "cycles";
	src->keys = &keys;
	g_assert_cmpint(src->ops->open(src), ==, TALLY_OK);
	g_assert_cmpstr(src->counters[0]->key, ==, "vk-khr.cycles");
	close_source(src);
	tally_key_table_finish(&keys);
}

/* ---- families ---- */

static const struct listed second[] = {
	{ "Only there", "C", "C.", 40, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR },
	{ "Hits", "B", "Of B.", 2, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR },
	{ "Hits", "A", "Of A.", 1, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR,
	  .scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR },
};

/* A counter is the same on all families that list it; its index need not be. */
static void
test_families(void)
{
	struct tally_vk_api api;
	VkQueryPool pool;
	drv_init(&api);
	drv.n_families = 3; /* the middle one lists nothing */
	drv.families[0] = odd;
	drv.n[0] = 3;
	drv.families[2] = second;
	drv.n[2] = G_N_ELEMENTS(second);
	drv.room = 4;
	struct tally_vk_source *src = open_source(&api, "hits+only_there", TALLY_OK);
	expect_sets(src, "vk-khr-1: hits vk-khr.hits | vk-khr-2: only_there");

	struct tally_vk_family family = { .index = 0, .set = 0 };
	g_assert_false(src->ops->covers(src, &family));
	g_assert_cmpint(src->ops->create_pool(src, &family, N_SLOTS, &pool), ==,
			TALLY_UNSUPPORTED);
	static const bool covered[3][3] = { { false, true, false },
					    { false, false, false },
					    { false, true, true } };
	for (family.index = 0; family.index < 3; family.index++)
		for (family.set = 0; family.set < 3; family.set++)
			g_assert_cmpint(src->ops->covers(src, &family), ==,
					covered[family.index][family.set]);
	family.set = 1;
	for (family.index = 0; family.index < 3; family.index += 2)
		g_assert_cmpint(src->ops->create_pool(src, &family, N_SLOTS, &pool), ==,
				TALLY_OK);
	g_assert_cmpuint(drv.pool_family[0], ==, 0);
	g_assert_cmpuint(drv.pool_n[0], ==, 2);
	g_assert_cmpuint(drv.pool_indices[0][0], ==, 0);
	g_assert_cmpuint(drv.pool_indices[0][1], ==, 1);
	g_assert_cmpuint(drv.pool_family[1], ==, 2);
	g_assert_cmpuint(drv.pool_indices[1][0], ==, 2);
	g_assert_cmpuint(drv.pool_indices[1][1], ==, 1);
	family.index = TALLY_KHR_MAX_FAMILIES;
	g_assert_false(src->ops->covers(src, &family));
	family = (struct tally_vk_family){ .set = 1 };
	drv.pool_answer = VK_ERROR_OUT_OF_DEVICE_MEMORY;
	g_assert_cmpint(src->ops->create_pool(src, &family, N_SLOTS, &pool), ==,
			TALLY_NO_MEMORY);
	close_source(src);
}

#define NAMELESS(name_, category_) \
	{ \
		.name = name_, .category = category_, \
		.storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR, \
		.scope = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR, \
	}
static const struct listed nameless[2][3] = {
	{ NAMELESS("Draws", "A"), NAMELESS("Busy", "A"), NAMELESS("Idle", "A") },
	{ NAMELESS("Busy", "A"), NAMELESS("Copies", "A"), NAMELESS("Draws", "A") },
};

/* A driver that leaves every UUID empty: names tell its counters apart, on each family. */
static void
test_no_uuids(void)
{
	struct tally_vk_api api;
	VkQueryPool pool;
	drv_init(&api);
	drv.n_families = 2;
	for (uint32_t f = 0; f < 2; f++) {
		drv.families[f] = nameless[f];
		drv.n[f] = 3;
	}
	struct tally_vk_source *src = open_source(&api, "draws+busy+copies", TALLY_OK);
	expect_sets(src, "vk-khr-1: draws busy | vk-khr-2: copies");
	const struct tally_vk_family family = { .index = 1, .set = 1 };
	g_assert_cmpint(src->ops->create_pool(src, &family, N_SLOTS, &pool), ==, TALLY_OK);
	g_assert_cmpuint(drv.pool_n[0], ==, 2);
	g_assert_cmpuint(drv.pool_indices[0][0], ==, 2);
	g_assert_cmpuint(drv.pool_indices[0][1], ==, 0);
	close_source(src);
}

/* ---- recording and reading ---- */

static const struct tally_vk_family main_family = { .index = 0, .set = 1 };

static struct tally_vk_source *
open_for_reading(struct tally_vk_api *api, const char *wanted, VkQueryPool *pool)
{
	drv_init(api);
	struct tally_vk_source *src = open_source(api, wanted, TALLY_OK);
	g_assert_cmpint(src->ops->create_pool(src, &main_family, N_SLOTS, pool), ==, TALLY_OK);
	return src;
}

static void
test_recording(void)
{
	struct tally_vk_api api;
	VkQueryPool pool;
	struct tally_vk_source *src = open_for_reading(&api, NULL, &pool);

	tally_vk_reset(src, pool, 2, 4);
	tally_vk_begin(src->api, src->ops->delivers_time, NULL, pool, 3);
	tally_vk_end(src->api, src->ops->delivers_time, NULL, pool, 3, 1);
	g_assert_null(src->ops->tick);
	g_assert_null(src->ops->read_many);
	g_assert_cmpstr(drv.log, ==, "reset2.4 begin3.0 end3.0 ");
	g_assert_false(src->ops->delivers_time);
	g_assert_false(src->ops->halves);
	close_source(src);
}

struct reading {
	struct tally_value values[MAX_LISTED];
	uint64_t valid;
	struct tally_sample sample;
};

static enum tally_status
read_slot(struct tally_vk_source *src, VkQueryPool pool, uint32_t slot, uint32_t views,
	  struct reading *out)
{
	memset(out, 0, sizeof(*out));
	out->sample = (struct tally_sample){ .values = out->values,
					     .valid = &out->valid,
					     .n = src->sets[0]->layout.n_counters };
	return src->ops->read(src, &main_family, pool, NULL, slot, views, TALLY_VK_BOTH,
			      &out->sample);
}

static const struct listed storages[] = {
	{ "i32", .uuid = 1, .storage = VK_PERFORMANCE_COUNTER_STORAGE_INT32_KHR, .scope = 2 },
	{ "i64", .uuid = 2, .storage = VK_PERFORMANCE_COUNTER_STORAGE_INT64_KHR, .scope = 2 },
	{ "u32", .uuid = 3, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT32_KHR, .scope = 2 },
	{ "u64", .uuid = 4, .storage = VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR, .scope = 2 },
	{ "f32", .uuid = 5, .storage = VK_PERFORMANCE_COUNTER_STORAGE_FLOAT32_KHR, .scope = 2 },
	{ "f64", .uuid = 6, .storage = VK_PERFORMANCE_COUNTER_STORAGE_FLOAT64_KHR, .scope = 2 },
	{ "share", .uuid = 7, .storage = VK_PERFORMANCE_COUNTER_STORAGE_FLOAT64_KHR, .scope = 2,
	  .unit = VK_PERFORMANCE_COUNTER_UNIT_PERCENTAGE_KHR },
};

static struct tally_vk_source *
open_storages(struct tally_vk_api *api, VkQueryPool *pool)
{
	drv_init(api);
	drv.families[0] = storages;
	drv.n[0] = G_N_ELEMENTS(storages);
	struct tally_vk_source *src = open_source(api, "all", TALLY_OK);
	g_assert_cmpint(src->ops->create_pool(src, &main_family, N_SLOTS, pool), ==, TALLY_OK);
	return src;
}

static void
fill(uint32_t slot, double scale)
{
	VkPerformanceCounterResultKHR *r = drv.results[slot];
	memset(r, 0xee, sizeof(drv.results[slot])); /* 32-bit values leave the rest unchanged */
	r[0].int32 = (int32_t)(-5 * scale);
	r[1].int64 = (int64_t)(INT64_C(-6000000000) * scale);
	r[2].uint32 = (uint32_t)(4000000000u / 2 * scale);
	r[3].uint64 = UINT64_C(1) << 62;
	r[4].float32 = (float)(1.5 * scale);
	r[5].float64 = 1e300 * scale;
	r[6].float64 = 50 * scale;
}

static void
test_storages(void)
{
	struct tally_vk_api api;
	VkQueryPool pool;
	struct tally_vk_source *src = open_storages(&api, &pool);
	struct reading got;

	fill(1, 1);
	g_assert_cmpint(read_slot(src, pool, 1, 1, &got), ==, TALLY_OK);
	g_assert_cmphex(got.valid, ==, 0x7f);
	g_assert_cmpint(got.values[0].i64, ==, -5);
	g_assert_cmpint(got.values[1].i64, ==, INT64_C(-6000000000));
	g_assert_cmpuint(got.values[2].u64, ==, 2000000000u);
	g_assert_true(got.values[3].u64 == UINT64_C(1) << 62);
	g_assert_cmpfloat(got.values[4].f64, ==, 1.5);
	g_assert_cmpfloat(got.values[5].f64, ==, 1e300);
	for (uint32_t i = 0; i < 7; i++)
		g_assert_cmpint(got.values[i].storage, ==,
				src->sets[0]->layout.counters[i]->storage);
	g_assert_cmpuint(drv.flags, ==, 0);
	g_assert_cmpuint(drv.stride, ==, drv.size);

	drv.results[1][4].float32 = NAN;
	drv.results[1][5].float64 = INFINITY;
	g_assert_cmpint(read_slot(src, pool, 1, 1, &got), ==, TALLY_OK);
	g_assert_cmphex(got.valid, ==, 0x4f);
	close_source(src);
}

/* Views are summed where a sum has a meaning; views without results are skipped. */
static void
test_views(void)
{
	struct tally_vk_api api;
	VkQueryPool pool;
	struct tally_vk_source *src = open_storages(&api, &pool);
	struct reading got;

	fill(2, 1);
	fill(3, 2);
	drv.ready[4] = VK_NOT_READY;
	g_assert_cmpint(read_slot(src, pool, 2, 3, &got), ==, TALLY_OK);
	g_assert_cmphex(got.valid, ==, 0x3f); /* not the share */
	g_assert_cmpint(got.values[0].i64, ==, -15);
	g_assert_cmpint(got.values[1].i64, ==, INT64_C(-18000000000));
	g_assert_cmpuint(got.values[2].u64, ==, 6000000000u);
	g_assert_true(got.values[3].u64 == UINT64_C(1) << 63);
	g_assert_cmpfloat(got.values[4].f64, ==, 4.5);
	drv.results[2][3].uint64 = UINT64_MAX; /* and the sum overflows */
	g_assert_cmpint(read_slot(src, pool, 2, 3, &got), ==, TALLY_OK);
	g_assert_cmphex(got.valid, ==, 0x37);
	drv.ready[3] = VK_NOT_READY;
	g_assert_cmpint(read_slot(src, pool, 2, 3, &got), ==, TALLY_OK);
	g_assert_cmphex(got.valid, ==, 0x7f);
	close_source(src);
}

static void
test_not_there(void)
{
	struct tally_vk_api api;
	VkQueryPool pool;
	struct tally_vk_source *src = open_storages(&api, &pool);
	struct reading got;
	const struct tally_vk_family none = { .index = 0, .set = 0 };

	drv.ready[0] = VK_NOT_READY;
	g_assert_cmpint(read_slot(src, pool, 0, 2, &got), ==, TALLY_NOT_READY);
	g_assert_cmphex(got.valid, ==, 0);
	drv.ready[0] = VK_ERROR_DEVICE_LOST;
	g_assert_cmpint(read_slot(src, pool, 0, 1, &got), ==, TALLY_LOST);
	drv.ready[0] = VK_SUCCESS;
	g_assert_cmpint(src->ops->read(src, &main_family, pool, NULL, 0, 1, TALLY_VK_END,
				       &got.sample),
			==, TALLY_LOST);
	g_assert_cmpint(src->ops->read(src, &none, pool, NULL, 0, 1, TALLY_VK_BOTH, &got.sample),
			==, TALLY_LOST);
	got.sample.n = 3; /* less room than the set has counters */
	g_assert_cmpint(src->ops->read(src, &main_family, pool, NULL, 0, 1, TALLY_VK_BOTH,
				       &got.sample),
			==, TALLY_LOST);
	g_assert_cmphex(got.valid, ==, 0);
	close_source(src);
}

/* ---- why not ---- */

enum lack {
	LACK_OFFER,
	LACK_FEATURE,
	LACK_RESET,
	LACK_FUNCTION,
	LACK_COUNTERS,
	GAME_OWNS,
	SEVERAL_GPUS,
	LOCK_HELD,
};

static const struct {
	const char *what;
	enum lack lack;
	VkDriverId driver;
	enum tally_status want;
	const char *reason;
} refusals[] = {
	{ "no extension", LACK_OFFER, 0, TALLY_UNSUPPORTED, "does not offer VK_KHR_perf" },
	{ "RADV", LACK_OFFER, VK_DRIVER_ID_MESA_RADV, TALLY_UNSUPPORTED, "RDNA 2" },
	{ "ANV", LACK_OFFER, VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA, TALLY_UNSUPPORTED,
	  "sudo sysctl dev.i915.perf_stream_paranoid=0" },
	{ "Turnip", LACK_OFFER, VK_DRIVER_ID_MESA_TURNIP, TALLY_UNSUPPORTED, "TU_DEBUG=perfc" },
	{ "no feature", LACK_FEATURE, 0, TALLY_UNSUPPORTED, "performanceCounterQueryPools" },
	{ "no host reset", LACK_RESET, 0, TALLY_UNSUPPORTED, "hostQueryReset" },
	{ "no function", LACK_FUNCTION, 0, TALLY_UNSUPPORTED, "lacks functions" },
	{ "no counter", LACK_COUNTERS, 0, TALLY_UNSUPPORTED, "no counter in it" },
	{ "the game's own use", GAME_OWNS, 0, TALLY_UNSUPPORTED, "left to it" },
	{ "several GPUs", SEVERAL_GPUS, 0, TALLY_UNSUPPORTED, "several GPUs" },
	{ "lock", LOCK_HELD, 0, TALLY_DENIED, "(VkResult 2): another program" },
	{ "lock of RADV", LOCK_HELD, VK_DRIVER_ID_MESA_RADV, TALLY_DENIED, "profile_standard" },
	{ "lock of ANV", LOCK_HELD, VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA, TALLY_DENIED,
	  "sudo sysctl" },
};

static void
test_refusals(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
		struct tally_vk_api api;
		enum lack lack = refusals[i].lack;
		drv_init(&api);
		g_test_message("%s", refusals[i].what);
		api.driver_id = refusals[i].driver;
		api.performance_offered = lack != LACK_OFFER;
		api.performance_query = lack != LACK_FEATURE && lack != LACK_OFFER;
		api.ResetQueryPool = lack == LACK_RESET ? NULL : drv_reset;
		api.ReleaseProfilingLockKHR = lack == LACK_FUNCTION ? NULL : drv_release;
		drv.n[0] = lack == LACK_COUNTERS ? 0 : drv.n[0];
		api.game_performance = lack == GAME_OWNS;
		api.multi_device = lack == SEVERAL_GPUS;
		drv.lock_answer = lack == LOCK_HELD ? VK_TIMEOUT : VK_SUCCESS;
		struct tally_vk_source *src = open_source(&api, NULL, refusals[i].want);
		g_assert_nonnull(strstr(src->reason, refusals[i].reason));
		g_assert_cmpuint(drv.locked, ==, lack == LOCK_HELD);
		close_source(src);
		g_assert_cmpuint(drv.released, ==, 0);
	}
}

/* Once, for as long as the source is open, and never with a long wait. */
static void
test_lock(void)
{
	struct tally_vk_api api;
	VkQueryPool pool;
	struct tally_vk_source *src = open_for_reading(&api, NULL, &pool);

	g_assert_cmpuint(drv.lock_timeout, ==, 50000000);
	g_assert_cmpuint(drv.locked, ==, 1);
	g_assert_cmpuint(drv.released, ==, 0);
	src->ops->close(src);
	g_assert_cmpuint(drv.released, ==, 1);
	src->ops->close(src);
	g_assert_cmpuint(drv.released, ==, 1);
	tally_vk_source_destroy(src);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_khr/counters", test_counters);
	g_test_add_func("/vk_khr/choice", test_choice);
	g_test_add_func("/vk_khr/odd-lists", test_odd_lists);
	g_test_add_func("/vk_khr/shared-keys", test_shared_keys);
	g_test_add_func("/vk_khr/families", test_families);
	g_test_add_func("/vk_khr/no_uuids", test_no_uuids);
	g_test_add_func("/vk_khr/recording", test_recording);
	g_test_add_func("/vk_khr/storages", test_storages);
	g_test_add_func("/vk_khr/views", test_views);
	g_test_add_func("/vk_khr/not-there", test_not_there);
	g_test_add_func("/vk_khr/refusals", test_refusals);
	g_test_add_func("/vk_khr/lock", test_lock);
	return g_test_run();
}
