/* SPDX-License-Identifier: MIT */
#include "tests/unit/vk_layer/vk_slots_world.h"
#include "vk_layer/record/slots_sources.h"

/* ---- which sources ---- */

static const struct {
	const char *what, *sources, *counters;
	bool statistics, host_reset, calibrated, several;
	float period;
	const char *rows; /* name and + or -, in order */
	uint32_t n_counters;
	unsigned covers; /* families that timestamps cover, from bit 0; counters, from bit 8 */
} source_cases[] = {
	{ "all there", NULL, NULL, true, true, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics+ vk-khr- ", 4, 0x0307 },
	{ "no host reset: copies have none", NULL, NULL, true, false, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics+ vk-khr- ", 4, 0x0303 },
	{ "no feature", NULL, NULL, false, true, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics- vk-khr- ", 0, 0x0007 },
	{ "a group of devices", NULL, NULL, true, true, true, true, 1.0f,
	  "api+ vk-timestamp+ vk-statistics- vk-khr- ", 0, 0x0007 },
	{ "no usable clock", NULL, NULL, true, true, true, false, 0.0f,
	  "api+ vk-statistics+ vk-timestamp- vk-khr- ", 4, 0x0300 },
	{ "one source", "vk-statistics", NULL, true, true, true, false, 1.0f,
	  "api+ vk-statistics+ vk-timestamp- vk-khr- ", 4, 0x0300 },
	{ "a glob", "vk-time*", NULL, true, true, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics- vk-khr- ", 0, 0x0007 },
	{ "all by name", "all", NULL, true, true, true, false, 1.0f,
	  "api+ vk-timestamp+ vk-statistics+ vk-khr- ", 4, 0x0307 },
	{ "none", "gl-timestamp", NULL, true, true, true, false, 1.0f,
	  "api+ vk-timestamp- vk-statistics- vk-khr- ", 0, 0x0000 },
	{ "counters of graphics alone", NULL, "vertices_submitted", true, true, true,
	  false, 1.0f, "api+ vk-timestamp+ vk-statistics+ vk-khr- ", 1, 0x0107 },
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
		/* 4 and 16 and 64, each directly after the last. */
		g_assert_cmpuint(slot.index, ==, i);
		g_assert_cmpuint(slot.views, ==, 1);
		g_assert_cmpuint(slot.halves, ==, 0);
		g_assert_cmphex(slot.sources, ==, 0x3);
	}
	g_assert_cmpuint(a.n, ==, 1);
	g_assert_cmpuint(fq.n_live, ==, 2);
	/* Both queries of timestamps, and the statistics. */
	g_assert_cmpstr(fq.log, ==, "h0+8 h0+4 h8+32 h4+16 h40+128 h20+64 ");
	/* Another recording: the same page. */
	struct vk_slot other = vk_slots_take(&f.d, &b, GENERAL, VK_MEASURE_TIME, 1, false);
	g_assert_cmpuint(other.index, ==, 84);
	g_assert_cmphex(other.sources, ==, 0x1);
	/* The following slots belong to the other recording now: the next run is elsewhere. */
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

/* lavapipe's timestamps after a pass of several views, and the end of the buffer's own slot,
 * overwrite the five queries that follow. */
static void
test_spread(void)
{
	static const struct {
		unsigned what;
		uint32_t views, width, width_lavapipe;
	} takes[] = {
		{ VK_MEASURE_TIME, 1, 1, 4 }, { VK_MEASURE_ALL, 1, 1, 1 },
		{ VK_MEASURE_ALL, 2, 2, 4 },    { VK_MEASURE_ALL, 1, 1, 4 },
		{ VK_MEASURE_ALL, 6, 6, 6 },    { VK_MEASURE_ALL, 1, 1, 4 },
	};
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };

	for (int lavapipe = 0; lavapipe < 2; lavapipe++) {
		start(&f);
		f.d.driver_id = lavapipe ? VK_DRIVER_ID_MESA_LLVMPIPE : VK_DRIVER_ID_MESA_RADV;
		set_up(&f);
		for (size_t i = 0; i < G_N_ELEMENTS(takes); i++) {
			struct vk_slot next,
				slot = vk_slots_take(&f.d, &runs, GENERAL, takes[i].what,
						     takes[i].views, true);
			uint32_t width = lavapipe ? takes[i].width_lavapipe : takes[i].width;
			g_assert_cmpuint(slot.views, ==, takes[i].views);
			g_assert_cmpuint(runs.runs[runs.n - 1].first + runs.used, ==,
					 slot.index + width);
			if (takes[i].views > 1)
				g_assert_false(vk_slots_take_next(&f.d, &runs, &next));
		}
		release(&f, &runs);
		finish(&f);
	}
}

/* A slot that is given out twice at the same time is a bug; released slots must be given out
 * again. */
/* The short path gives what the long one gives. */
static void
test_next(void)
{
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };
	struct vk_slot want[100], got;
	unsigned n_short = 0;

	start(&f);
	set_up(&f);
	g_assert_false(vk_slots_take_next(&f.d, &runs, &got));
	for (int way = 0; way < 2; way++) {
		for (uint32_t i = 0; i < 100; i++) {
			unsigned what = i % 7 ? VK_MEASURE_ALL : VK_MEASURE_TIME;
			bool next = way && what == VK_MEASURE_ALL &&
				     vk_slots_take_next(&f.d, &runs, &got);
			if (!next)
				got = vk_slots_take(&f.d, &runs, GENERAL, what, 1, true);
			n_short += next;
			if (way)
				g_assert_cmpmem(&got, sizeof(got), &want[i], sizeof(got));
			want[i] = got;
		}
		release(&f, &runs);
		g_assert_false(vk_slots_take_next(&f.d, &runs, &got));
	}
	/* Not the first ALL of each of the four runs. */
	g_assert_cmpuint(n_short, ==, 85 - 4);
	got = vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, true);
	g_assert_nonnull(got.page);
	atomic_store(&f.d.stopped, true);
	g_assert_false(vk_slots_take_next(&f.d, &runs, &got));
	release(&f, &runs);
	finish(&f);
}

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
		uint32_t family = which % 3; /* COPY only has timestamps */
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

/* The n-th pool cannot be made: nothing is left over, and the driver is not asked again. */
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
	vk_slot_begin(&f.d, FQ_CB, &slot, false);
	atomic_store(&f.d.stopped, true);
	/* A query that has begun is ended, because the command buffer may still be
	 * submitted. */
	vk_slot_end(&f.d, FQ_CB, &slot);
	g_assert_cmpuint(fq.active_statistics, ==, 0);
	uint32_t left = slot.sources;
	struct tally_sample out = { .n = 0 };
	g_assert_cmpint(read_slot(&f, &slot, &left, NULL, NULL, &out), ==, TALLY_LOST);
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
		vk_slot_begin(&f.d, FQ_CB, &slot,
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
	vk_slot_begin(&f.d, FQ_CB, &slot, false);
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
	vk_slot_begin(&f.d, FQ_CB, &slot, false);
	vk_slot_yield(&f.d, FQ_CB, &slot, VK_MEASURE_COUNT);
	vk_slot_yield(&f.d, FQ_CB, &slot, VK_MEASURE_COUNT);
	g_assert_cmpuint(fq.active_statistics, ==, 0);
	vk_slot_end(&f.d, FQ_CB, &slot);
	g_assert_cmpstr(fq.log, ==, "t0 b0 e0 t1 ");
	uint32_t left = slot.sources;
	g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmphex(valid, ==, 0);
	release(&f, &runs);
	finish(&f);
}

/* An interval from one command buffer to another: timestamps in a slot of each. */
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
	vk_slot_begin(&f.d, FQ_CB, &first, false);
	vk_slot_end(&f.d, FQ_CB, &last);
	g_assert_cmphex(last.sources, ==, 0x1);
	g_assert_cmpuint(first.halves, ==, TALLY_VK_BEGIN);
	g_assert_cmpuint(last.halves, ==, TALLY_VK_END);
	uint32_t left = first.sources;
	g_assert_cmpint(read_slot(&f, &first, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_cmpuint(out.begin_ns, ==, 1000);
	g_assert_false(out.has_time);
	left = last.sources;
	g_assert_cmpint(read_slot(&f, &last, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_cmpuint(out.end_ns, ==, 1100);
	release(&f, &a);
	release(&f, &b);
	finish(&f);

	/* A command buffer that cannot reset there has no second half. */
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
	g_test_add_func("/vk_slots/next", test_next);
	g_test_add_func("/vk_slots/spread", test_spread);
	g_test_add_func("/vk_slots/no_slot_twice", test_no_slot_twice);
	g_test_add_func("/vk_slots/ceiling", test_ceiling);
	g_test_add_func("/vk_slots/no_pools", test_no_pools);
	g_test_add_func("/vk_slots/stopped", test_stopped);
	g_test_add_func("/vk_slots/recording", test_recording);
	g_test_add_func("/vk_slots/begin_without_reset", test_begin_without_reset);
	g_test_add_func("/vk_slots/yield", test_yield);
	g_test_add_func("/vk_slots/halves", test_halves);
	g_test_add_func("/vk_slots/threads", test_threads);
	return g_test_run();
}
