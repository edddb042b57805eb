/* SPDX-License-Identifier: MIT */
#include "tests/unit/query/annotate_world.h"

/* ---- tests ---- */

static void
test_device_line(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_EXACT);
	const struct tally_device_record *line = describe(w, 0, &clashing_counter);
	g_assert_cmpuint(line->n_sources, ==, 3);
	g_assert_cmpstr(line->sources[0].name, ==, "gl-x");
	g_assert_cmpstr(line->sources[1].name, ==, "snap");
	g_assert_cmpstr(line->sources[2].reason, ==, "not here");
	g_assert_cmpuint(line->n_counters, ==, 3);
	g_assert_cmpstr(line->counters[0]->key, ==, "snap_b");
	g_assert_cmpstr(line->counters[0]->source, ==, "gl-x");
	g_assert_cmpstr(line->counters[1]->key, ==, "snap_a");
	g_assert_cmpstr(line->counters[2]->key, ==, "snap.snap_b");
	g_assert_cmpstr(line->serialized_by, ==, "passtally --snapshot exact");
	g_assert_cmpstr(line->name, ==, "GPU");
	world_free(w);
}

/* Metrics with the names of existing values: two could not be told apart. */
static void
test_own_metrics(void)
{
	char keys[3][8] = { "snap_a", "draws", "half_a" }, half[] = "$snap_a / 2", file[] = "f",
	     draws[] = "$vertices";
	struct tally_config_metric metrics[3] = { 0 };
	for (unsigned i = 0; i < 3; i++)
		metrics[i] = (struct tally_config_metric){
			.key = keys[i],
			.expression = i == 2 ? half : draws,
			.file = file,
		};
	struct world *w = g_new0(struct world, 1);
	struct tally_note_record note;
	tally_log_reset();
	tally_config_init(&w->config);
	w->config.metrics = metrics;
	w->config.n_metrics = G_N_ELEMENTS(metrics);
	w->annotator = tally_annotator.create(&w->config);
	const struct tally_device_record *line = describe(w, 0, &own_counter);
	unsigned n_half = 0;
	for (uint32_t i = 0; i < line->n_metrics; i++) {
		g_assert_cmpstr(line->metrics[i].key, !=, "snap_a");
		g_assert_cmpstr(line->metrics[i].key, !=, "draws");
		n_half += strcmp(line->metrics[i].key, "half_a") == 0;
	}
	g_assert_cmpuint(n_half, ==, 1);
	for (unsigned i = 0; i < 2; i++) {
		g_assert_true(tally_log_take(&note));
		g_assert_nonnull(
			strstr(note.message, i ? "metric draws is" : "metric snap_a is"));
	}
	w->config.metrics = NULL;
	w->config.n_metrics = 0;
	world_free(w);
}

static void
test_off(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_OFF);
	const struct tally_device_record *line = describe(w, 0, &own_counter);
	g_assert_cmpuint(line->n_sources, ==, 1);
	g_assert_cmpuint(line->n_counters, ==, 1);
	g_assert_null(line->serialized_by);
	begin_frame(w, 0, 0, 0, 10 * MS);
	add_pass(w, 2 * MS, 5 * MS);
	annotate(w);
	g_assert_cmpuint(w->passes[0].n_counters, ==, 1);
	g_assert_cmpuint(w->frame.n_unattributed, ==, 1);
	g_assert_cmpuint(w->frame.flags, ==, 0);
	tally_annotator.skip(w->annotator, 0, 20 * MS);
	tally_annotator.unwritten(w->annotator);
	end_run(w, 1, 0, "snap_a");
	world_free(w);
}

static void
test_sampled(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	for (uint64_t t = 1; t <= 12; t++)
		read_steadily(t * MS);
	begin_frame(w, 0, 0, 2 * MS, 6 * MS);
	add_pass(w, 3 * MS + 100, 4 * MS + 700);
	add_pass(w, 5 * MS, 7 * MS + 1);
	annotate(w);
	/* The device's own values come first and stay. */
	g_assert_cmpstr(w->passes[1].counters[0].key, ==, "own");
	g_assert_cmpuint(w->passes[1].counters[0].value.u64, ==, 101);
	g_assert_cmpuint(w->passes[1].n_counters, ==, 3);
	g_assert_false(has(w, 0, "snap_hidden"));
	assert_pass(w, 0, "snap_a", MS + 600, true);
	assert_pass(w, 1, "snap_a", 2 * MS + 1, true);
	assert_pass(w, 0, "snap_b", (MS + 600) / 2, true);
	/* Growth is counted from the first reading to the last pass, and no further. */
	assert_unattributed(w, "own", 7, false);
	assert_unattributed(w, "snap_a", 2 * MS + 100 + MS - 700, true);
	/* The second begins where the first ended, though the CPU was faster. */
	begin_frame(w, 0, 1, 6 * MS, 10 * MS);
	add_pass(w, 8 * MS, 9 * MS);
	annotate(w);
	assert_pass(w, 0, "snap_a", MS, true);
	assert_unattributed(w, "snap_a", MS - 1, true);
	struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
	g_assert_cmpuint(g.growth, ==, 8 * MS);
	g_assert_cmpuint(g.outside, ==, 3 * MS);
	g_assert_cmpuint(g.unlogged, ==, 0);
	world_free(w);
}

/* A source that has not answered yet: missing values are flagged. */
static void
test_before_first_reading(void)
{
	static const enum tally_snapshot modes[] = { TALLY_SNAPSHOT_SAMPLED, TALLY_SNAPSHOT_EXACT };
	for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
		struct world *w = world_new(modes[i]);
		begin_frame(w, 0, 0, 2 * MS, 6 * MS);
		add_pass(w, 3 * MS, 4 * MS);
		annotate(w);
		g_assert_false(has(w, 0, "snap_a"));
		g_assert_true(w->passes[0].flags & TALLY_FLAG(UNSAMPLED));
		world_free(w);
	}
}

/* The first reading comes within a frame: the passes before it are flagged too. */
static void
test_first_reading_in_frame(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	for (uint64_t t = 5; t <= 10; t++)
		read_steadily(t * MS);
	begin_frame(w, 0, 0, 2 * MS, 9 * MS);
	add_pass(w, 3 * MS, 4 * MS);
	add_pass(w, 6 * MS, 7 * MS);
	annotate(w);
	g_assert_false(has(w, 0, "snap_a"));
	g_assert_true(w->passes[0].flags & TALLY_FLAG(UNSAMPLED));
	assert_pass(w, 1, "snap_a", MS, true);
	g_assert_false(w->passes[1].flags & TALLY_FLAG(UNSAMPLED));
	world_free(w);
}

static void
test_no_times(void)
{
	static const struct {
		const char *what;
		uint64_t end_ns, flags;
	} rows[] = {
		{ "no stamps", 0, 0 },
		{ "no stamps in a pass with statistics", 0, TALLY_FLAG(YIELDED) },
		{ "stamps of another clock", 5 * MS, TALLY_FLAG(UNCALIBRATED) },
	};
	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s", rows[i].what);
		struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
		read_steadily(MS);
		read_steadily(11 * MS);
		begin_frame(w, 0, 0, 2 * MS, 6 * MS);
		add_pass(w, rows[i].end_ns ? 3 * MS : 0, rows[i].end_ns)->flags = rows[i].flags;
		annotate(w);
		g_assert_true(w->frame.flags & TALLY_FLAG(NO_TIMESTAMPS));
		g_assert_false(has(w, 0, "snap_a"));
		assert_unattributed(w, "snap_a", 5 * MS, true);
		world_free(w);
	}
}

/* A lost pass gives no information about the clock; an interval without length gives nothing at
 * all. */
/* The GPU's clock continued while the machine slept, and is not matched again yet. */
static void
test_time_to_come(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	uint64_t hour_ns = tally_clock_now_ns() + UINT64_C(3600000000000);
	for (uint64_t t = 1; t <= 12; t++)
		read_steadily(t * MS);
	begin_frame(w, 0, 0, 1 * MS, 3 * MS);
	add_pass(w, 2 * MS, 3 * MS);
	annotate(w);
	begin_frame(w, 0, 1, 3 * MS, 5 * MS);
	add_pass(w, hour_ns, hour_ns + MS);
	add_pass(w, UINT64_MAX - 1, UINT64_MAX);
	annotate(w);
	g_assert_false(has(w, 0, "snap_a"));
	g_assert_cmpuint(w->frame.flags, ==, TALLY_FLAG(NO_TIMESTAMPS));
	assert_unattributed(w, "snap_a", 2 * MS, true);
	/* The passes that have a time can have counts. */
	begin_frame(w, 0, 2, 5 * MS, 8 * MS);
	add_pass(w, 6 * MS, 7 * MS);
	add_pass(w, hour_ns, hour_ns + MS);
	annotate(w);
	g_assert_cmpuint(w->frame.flags, ==, 0);
	assert_pass(w, 0, "snap_a", MS, true);
	g_assert_false(has(w, 1, "snap_a"));
	begin_frame(w, 0, 3, 8 * MS, 10 * MS);
	add_pass(w, 8 * MS, 10 * MS);
	annotate(w);
	assert_pass(w, 0, "snap_a", 2 * MS, true);
	struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
	g_assert_cmpuint(g.growth, ==, 9 * MS);
	g_assert_cmpuint(g.unlogged, ==, 0);
	world_free(w);
}

static void
test_lost_passes(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	read_steadily(MS);
	read_steadily(11 * MS);
	begin_frame(w, 0, 0, 2 * MS, 6 * MS);
	add_pass(w, 0, 0)->flags = TALLY_FLAG(LOST);
	annotate(w);
	g_assert_cmpuint(w->frame.flags, ==, 0);
	assert_unattributed(w, "snap_a", 5 * MS, true);
	begin_frame(w, 0, 1, 4 * MS, 6 * MS);
	add_pass(w, 0, 0)->flags = TALLY_FLAG(LOST);
	annotate(w);
	g_assert_null(find_value(w->frame.unattributed, w->frame.n_unattributed, "snap_a"));
	tally_annotator.unwritten(w->annotator);
	g_assert_cmpuint(end_run(w, 1, 0, "snap_a").growth, ==, 5 * MS);
	world_free(w);
}

static void
test_skipped(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	for (uint64_t t = 1; t <= 40; t++)
		read_steadily(t * MS);
	tally_annotator.skip(w->annotator, 0, 5 * MS);
	begin_frame(w, 0, 1, 5 * MS, 8 * MS);
	add_pass(w, 6 * MS, 9 * MS);
	annotate(w);
	assert_pass(w, 0, "snap_a", 3 * MS, true);
	assert_unattributed(w, "snap_a", MS, true);
	tally_annotator.skip(w->annotator, 0, 20 * MS);
	begin_frame(w, 0, 3, 20 * MS, 30 * MS);
	annotate(w);
	assert_unattributed(w, "snap_a", 10 * MS, true);
	struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
	g_assert_cmpuint(g.growth, ==, 14 * MS);
	g_assert_cmpuint(g.outside, ==, (4 + 11 + 10) * MS);
	world_free(w);
}

static void
test_exact(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_EXACT);
	read_snap(1 * MS, 0, 0, 0, 0);
	read_snap(3 * MS, 10, 1, 0, 0); /* 2 */
	read_snap(5 * MS, 1000, 40, 0, 0); /* 3 */
	read_snap(6 * MS, 5, 0, 0, 0); /* 4 */
	read_snap(9 * MS, 30, 31, 0, 0);
	begin_frame(w, 0, 0, 2 * MS, 8 * MS);
	struct tally_pass_record *pass = add_pass(w, 0, 0);
	pass->snapshot_from = 2;
	pass->snapshot_to = 3;
	add_pass(w, 0, 0);
	pass = add_pass(w, 0, 0);
	pass->snapshot_from = 3;
	pass->snapshot_to = 4;
	annotate(w);
	g_assert_cmpuint(snap.n_covers, ==, 0);
	assert_pass(w, 0, "snap_a", 1000, false);
	assert_pass(w, 0, "snap_b", 40, false);
	assert_pass(w, 2, "snap_a", 5, false);
	g_assert_false(has(w, 1, "snap_a"));
	g_assert_true(w->passes[1].flags & TALLY_FLAG(UNSAMPLED));
	assert_unattributed(w, "snap_a", 10, false);
	g_assert_false(w->frame.flags & TALLY_FLAG(NO_TIMESTAMPS));
	struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
	g_assert_cmpuint(g.growth, ==, 1015);
	g_assert_cmpuint(g.outside, ==, 30);
	world_free(w);
}

/* An unreliable reading: its counter is absent, the other stays, and the sum is right
 * anyway. */
static void
test_doubts(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	read_steadily(1 * MS);
	read_steadily(3 * MS);
	read_snap(5 * MS, 2 * MS, MS, 1, TALLY_FLAG(SATURATED));
	read_steadily(9 * MS);
	begin_frame(w, 0, 0, 1 * MS, 8 * MS);
	add_pass(w, 1 * MS, 2 * MS);
	add_pass(w, 2 * MS, 4 * MS);
	add_pass(w, 6 * MS, 8 * MS);
	annotate(w);
	assert_pass(w, 0, "snap_a", MS, true);
	g_assert_false(has(w, 1, "snap_a"));
	assert_pass(w, 1, "snap_b", MS, true);
	g_assert_true(w->passes[1].flags & TALLY_FLAG(SATURATED));
	g_assert_false(w->passes[2].flags & TALLY_FLAG(SATURATED));
	g_assert_true(w->frame.flags & TALLY_FLAG(SATURATED));
	assert_pass(w, 2, "snap_a", 2 * MS, true);
	struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
	g_assert_cmpuint(g.growth, ==, 7 * MS);
	/* The second pass; the interval from 4 to 6 ms belongs to no pass. */
	g_assert_cmpuint(g.unlogged, ==, 4 * MS);
	world_free(w);
}

/* A source that only metrics need flags nothing: no value of the log is missing. */
static void
test_nothing_shown(void)
{
	logged = 0;
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	read_steadily(1 * MS);
	read_snap(5 * MS, 4 * MS, MS, 3, 0);
	read_steadily(9 * MS);
	begin_frame(w, 0, 0, 1 * MS, 8 * MS);
	add_pass(w, 1 * MS, 2 * MS);
	annotate(w);
	g_assert_cmphex(w->passes[0].flags, ==, 0);
	g_assert_cmphex(w->frame.flags, ==, 0);
	begin_frame(w, 0, 1, 8 * MS, 9 * MS);
	add_pass(w, 0, 0);
	annotate(w);
	g_assert_cmphex(w->frame.flags, ==, 0); /* without times */
	g_assert_false(has(w, 0, "snap_a"));
	world_free(w);
	logged = 3;
}

static void
test_lost_source(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	read_steadily(1 * MS);
	read_steadily(4 * MS);
	g_assert_null(tally_annotator.changed(w->annotator, false));
	snap.lost = true;
	/* Its row is removed, once, by a device line that repeats the rest. */
	const struct tally_device_record *line = tally_annotator.changed(w->annotator, false);
	g_assert_nonnull(line);
	g_assert_cmpstr(line->sources[0].name, ==, "gl-x");
	g_assert_cmpstr(line->sources[1].name, ==, "snap");
	g_assert_false(line->sources[1].on);
	g_assert_cmpstr(line->sources[1].reason, ==, "gone");
	g_assert_null(tally_annotator.changed(w->annotator, false));
	begin_frame(w, 0, 0, 1 * MS, 8 * MS);
	add_pass(w, 1 * MS, 3 * MS);
	add_pass(w, 3 * MS, 6 * MS);
	annotate(w);
	assert_pass(w, 0, "snap_a", 2 * MS, true);
	g_assert_false(has(w, 1, "snap_a"));
	begin_frame(w, 0, 1, 8 * MS, 12 * MS);
	add_pass(w, 8 * MS, 9 * MS);
	annotate(w);
	g_assert_false(has(w, 0, "snap_a"));
	g_assert_null(find_value(w->frame.unattributed, w->frame.n_unattributed, "snap_a"));
	struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
	g_assert_cmpuint(g.growth, ==, 3 * MS);
	g_assert_cmpuint(g.unlogged, ==, MS);
	world_free(w);
}

/* Frames are written before a source has opened. */
static void
test_opens_late(void)
{
	opening = true;
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	const struct tally_device_record *line = describe(w, 0, &own_counter);
	g_assert_cmpuint(line->n_sources + line->n_counters, ==, 2);
	begin_frame(w, 0, 0, 1 * MS, 4 * MS);
	add_pass(w, 1 * MS, 3 * MS);
	annotate(w);
	g_assert_false(has(w, 0, "snap_a"));
	g_assert_null(tally_annotator.changed(w->annotator, false));
	opening = false;
	read_steadily(5 * MS);
	read_steadily(12 * MS);
	line = tally_annotator.changed(w->annotator, false);
	g_assert_nonnull(line);
	g_assert_cmpuint(line->n_sources, ==, 3);
	g_assert_cmpuint(line->n_counters, ==, 3);
	g_assert_null(tally_annotator.changed(w->annotator, false));
	begin_frame(w, 0, 1, 4 * MS, 10 * MS);
	add_pass(w, 6 * MS, 8 * MS);
	annotate(w);
	assert_pass(w, 0, "snap_a", 2 * MS, true);
	struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
	g_assert_cmpuint(g.growth + g.outside, ==, 7 * MS);
	world_free(w);
	/* The capture ends before it has opened. */
	opening = true;
	w = world_new(TALLY_SNAPSHOT_SAMPLED);
	describe(w, 0, &own_counter);
	g_assert_null(tally_annotator.changed(w->annotator, false));
	line = tally_annotator.changed(w->annotator, true);
	g_assert_nonnull(line);
	g_assert_cmpuint(line->n_sources, ==, 3);
	world_free(w);
}

static void
test_two_devices(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	describe(w, 1, &own_counter);
	for (uint64_t t = 1; t <= 20; t++)
		read_steadily(t * MS);
	begin_frame(w, 0, 0, 1 * MS, 5 * MS);
	add_pass(w, 2 * MS, 4 * MS);
	annotate(w);
	/* The other device may still report a frame before 4 ms; the history begins with its
	 * first reading. */
	struct tally_reading first;
	g_assert_true(tally_history_first(snap.history, &first));
	g_assert_cmpuint(first.time_ns, ==, 1 * MS);
	begin_frame(w, 1, 0, 6 * MS, 9 * MS);
	add_pass(w, 7 * MS, 8 * MS);
	annotate(w);
	assert_pass(w, 0, "snap_a", MS, true);
	assert_unattributed(w, "snap_a", MS, true);
	/* The slower device keeps what it needs. */
	g_assert_true(tally_history_first(snap.history, &first));
	g_assert_cmpuint(first.time_ns, ==, 4 * MS);
	begin_frame(w, 0, 1, 5 * MS, 10 * MS);
	add_pass(w, 7 * MS, 8 * MS);
	annotate(w);
	assert_pass(w, 0, "snap_a", MS, true);
	assert_unattributed(w, "snap_a", 3 * MS, true);
	struct tally_growth_record g = end_run(w, 2, 1, "snap_a");
	g_assert_cmpuint(g.growth, ==, 2 * MS);
	g_assert_cmpuint(g.outside, ==, 12 * MS);
	world_free(w);
}

/* Totals are the GPU's: the values of a frame may include the work of other devices that are
 * active at the time. */
static void
test_shared_totals(void)
{
	static const struct {
		const char *what;
		int64_t beneath; /* of device 1 */
		uint64_t start_ns; /* of device 0's frame; that of device 1 ended at 9 ms */
		bool shared, of_state;
	} cases[] = {
		{ "at the same time", -1, 8 * MS, true, false },
		{ "a state of the GPU, no work", -1, 8 * MS, false, true },
		{ "a frame that may be late", -1, 900 * MS, true, false },
		{ "long ago", -1, 1100 * MS, false, false },
		{ "GL over Vulkan has the same work", 0, 8 * MS, false, false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].what);
		of_state = cases[i].of_state;
		struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
		of_state = false;
		describe_beneath(w, 1, &own_counter, cases[i].beneath);
		for (uint64_t t = 1; t <= 2000; t += 5)
			read_steadily(t * MS);
		begin_frame(w, 1, 0, 6 * MS, 9 * MS);
		add_pass(w, 7 * MS, 8 * MS);
		annotate(w);
		begin_frame(w, 0, 0, cases[i].start_ns, cases[i].start_ns + 3 * MS);
		add_pass(w, cases[i].start_ns, cases[i].start_ns + 2 * MS);
		annotate(w);
		g_assert_cmpint(!!(w->frame.flags & TALLY_FLAG(SHARED_TOTALS)), ==,
				cases[i].shared);
		world_free(w);
	}
}

/* The sources are informed which GPU it is where all devices are the same one. */
static void
test_gpu(void)
{
	static const struct {
		const char *what, *pci[2];
		int64_t beneath; /* device that uses device 1 */
		const char *want;
	} cases[] = {
		{ "one device", { "0000:03:00.0" }, -1, "0000:03:00.0" },
		{ "no address", { NULL }, -1, NULL },
		{ "two of one GPU", { "0000:03:00.0", "0000:03:00.0" }, -1, "0000:03:00.0" },
		{ "two GPUs", { "0000:03:00.0", "0000:04:00.0" }, -1, NULL },
		{ "one of two says its address", { "none", "0000:04:00.0" }, -1, NULL },
		{ "GL over Vulkan", { "none", "0000:04:00.0" }, 0, "0000:04:00.0" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
		g_test_message("%s", cases[i].what);
		for (uint32_t k = 0; k < 2 && (k == 0 || cases[i].pci[k]); k++) {
			const struct tally_device_record info = {
				.device = k,
				.name = "GPU",
				.pci = cases[i].pci[k],
				.beneath = k ? cases[i].beneath : -1,
			};
			tally_annotator.device(w->annotator, &info);
		}
		g_assert_cmphex(snap.gpu, ==, tally_pci_number(cases[i].want));
		world_free(w);
	}
}

/* Its first frame is complete after a later one of another device, but the wait is limited. */
static void
test_device_told_late(void)
{
	for (unsigned too_late = 0; too_late < 2; too_late++) {
		struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
		describe(w, 1, &own_counter);
		for (uint64_t t = 1; t <= 20; t++)
			read_steadily(t * MS);
		if (too_late)
			read_steadily(2000 * MS);
		begin_frame(w, 0, 0, 1 * MS, 8 * MS);
		add_pass(w, 2 * MS, 8 * MS);
		annotate(w);
		begin_frame(w, 1, 0, 2 * MS, 6 * MS);
		add_pass(w, 3 * MS, 5 * MS);
		annotate(w);
		if (too_late)
			g_assert_false(has(w, 0, "snap_a"));
		else
			assert_pass(w, 0, "snap_a", 2 * MS, true);
		world_free(w);
	}
}

static void
test_unwritten(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	for (uint64_t t = 1; t <= 10; t++)
		read_steadily(t * MS);
	begin_frame(w, 0, 0, 1 * MS, 4 * MS);
	add_pass(w, 2 * MS, 4 * MS);
	annotate(w);
	uint64_t passed = w->passed[0][0], unattributed = w->unattributed[0][0];
	uint64_t passed_b = w->passed[0][1], unattributed_b = w->unattributed[0][1];
	begin_frame(w, 0, 1, 4 * MS, 8 * MS);
	add_pass(w, 5 * MS, 8 * MS);
	annotate(w);
	tally_annotator.unwritten(w->annotator);
	w->passed[0][0] = passed;
	w->passed[0][1] = passed_b;
	w->unattributed[0][0] = unattributed;
	w->unattributed[0][1] = unattributed_b;
	struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
	g_assert_cmpuint(g.growth, ==, 3 * MS);
	g_assert_cmpuint(g.outside, ==, 6 * MS);
	world_free(w);
}

/* Whatever happens, nothing is lost and nothing is counted twice. */
static void
test_random(void)
{
	for (unsigned round = 0; round < 200; round++) {
		bool exact = g_test_rand_int_range(0, 3) == 0;
		struct world *w = world_new(exact ? TALLY_SNAPSHOT_EXACT
						  : TALLY_SNAPSHOT_SAMPLED);
		uint64_t now = 1000, unknown_flags[] = { 0, 0, 0, 1, 2, 3 };
		read_snap(now, 0, 0, 0, 0);
		for (uint64_t f = 0; f < 30; f++) {
			uint64_t start = now;
			for (int n = g_test_rand_int_range(1, 20); n > 0; n--) {
				now += (uint64_t)g_test_rand_int_range(1, 5000);
				read_snap(now, (uint64_t)g_test_rand_int_range(0, 100000),
					  (uint64_t)g_test_rand_int_range(0, 3),
					  unknown_flags[g_test_rand_int_range(0, 6)], 0);
			}
			if (g_test_rand_int_range(0, 4) == 0) {
				tally_annotator.skip(w->annotator, 0, now);
				continue;
			}
			begin_frame(w, 0, f, start, now);
			for (int n = g_test_rand_int_range(0, 40); n > 0; n--) {
				uint64_t begin = start - 900 +
						 (uint64_t)g_test_rand_int_range(0, 20000);
				uint64_t length = (uint64_t)g_test_rand_int_range(0, 9000);
				struct tally_pass_record *pass = add_pass(
					w, begin, begin + length < now ? begin + length : now);
				if (begin >= now)
					pass->has_gpu = false;
				if (g_test_rand_int_range(0, 9) == 0)
					pass->flags |= TALLY_FLAG(UNCALIBRATED);
				uint64_t from = snap.number -
						(uint64_t)g_test_rand_int_range(0, 4);
				pass->snapshot_from = exact && from < snap.number ? from : 0;
				pass->snapshot_to = pass->snapshot_from ? from + 1 : 0;
			}
			annotate(w);
		}
		uint64_t total = snap.totals[0];
		struct tally_growth_record g = end_run(w, 1, 0, "snap_a");
		g_assert_cmpuint(g.growth + g.outside, ==, total);
		world_free(w);
	}
}

static void
test_abandon(void)
{
	struct world *w = world_new(TALLY_SNAPSHOT_SAMPLED);
	tally_annotator.abandon(w->annotator);
	g_assert_true(snap.abandoned);
	tally_annotator.abandon(NULL);
	tally_annotator.destroy(NULL);
	world_free(w);
	no_sampler = true;
	w = world_new(TALLY_SNAPSHOT_SAMPLED);
	tally_annotator.abandon(w->annotator);
	world_free(w);
	no_sampler = false;
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/annotate/device_line", test_device_line);
	g_test_add_func("/annotate/own_metrics", test_own_metrics);
	g_test_add_func("/annotate/off", test_off);
	g_test_add_func("/annotate/sampled", test_sampled);
	g_test_add_func("/annotate/before_first_reading", test_before_first_reading);
	g_test_add_func("/annotate/first_reading_in_frame", test_first_reading_in_frame);
	g_test_add_func("/annotate/no_times", test_no_times);
	g_test_add_func("/annotate/time_to_come", test_time_to_come);
	g_test_add_func("/annotate/lost_passes", test_lost_passes);
	g_test_add_func("/annotate/skipped", test_skipped);
	g_test_add_func("/annotate/exact", test_exact);
	g_test_add_func("/annotate/doubts", test_doubts);
	g_test_add_func("/annotate/nothing_shown", test_nothing_shown);
	g_test_add_func("/annotate/lost_source", test_lost_source);
	g_test_add_func("/annotate/opens_late", test_opens_late);
	g_test_add_func("/annotate/two_devices", test_two_devices);
	g_test_add_func("/annotate/shared_totals", test_shared_totals);
	g_test_add_func("/annotate/gpu", test_gpu);
	g_test_add_func("/annotate/device_told_late", test_device_told_late);
	g_test_add_func("/annotate/unwritten", test_unwritten);
	g_test_add_func("/annotate/random", test_random);
	g_test_add_func("/annotate/abandon", test_abandon);
	return g_test_run();
}
