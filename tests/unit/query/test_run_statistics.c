/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/statistics/join.h"
#include "query/statistics/moments.h"
#include "query/statistics/run_statistics.h"
#include "query/statistics/sketch.h"

#define U64(v) { .storage = TALLY_STORAGE_U64, .u64 = (v) }
#define F64(v) { .storage = TALLY_STORAGE_F64, .f64 = (v) }

static const struct tally_counter invocations = {
	.key = "invocations", .unit = "1", .kind = TALLY_KIND_EVENT,
};
static const struct tally_counter busy = {
	.key = "busy", .unit = "percent", .kind = TALLY_KIND_RATIO, .storage = TALLY_STORAGE_F64,
};
static const struct tally_counter shortest = {
	.key = "latency.min", .unit = "cycles", .kind = TALLY_KIND_DURATION,
};
static const struct tally_counter *const counters[] = { &invocations, &busy, &shortest };
static const struct tally_device_record device = { .counters = counters, .n_counters = 3 };

static const struct tally_statistic_record *
find(const struct tally_statistic_record *list, uint32_t n, uint64_t id, const char *key)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].id == id && strcmp(list[i].key, key) == 0)
			return &list[i];
	return NULL;
}

static void
check(const struct tally_statistic_record *r, uint64_t n, double sum, double sum_sq, double min,
      double max)
{
	g_assert_nonnull(r);
	g_assert_cmpuint(r->n, ==, n);
	g_assert_cmpfloat(r->integral ? tally_int192_f64(&r->sum) : r->sum_f64, ==, sum);
	g_assert_cmpfloat(r->integral ? tally_int192_f64(&r->sum_sq) : r->sum_sq_f64, ==,
			  sum_sq);
	g_assert_cmpfloat(tally_value_f64(r->min), ==, min);
	g_assert_cmpfloat(tally_value_f64(r->max), ==, max);
}

/* Two segments of one identity in a frame are one value of each key that adds up. */
static void
test_segments(void)
{
	const struct tally_keyed_value first[] = {
		{ "invocations", U64(10), false }, { "busy", F64(50), false },
		{ "latency.min", U64(7), false },
	};
	const struct tally_keyed_value second[] = {
		{ "invocations", U64(5), true }, { "busy", F64(70), false },
		{ "latency.min", U64(3), false },
	};
	const struct tally_keyed_value metric[] = { { "overdraw", F64(1.5), false } };
	struct tally_pass_record passes[] = {
		{ .id = 1,
		  .has_gpu = true,
		  .gpu_ns = 100,
		  .counters = first,
		  .n_counters = 3,
		  .call_counts.draws = 2,
		  .metrics = metric,
		  .n_metrics = 1 },
		{ .id = 2,
		  .has_gpu = true,
		  .gpu_ns = 40,
		  .call_counts = { .draws = 1, .copies = 3 } },
		{ .id = 1,
		  .segment = 1,
		  .has_gpu = true,
		  .gpu_ns = 20,
		  .counters = second,
		  .n_counters = 3,
		  .call_counts.draws = 1 },
	};
	struct tally_frame_record frame = { .passes = passes, .n_passes = 3 };
	struct tally_run_statistics *s = tally_run_statistics_create(false);
	tally_run_statistics_describe(s, &device);
	tally_run_statistics_add(s, &frame);
	frame.n_passes = 1; /* then the first alone */
	tally_run_statistics_add(s, &frame);
	/* Cut short by the run's end: the passes that it has count, as in the report. */
	passes[0] = (struct tally_pass_record){ .id = 4, .has_gpu = true, .gpu_ns = 30 };
	frame.flags = TALLY_FLAG(PARTIAL);
	tally_run_statistics_add(s, &frame);

	uint32_t n;
	struct tally_statistic_record *list = tally_run_statistics_list(s, &n);
	g_assert_nonnull(list);
	check(find(list, n, 1, "gpu_ns"), 2, 220, 120 * 120 + 100 * 100, 100, 120);
	check(find(list, n, 1, "draws"), 2, 5, 13, 2, 3);
	check(find(list, n, 1, "invocations"), 2, 25, 15 * 15 + 100, 10, 15);
	check(find(list, n, 1, "latency.min"), 2, 10, 9 + 49, 3, 7);
	/* A share has no value over two segments, nor has a metric that one segment lacks. */
	check(find(list, n, 1, "busy"), 1, 50, 2500, 50, 50);
	check(find(list, n, 1, "overdraw"), 1, 1.5, 2.25, 1.5, 1.5);
	check(find(list, n, 2, "copies"), 1, 3, 9, 3, 3);
	g_assert_null(find(list, n, 1, "copies")); /* always 0 */
	check(find(list, n, 4, "gpu_ns"), 1, 30, 900, 30, 30);
	const struct tally_statistic_record *r = find(list, n, 1, "gpu_ns");
	g_assert_cmpfloat(r->mean, ==, 110);
	g_assert_cmpfloat(r->sd_population, ==, 10);
	g_assert_true(r->has_sd_sample);
	g_assert_cmpfloat_with_epsilon(r->sd_sample, 14.142135623730951, 1e-12);
	g_assert_false(find(list, n, 2, "gpu_ns")->has_sd_sample);
	free(list);
	tally_run_statistics_destroy(s);
}

/* Counts that stay the same over frames, and change, and are not known, or of two segments. */
static void
test_same(void)
{
	static const struct {
		uint64_t draws, vertices;
		uint32_t frames, segments, unknown;
	} steps[] = {
		{ 3, 9, 5, 1, 0 },
		{ 3, UINT64_C(1) << 33, 3, 1, 0 },
		{ 3, 9, 2, 1, TALLY_UNKNOWN_VERTICES },
		{ 0, 0, 1, 1, 0 },
		{ 3, 9, 2, 2, 0 },
		{ 3, 9, 4, 1, 0 },
	};
	for (unsigned digest = 0; digest < 2; digest++) {
		struct tally_run_statistics *s = tally_run_statistics_create(digest);
		for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
			struct tally_pass_record passes[2] = { { .id = 1,
								 .unknown = steps[i].unknown } };
			passes[0].call_counts.draws = steps[i].draws;
			passes[0].call_counts.vertices = steps[i].vertices;
			passes[1] = passes[0];
			struct tally_frame_record frame = { .passes = passes,
							    .n_passes = steps[i].segments };
			for (unsigned k = 0; k < steps[i].frames; k++)
				tally_run_statistics_add(s, &frame);
		}
		for (unsigned again = 0; again < 2; again++) {
			uint32_t n;
			struct tally_statistic_record *list = tally_run_statistics_list(s, &n);
			const double large = 0x1p33;
			check(find(list, n, 1, "draws"), 17, 14 * 3 + 2 * 6,
			      14 * 9 + 2 * 36, 0, 6);
			check(find(list, n, 1, "vertices"), 15, 9 * 9 + 3 * large + 2 * 18,
			      9 * 81 + 3 * large * large + 2 * 324, 0, large);
			free(list);
		}
		tally_run_statistics_destroy(s);
	}
}

/* One identity on two devices is two; devices come in order. */
static void
test_devices(void)
{
	struct tally_pass_record pass = { .id = 9, .has_gpu = true, .gpu_ns = 1 };
	struct tally_frame_record frame = { .passes = &pass, .n_passes = 1, .device = 3 };
	struct tally_run_statistics *s = tally_run_statistics_create(false);
	tally_run_statistics_add(s, &frame);
	pass.gpu_ns = 2;
	frame.device = 1;
	tally_run_statistics_add(s, &frame);
	uint32_t n;
	struct tally_statistic_record *list = tally_run_statistics_list(s, &n);
	g_assert_cmpuint(n, ==, 4); /* draws and gpu_ns of each */
	g_assert_cmpuint(list[0].device, ==, 1);
	g_assert_cmpuint(list[1].min.u64, ==, 2);
	g_assert_cmpuint(list[2].device, ==, 3);
	g_assert_cmpuint(list[3].min.u64, ==, 1);
	free(list);
	tally_run_statistics_destroy(s);
}

/* A device that is described again has its metrics' keys elsewhere, and others where they
 * were. */
static void
test_described_anew(void)
{
	char place[16] = "first";
	const struct tally_keyed_value metric[] = { { place, F64(1), false } };
	struct tally_pass_record pass = { .id = 9, .metrics = metric, .n_metrics = 1 };
	struct tally_frame_record frame = { .passes = &pass, .n_passes = 1 };
	struct tally_run_statistics *s = tally_run_statistics_create(false);
	tally_run_statistics_describe(s, &device);
	tally_run_statistics_add(s, &frame);
	strcpy(place, "second");
	tally_run_statistics_describe(s, &device);
	tally_run_statistics_add(s, &frame);
	uint32_t n;
	struct tally_statistic_record *list = tally_run_statistics_list(s, &n);
	check(find(list, n, 9, "first"), 1, 1, 1, 1, 1);
	check(find(list, n, 9, "second"), 1, 1, 1, 1, 1);
	free(list);
	tally_run_statistics_destroy(s);
}

/* Bounded: late keys are left out, existing ones continue. */
static void
test_ceiling(void)
{
	struct tally_pass_record pass = { .has_gpu = true, .gpu_ns = 5 };
	struct tally_frame_record frame = { .passes = &pass, .n_passes = 1 };
	struct tally_run_statistics *s = tally_run_statistics_create(false);
	for (uint64_t id = 0; id < TALLY_MAX_STATISTICS; id++) {
		pass.id = id * UINT64_C(0x9e3779b97f4a7c15);
		tally_run_statistics_add(s, &frame);
	}
	pass.id = 0;
	tally_run_statistics_add(s, &frame);
	uint32_t n;
	struct tally_statistic_record *list = tally_run_statistics_list(s, &n);
	g_assert_cmpuint(n, >, TALLY_MAX_STATISTICS / 16);
	g_assert_cmpuint(n, <=, TALLY_MAX_STATISTICS);
	check(find(list, n, 0, "gpu_ns"), 2, 10, 50, 5, 5);
	free(list);
	tally_run_statistics_destroy(s);
}

static void
test_nothing(void)
{
	struct tally_run_statistics *s = tally_run_statistics_create(false);
	uint32_t n = 7;
	g_assert_null(tally_run_statistics_list(s, &n));
	g_assert_cmpuint(n, ==, 0);
	tally_run_statistics_destroy(s);
	tally_run_statistics_destroy(NULL);
}

static void
assert_same_value(struct tally_value a, struct tally_value b)
{
	g_assert_cmpint(a.storage, ==, b.storage);
	g_assert_cmpuint(a.u64, ==, b.u64);
}

/* To the last bit, but without the padding of the structures. */
static void
assert_same(const struct tally_statistic_record *a, const struct tally_statistic_record *b)
{
	const double reals[][2] = {
		{ a->sum_f64, b->sum_f64 },
		{ a->sum_sq_f64, b->sum_sq_f64 },
		{ a->mean, b->mean },
		{ a->sd_population, b->sd_population },
		{ a->sd_sample, b->sd_sample },
	};
	g_assert_cmpuint(a->n, ==, b->n);
	g_assert_cmpint(a->integral, ==, b->integral);
	g_assert_cmpmem(&a->sum, sizeof(a->sum), &b->sum, sizeof(b->sum));
	g_assert_cmpmem(&a->sum_sq, sizeof(a->sum_sq), &b->sum_sq, sizeof(b->sum_sq));
	assert_same_value(a->min, b->min);
	assert_same_value(a->max, b->max);
	g_assert_cmpint(a->has_sd_sample, ==, b->has_sd_sample);
	for (size_t i = 0; i < G_N_ELEMENTS(reals); i++)
		g_assert_cmpmem(&reals[i][0], sizeof(double), &reals[i][1], sizeof(double));
}

/* Values that are repeated are added at once: the sums are the same as one by one. */
static void
test_again(void)
{
	static const struct tally_value values[] = {
		U64(0),
		U64(3),
		U64(UINT32_MAX),
		U64(UINT64_MAX / 3),
		{ .storage = TALLY_STORAGE_I64, .i64 = -5 },
		F64(0.1),
	};
	static const uint32_t first_float[] = { 4, 5, 6 };
	for (uint32_t kinds = 0; kinds < G_N_ELEMENTS(first_float); kinds++) {
		struct tally_run_statistics *s = tally_run_statistics_create(false);
		struct tally_moments draws = { 0 }, calls = { 0 }, counted = { 0 };
		struct tally_keyed_value counter = { .key = "invocations" };
		struct tally_pass_record passes[2] = { 0 };
		tally_run_statistics_describe(s, &device);
		for (uint32_t f = 0, n_passes = 1; f < 2000; f++) {
			if (g_test_rand_int_range(0, 4) == 0) {
				n_passes = g_test_rand_int_range(0, 4) == 0 ? 2 : 1;
				passes[0].call_counts.draws = (uint64_t)g_test_rand_int_range(0, 3);
				passes[0].unknown = g_test_rand_bit() ? TALLY_UNKNOWN_DRAWS : 0;
				counter.value = values[g_test_rand_int_range(
					0, (gint32)first_float[kinds])];
			}
			passes[0].call_counts.calls = UINT64_MAX / 4;
			for (uint32_t p = 0; p < n_passes; p++) {
				passes[p] = passes[0];
				passes[p].counters = &counter;
				passes[p].n_counters = 1;
			}
			const struct tally_frame_record frame = { .passes = passes,
								  .n_passes = n_passes };
			tally_run_statistics_add(s, &frame);
			struct tally_value d = U64(passes[0].call_counts.draws * n_passes);
			struct tally_value c = U64(UINT64_MAX / 4 * n_passes), v = counter.value;
			if (n_passes == 2)
				v = tally_join_values(v, v, TALLY_JOIN_SUM);
			if (!passes[0].unknown)
				tally_moments_add(&draws, d);
			tally_moments_add(&calls, c);
			tally_moments_add(&counted, v);
		}
		uint32_t n;
		struct tally_statistic_record *list = tally_run_statistics_list(s, &n);
		const struct tally_moments *const want[] = { &draws, &calls, &counted };
		static const char *const keys[] = { "draws", "calls", "invocations" };
		for (uint32_t i = 0; i < 3; i++) {
			struct tally_statistic_record r = *find(list, n, 0, keys[i]), expected = r;
			tally_moments_record(want[i], &expected);
			assert_same(&r, &expected);
		}
		free(list);
		tally_run_statistics_destroy(s);
	}
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Each value is counted once, within the error that the sketch states, however many there are; the
 * order in which they came does not matter while no digit is lost. */
static void
test_sketch(void)
{
	static const double spans[] = { 1e-9, 0.2, 2, 40 }; /* of the values' logarithm */
	for (size_t i = 0; i < G_N_ELEMENTS(spans); i++) {
		struct tally_sketch s = { 0 }, backwards = { 0 };
		double values[4000];
		for (size_t v = 0; v < G_N_ELEMENTS(values); v++) {
			values[v] = exp(g_test_rand_double() * spans[i]) * (v % 4 ? 1 : -1);
			g_assert_true(tally_sketch_add(&s, values[v], 1));
		}
		for (size_t v = G_N_ELEMENTS(values); v-- > 0;)
			tally_sketch_add(&backwards, values[v], 1);
		double error = tally_sketch_error(&s);
		g_assert_cmpuint(s.n, <=, TALLY_MAX_BUCKETS);
		g_assert_cmpfloat(error, >=, 1.0 / 128);
		g_assert_true(i == 3 ? s.lost > 0 : s.lost == 0);
		if (!s.lost)
			g_assert_cmpmem(s.buckets, s.n * sizeof(*s.buckets), backwards.buckets,
					backwards.n * sizeof(*s.buckets));
		qsort(values, G_N_ELEMENTS(values), sizeof(*values), compare_doubles);
		size_t v = 0;
		for (uint32_t b = 0; b < s.n; b++)
			for (uint64_t n = s.buckets[b].n; n; n--, v++)
				g_assert_cmpfloat(fabs(s.buckets[b].value - values[v]), <=,
						  error * fabs(values[v]));
		g_assert_cmpuint(v, ==, G_N_ELEMENTS(values));
		tally_sketch_finish(&s);
		tally_sketch_finish(&backwards);
	}
	struct tally_sketch s = { 0 };
	char text[64];
	tally_sketch_add(&s, 0, 3);
	tally_sketch_add(&s, -0.75, 2);
	tally_sketch_add(&s, 1080, 1);
	tally_sketch_add(&s, (double)NAN, 1);
	tally_sketch_print(&s, text, sizeof(text));
	g_assert_cmpstr(text, ==, "-3,-2,2 0,0,3 17,6,1");
	g_assert_cmpuint(tally_sketch_print(&s, text, 4), ==, 20);
	g_assert_cmpstr(text, ==, "-3,");
	tally_sketch_finish(&s);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/run-statistics/sketch", test_sketch);
	g_test_add_func("/run-statistics/segments", test_segments);
	g_test_add_func("/run-statistics/same", test_same);
	g_test_add_func("/run-statistics/devices", test_devices);
	g_test_add_func("/run-statistics/described-anew", test_described_anew);
	g_test_add_func("/run-statistics/ceiling", test_ceiling);
	g_test_add_func("/run-statistics/nothing", test_nothing);
	g_test_add_func("/run-statistics/again", test_again);
	return g_test_run();
}
