/* SPDX-License-Identifier: MIT */
#include "tests/unit/query/scripted_source.h"

/* ---- which sources ---- */

static void
test_opens(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	config.counters = (char[]){ "one+two" };
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
	g_assert_nonnull(s);
	g_assert_null(tally_sampler_create_of(&config, kinds, 2)); /* one at a time */
	tally_sampler_ready(s);
	g_assert_cmpuint(tally_sampler_n_rows(s), ==, 2);
	expect_row(s, 0, "mali-panfrost", true, NULL);
	expect_row(s, 1, "mali-kbase", true, NULL);
	g_assert_cmpuint(tally_sampler_n_sources(s), ==, 2);
	g_assert_cmpuint(tally_sampler_source(s, 1)->n_counters, ==, 2);
	g_assert_cmpstr(scripts[0].wanted, ==, "one+two");
	g_assert_null(tally_sampler_source(s, 0)->wanted);
	g_assert_true(scripts[0].wanted_metrics && scripts[0].had_keys);
	struct tally_reading first;
	g_assert_true(tally_history_first(tally_sampler_history(s, 0), &first));
	g_assert_cmpuint(first.number, ==, 1);
	g_assert_cmpuint(first.totals[1], ==, 10);
	g_assert_false(tally_snapshot_exact());
	tally_sampler_stop(s);
	/* One at the start, one at the end. */
	g_assert_cmpuint(calls(0, SAMPLE), ==, 2);
	g_assert_cmpuint(calls(0, STOP), ==, 1);
	g_assert_cmpuint(calls(0, CLOSE), ==, 0);
	g_assert_true(tally_history_last(tally_sampler_history(s, 0), &first));
	g_assert_cmpuint(first.totals[1], ==, 20);
	g_assert_cmpuint(tally_snapshot_take(), ==, TALLY_NO_SNAPSHOT);
	tally_sampler_destroy(s);
	for (int i = 0; i < 2; i++) {
		g_assert_cmpuint(calls(i, STOP), ==, 1);
		g_assert_cmpuint(calls(i, CLOSE), ==, 1);
		g_assert_cmpuint(calls(i, DESTROY), ==, 1);
		g_assert_cmpuint(calls(i, ABANDON), ==, 0);
	}
	tally_sampler_destroy(NULL);
	tally_sampler_abandon(NULL);
}

static void
test_off(void)
{
	reset(TALLY_SNAPSHOT_OFF);
	g_assert_null(tally_sampler_create_of(&config, kinds, 2));
	g_assert_cmpuint(calls(0, PROBE), ==, 0);
	g_assert_cmpuint(tally_snapshot_take(), ==, TALLY_NO_SNAPSHOT);
	g_assert_false(tally_snapshot_exact());
}

static const struct {
	const char *what;
	enum tally_status probe, open, start;
	bool no_counters;
	const char *reason, *want;
	unsigned opens, closes, starts;
} failure_rows[] = {
	{ "probe, with a reason", TALLY_DENIED, 0, 0, false, "no right", "no right", 0, 0,
	  0 },
	{ "probe", TALLY_UNSUPPORTED, 0, 0, false, NULL, "this machine does not have it",
	  0, 0, 0 },
	{ "open", 0, TALLY_NO_MEMORY, 0, false, NULL, "out of memory", 1, 0, 0 },
	{ "start", 0, 0, TALLY_DENIED, false, NULL, "this user may not read it", 1, 1,
	  1 },
	{ "nothing to count", 0, 0, 0, true, NULL, "nothing of it was asked for", 1, 1,
	  0 },
	{ "two of one key", 0, 0, 0, false, NULL, "two of its counters are called one", 1, 1,
	  0 },
};

static void
test_failures(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(failure_rows); i++) {
		reset(TALLY_SNAPSHOT_EXACT);
		g_test_message("%s", failure_rows[i].what);
		scripts[0].probe = failure_rows[i].probe;
		scripts[0].open = failure_rows[i].open;
		scripts[0].start = failure_rows[i].start;
		scripts[0].no_counters = failure_rows[i].no_counters;
		scripts[0].one_key = strncmp(failure_rows[i].what, "two", 3) == 0;
		scripts[0].reason = failure_rows[i].reason;
		struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 1);
		g_assert_nonnull(s);
		tally_sampler_ready(s);
		expect_row(s, 0, "mali-panfrost", false, failure_rows[i].want);
		g_assert_cmpuint(tally_sampler_n_sources(s), ==, 0);
		g_assert_false(tally_snapshot_exact());
		g_assert_cmpuint(tally_snapshot_take(), ==, TALLY_NO_SNAPSHOT);
		g_assert_cmpuint(calls(0, OPEN), ==, failure_rows[i].opens);
		g_assert_cmpuint(calls(0, START), ==, failure_rows[i].starts);
		g_assert_cmpuint(calls(0, CLOSE), ==, failure_rows[i].closes);
		g_assert_cmpuint(calls(0, DESTROY), ==, 1);
		tally_sampler_cover(s, 5);
		tally_sampler_stop(s);
		tally_sampler_destroy(s);
		g_assert_cmpuint(calls(0, DESTROY), ==, 1);
		g_assert_cmpuint(calls(0, SAMPLE), ==, 0);
	}
	reset(TALLY_SNAPSHOT_SAMPLED);
	struct tally_sampler *s = tally_sampler_create_of(&config, no_memory, 1);
	tally_sampler_ready(s);
	expect_row(s, 0, "mali-panfrost", false, "out of memory");
	tally_sampler_destroy(s);
}

static const struct {
	const char *sources, *counters;
	bool cpu;
	enum tally_status first; /* what the first one's probe says */
	const char *rows;
} choice_rows[] = {
	/* The CPU's sources count only when they are requested. */
	{ NULL, NULL, false, TALLY_OK, "" },
	{ NULL, "all", false, TALLY_OK, "" },
	{ NULL, "overview+*cycles*", false, TALLY_OK, "" },
	{ "all", NULL, false, TALLY_OK, "" },
	{ "gl-timestamp", NULL, false, TALLY_OK, "" },
	{ "gl-timestamp", "cpu_task_clock", false, TALLY_OK, "" },
	{ NULL, NULL, true, TALLY_OK, "+linux-perf" },
	{ NULL, NULL, true, TALLY_DENIED, "-linux-perf+linux-proc" },
	{ "gl-timestamp", NULL, true, TALLY_OK, "+linux-perf" },
	{ NULL, "cpu_task_clock", false, TALLY_OK, "+linux-perf" },
	{ NULL, "overview, CPU page faults", false, TALLY_OK, "+linux-perf" },
	{ NULL, "overview+cpu_*", false, TALLY_DENIED, "-linux-perf+linux-proc" },
	{ "linux-proc", NULL, false, TALLY_OK, "+linux-proc" },
	{ "linux-*", NULL, false, TALLY_OK, "+linux-perf-linux-proc" },
};

static void
test_choice(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(choice_rows); i++) {
		reset(TALLY_SNAPSHOT_SAMPLED);
		char *sources = g_strdup(choice_rows[i].sources);
		char *wanted = g_strdup(choice_rows[i].counters);
		g_test_message("row %zu", i);
		config.sources = sources;
		config.counters = wanted;
		config.cpu = choice_rows[i].cpu;
		scripts[0].probe = choice_rows[i].first;
		struct tally_sampler *s = tally_sampler_create_of(&config, spare_kinds, 2);
		tally_sampler_ready(s);
		GString *rows = g_string_new("");
		for (uint32_t k = 0; k < tally_sampler_n_rows(s); k++) {
			struct tally_source_info row = tally_sampler_row(s, k);
			g_string_append_printf(rows, "%c%s", row.on ? '+' : '-', row.name);
		}
		g_assert_cmpstr(rows->str, ==, choice_rows[i].rows);
		g_string_free(rows, true);
		tally_sampler_destroy(s);
		g_free(sources);
		g_free(wanted);
	}
}

/* ---- when it reads ---- */

static const struct {
	enum tally_snapshot snapshot;
	uint64_t period_ns, least_ns, most_ns, want_ns, most_want_ns;
} pace_rows[] = {
	{ TALLY_SNAPSHOT_SAMPLED, 2 * MS, 0, 0, 2 * MS, 100 * MS },
	{ TALLY_SNAPSHOT_SAMPLED, 0, 0, 0, MS, 100 * MS },
	{ TALLY_SNAPSHOT_SAMPLED, MS, 5 * MS, 0, 5 * MS, 100 * MS },
	{ TALLY_SNAPSHOT_SAMPLED, 50 * MS, 0, 20 * MS, 20 * MS, 20 * MS },
	{ TALLY_SNAPSHOT_SAMPLED, 500 * MS, 0, 0, 500 * MS, 500 * MS },
	{ TALLY_SNAPSHOT_SAMPLED, MS, 30 * MS, 20 * MS, 20 * MS, 20 * MS },
	{ TALLY_SNAPSHOT_EXACT, MS, 0, 0, 100 * MS, 100 * MS },
	{ TALLY_SNAPSHOT_EXACT, MS, 0, 40 * MS, 40 * MS, 40 * MS },
	{ TALLY_SNAPSHOT_EXACT, MS, 400 * MS, 0, 400 * MS, 400 * MS },
};

static void
test_pace(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(pace_rows); i++) {
		g_test_message("row %zu", i);
		reset(pace_rows[i].snapshot);
		config.period_ns = pace_rows[i].period_ns;
		scripts[0].least_ns = pace_rows[i].least_ns;
		scripts[0].most_ns = pace_rows[i].most_ns;
		struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
		tally_sampler_ready(s);
		struct tally_sampler_pace pace = tally_sampler_pace_of(
			tally_sampler_source(s, 0), &config);
		g_assert_cmpuint(pace.period_ns, ==, pace_rows[i].want_ns);
		g_assert_cmpuint(pace.most_ns, ==, pace_rows[i].most_want_ns);
		tally_sampler_destroy(s);
	}
}

static void
test_sampled(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	config.period_ns = 2 * MS;
	uint64_t begin_ns = tally_clock_now_ns();
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 1);
	wait_for_samples(0, 30);
	tally_sampler_stop(s);
	uint64_t since_ns = tally_clock_now_ns() - begin_ns;
	/* Not more often than requested, except for the first and the last. */
	g_assert_cmpuint(calls(0, SAMPLE), <=, since_ns / (2 * MS) + 2);
	g_assert_false(atomic_load(&scripts[0].lets_signals_in));
	struct tally_history *h = tally_sampler_history(s, 0);
	struct tally_reading first, last, r;
	g_assert_true(tally_history_first(h, &first) && tally_history_last(h, &last));
	g_assert_cmpuint(first.totals[0], ==, 5);
	g_assert_cmpuint(first.time_ns, >=, begin_ns);
	g_assert_cmpuint(last.totals[0], ==, scripts[0].total);
	g_assert_cmpuint(scripts[0].total, ==, 5 * calls(0, SAMPLE));
	/* Only the first was requested. */
	g_assert_true(tally_history_find(h, 1, &r));
	g_assert_false(tally_history_find(h, 2, &r));
	tally_sampler_destroy(s);
}

/* Stopping does not wait for the period, which is longer than the test may take. */
static void
test_stops_at_once(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 1);
	tally_sampler_stop(s);
	tally_sampler_destroy(s);
	g_assert_false(said("*does not answer*"));
}

/* Reading that takes half of the time is done less often, without a warning. */
static void
test_slows_down(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	config.period_ns = MS;
	scripts[0].cost_ns = MS / 2;
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 1);
	tally_sampler_ready(s);
	double every_ms = 0;
	for (int i = 0; i < 10000 && every_ms == 0; i++) {
		struct tally_note_record note;
		while (tally_log_take(&note)) {
			g_assert_cmpint(note.level, ==, TALLY_LEVEL_INFO);
			sscanf(note.message, "its totals are read every %lf ms", &every_ms);
		}
		g_usleep(1000);
	}
	/* 0.5 ms is 2 % of 25 ms; on a busy machine it may be measured as more. */
	g_assert_cmpfloat(every_ms, >=, 32);
	tally_sampler_destroy(s);
	g_assert_cmpuint(n_warnings(), ==, 0);
}

/* Frames that are not captured: the source is not read until one is, and the first reading then
 * does not apply to the time between. */
static void
test_idle(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	config.period_ns = MS;
	config.start_on = (struct tally_trigger){ .kind = TALLY_TRIGGER_FRAME, .frame = 1000 };
	tally_trigger_reset(&config);
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 1);
	tally_sampler_ready(s);
	for (int i = 0; i < 50; i++) {
		tally_sampler_frame_begins(false);
		g_usleep(1000);
	}
	g_assert_cmpuint(calls(0, SAMPLE), ==, 1);
	uint64_t begin_ns = tally_clock_now_ns();
	tally_sampler_frame_begins(true);
	wait_for_samples(0, 20);
	struct tally_history *h = tally_sampler_history(s, 0);
	struct tally_reading last;
	uint64_t unknown = 0;
	tally_sampler_lock(s);
	tally_history_invalid(h, begin_ns - MS, begin_ns, &unknown);
	g_assert_cmpuint(unknown, ==, 3);
	g_assert_true(tally_history_last(h, &last));
	unknown = 0;
	tally_history_invalid(h, last.time_ns - MS / 2, last.time_ns, &unknown);
	g_assert_cmpuint(unknown, ==, 0);
	tally_sampler_unlock(s);
	tally_sampler_destroy(s);
}

/* A game that no longer presents: a source that is read at its own pace sleeps too, and wakes
 * with the next frame. */
static void
test_idle_without_frames(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	config.period_ns = scripts[0].least_ns = MS;
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 1);
	tally_sampler_ready(s);
	tally_sampler_frame_begins(true);
	for (int i = 0; i < 10000 && atomic_load(&tally_sampler_frames.asleep) == 0; i++)
		g_usleep(1000);
	g_assert_cmpuint(atomic_load(&tally_sampler_frames.asleep), ==, 1);
	uint32_t before = calls(0, SAMPLE);
	tally_sampler_frame_begins(true);
	wait_for_samples(0, before + 5);
	tally_sampler_destroy(s);
}

/* ---- samples ---- */

static void
test_exact(void)
{
	reset(TALLY_SNAPSHOT_EXACT);
	g_assert_cmpuint(tally_snapshot_take(), ==, TALLY_NO_SNAPSHOT);
	scripts[0].not_ready_at = 3;
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
	g_assert_true(tally_snapshot_exact());
	uint64_t numbers[4];
	for (int i = 0; i < 4; i++) {
		errno = ENOTTY;
		numbers[i] = tally_snapshot_take();
		g_assert_cmpint(errno, ==, ENOTTY);
		g_assert_cmpuint(numbers[i], >, i ? numbers[i - 1] : 1);
	}
	/* Each sample is found in every history, except where a source was not ready. */
	struct tally_reading r;
	unsigned missing = 0;
	for (int i = 0; i < 4; i++) {
		missing += !tally_history_find(tally_sampler_history(s, 0), numbers[i], &r);
		g_assert_true(tally_history_find(tally_sampler_history(s, 1), numbers[i], &r));
	}
	g_assert_cmpuint(missing, <=, 1);
	g_assert_false(tally_history_find(tally_sampler_history(s, 0), 3, &r));
	tally_sampler_stop(s);
	g_assert_false(tally_snapshot_exact());
	g_assert_cmpuint(tally_snapshot_take(), ==, TALLY_NO_SNAPSHOT);
	tally_sampler_destroy(s);
}

static void
test_cover(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
	tally_sampler_ready(s);
	struct tally_reading last;
	uint64_t now_ns = tally_clock_now_ns();
	tally_sampler_cover(s, now_ns);
	g_assert_true(tally_history_last(tally_sampler_history(s, 1), &last));
	g_assert_cmpuint(last.time_ns, >=, now_ns);
	unsigned before = calls(1, SAMPLE);
	tally_sampler_cover(s, now_ns);
	tally_sampler_cover(s, 5);
	g_assert_cmpuint(calls(1, SAMPLE), ==, before);
	tally_sampler_stop(s);
	before = calls(1, SAMPLE);
	tally_sampler_cover(s, UINT64_MAX);
	g_assert_cmpuint(calls(1, SAMPLE), ==, before);
	tally_sampler_destroy(s);
}

/* A source that is gone ends its own values, but not those of others. */
static void
test_lost(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	scripts[0].lost_at = 3;
	scripts[0].reason = "the device was removed";
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
	tally_sampler_ready(s);
	uint64_t second = tally_snapshot_take();
	expect_row(s, 0, "mali-panfrost", true, NULL);
	uint64_t third = tally_snapshot_take();
	g_assert_cmpuint(third, >, second);
	expect_row(s, 0, "mali-panfrost", false, "the device was removed");
	expect_row(s, 1, "mali-kbase", true, NULL);
	g_assert_true(said("*values end here: the device was removed"));
	g_assert_cmpuint(calls(0, STOP), ==, 1);
	tally_snapshot_take();
	g_assert_cmpuint(calls(0, SAMPLE), ==, 3);
	g_assert_cmpuint(tally_sampler_n_sources(s), ==, 2);
	struct tally_reading r;
	g_assert_false(tally_history_find(tally_sampler_history(s, 0), third, &r));
	g_assert_true(tally_history_find(tally_sampler_history(s, 1), third, &r));
	/* Values after it are unknown, values before it are known. */
	uint64_t unknown = 0, now_ns = tally_clock_now_ns();
	g_assert_true(tally_history_last(tally_sampler_history(s, 0), &r));
	tally_history_invalid(tally_sampler_history(s, 0), r.time_ns - 1, r.time_ns, &unknown);
	g_assert_cmpuint(unknown, ==, 0);
	tally_sampler_cover(s, now_ns);
	tally_history_invalid(tally_sampler_history(s, 0), now_ns - 1, now_ns, &unknown);
	g_assert_cmpuint(unknown, ==, 3);
	/* When the other one is gone too, there are no values. */
	scripts[1].lost_at = calls(1, SAMPLE) + 1;
	g_assert_cmpuint(tally_snapshot_take(), ==, TALLY_NO_SNAPSHOT);
	expect_row(s, 1, "mali-kbase", false, "it stopped counting");
	tally_sampler_destroy(s);
	g_assert_cmpuint(calls(0, STOP), ==, 1);
	g_assert_cmpuint(calls(0, CLOSE), ==, 1);
}

static void
test_fake_snapshot(void)
{
	reset(TALLY_SNAPSHOT_EXACT);
	config.sources = (char[]){ "fake-snapshot" };
	config.counters = (char[]){ "fake_total_us" };
	struct tally_sampler *s = tally_sampler_create(&config);
	g_assert_cmpuint(tally_sampler_n_rows(s), ==, 1);
	expect_row(s, 0, "fake-snapshot", true, NULL);
	g_assert_cmpuint(tally_sampler_source(s, 0)->n_counters, ==, 4);
	g_assert_cmpuint(tally_sampler_source(s, 0)->logged[0], ==, 4);
	uint64_t from = tally_snapshot_take();
	g_usleep(2000);
	uint64_t to = tally_snapshot_take();
	struct tally_reading a, b;
	struct tally_history *h = tally_sampler_history(s, 0);
	tally_sampler_lock(s);
	g_assert_true(tally_history_find(h, from, &a) && tally_history_find(h, to, &b));
	g_assert_cmpuint(b.totals[0] - a.totals[0], ==, b.time_ns - a.time_ns);
	/* Where the machine was busy, it was read at its own pace as well. */
	g_assert_cmpuint(b.totals[3] - a.totals[3], >=, 1000 * (to - from));
	g_assert_cmpuint((b.totals[3] - a.totals[3]) % 1000, ==, 0);
	/* In between as well. */
	for (uint64_t t = a.time_ns; t < b.time_ns; t += 12345) {
		uint64_t totals[4];
		tally_history_at(h, t, totals);
		g_assert_cmpuint(totals[0] - a.totals[0], ==, t - a.time_ns);
	}
	tally_sampler_unlock(s);
	tally_sampler_destroy(s);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sampler/opens", test_opens);
	g_test_add_func("/sampler/off", test_off);
	g_test_add_func("/sampler/failures", test_failures);
	g_test_add_func("/sampler/choice", test_choice);
	g_test_add_func("/sampler/pace", test_pace);
	g_test_add_func("/sampler/sampled", test_sampled);
	g_test_add_func("/sampler/stops_at_once", test_stops_at_once);
	g_test_add_func("/sampler/slows_down", test_slows_down);
	g_test_add_func("/sampler/idle", test_idle);
	g_test_add_func("/sampler/idle_without_frames", test_idle_without_frames);
	g_test_add_func("/sampler/exact", test_exact);
	g_test_add_func("/sampler/cover", test_cover);
	g_test_add_func("/sampler/lost", test_lost);
	g_test_add_func("/sampler/fake_snapshot", test_fake_snapshot);
	return g_test_run();
}
