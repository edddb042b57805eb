/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/slots.h"

#include "query/source/harvest.h"
#include "tests/unit/fake_queries.h"

#define MAX_TAKEN 70000u

struct fixture {
	struct vk_device d;
	struct vk_instance instance;
	struct tally_config config;
};

enum { GENERAL = 0, COMPUTE, COPY, GENERAL_AGAIN, N_FAMILIES };

static VKAPI_ATTR VkResult VKAPI_CALL
time_domains(VkPhysicalDevice physical, uint32_t *n, VkTimeDomainEXT *domains)
{
	(void)physical;
	g_assert_cmpuint(*n, >=, 2);
	domains[0] = VK_TIME_DOMAIN_DEVICE_EXT;
	domains[1] = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
	*n = 2;
	return VK_SUCCESS;
}

static void
start(struct fixture *f)
{
	struct tally_vk_api api;

	fq_init();
	fq_fill_api(&api);
	*f = (struct fixture){ .d = { .tracked = true } };
	tally_config_init(&f->config);
	f->d.config = &f->config;
	f->d.instance = &f->instance;
	f->d.handle = api.device;
	f->d.properties.limits.timestampPeriod = 1.0f;
	f->d.enabled = (struct vk_enabled){ .pipeline_statistics = true,
					    .inherited_queries = true,
					    .host_reset = true };
	f->d.n_families = N_FAMILIES;
	f->d.families[GENERAL].flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
	f->d.families[COMPUTE].flags = VK_QUEUE_COMPUTE_BIT;
	f->d.families[COPY].flags = VK_QUEUE_TRANSFER_BIT;
	f->d.families[GENERAL_AGAIN].flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
	for (uint32_t i = 0; i < N_FAMILIES; i++)
		f->d.families[i].timestamp_bits = 64;
	f->instance.next.GetPhysicalDeviceCalibrateableTimeDomainsEXT = time_domains;
	f->d.next.use.CreateQueryPool = api.CreateQueryPool;
	f->d.next.use.DestroyQueryPool = api.DestroyQueryPool;
	f->d.next.use.CmdResetQueryPool = api.CmdResetQueryPool;
	f->d.next.use.ResetQueryPool = api.ResetQueryPool;
	f->d.next.use.CmdWriteTimestamp = api.CmdWriteTimestamp;
	f->d.next.use.CmdBeginQuery = api.CmdBeginQuery;
	f->d.next.use.CmdEndQuery = api.CmdEndQuery;
	f->d.next.use.GetQueryPoolResults = api.GetQueryPoolResults;
	f->d.next.use.GetCalibratedTimestampsEXT = fq_calibrated;
	pthread_mutex_init(&f->d.lock, NULL);
}

static void
set_up(struct fixture *f)
{
	g_assert_true(vk_slots_create(&f->d));
}

static void
finish(struct fixture *f)
{
	vk_slots_destroy(&f->d);
	g_assert_null(f->d.slots);
	vk_slots_destroy(&f->d);
	g_assert_cmpuint(fq.n_live, ==, 0);
	g_assert_cmpuint(fq.misuse, ==, 0);
	pthread_mutex_destroy(&f->d.lock);
	tally_config_finish(&f->config);
}

static void
release(struct fixture *f, struct vk_slot_runs *runs)
{
	pthread_mutex_lock(&f->d.lock);
	vk_slots_release(&f->d, runs);
	pthread_mutex_unlock(&f->d.lock);
	g_assert_null(runs->runs);
	g_assert_cmpuint(runs->n, ==, 0);
}

static enum tally_status
read_slot(struct fixture *f, uint32_t family, const struct vk_slot *slot, uint32_t *left,
	  struct tally_value *values, uint64_t *valid, struct tally_sample *out)
{
	out->values = values;
	out->valid = valid;
	pthread_mutex_lock(&f->d.lock);
	vk_slot_request(&f->d, slot, *left);
	vk_slots_fetch(&f->d);
	enum tally_status status = vk_slot_read(&f->d, family, slot, left, out);
	pthread_mutex_unlock(&f->d.lock);
	return status;
}

/* ---- which sources ---- */

static const struct {
	const char *what, *sources, *counters;
	bool statistics, host_reset, calibrated, several;
	float period;
	const char *rows; /* name and + or -, in order */
	uint32_t n_counters;
	unsigned covers; /* families that stamps cover, from bit 0; counters, from bit 8 */
} source_cases[] = {
	{ "all there", NULL, NULL, true, true, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics+ vk-khr- ", 4, 0x0b0f },
	{ "no host reset: copies have none", NULL, NULL, true, false, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics+ vk-khr- ", 4, 0x0b0b },
	{ "no feature", NULL, NULL, false, true, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics- vk-khr- ", 0, 0x000f },
	{ "a group of devices", NULL, NULL, true, true, true, true, 1.0f,
	  "api+ vk-timestamp+ vk-statistics- vk-khr- ", 0, 0x000f },
	{ "no usable clock", NULL, NULL, true, true, true, false, 0.0f,
	  "api+ vk-statistics+ vk-timestamp- vk-khr- ", 4, 0x0b00 },
	{ "one source", "vk-statistics", NULL, true, true, true, false, 1.0f,
	  "api+ vk-statistics+ vk-timestamp- vk-khr- ", 4, 0x0b00 },
	{ "a glob", "vk-time*", NULL, true, true, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics- vk-khr- ", 0, 0x000f },
	{ "all by name", "all", NULL, true, true, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics+ vk-khr- ", 4, 0x0b0f },
	{ "none", "gl-timestamp", NULL, true, true, true, false, 1.0f,
	  "api+ vk-timestamp- vk-statistics- vk-khr- ", 0, 0x0000 },
	{ "counters of graphics alone", NULL, "vertices_submitted", true, true, true,
	  false, 1.0f, "api+ vk-timestamp+ vk-statistics+ vk-khr- ", 1, 0x090f },
};

static void
test_sources(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(source_cases); i++) {
		struct fixture f;
		struct tally_source_info rows[TALLY_MAX_SOURCES + 1];
		GString *text = g_string_new("");
		uint32_t n_counters = 99;
		unsigned covers = 0;

		start(&f);
		g_test_message("%s", source_cases[i].what);
		g_free(f.config.sources);
		f.config.sources = NULL;
		if (source_cases[i].sources)
			tally_config_set(&f.config, "sources", source_cases[i].sources,
					 TALLY_FROM_COMMAND_LINE, NULL, NULL);
		if (source_cases[i].counters)
			tally_config_set(&f.config, "counters", source_cases[i].counters,
					 TALLY_FROM_COMMAND_LINE, NULL, NULL);
		f.d.enabled.pipeline_statistics = source_cases[i].statistics;
		f.d.enabled.host_reset = source_cases[i].host_reset;
		f.d.enabled.calibrated = source_cases[i].calibrated;
		f.d.enabled.multi_device = source_cases[i].several;
		f.d.properties.limits.timestampPeriod = source_cases[i].period;
		set_up(&f);
		uint32_t n = vk_slots_describe(&f.d, rows);
		for (uint32_t k = 0; k < n; k++) {
			g_string_append_printf(text, "%s%c ", rows[k].name,
					       rows[k].on ? '+' : '-');
			g_assert_true(rows[k].on || (rows[k].reason && rows[k].reason[0]));
		}
		g_assert_cmpstr(text->str, ==, source_cases[i].rows);
		const struct tally_counter *const *counters = vk_slots_counters(
			&f.d, &n_counters);
		g_assert_cmpuint(n_counters, ==, source_cases[i].n_counters);
		for (uint32_t k = 0; k < n_counters; k++)
			g_assert_cmpstr(counters[k]->source, ==, "vk-statistics");
		for (uint32_t k = 0; k < N_FAMILIES; k++) {
			bool time = vk_slots_cover(&f.d, k, VK_MEASURE_TIME);
			bool count = vk_slots_cover(&f.d, k, VK_MEASURE_COUNT);
			covers |= (unsigned)time << k | (unsigned)count << (8 + k);
			g_assert_cmpint(vk_slots_cover(&f.d, k, VK_MEASURE_ALL), ==, time || count);
		}
		g_assert_cmphex(covers, ==, source_cases[i].covers);
		g_assert_false(vk_slots_cover(&f.d, N_FAMILIES, VK_MEASURE_ALL));
		finish(&f);
		g_string_free(text, TRUE);
	}
}

static void
test_inherited(void)
{
	struct fixture f;

	start(&f);
	set_up(&f);
	g_assert_cmphex(vk_slots_inherited(&f.d, GENERAL), ==, 0x486);
	g_assert_cmphex(vk_slots_inherited(&f.d, COMPUTE), ==, 0x400);
	g_assert_cmphex(vk_slots_inherited(&f.d, COPY), ==, 0);
	g_assert_cmphex(vk_slots_inherited(&f.d, 77), ==, 0);
	f.d.enabled.inherited_queries = false;
	g_assert_cmphex(vk_slots_inherited(&f.d, GENERAL), ==, 0);
	finish(&f);
}

static void
test_read_waits(void)
{
	struct fixture f;

	start(&f);
	g_assert_false(vk_slots_read_waits(&f.d));
	f.d.properties.vendorID = VK_VENDOR_ID_MESA;
	g_assert_true(vk_slots_read_waits(&f.d));
	f.d.driver_id = VK_DRIVER_ID_MESA_RADV;
	g_assert_false(vk_slots_read_waits(&f.d));
	f.d.driver_id = VK_DRIVER_ID_MESA_LLVMPIPE;
	g_assert_true(vk_slots_read_waits(&f.d));
	finish(&f);
}

/* ---- runs ---- */

static void
test_runs(void)
{
	struct fixture f;
	struct vk_slot_runs a = { .n = 0 }, b = { .n = 0 };

	start(&f);
	set_up(&f);
	for (uint32_t i = 0; i < 84; i++) {
		struct vk_slot slot = vk_slots_take(&f.d, &a, GENERAL, VK_MEASURE_ALL, 1, false);
		g_assert_nonnull(slot.page);
		/* 4 and 16 and 64, each right after the last. */
		g_assert_cmpuint(slot.index, ==, i);
		g_assert_cmpuint(slot.views, ==, 1);
		g_assert_cmpuint(slot.halves, ==, 0);
		g_assert_cmphex(slot.sources, ==, 0x3);
	}
	g_assert_cmpuint(a.n, ==, 1);
	g_assert_cmpuint(fq.n_live, ==, 2);
	/* Both queries of timestamps, and the statistics. */
	g_assert_cmpstr(fq.log, ==, "h0+8 h0+4 h8+32 h4+16 h40+128 h20+64 ");
	/* Another recording, of a family that behaves alike: the same page. */
	struct vk_slot other = vk_slots_take(&f.d, &b, GENERAL_AGAIN, VK_MEASURE_TIME, 1, false);
	g_assert_cmpuint(other.index, ==, 84);
	g_assert_cmphex(other.sources, ==, 0x1);
	/* What follows is another's now: the next run lies elsewhere. */
	g_assert_cmpuint(vk_slots_take(&f.d, &a, GENERAL, VK_MEASURE_ALL, 1, false).index, ==, 88);
	g_assert_cmpuint(a.n, ==, 2);
	g_assert_cmpuint(fq.n_live, ==, 2);
	release(&f, &a);
	struct vk_slot again = vk_slots_take(&f.d, &a, GENERAL, VK_MEASURE_COUNT, 1, false);
	g_assert_true(again.page == other.page);
	g_assert_cmpuint(again.index, ==, 0);
	g_assert_cmphex(again.sources, ==, 0x2);
	release(&f, &a);
	release(&f, &b);
	release(&f, &b);
	finish(&f);
}

/* What is given out twice at once is a bug; what is given back must come again. */
static void
test_no_slot_twice(void)
{
	struct fixture f;
	GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct vk_slot_runs runs[16] = { { .n = 0 } };
	uint32_t n_views[16] = { 0 };
	uint32_t n_pools = 0;

	start(&f);
	set_up(&f);
	fq.count_only = true;
	GRand *random = g_rand_new_with_seed(7);
	for (int round = 0; round < 4000; round++) {
		uint32_t which = (uint32_t)g_rand_int_range(random, 0, 16);
		uint32_t views = g_rand_int_range(random, 0, 5) ? 1 : 1 + round % 32;
		uint32_t family = which % 3; /* COPY has stamps alone */
		struct vk_slot slot = vk_slots_take(&f.d, &runs[which], family, VK_MEASURE_TIME,
						    views, false);
		g_assert_nonnull(slot.page);
		g_assert_cmpuint(slot.index + slot.views, <=, 256);
		for (uint32_t v = 0; v < views; v++)
			g_assert_true(g_hash_table_replace(
				seen,
				g_strdup_printf("%p.%u", (void *)slot.page, slot.index + v),
				GUINT_TO_POINTER(which + 1)));
		n_views[which] += views;
		if (g_rand_int_range(random, 0, 60))
			continue;
		release(&f, &runs[which]);
		GHashTableIter iter;
		gpointer owner;
		uint32_t gone = 0;
		g_hash_table_iter_init(&iter, seen);
		while (g_hash_table_iter_next(&iter, NULL, &owner)) {
			if (owner == GUINT_TO_POINTER(which + 1)) {
				g_hash_table_iter_remove(&iter);
				gone++;
			}
		}
		g_assert_cmpuint(gone, ==, n_views[which]);
		n_views[which] = 0;
	}
	for (uint32_t i = 0; i < G_N_ELEMENTS(runs); i++)
		release(&f, &runs[i]);
	/* Everything is free again: as much fits into the same pools. */
	n_pools = fq.n_pools;
	for (uint32_t i = 0; i < 200; i++)
		g_assert_nonnull(
			vk_slots_take(&f.d, &runs[0], GENERAL, VK_MEASURE_ALL, 1, false).page);
	g_assert_cmpuint(fq.n_pools, ==, n_pools);
	release(&f, &runs[0]);
	finish(&f);
	g_rand_free(random);
	g_hash_table_destroy(seen);
}

static void
test_ceiling(void)
{
	struct fixture f;
	struct vk_slot_runs runs[3] = { { .n = 0 } };
	uint32_t taken = 0;

	start(&f);
	set_up(&f);
	fq.count_only = true;
	while (taken < MAX_TAKEN &&
	       vk_slots_take(&f.d, &runs[0], GENERAL, VK_MEASURE_ALL, 1, false).page)
		taken++;
	g_assert_cmpuint(taken, ==, 65536);
	g_assert_cmpuint(fq.n_live, ==, 2 * 256);
	g_assert_true(runs[0].failed);
	g_assert_null(vk_slots_take(&f.d, &runs[1], GENERAL, VK_MEASURE_ALL, 1, false).page);
	g_assert_null(vk_slots_take(&f.d, &runs[2], COMPUTE, VK_MEASURE_ALL, 1, false).page);
	g_assert_true(runs[1].failed && runs[2].failed);
	release(&f, &runs[0]);
	g_assert_false(runs[0].failed);
	g_assert_nonnull(vk_slots_take(&f.d, &runs[0], GENERAL, VK_MEASURE_ALL, 1, false).page);
	g_assert_cmpuint(fq.n_live, ==, 2 * 256);
	for (int i = 0; i < 3; i++)
		release(&f, &runs[i]);
	finish(&f);
}

/* The n-th pool cannot be made: nothing is left behind, and the driver is not asked again. */
static void
test_no_pools(void)
{
	for (uint32_t n = 1; n <= 4; n++) {
		struct fixture f;
		struct vk_slot_runs runs[8] = { { .n = 0 } };
		uint32_t found = 0;

		start(&f);
		set_up(&f);
		fq.fail_after = n;
		fq.count_only = true;
		for (int i = 0; i < 8; i++)
			for (int k = 0; k < 84; k++)
				found += vk_slots_take(&f.d, &runs[i], GENERAL, VK_MEASURE_ALL, 1,
						       false)
						 .page != NULL;
		g_assert_cmpuint(fq.n_live, ==, (n - 1) / 2 * 2);
		g_assert_cmpint(found > 0, ==, n > 2);
		fq.fail_after = 0;
		g_assert_null(
			vk_slots_take(&f.d, &runs[7], GENERAL, VK_MEASURE_ALL, 1, false).page);
		g_assert_cmpuint(fq.n_live, ==, (n - 1) / 2 * 2);
		for (int i = 0; i < 8; i++)
			release(&f, &runs[i]);
		finish(&f);
	}
}

static void
test_stopped(void)
{
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };

	start(&f);
	set_up(&f);
	struct vk_slot slot = vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false);
	vk_slot_begin(&f.d, FQ_CB, GENERAL, &slot, false);
	atomic_store(&f.d.stopped, true);
	/* What has begun is ended, for the command buffer may still be submitted. */
	vk_slot_end(&f.d, FQ_CB, &slot);
	g_assert_cmpuint(fq.active_statistics, ==, 0);
	uint32_t left = slot.sources;
	struct tally_sample out = { .n = 0 };
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, NULL, NULL, &out), ==, TALLY_LOST);
	g_assert_cmpuint(left, ==, 0);
	g_assert_null(vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false).page);
	pthread_mutex_lock(&f.d.lock);
	vk_slots_reset(&f.d, &runs);
	pthread_mutex_unlock(&f.d.lock);
	release(&f, &runs);
	finish(&f);
}

/* ---- recording ---- */

static const struct {
	const char *what;
	bool host_reset, can_reset;
	unsigned bracket;
	uint32_t family, views;
	const char *log; /* of begin and end; "" = there is no slot */
} record_cases[] = {
	{ "stamps outermost", true, true, VK_MEASURE_ALL, GENERAL, 1, "t0 b0 e0 t1 " },
	{ "stamps alone", true, true, VK_MEASURE_TIME, GENERAL, 1, "t0 t1 " },
	{ "counters alone", true, false, VK_MEASURE_COUNT, GENERAL, 1, "b0 e0 " },
	{ "compute", true, false, VK_MEASURE_ALL, COMPUTE, 1, "t0 b0 e0 t1 " },
	{ "copies", true, false, VK_MEASURE_ALL, COPY, 1, "t0 t1 " },
	{ "copies count nothing", true, false, VK_MEASURE_COUNT, COPY, 1, "" },
	{ "the command buffer resets", false, true, VK_MEASURE_ALL, GENERAL, 1,
	  "r0+8 r0+4 t0 b0 e0 t1 " },
	{ "the command buffer resets what one source needs for all", false, true, VK_MEASURE_COUNT,
	  GENERAL, 1, "r0+8 r0+4 b0 e0 " },
	{ "the command buffer resets each view", false, true, VK_MEASURE_ALL, GENERAL, 3,
	  "r0+8 r0+4 t0 b0 e0 t3 " },
	{ "nobody resets", false, false, VK_MEASURE_ALL, GENERAL, 1, "" },
	{ "copies cannot reset", false, true, VK_MEASURE_ALL, COPY, 1, "" },
};

static void
test_recording(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(record_cases); i++) {
		struct fixture f;
		struct vk_slot_runs runs = { .n = 0 };

		start(&f);
		g_test_message("%s", record_cases[i].what);
		f.d.enabled.host_reset = record_cases[i].host_reset;
		set_up(&f);
		struct vk_slot slot = vk_slots_take(
			&f.d, &runs, record_cases[i].family, record_cases[i].bracket,
			record_cases[i].views, record_cases[i].can_reset);
		g_assert_cmpint(slot.page != NULL, ==, record_cases[i].log[0] != '\0');
		fq.log[0] = '\0';
		vk_slot_begin(&f.d, FQ_CB, record_cases[i].family, &slot,
			      record_cases[i].can_reset);
		g_assert_cmpuint(slot.halves, ==, slot.page ? TALLY_VK_BEGIN : 0);
		vk_slot_end(&f.d, FQ_CB, &slot);
		g_assert_cmpuint(slot.halves, ==, slot.page ? TALLY_VK_BOTH : 0);
		g_assert_cmpstr(fq.log, ==, record_cases[i].log);
		release(&f, &runs);
		finish(&f);
	}
}

/* A slot taken where a reset could be recorded, used where it cannot. */
static void
test_begin_without_reset(void)
{
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };

	start(&f);
	f.d.enabled.host_reset = false;
	set_up(&f);
	struct vk_slot slot = vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, true);
	vk_slot_begin(&f.d, FQ_CB, GENERAL, &slot, false);
	vk_slot_end(&f.d, FQ_CB, &slot);
	g_assert_cmpstr(fq.log, ==, "");
	g_assert_cmphex(slot.sources, ==, 0);
	g_assert_cmpuint(slot.halves, ==, 0);
	release(&f, &runs);
	finish(&f);
}

static void
test_yield(void)
{
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };
	struct tally_value values[FQ_STATISTICS];
	uint64_t valid = 0;
	struct tally_sample out = { .n = 0 };

	start(&f);
	set_up(&f);
	struct vk_slot slot = vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false);
	fq.log[0] = '\0';
	vk_slot_yield(&f.d, FQ_CB, &slot, VK_MEASURE_COUNT); /* nothing has begun */
	vk_slot_begin(&f.d, FQ_CB, GENERAL, &slot, false);
	vk_slot_yield(&f.d, FQ_CB, &slot, VK_MEASURE_COUNT);
	vk_slot_yield(&f.d, FQ_CB, &slot, VK_MEASURE_COUNT);
	g_assert_cmpuint(fq.active_statistics, ==, 0);
	vk_slot_end(&f.d, FQ_CB, &slot);
	g_assert_cmpstr(fq.log, ==, "t0 b0 e0 t1 ");
	uint32_t left = slot.sources;
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmphex(valid, ==, 0);
	release(&f, &runs);
	finish(&f);
}

/* An interval from one command buffer to another: stamps in a slot of each. */
static void
test_halves(void)
{
	struct fixture f;
	struct vk_slot_runs a = { .n = 0 }, b = { .n = 0 };
	struct tally_sample out = { .n = 0 };
	struct tally_value values[FQ_STATISTICS];
	uint64_t valid = 0;

	start(&f);
	set_up(&f);
	struct vk_slot first = vk_slots_take(&f.d, &a, GENERAL, VK_MEASURE_TIME, 1, false);
	struct vk_slot last = vk_slots_take(&f.d, &b, GENERAL, VK_MEASURE_ALL, 1, false);
	vk_slot_begin(&f.d, FQ_CB, GENERAL, &first, false);
	vk_slot_end(&f.d, FQ_CB, &last);
	g_assert_cmphex(last.sources, ==, 0x1);
	g_assert_cmpuint(first.halves, ==, TALLY_VK_BEGIN);
	g_assert_cmpuint(last.halves, ==, TALLY_VK_END);
	uint32_t left = first.sources;
	g_assert_cmpint(read_slot(&f, GENERAL, &first, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_cmpuint(out.begin_ns, ==, 1000);
	g_assert_false(out.has_time);
	left = last.sources;
	g_assert_cmpint(read_slot(&f, GENERAL, &last, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_cmpuint(out.end_ns, ==, 1100);
	release(&f, &a);
	release(&f, &b);
	finish(&f);

	/* Who cannot reset there has no second half. */
	start(&f);
	f.d.enabled.host_reset = false;
	set_up(&f);
	last = vk_slots_take(&f.d, &b, GENERAL, VK_MEASURE_TIME, 1, true);
	vk_slot_end(&f.d, FQ_CB, &last);
	g_assert_cmphex(last.sources, ==, 0);
	g_assert_cmpuint(last.halves, ==, 0);
	g_assert_cmpstr(fq.log, ==, "");
	release(&f, &b);
	finish(&f);
}

/* ---- reading ---- */

static void
test_reading(void)
{
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };
	struct tally_value values[FQ_STATISTICS];
	uint64_t valid = 0;
	struct tally_sample out = { .n = 0 };

	start(&f);
	set_up(&f);
	vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false);
	struct vk_slot slot = vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false);
	vk_slot_begin(&f.d, FQ_CB, GENERAL, &slot, false);
	vk_slot_end(&f.d, FQ_CB, &slot);
	uint32_t left = slot.sources;
	fq.hold = true;
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, values, &valid, &out), ==,
			TALLY_NOT_READY);
	g_assert_cmphex(left, ==, 0x3);
	fq.hold = false;
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_cmphex(left, ==, 0);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 100);
	g_assert_cmphex(valid, ==, 0xf);
	g_assert_cmpuint(values[0].u64, ==, 11);
	g_assert_cmpuint(values[3].u64, ==, 20);
	/* Asked again there is nothing left to say. */
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, values, &valid, &out), ==,
			TALLY_OK);

	/* It runs again: reset, then unavailable, then other numbers. */
	fq.log[0] = '\0';
	pthread_mutex_lock(&f.d.lock);
	vk_slots_reset(&f.d, &runs);
	pthread_mutex_unlock(&f.d.lock);
	g_assert_cmpstr(fq.log, ==, "h0+4 h0+2 ");
	left = slot.sources;
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, values, &valid, &out), ==,
			TALLY_NOT_READY);
	fq.fail_results = VK_ERROR_DEVICE_LOST;
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, values, &valid, &out), ==,
			TALLY_LOST);
	g_assert_cmphex(out.flags & TALLY_FLAG(LOST), ==, TALLY_FLAG(LOST));
	release(&f, &runs);
	finish(&f);
}

/* One source answers, the other does not: the first is not asked again, its answer stays. */
static void
test_one_by_one(void)
{
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };
	struct tally_value values[FQ_STATISTICS];
	uint64_t valid = 0;
	struct tally_sample out = { .n = 0 };

	start(&f);
	set_up(&f);
	struct vk_slot slot = vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false);
	struct vk_slot stamps = slot;
	stamps.sources = 0x1;
	vk_slot_begin(&f.d, FQ_CB, GENERAL, &stamps, false);
	vk_slot_end(&f.d, FQ_CB, &stamps);
	slot.halves = TALLY_VK_BOTH;
	uint32_t left = 0x3;
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, values, &valid, &out), ==,
			TALLY_NOT_READY);
	g_assert_cmphex(left, ==, 0x2);
	g_assert_true(out.has_time);
	uint64_t begin = out.begin_ns;
	fq_query((VkQueryPool)(uintptr_t)2, 0)->state = FQ_DONE;
	g_assert_cmpint(read_slot(&f, GENERAL, &slot, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.begin_ns, ==, begin);
	g_assert_cmphex(valid, ==, 0xf);
	g_assert_cmpuint(values[0].u64, ==, 0);
	release(&f, &runs);
	finish(&f);
}

/* A round: how many calls, and what each slot says. */
struct round {
	struct fixture f;
	struct vk_slot_runs runs;
	struct vk_slot slots[320];
	uint32_t n;
	bool any; /* what the slot that was read last has to say */
};

/* Slots [0, n), of which those that `used` does not name (NULL: all) were not begun; those after
 * `ended` have no end. */
static void
record_round(struct round *r, uint32_t n, bool host_reset, uint32_t every, uint32_t ended)
{
	*r = (struct round){ .n = n };
	start(&r->f);
	r->f.d.enabled.host_reset = host_reset;
	set_up(&r->f);
	fq.count_only = true;
	for (uint32_t i = 0; i < n; i++) {
		fq.counted[0] = fq.counted[1] = 1000 + i;
		r->slots[i] = vk_slots_take(&r->f.d, &r->runs, GENERAL, VK_MEASURE_ALL, 1, true);
		g_assert_nonnull(r->slots[i].page);
		/* A reset is recorded with the first begin of a run, whoever that is. */
		struct vk_slot nothing = r->slots[i];
		nothing.sources = 0;
		bool used = i % every == 0;
		vk_slot_begin(&r->f.d, FQ_CB, GENERAL, used ? &r->slots[i] : &nothing, true);
		if (used && i < ended)
			vk_slot_end(&r->f.d, FQ_CB, &r->slots[i]);
		else if (used)
			fq.active_statistics = 0;
		r->slots[i].halves = TALLY_VK_BOTH;
	}
}

static void
finish_round(struct round *r)
{
	release(&r->f, &r->runs);
	finish(&r->f);
}

/* What slot `i` says after a fetch; a value of a query that did not end shows as misuse. */
static enum tally_status
read_of_round(struct round *r, uint32_t i)
{
	struct tally_value values[FQ_STATISTICS] = { { .u64 = 0 } };
	uint64_t valid = 0;
	struct tally_sample out = { .values = values, .valid = &valid };
	uint32_t left = r->slots[i].sources;
	enum tally_status status = vk_slot_read(&r->f.d, GENERAL, &r->slots[i], &left, &out);

	if (status == TALLY_OK) {
		g_assert_true(out.has_time);
		g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 100);
		g_assert_cmphex(valid, ==, 0xf);
		g_assert_cmpuint(values[0].u64, ==, 1000 + i);
	} else {
		g_assert_false(out.has_time && (valid & 1));
		g_assert_true(!valid || values[0].u64 == 1000 + i);
	}
	r->any = out.has_time || valid;
	return status;
}

static const struct {
	const char *what;
	bool host_reset;
	uint32_t n, every, ended; /* slots; those begun; those ended */
	unsigned available; /* fake_queries.h */
	bool stops;
	unsigned calls; /* of the round */
	uint32_t ready; /* those begun below this one have their values */
} round_cases[] = {
	{ "one slot", true, 1, 1, 999, 0, false, 2, 999 },
	{ "a page full", true, 256, 1, 999, 0, false, 2, 999 },
	{ "more than a page", true, 300, 1, 999, 0, false, 4, 999 },
	{ "reset by the command buffer", false, 300, 1, 999, 0, false, 4, 999 },
	{ "every third was begun", true, 100, 3, 999, 0, false, 2, 999 },
	{ "every third was begun, reset by the command buffer", false, 100, 3, 999, 0, false, 2,
	  999 },
	{ "the later ones never ended", true, 100, 1, 40, 0, false, 2, 40 },
	/* Of timestamps two a slot: 30 slots have both. */
	{ "partly available", true, 100, 1, 999, 60, false, 2, 30 },
	{ "partly available, the rest left as it was", true, 100, 1, 999, 60, true, 2, 30 },
	{ "nothing but the first stamp", true, 100, 1, 999, 1, true, 2, 0 },
};

static void
test_rounds(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(round_cases); i++) {
		struct round r;
		g_test_message("%s", round_cases[i].what);
		record_round(&r, round_cases[i].n, round_cases[i].host_reset,
			     round_cases[i].every, round_cases[i].ended);
		fq.available = round_cases[i].available;
		fq.stops = round_cases[i].stops;
		for (uint32_t k = 0; k < r.n; k++) {
			/* Before the fetch nothing is there. */
			g_assert_cmpint(read_of_round(&r, k), ==, TALLY_NOT_READY);
			vk_slot_request(&r.f.d, &r.slots[k], r.slots[k].sources);
		}
		vk_slots_fetch(&r.f.d);
		g_assert_cmpuint(fq.n_results, ==, round_cases[i].calls);
		for (uint32_t k = 0; k < r.n; k++) {
			bool ready = k % round_cases[i].every == 0 && k < round_cases[i].ready;
			g_assert_cmpint(read_of_round(&r, k), ==,
					ready ? TALLY_OK : TALLY_NOT_READY);
		}
		/* Reset, or given to others: what was fetched is nobody's any more. */
		vk_slots_reset(&r.f.d, &r.runs);
		if (round_cases[i].host_reset)
			g_assert_cmpint(read_of_round(&r, 0), ==, TALLY_NOT_READY);
		vk_slots_fetch(&r.f.d);
		g_assert_cmpint(read_of_round(&r, 0), ==, TALLY_NOT_READY);
		g_assert_cmpuint(fq.n_results, ==, round_cases[i].calls);
		/* The same again, of which the driver says nothing now. */
		fq.hold = fq.untouched = true;
		for (uint32_t k = 0; k < r.n; k++)
			vk_slot_request(&r.f.d, &r.slots[k], r.slots[k].sources);
		vk_slots_fetch(&r.f.d);
		for (uint32_t k = 0; k < r.n; k++) {
			g_assert_cmpint(read_of_round(&r, k), ==, TALLY_NOT_READY);
			g_assert_false(r.any);
		}
		finish_round(&r);
	}
}

/* The driver fails in the midst of a round: what it had written so far is not believed. */
static void
test_round_fails(void)
{
	for (unsigned from = 1; from <= 4; from++) {
		struct round r;
		record_round(&r, 300, true, 1, 999);
		fq.fail_results = VK_ERROR_DEVICE_LOST;
		fq.fail_from = from;
		for (uint32_t k = 0; k < r.n; k++)
			vk_slot_request(&r.f.d, &r.slots[k], r.slots[k].sources);
		vk_slots_fetch(&r.f.d);
		g_assert_cmpuint(fq.n_results, ==, 4);
		unsigned fine = 0;
		for (uint32_t k = 0; k < r.n; k++) {
			enum tally_status status = read_of_round(&r, k);
			g_assert_true(status == TALLY_OK || status == TALLY_LOST);
			fine += status == TALLY_OK;
		}
		/* The page that was wanted last comes first; one of its two calls may fail. */
		g_assert_cmpuint(fine, ==, from > 2 ? 44 : 0);
		finish_round(&r);
	}
}

/* Many small recordings, whose runs lie side by side: still a call a source. */
static void
test_round_of_many(void)
{
	struct fixture f;
	struct vk_slot_runs runs[32] = { { .n = 0 } };
	struct vk_slot slots[32];

	start(&f);
	set_up(&f);
	for (uint32_t i = 0; i < 32; i++) {
		slots[i] = vk_slots_take(&f.d, &runs[i], GENERAL, VK_MEASURE_ALL, 1, false);
		vk_slot_begin(&f.d, FQ_CB, GENERAL, &slots[i], false);
		vk_slot_end(&f.d, FQ_CB, &slots[i]);
		vk_slot_request(&f.d, &slots[i], slots[i].sources);
	}
	vk_slots_fetch(&f.d);
	g_assert_cmpuint(fq.n_results, ==, 2);
	/* One of them is used again before it was read. */
	release(&f, &runs[7]);
	for (uint32_t i = 0; i < 32; i++) {
		struct tally_value values[FQ_STATISTICS];
		uint64_t valid = 0;
		struct tally_sample out = { .values = values, .valid = &valid };
		uint32_t left = slots[i].sources;
		g_assert_cmpint(vk_slot_read(&f.d, GENERAL, &slots[i], &left, &out), ==,
				i == 7 ? TALLY_NOT_READY : TALLY_OK);
		release(&f, &runs[i]);
	}
	finish(&f);
}

static void
test_tick(void)
{
	struct fixture f;

	start(&f);
	f.d.enabled.calibrated = true;
	set_up(&f);
	unsigned calibrations = fq.n_calibrations;
	g_assert_cmpuint(calibrations, >=, 1);
	pthread_mutex_lock(&f.d.lock);
	vk_slots_tick(&f.d, tally_clock_now_ns() + UINT64_C(5000000000));
	pthread_mutex_unlock(&f.d.lock);
	g_assert_cmpuint(fq.n_calibrations, >, calibrations);
	finish(&f);
}

/* ---- threads ---- */

struct recorder {
	struct fixture *f;
	GThread *thread;
	uint32_t family, n_missing;
};

static gpointer
take_and_give(gpointer data)
{
	struct recorder *r = data;

	for (int round = 0; round < 200; round++) {
		struct vk_slot_runs runs = { .n = 0 };
		for (int i = 0; i < 100; i++)
			r->n_missing += !vk_slots_take(&r->f->d, &runs, r->family, VK_MEASURE_ALL,
						       1, false)
						 .page;
		release(r->f, &runs);
	}
	return NULL;
}

static void
test_threads(void)
{
	struct fixture f;
	struct recorder recorders[4];

	start(&f);
	set_up(&f);
	fq.count_only = true;
	for (uint32_t i = 0; i < G_N_ELEMENTS(recorders); i++) {
		recorders[i] = (struct recorder){ .f = &f, .family = i % 3 };
		recorders[i].thread = g_thread_new("recorder", take_and_give, &recorders[i]);
	}
	for (uint32_t i = 0; i < G_N_ELEMENTS(recorders); i++) {
		g_thread_join(recorders[i].thread);
		g_assert_cmpuint(recorders[i].n_missing, ==, 0);
	}
	/* Three kinds of pages, and at most one page more for each thread that raced. */
	g_assert_cmpuint(fq.n_live, <=, 2 * 7);
	finish(&f);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_slots/sources", test_sources);
	g_test_add_func("/vk_slots/inherited", test_inherited);
	g_test_add_func("/vk_slots/read_waits", test_read_waits);
	g_test_add_func("/vk_slots/runs", test_runs);
	g_test_add_func("/vk_slots/no_slot_twice", test_no_slot_twice);
	g_test_add_func("/vk_slots/ceiling", test_ceiling);
	g_test_add_func("/vk_slots/no_pools", test_no_pools);
	g_test_add_func("/vk_slots/stopped", test_stopped);
	g_test_add_func("/vk_slots/recording", test_recording);
	g_test_add_func("/vk_slots/begin_without_reset", test_begin_without_reset);
	g_test_add_func("/vk_slots/yield", test_yield);
	g_test_add_func("/vk_slots/halves", test_halves);
	g_test_add_func("/vk_slots/reading", test_reading);
	g_test_add_func("/vk_slots/one_by_one", test_one_by_one);
	g_test_add_func("/vk_slots/rounds", test_rounds);
	g_test_add_func("/vk_slots/round_fails", test_round_fails);
	g_test_add_func("/vk_slots/round_of_many", test_round_of_many);
	g_test_add_func("/vk_slots/tick", test_tick);
	g_test_add_func("/vk_slots/threads", test_threads);
	return g_test_run();
}
