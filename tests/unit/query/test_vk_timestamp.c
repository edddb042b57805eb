/* SPDX-License-Identifier: MIT */
#include "tests/unit/query/fake_queries.h"

#include <math.h>

#define SLOTS 4u
#define SECOND_NS UINT64_C(1000000000)
#define NEAR_NS 100000000 /* the calibrating fake's clock is real: a machine may be late */

static const struct tally_vk_family graphics = {
	.flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT, .timestamp_bits = 64
};

struct fixture {
	struct tally_vk_api api;
	struct tally_vk_source *src;
	VkQueryPool pool;
};

static void
set_up(struct fixture *f)
{
	f->src = tally_vk_timestamp_create(&f->api);
	g_assert_cmpint(f->src->ops->open(f->src), ==, TALLY_OK);
	g_assert_cmpint(f->src->ops->create_pool(f->src, &graphics, SLOTS, &f->pool), ==,
			TALLY_OK);
	tally_vk_reset(f->src, f->pool, 0, SLOTS);
	fq.log[0] = '\0';
}

static void
start(struct fixture *f)
{
	fq_init();
	fq_fill_api(&f->api);
}

static void
finish(struct fixture *f)
{
	fq_destroy(f->api.device, f->pool, NULL);
	f->src->ops->close(f->src);
	tally_vk_source_destroy(f->src);
	g_assert_cmpuint(fq.misuse, ==, 0);
	g_assert_cmpuint(fq.n_live, ==, 0);
}

static enum tally_status
read_slot(struct fixture *f, const struct tally_vk_family *family, uint32_t slot, uint32_t views,
	  unsigned which, struct tally_sample *out)
{
	uint64_t rows[SLOTS][4];
	g_assert_cmpuint(tally_vk_row_bytes(f->src, family), ==, sizeof(rows[0]));
	enum tally_status status = tally_vk_fetch(f->src, family, f->pool, slot,
						      views, rows);
	if (status != TALLY_OK)
		return status;
	return f->src->ops->read(f->src, family, f->pool, rows, slot, views, which, out);
}

/* Timestamps at two points of the clock, read at once. */
static enum tally_status
measure(struct fixture *f, uint64_t begin, uint64_t end, unsigned bits, struct tally_sample *out)
{
	const struct tally_vk_family family = { .flags = graphics.flags,
						 .timestamp_bits = bits };

	*out = (struct tally_sample){ .n = 0 };
	fq.bits = bits;
	tally_vk_reset(f->src, f->pool, 0, 1);
	fq.clock = begin;
	tally_vk_begin(f->src->api, f->src->ops->delivers_time, FQ_CB, f->pool, 0);
	fq.clock = end;
	tally_vk_end(f->src->api, f->src->ops->delivers_time, FQ_CB, f->pool, 0, 1);
	return read_slot(f, &family, 0, 1, TALLY_VK_BOTH, out);
}

static const struct {
	float period;
	enum tally_status want;
} period_cases[] = {
	{ 1.0f, TALLY_OK },
	{ 52.0833f, TALLY_OK },
	{ 1e6f, TALLY_OK },
	{ 1.0f / 256, TALLY_OK },
	{ 0.0f, TALLY_UNSUPPORTED },
	{ -1.0f, TALLY_UNSUPPORTED },
	{ 1e-30f, TALLY_UNSUPPORTED },
	{ 3e38f, TALLY_UNSUPPORTED },
	{ INFINITY, TALLY_UNSUPPORTED },
	{ NAN, TALLY_UNSUPPORTED },
};

static void
test_period(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(period_cases); i++) {
		struct fixture f;
		start(&f);
		f.api.timestamp_period = period_cases[i].period;
		f.src = tally_vk_timestamp_create(&f.api);
		g_test_message("%g", (double)period_cases[i].period);
		g_assert_cmpint(f.src->ops->open(f.src), ==, period_cases[i].want);
		if (period_cases[i].want == TALLY_OK)
			f.src->ops->close(f.src);
		else
			g_assert_nonnull(strstr(f.src->reason, "timestampPeriod"));
		tally_vk_source_destroy(f.src);
	}
}

static const struct {
	const char *what;
	float period;
	uint64_t begin, end;
	unsigned bits;
	bool noise;
	bool bad;
	uint64_t want_begin, want_ns;
} time_cases[] = {
	{ "plain", 1.0f, 100, 250, 64, false, false, 100, 150 },
	{ "empty", 1.0f, 100, 100, 64, false, false, 100, 0 },
	{ "a slow clock", 80.0f, 1000, 1010, 64, false, false, 80000, 800 },
	{ "a fraction, rounded down once", 1.5f, 1001, 1004, 64, false, false, 1501, 5 },
	{ "large ticks lose nothing", 1.0f, UINT64_C(0x7edcba9876543211),
	  UINT64_C(0x7edcba9876543219), 64, false, false, UINT64_C(0x7edcba9876543211), 8 },
	{ "more than 2^53, with a fraction", 0.5f, UINT64_C(0x7edcba9876543211),
	  UINT64_C(0x7edcba9876543219), 64, false, false, UINT64_C(0x3f6e5d4c3b2a1908), 4 },
	{ "products beyond 64 bits wrap together", 1000.0f, UINT64_C(0xff00000000000000),
	  UINT64_C(0xff00000000000003), 64, false, false,
	  (uint64_t)(UINT64_C(0xff00000000000000) * 1000), 3000 },
	{ "36 bits, far from a wrap", 1.0f, 100, 250, 36, false, false,
	  (UINT64_C(1) << 36) + 100, 150 },
	{ "36 bits wrap", 1.0f, 0xffffffff0, 0x1000000010, 36, false, false,
	  (UINT64_C(1) << 36) + 0xffffffff0, 0x20 },
	{ "bits above the valid ones are noise", 1.0f, 100, 250, 36, true, false,
	  (UINT64_C(1) << 36) + 100, 150 },
	{ "an end before its begin", 1.0f, 250, 100, 64, false, true, 0, 0 },
	{ "an end before its begin, 36 bits", 1.0f, 250, 100, 36, false, true, 0, 0 },
	{ "a stamp that failed", 1.0f, 0, 100, 64, false, true, 0, 0 },
	{ "an end that failed", 1.0f, 100, 0, 64, false, true, 0, 0 },
	{ "an end past the end of 64 bits", 1.0f, UINT64_MAX - 5, 10, 64, false, true, 0, 0 },
	{ "longer than we have been looking", 1.0f, 100, 100 + 3600 * SECOND_NS, 64, false, true,
	  0, 0 },
};

static void
test_times(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(time_cases); i++) {
		struct fixture f;
		struct tally_sample out;
		start(&f);
		f.api.timestamp_period = time_cases[i].period;
		set_up(&f);
		fq.noise = time_cases[i].noise;
		g_test_message("%s", time_cases[i].what);
		g_assert_cmpint(measure(&f, time_cases[i].begin, time_cases[i].end,
					time_cases[i].bits, &out),
				==, TALLY_OK);
		g_assert_cmpint(out.has_time, ==, !time_cases[i].bad);
		g_assert_cmphex(out.flags, ==,
				time_cases[i].bad ? TALLY_FLAG(BAD_TIME)
						  : TALLY_FLAG(UNCALIBRATED));
		if (!time_cases[i].bad) {
			g_assert_cmpuint(out.begin_ns, ==, time_cases[i].want_begin);
			g_assert_cmpuint(out.end_ns - out.begin_ns, ==, time_cases[i].want_ns);
		}
		finish(&f);
	}
}

/* A narrow clock without a calibration continues through its wraps. */
static void
test_wraps(void)
{
	struct fixture f;
	struct tally_sample out;
	const uint64_t quarter = UINT64_C(1) << 34;
	uint64_t last = 0;

	start(&f);
	set_up(&f);
	for (uint64_t i = 0; i < 40; i++) {
		g_assert_cmpint(measure(&f, 7 + i * quarter, 9 + i * quarter, 36, &out), ==,
				TALLY_OK);
		g_assert_true(out.has_time);
		g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 2);
		if (i)
			g_assert_cmpuint(out.begin_ns, ==, last + quarter);
		last = out.begin_ns;
	}
	/* What came a little earlier on another queue is earlier, not one wrap later. */
	g_assert_cmpint(measure(&f, 39 * quarter - 93, 39 * quarter - 90, 36, &out), ==,
			TALLY_OK);
	g_assert_cmpuint(out.begin_ns, ==, last - 100);
	finish(&f);
}

static void
test_recording(void)
{
	struct fixture f;
	const uint32_t bits = 64;
	struct tally_sample out = { .n = 0 };
	const struct tally_vk_family family = { .flags = graphics.flags,
						 .timestamp_bits = bits };

	start(&f);
	set_up(&f);
	tally_vk_record_reset(f.src, FQ_CB, f.pool, 1, 2);
	tally_vk_begin(f.src->api, f.src->ops->delivers_time, FQ_CB, f.pool, 1);
	g_assert_cmpstr(fq.log, ==, "r2+4 t2 ");
	g_assert_cmpint(read_slot(&f, &family, 1, 2, TALLY_VK_BOTH, &out), ==, TALLY_NOT_READY);
	tally_vk_end(f.src->api, f.src->ops->delivers_time, FQ_CB, f.pool, 1, 2);
	g_assert_cmpstr(fq.log, ==, "r2+4 t2 t4 ");
	/* Not available yet, and the driver leaves our memory unchanged. */
	fq.hold = fq.untouched = true;
	g_assert_cmpint(read_slot(&f, &family, 1, 2, TALLY_VK_BOTH, &out), ==, TALLY_NOT_READY);
	g_assert_false(out.has_time);
	g_assert_cmphex(out.flags, ==, 0);
	fq.hold = false;
	/* Two views, of which one was used. */
	g_assert_cmpint(read_slot(&f, &family, 1, 2, TALLY_VK_BOTH, &out), ==, TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 100);
	/* The driver refuses. */
	fq.fail_results = VK_ERROR_DEVICE_LOST;
	g_assert_cmpint(read_slot(&f, &family, 1, 2, TALLY_VK_BOTH, &out), ==, TALLY_LOST);
	finish(&f);
}

/* In a multiview subpass each view has a timestamp: from the first begin to the last end. */
static void
test_views(void)
{
	struct fixture f;
	struct tally_sample out = { .n = 0 };

	start(&f);
	set_up(&f);
	tally_vk_begin(f.src->api, f.src->ops->delivers_time, FQ_CB, f.pool, 0); /* 1000 */
	f.src->api->CmdWriteTimestamp(FQ_CB, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, f.pool, 1);
	tally_vk_end(f.src->api, f.src->ops->delivers_time, FQ_CB, f.pool, 0, 3);
	f.src->api->CmdWriteTimestamp(FQ_CB, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, f.pool, 4);
	g_assert_cmpstr(fq.log, ==, "t0 t1 t3 t4 ");
	g_assert_cmpint(read_slot(&f, &graphics, 0, 3, TALLY_VK_BOTH, &out), ==, TALLY_OK);
	g_assert_cmpuint(out.begin_ns, ==, 1000);
	g_assert_cmpuint(out.end_ns, ==, 1300);
	finish(&f);
}

static void
test_halves(void)
{
	struct fixture f;
	struct tally_sample out = { .n = 0 };

	start(&f);
	set_up(&f);
	tally_vk_begin(f.src->api, f.src->ops->delivers_time, FQ_CB, f.pool, 0);
	tally_vk_end(f.src->api, f.src->ops->delivers_time, FQ_CB, f.pool, 1, 1);
	g_assert_cmpint(read_slot(&f, &graphics, 0, 1, TALLY_VK_BEGIN, &out), ==, TALLY_OK);
	g_assert_false(out.has_time);
	g_assert_cmpuint(out.begin_ns, ==, 1000);
	g_assert_cmpuint(out.end_ns, ==, 0);
	out = (struct tally_sample){ .n = 0 };
	g_assert_cmpint(read_slot(&f, &graphics, 1, 1, TALLY_VK_END, &out), ==, TALLY_OK);
	g_assert_false(out.has_time);
	g_assert_cmpuint(out.begin_ns, ==, 0);
	g_assert_cmpuint(out.end_ns, ==, 1100);
	finish(&f);
}

static void
test_covers(void)
{
	struct fixture f;
	const struct tally_vk_family copies = { .flags = VK_QUEUE_TRANSFER_BIT,
						 .timestamp_bits = 64 };
	const struct tally_vk_family blind = { .flags = VK_QUEUE_GRAPHICS_BIT };

	start(&f);
	set_up(&f);
	g_assert_true(f.src->ops->covers(f.src, &graphics));
	g_assert_true(f.src->ops->covers(f.src, &copies));
	g_assert_false(f.src->ops->covers(f.src, &blind));
	f.api.ResetQueryPool = NULL;
	g_assert_true(f.src->ops->covers(f.src, &graphics));
	g_assert_false(f.src->ops->covers(f.src, &copies));
	finish(&f);
}

/* ---- with a calibration ---- */

static void
assert_near(uint64_t got, uint64_t want)
{
	g_assert_cmpuint(got + NEAR_NS, >=, want);
	g_assert_cmpuint(got, <=, want + NEAR_NS);
}

static const struct {
	const char *what;
	uint64_t offset;
	unsigned bits;
} clock_cases[] = {
	{ "the GPU's clock is the CPU's", 0, 64 },
	{ "ahead", UINT64_C(5000000000000000), 64 },
	{ "behind: it started later", -UINT64_C(1000000), 64 },
	{ "36 bits", UINT64_C(123456789012345), 36 },
};

static void
test_calibrated(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(clock_cases); i++) {
		struct fixture f;
		struct tally_sample out;
		start(&f);
		f.api.GetCalibratedTimestamps = fq_calibrated;
		fq.clock_offset = clock_cases[i].offset;
		g_test_message("%s", clock_cases[i].what);
		set_up(&f);
		g_assert_cmpuint(fq.n_calibrations, >=, 1);
		g_assert_cmpstr(f.src->reason, ==, "");
		uint64_t now = tally_clock_now_ns();
		uint64_t begin = now + fq.clock_offset;
		g_assert_cmpint(measure(&f, begin, begin + 700, clock_cases[i].bits, &out), ==,
				TALLY_OK);
		g_assert_true(out.has_time);
		g_assert_cmphex(out.flags, ==, 0);
		assert_near(out.begin_ns, now);
		g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 700);
		finish(&f);
	}
}

/* Timestamps that are equal stay equal, whatever the period and a mapping do to them. */
static void
test_touching(void)
{
	struct fixture f;
	struct tally_sample a, b;

	start(&f);
	f.api.timestamp_period = 52.083332f;
	set_up(&f);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t begin = UINT64_C(987654321987) + i * 13;
		measure(&f, begin, begin + 5, 64, &a);
		measure(&f, begin + 5, begin + 11, 64, &b);
		g_assert_cmpuint(a.end_ns, ==, b.begin_ns);
	}
	finish(&f);
}

static void
test_tick(void)
{
	struct fixture f;
	struct tally_sample out;

	start(&f);
	f.api.GetCalibratedTimestamps = fq_calibrated;
	set_up(&f);
	unsigned calibrations = fq.n_calibrations;
	uint64_t now = tally_clock_now_ns();
	f.src->ops->tick(f.src, now);
	g_assert_cmpuint(fq.n_calibrations, ==, calibrations);
	/* A second later the clock has drifted. */
	fq.clock_offset = UINT64_C(3000000);
	f.src->ops->tick(f.src, now + SECOND_NS + SECOND_NS / 10);
	g_assert_cmpuint(fq.n_calibrations, >, calibrations);
	uint64_t begin = tally_clock_now_ns();
	measure(&f, begin + fq.clock_offset, begin + fq.clock_offset + 10, 64, &out);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.begin_ns, <=, begin + 1000000);
	g_assert_cmpuint(out.begin_ns + 1000000, >=, begin);
	/* The driver fails: the current mapping stays. */
	fq.fail_clock = VK_ERROR_OUT_OF_HOST_MEMORY;
	f.src->ops->tick(f.src, now + 9 * SECOND_NS);
	measure(&f, begin + fq.clock_offset, begin + fq.clock_offset + 10, 64, &out);
	g_assert_true(out.has_time);
	g_assert_cmphex(out.flags, ==, 0);
	finish(&f);
}

static void
test_no_clock(void)
{
	struct fixture f;
	struct tally_sample out;

	start(&f);
	f.api.GetCalibratedTimestamps = fq_calibrated;
	fq.fail_clock = VK_ERROR_OUT_OF_HOST_MEMORY;
	set_up(&f);
	g_assert_nonnull(strstr(f.src->reason, "failed to read its clock"));
	measure(&f, 500, 600, 64, &out);
	g_assert_true(out.has_time);
	g_assert_cmphex(out.flags, ==, TALLY_FLAG(UNCALIBRATED));
	finish(&f);
}

/* Timestamps that never were on the clock that the driver shows: no calibration from then
 * on. */
static void
test_foreign(void)
{
	struct fixture f;
	struct tally_sample out;

	start(&f);
	f.api.GetCalibratedTimestamps = fq_calibrated;
	fq.clock_offset = UINT64_C(7000) * SECOND_NS;
	set_up(&f);
	g_assert_cmpint(measure(&f, 5000, 6000, 64, &out), ==, TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmphex(out.flags, ==, TALLY_FLAG(UNCALIBRATED));
	g_assert_cmpuint(out.begin_ns, ==, 5000);
	g_assert_cmpuint(out.end_ns, ==, 6000);
	g_assert_nonnull(strstr(f.src->reason, "not on the clock"));
	unsigned calibrations = fq.n_calibrations;
	f.src->ops->tick(f.src, tally_clock_now_ns() + 100 * SECOND_NS);
	g_assert_cmpuint(fq.n_calibrations, ==, calibrations);
	finish(&f);
}

/* A clock that was right before is set: no time until the next calibration. */
static void
test_clock_set(void)
{
	struct fixture f;
	struct tally_sample out;

	start(&f);
	f.api.GetCalibratedTimestamps = fq_calibrated;
	set_up(&f);
	uint64_t now = tally_clock_now_ns();
	measure(&f, now, now + 10, 64, &out);
	g_assert_true(out.has_time);
	fq.clock_offset = UINT64_C(7000) * SECOND_NS;
	measure(&f, now + fq.clock_offset, now + fq.clock_offset + 10, 64, &out);
	g_assert_false(out.has_time);
	g_assert_cmphex(out.flags, ==, TALLY_FLAG(BAD_TIME));
	f.src->ops->tick(f.src, tally_clock_now_ns());
	measure(&f, now + fq.clock_offset, now + fq.clock_offset + 10, 64, &out);
	g_assert_true(out.has_time);
	g_assert_cmphex(out.flags, ==, 0);
	finish(&f);
}

static void
test_no_functions(void)
{
	struct fixture f;

	start(&f);
	f.api.CmdWriteTimestamp = NULL;
	f.src = tally_vk_timestamp_create(&f.api);
	g_assert_cmpint(f.src->ops->open(f.src), ==, TALLY_UNSUPPORTED);
	g_assert_nonnull(strstr(f.src->reason, "lacks functions"));
	tally_vk_source_destroy(f.src);
	tally_vk_source_destroy(NULL);
	/* A pool that the driver cannot make. */
	start(&f);
	fq.fail_after = 1;
	f.src = tally_vk_timestamp_create(&f.api);
	g_assert_cmpint(f.src->ops->open(f.src), ==, TALLY_OK);
	g_assert_cmpint(f.src->ops->create_pool(f.src, &graphics, SLOTS, &f.pool), ==,
			TALLY_NO_MEMORY);
	f.src->ops->close(f.src);
	tally_vk_source_destroy(f.src);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_timestamp/period", test_period);
	g_test_add_func("/vk_timestamp/times", test_times);
	g_test_add_func("/vk_timestamp/wraps", test_wraps);
	g_test_add_func("/vk_timestamp/recording", test_recording);
	g_test_add_func("/vk_timestamp/views", test_views);
	g_test_add_func("/vk_timestamp/halves", test_halves);
	g_test_add_func("/vk_timestamp/covers", test_covers);
	g_test_add_func("/vk_timestamp/calibrated", test_calibrated);
	g_test_add_func("/vk_timestamp/touching", test_touching);
	g_test_add_func("/vk_timestamp/tick", test_tick);
	g_test_add_func("/vk_timestamp/no_clock", test_no_clock);
	g_test_add_func("/vk_timestamp/foreign", test_foreign);
	g_test_add_func("/vk_timestamp/clock_set", test_clock_set);
	g_test_add_func("/vk_timestamp/no_functions", test_no_functions);
	return g_test_run();
}
