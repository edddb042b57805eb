/* SPDX-License-Identifier: MIT */
#include "query/source/statistics_catalogue.h"
#include "tests/unit/query/fake_queries.h"

#define SLOTS 8u

static const struct tally_vk_family general = {
	.flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT
};
static const struct tally_vk_family draws = { .flags = VK_QUEUE_GRAPHICS_BIT };
static const struct tally_vk_family computes = { .flags = VK_QUEUE_COMPUTE_BIT };
static const struct tally_vk_family copies = { .flags = VK_QUEUE_TRANSFER_BIT };

static const struct {
	const char *what;
	const char *wanted;
	bool feature, several;
	enum tally_status want;
	const char *keys;   /* in value order */
	uint32_t general, draws, computes;
	const char *reason; /* a part of it */
} open_cases[] = {
	{ "default", NULL, true, false, TALLY_OK,
	  "primitives_submitted vertex_shader_invocations fragment_shader_invocations "
	  "compute_shader_invocations ",
	  0x486, 0x086, 0x400, "" },
	{ "overview", "overview", true, false, TALLY_OK,
	  "primitives_submitted vertex_shader_invocations fragment_shader_invocations "
	  "compute_shader_invocations ",
	  0x486, 0x086, 0x400, "" },
	{ "Vulkan's order", "clipping_*+tess_*+vertices_submitted", true, false,
	  TALLY_OK,
	  "vertices_submitted clipping_input_primitives clipping_output_primitives "
	  "tess_control_shader_patches tess_evaluation_shader_invocations ",
	  0x361, 0x361, 0, "" },
	{ "one", "compute_shader_invocations", true, false, TALLY_OK,
	  "compute_shader_invocations ", 0x400, 0, 0x400, "" },
	{ "all", "all", true, false, TALLY_OK,
	  "vertices_submitted primitives_submitted vertex_shader_invocations "
	  "geometry_shader_invocations geometry_shader_primitives_emitted "
	  "clipping_input_primitives clipping_output_primitives "
	  "fragment_shader_invocations "
	  "tess_control_shader_patches tess_evaluation_shader_invocations "
	  "compute_shader_invocations ",
	  0x7ff, 0x3ff, 0x400,
	  "samples_passed, primitives_generated and 1 more (Vulkan's pipeline "
	  "statistics" },
	{ "not in Vulkan", "samples_passed", true, false, TALLY_UNSUPPORTED, "", 0,
	  0, 0, "samples_passed (Vulkan" },
	{ "no counter of ours", "gpu_cycles", true, false, TALLY_UNSUPPORTED, "",
	  0, 0, 0, "none of its counters is in --counters gpu_cycles" },
	{ "no feature", NULL, false, false, TALLY_UNSUPPORTED, "", 0, 0, 0,
	  "pipelineStatisticsQuery" },
	{ "a group of devices", NULL, true, true, TALLY_UNSUPPORTED, "", 0, 0, 0,
	  "several GPUs" },
};

static struct tally_vk_source *
open_source(struct tally_vk_api *api, const char *wanted, enum tally_status want)
{
	struct tally_vk_source *src = tally_vk_statistics_create(api);

	src->wanted = wanted;
	g_assert_cmpuint(tally_vk_statistics_mask(src, &general), ==, 0);
	g_assert_cmpint(src->ops->open(src), ==, want);
	src->wanted = NULL;
	return src;
}

static void
close_source(struct tally_vk_source *src)
{
	src->ops->close(src);
	g_assert_cmpuint(tally_vk_statistics_mask(src, &general), ==, 0);
	g_assert_cmpuint(src->n_counters, ==, 0);
	tally_vk_source_destroy(src);
	g_assert_cmpuint(fq.misuse, ==, 0);
	g_assert_cmpuint(fq.n_live, ==, 0);
}

static void
test_open(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(open_cases); i++) {
		struct tally_vk_api api;
		GString *keys = g_string_new("");
		fq_init();
		fq_fill_api(&api);
		api.pipeline_statistics = open_cases[i].feature;
		api.multi_device = open_cases[i].several;
		g_test_message("%s", open_cases[i].what);
		struct tally_vk_source *src =
			open_source(&api, open_cases[i].wanted, open_cases[i].want);
		for (uint32_t k = 0; k < src->n_counters; k++) {
			g_string_append_printf(keys, "%s ", src->counters[k]->key);
			g_assert_cmpstr(src->counters[k]->source, ==, "vk-statistics");
		}
		g_assert_cmpstr(keys->str, ==, open_cases[i].keys);
		g_assert_cmphex(tally_vk_statistics_mask(src, &general), ==,
				open_cases[i].general);
		g_assert_cmphex(tally_vk_statistics_mask(src, &draws), ==, open_cases[i].draws);
		g_assert_cmphex(tally_vk_statistics_mask(src, &computes), ==,
				open_cases[i].computes);
		g_assert_cmpint(src->ops->covers(src, &draws), ==, open_cases[i].draws != 0);
		g_assert_cmpint(src->ops->covers(src, &computes), ==,
				open_cases[i].computes != 0);
		g_assert_false(src->ops->covers(src, &copies));
		g_assert_nonnull(strstr(src->reason, open_cases[i].reason));
		g_assert_cmpint(src->reason[0] == '\0', ==, open_cases[i].reason[0] == '\0');
		close_source(src);
		g_string_free(keys, TRUE);
	}
}

/* Where counting compute shaders crashes the driver they are left out, on every family. */
static void
test_crashing_compute(void)
{
	struct tally_vk_api api;

	fq_init();
	fq_fill_api(&api);
	api.compute_crashes = true;
	struct tally_vk_source *src = open_source(&api, NULL, TALLY_OK);
	g_assert_cmpuint(src->n_counters, ==, 3);
	g_assert_cmphex(tally_vk_statistics_mask(src, &general), ==, 0x086);
	g_assert_false(src->ops->covers(src, &computes));
	g_assert_nonnull(strstr(src->reason, "compute_shader_invocations (this driver"));
	close_source(src);
}

struct result {
	struct tally_value values[FQ_STATISTICS];
	uint64_t valid;
	struct tally_sample sample;
};

static enum tally_status
read_slot(struct tally_vk_source *src, const struct tally_vk_family *family, VkQueryPool pool,
	  uint32_t slot, uint32_t views, struct result *out)
{
	memset(out, 0, sizeof(*out));
	out->sample = (struct tally_sample){
		.values = out->values, .valid = &out->valid, .n = src->n_counters
	};
	uint64_t rows[SLOTS * (FQ_STATISTICS + 1)];
	g_assert_cmpuint(SLOTS * tally_vk_row_bytes(src, family), <=, sizeof(rows));
	enum tally_status status = tally_vk_fetch(src, family, pool, slot, views, rows);
	if (status != TALLY_OK)
		return status;
	return src->ops->read(src, family, pool, rows, slot, views, TALLY_VK_BOTH, &out->sample);
}

/* A driver's uninitialized memory is not counts: one of four counters has more than any GPU
 * counts. */
static void
test_no_count(void)
{
	struct tally_vk_api api;
	fq_init();
	fq_fill_api(&api);
	struct tally_vk_source *src = open_source(&api, NULL, TALLY_OK);
	struct result r = { .valid = 0 };
	r.sample = (struct tally_sample){ .values = r.values, .valid = &r.valid, .n = 4 };
	const uint64_t row[] = { 11, TALLY_STATISTIC_MOST + 1, TALLY_STATISTIC_MOST, 20, 1 };
	g_assert_cmpint(src->ops->read(src, &general, VK_NULL_HANDLE, row, 0, 1, TALLY_VK_BOTH,
				       &r.sample),
			==, TALLY_OK);
	g_assert_cmphex(r.valid, ==, 0xd);
	g_assert_cmphex(r.sample.flags, ==, TALLY_FLAG(LOST));
	close_source(src);
}

static const struct {
	const char *what;
	const char *wanted;
	const struct tally_vk_family *family;
	uint64_t valid;
	uint64_t want[FQ_STATISTICS]; /* the fake counts 10 + bit */
} read_cases[] = {
	{ "overview", NULL, &general, 0xf, { 11, 12, 17, 20 } },
	{ "a graphics family counts no compute", NULL, &draws, 0x7, { 11, 12, 17 } },
	{ "a compute family counts nothing else", NULL, &computes, 0x8, { 0, 0, 0, 20 } },
	{ "all", "all", &general, 0x7ff, { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 } },
	{ "two", "geometry_shader_invocations+compute_shader_invocations", &general, 0x3,
	  { 13, 20 } },
};

static void
test_read(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(read_cases); i++) {
		struct tally_vk_api api;
		struct result r;
		VkQueryPool pool = VK_NULL_HANDLE;
		fq_init();
		fq_fill_api(&api);
		g_test_message("%s", read_cases[i].what);
		struct tally_vk_source *src = open_source(&api, read_cases[i].wanted, TALLY_OK);
		g_assert_cmpint(
			src->ops->create_pool(src, read_cases[i].family, SLOTS, &pool),
			==, TALLY_OK);
		g_assert_cmphex(fq_pool(pool)->mask, ==,
				tally_vk_statistics_mask(src, read_cases[i].family));
		tally_vk_reset(src, pool, 3, 1);
		tally_vk_begin(src->api, src->ops->delivers_time, FQ_CB, pool, 3);
		g_assert_cmpint(read_slot(src, read_cases[i].family, pool, 3, 1, &r), ==,
				TALLY_NOT_READY);
		tally_vk_end(src->api, src->ops->delivers_time, FQ_CB, pool, 3, 1);
		g_assert_cmpstr(fq.log, ==, "h3+1 b3 e3 ");
		g_assert_cmpint(read_slot(src, read_cases[i].family, pool, 3, 1, &r), ==,
				TALLY_OK);
		g_assert_cmphex(r.valid, ==, read_cases[i].valid);
		for (uint32_t k = 0; k < src->n_counters; k++) {
			if (!(r.valid & UINT64_C(1) << k))
				continue;
			g_assert_cmpint(r.values[k].storage, ==, TALLY_STORAGE_U64);
			g_assert_cmpuint(r.values[k].u64, ==, read_cases[i].want[k]);
		}
		g_assert_false(r.sample.has_time);
		fq_destroy(api.device, pool, NULL);
		close_source(src);
	}
}

/* Multiview: the slots that contain a result are summed, and the first must contain one. */
static void
test_views(void)
{
	struct tally_vk_api api;
	struct result r;
	VkQueryPool pool = VK_NULL_HANDLE;

	fq_init();
	fq_fill_api(&api);
	struct tally_vk_source *src = open_source(&api, "vertices_submitted", TALLY_OK);
	src->ops->create_pool(src, &general, SLOTS, &pool);
	tally_vk_record_reset(src, FQ_CB, pool, 2, 4);
	g_assert_cmpstr(fq.log, ==, "r2+4 ");
	tally_vk_begin(src->api, src->ops->delivers_time, FQ_CB, pool, 3);
	tally_vk_end(src->api, src->ops->delivers_time, FQ_CB, pool, 3, 1);
	g_assert_cmpint(read_slot(src, &general, pool, 2, 4, &r), ==, TALLY_NOT_READY);
	g_assert_cmphex(r.valid, ==, 0);
	fq.counted[0] = 7;
	tally_vk_begin(src->api, src->ops->delivers_time, FQ_CB, pool, 2);
	tally_vk_end(src->api, src->ops->delivers_time, FQ_CB, pool, 2, 1);
	g_assert_cmpint(read_slot(src, &general, pool, 2, 4, &r), ==, TALLY_OK);
	g_assert_cmpuint(r.values[0].u64, ==, 17);
	fq.hold = fq.untouched = true;
	g_assert_cmpint(read_slot(src, &general, pool, 2, 4, &r), ==, TALLY_NOT_READY);
	fq.fail_results = VK_ERROR_DEVICE_LOST;
	g_assert_cmpint(read_slot(src, &general, pool, 2, 4, &r), ==, TALLY_LOST);
	fq_destroy(api.device, pool, NULL);
	close_source(src);
}

/* A statistics query belongs to one command buffer: the halves of one give nothing. */
static void
test_halves(void)
{
	struct tally_vk_api api;
	struct result r = { .valid = 0 };
	VkQueryPool pool = VK_NULL_HANDLE;

	fq_init();
	fq_fill_api(&api);
	struct tally_vk_source *src = open_source(&api, NULL, TALLY_OK);
	g_assert_false(src->ops->halves);
	g_assert_false(src->ops->delivers_time);
	src->ops->create_pool(src, &general, SLOTS, &pool);
	g_assert_cmpint(src->ops->read(src, &general, pool, NULL, 0, 1, TALLY_VK_BEGIN,
				       &r.sample),
			==, TALLY_LOST);
	g_assert_null(src->ops->tick);
	fq.fail_after = 1;
	VkQueryPool none = VK_NULL_HANDLE;
	g_assert_cmpint(src->ops->create_pool(src, &general, SLOTS, &none), ==, TALLY_NO_MEMORY);
	fq_destroy(api.device, pool, NULL);
	close_source(src);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_statistics/open", test_open);
	g_test_add_func("/vk_statistics/crashing_compute", test_crashing_compute);
	g_test_add_func("/vk_statistics/read", test_read);
	g_test_add_func("/vk_statistics/views", test_views);
	g_test_add_func("/vk_statistics/halves", test_halves);
	g_test_add_func("/vk-statistics/no-count", test_no_count);
	return g_test_run();
}
