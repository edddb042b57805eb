/* SPDX-License-Identifier: MIT */
#include "query/linux/linux.h"
#include "query/sampler/internal.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/capture/trigger.h"
#include "layer/log.h"

#define MS UINT64_C(1000000)

/* A forked child that starts threads is what one test is about. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return "die_after_fork=0";
}

/* ---- sources by script ---- */

enum call { PROBE, OPEN, START, SAMPLE, STOP, CLOSE, ABANDON, DESTROY, N_CALLS };

/* What the source does, and what was done with it. */
struct script {
	enum tally_status probe, open, start;
	const char *reason;
	uint32_t lost_at; /* the sample that says TALLY_LOST, from 1; 0 = none */
	uint32_t not_ready_at;
	uint64_t least_ns, most_ns, cost_ns;
	bool no_counters;
	const char *wanted; /* seen in open() */
	bool had_keys, wanted_metrics;
	atomic_uint calls[N_CALLS];
	atomic_bool stuck, stuck_opening, in_sample, lets_signals_in;
	uint64_t total;
};
static struct script scripts[2];

struct scripted {
	struct tally_snapshot_source base;
	struct script *script;
};

static const struct tally_counter counters[2] = {
	{ .key = "one", .name = "One", .unit = "1", .source = "s", .width_bits = 64 },
	{ .key = "two", .name = "Two", .unit = "1", .source = "s", .width_bits = 64 },
};
static const struct tally_counter *const both[2] = { &counters[0], &counters[1] };
static pthread_t main_thread;

static struct script *
called(struct tally_snapshot_source *src, enum call call)
{
	struct script *script = ((struct scripted *)src)->script;
	atomic_fetch_add(&script->calls[call], 1);
	return script;
}

static enum tally_status
answer(struct tally_snapshot_source *src, enum tally_status status)
{
	const char *reason = ((struct scripted *)src)->script->reason;
	if (status != TALLY_OK && reason)
		g_strlcpy(src->reason, reason, sizeof(src->reason));
	return status;
}

static enum tally_status
scripted_probe(struct tally_snapshot_source *src)
{
	return answer(src, called(src, PROBE)->probe);
}

static enum tally_status
scripted_open(struct tally_snapshot_source *src)
{
	static const uint64_t logged = 3;
	struct script *script = called(src, OPEN);
	while (atomic_load(&script->stuck_opening))
		g_usleep(1000);
	script->wanted = src->wanted;
	script->wanted_metrics = src->metrics_wanted;
	script->had_keys = src->keys != NULL;
	src->counters = both;
	src->n_counters = script->no_counters ? 0 : 2;
	src->logged = &logged;
	src->least_period_ns = script->least_ns;
	src->most_period_ns = script->most_ns;
	return answer(src, script->open);
}

static enum tally_status
scripted_start(struct tally_snapshot_source *src)
{
	return answer(src, called(src, START)->start);
}

static void
look_at_signals(struct script *script)
{
	sigset_t blocked;
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!pthread_equal(pthread_self(), main_thread) && !sigismember(&blocked, SIGUSR1))
		atomic_store(&script->lets_signals_in, true);
}

static enum tally_status
scripted_sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct script *script = called(src, SAMPLE);
	uint32_t count = atomic_load(&script->calls[SAMPLE]);
	atomic_store(&script->in_sample, true);
	while (atomic_load(&script->stuck))
		g_usleep(1000);
	atomic_store(&script->in_sample, false);
	look_at_signals(script);
	errno = EIO;
	out->begin_ns = tally_clock_now_ns();
	while (tally_clock_now_ns() - out->begin_ns < script->cost_ns)
		;
	if (count == script->lost_at)
		return answer(src, TALLY_LOST);
	if (count == script->not_ready_at)
		return TALLY_NOT_READY;
	script->total += 5;
	out->totals[0] = script->total;
	out->totals[1] = 2 * script->total;
	out->end_ns = tally_clock_now_ns();
	return TALLY_OK;
}

static void
scripted_stop(struct tally_snapshot_source *src)
{
	called(src, STOP);
}

static void
scripted_close(struct tally_snapshot_source *src)
{
	called(src, CLOSE);
}

static void
scripted_abandon(struct tally_snapshot_source *src)
{
	called(src, ABANDON);
}

static void
scripted_destroy(struct tally_snapshot_source *src)
{
	called(src, DESTROY);
	free(src);
}

static const struct tally_snapshot_ops scripted_ops = {
	.name = "scripted",
	.probe = scripted_probe,
	.open = scripted_open,
	.start = scripted_start,
	.sample = scripted_sample,
	.stop = scripted_stop,
	.close = scripted_close,
	.abandon = scripted_abandon,
	.destroy = scripted_destroy,
};

static struct tally_snapshot_source *
create_scripted(struct script *script)
{
	struct scripted *scripted = calloc(1, sizeof(*scripted));
	scripted->base.ops = &scripted_ops;
	scripted->script = script;
	return &scripted->base;
}

static struct tally_snapshot_source *
create_first(void)
{
	return create_scripted(&scripts[0]);
}

static struct tally_snapshot_source *
create_second(void)
{
	return create_scripted(&scripts[1]);
}

static struct tally_snapshot_source *
create_none(void)
{
	return NULL;
}

/* Under names that are known, so that --sources can name them. */
static const struct tally_snapshot_source_row kinds[] = {
	{ .row = { .name = "mali-panfrost", .by_default = true }, .create = create_first },
	{ .row = { .name = "mali-kbase", .by_default = true }, .create = create_second },
};
static const struct tally_snapshot_source_row spare_kinds[] = {
	{ .row = { .name = "linux-perf" }, .with_cpu = true, .named = tally_linux_named,
	  .create = create_first },
	{ .row = { .name = "linux-proc" }, .unless = "linux-perf", .with_cpu = true,
	  .named = tally_linux_named, .create = create_second },
};
static const struct tally_snapshot_source_row no_memory[] = {
	{ .row = { .name = "mali-panfrost", .by_default = true }, .create = create_none },
};

static struct tally_config config;

/* Since this was asked last. */
static unsigned
n_warnings(void)
{
	struct tally_note_record note;
	unsigned n = 0;
	while (tally_log_take(&note))
		n += note.level != TALLY_LEVEL_INFO;
	return n;
}

static void
reset(enum tally_snapshot snapshot)
{
	main_thread = pthread_self();
	memset(scripts, 0, sizeof(scripts));
	config = (struct tally_config){ .snapshot = snapshot, .period_ns = 1000 * MS };
	tally_trigger_reset(&config);
	n_warnings();
	tally_log_reset();
}

static unsigned
calls(int which, enum call call)
{
	return atomic_load(&scripts[which].calls[call]);
}

static bool
said(const char *glob)
{
	struct tally_note_record note;
	bool found = false;
	while (tally_log_take(&note)) {
		g_test_message("note: %s", note.message);
		found |= g_pattern_match_simple(glob, note.message);
	}
	return found;
}

static void
expect_row(struct tally_sampler *s, uint32_t i, const char *name, bool on, const char *reason)
{
	struct tally_source_info row = tally_sampler_row(s, i);
	g_assert_cmpstr(row.name, ==, name);
	g_assert_cmpint(row.on, ==, on);
	g_assert_cmpstr(row.reason, ==, reason);
}

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
	/* One at the start, one at the end; the period is a second. */
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
	/* The CPU's count only when they are asked for. */
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
		g_assert_cmpuint(tally_sampler_period_ns(s, 0), ==, pace_rows[i].want_ns);
		tally_sampler_destroy(s);
	}
}

/* Until so many samples were taken, at most ten seconds. */
static void
wait_for_samples(int which, unsigned n)
{
	for (int i = 0; i < 10000 && calls(which, SAMPLE) < n; i++)
		g_usleep(1000);
	g_assert_cmpuint(calls(which, SAMPLE), >=, n);
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
	/* Not more often than asked for, but for the first and the last. */
	g_assert_cmpuint(calls(0, SAMPLE), <=, since_ns / (2 * MS) + 2);
	g_assert_false(atomic_load(&scripts[0].lets_signals_in));
	struct tally_history *h = tally_sampler_history(s, 0);
	struct tally_reading first, last, r;
	g_assert_true(tally_history_first(h, &first) && tally_history_last(h, &last));
	g_assert_cmpuint(first.totals[0], ==, 5);
	g_assert_cmpuint(first.time_ns, >=, begin_ns);
	g_assert_cmpuint(last.totals[0], ==, scripts[0].total);
	g_assert_cmpuint(scripts[0].total, ==, 5 * calls(0, SAMPLE));
	/* Only the first was asked for. */
	g_assert_true(tally_history_find(h, 1, &r));
	g_assert_false(tally_history_find(h, 2, &r));
	tally_sampler_destroy(s);
}

/* Stopping does not wait for the period. */
static void
test_stops_at_once(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
	config.period_ns = 3600000 * MS;
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
	for (int i = 0; i < 10000 && tally_sampler_period_ns(s, 0) == MS; i++)
		g_usleep(1000);
	/* 0.5 ms is 2 % of 25 ms; a busy machine may find it to be more. */
	g_assert_cmpuint(tally_sampler_period_ns(s, 0), >=, 32 * MS);
	tally_sampler_destroy(s);
	g_assert_cmpuint(n_warnings(), ==, 0);
}

/* Frames that are not captured: the source is not read until one is, and the first reading then
 * says nothing of the time between. */
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

/* A game that presents nothing more: a source that is read at a pace of its own sleeps too, and
 * wakes with the next frame. */
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
	scripts[0].most_ns = scripts[1].most_ns = 0;
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
	g_assert_true(tally_snapshot_exact());
	uint64_t numbers[4];
	for (int i = 0; i < 4; i++) {
		errno = ENOTTY;
		numbers[i] = tally_snapshot_take();
		g_assert_cmpint(errno, ==, ENOTTY);
		g_assert_cmpuint(numbers[i], >, i ? numbers[i - 1] : 1);
	}
	/* Each found in every history, but where a source was not ready. */
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

/* A source that is gone ends its own values, and nobody else's. */
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
	/* What comes after is not known, what came before is. */
	uint64_t unknown = 0, now_ns = tally_clock_now_ns();
	g_assert_true(tally_history_last(tally_sampler_history(s, 0), &r));
	tally_history_invalid(tally_sampler_history(s, 0), r.time_ns - 1, r.time_ns, &unknown);
	g_assert_cmpuint(unknown, ==, 0);
	tally_sampler_cover(s, now_ns);
	tally_history_invalid(tally_sampler_history(s, 0), now_ns - 1, now_ns, &unknown);
	g_assert_cmpuint(unknown, ==, 3);
	/* With the other one gone there is nothing to be had. */
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
	g_assert_cmpuint(b.totals[3] - a.totals[3], ==, 1000 * (to - from));
	/* In between as well. */
	for (uint64_t t = a.time_ns; t < b.time_ns; t += 12345) {
		uint64_t totals[4];
		tally_history_at(h, t, totals);
		g_assert_cmpuint(totals[0] - a.totals[0], ==, t - a.time_ns);
	}
	tally_sampler_unlock(s);
	tally_sampler_destroy(s);
}

/* ---- threads ---- */

#define N_CAPTURES 5
static atomic_bool through;

static void *
take_often(void *data)
{
	uint64_t *taken = data, last = 0;
	unsigned captures = 1;
	while (!atomic_load(&through)) {
		uint64_t number = tally_snapshot_take();
		if (number != TALLY_NO_SNAPSHOT) {
			captures += number <= last;
			last = number;
			++*taken;
		}
		tally_snapshot_exact();
	}
	/* Numbers begin anew with each, and only then. */
	g_assert_cmpuint(captures, <=, N_CAPTURES);
	return NULL;
}

/* The game's threads take samples before, while and after a capture, several times over. */
static void
test_threads(void)
{
	reset(TALLY_SNAPSHOT_EXACT);
	config.snapshot = TALLY_SNAPSHOT_SAMPLED;
	config.period_ns = MS / 10;
	pthread_t threads[3];
	uint64_t taken[3] = { 0 };
	atomic_store(&through, false);
	for (int i = 0; i < 3; i++)
		g_assert_cmpint(pthread_create(&threads[i], NULL, take_often, &taken[i]), ==, 0);
	for (int round = 0; round < N_CAPTURES; round++) {
		scripts[0].total = scripts[1].total = 0;
		struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
		tally_sampler_ready(s);
		struct tally_history *h = tally_sampler_history(s, 0);
		for (int i = 0; i < 50; i++) {
			uint64_t now_ns = tally_clock_now_ns(), totals[2];
			tally_sampler_cover(s, now_ns);
			tally_sampler_lock(s);
			tally_history_at(h, now_ns, totals);
			/* Both rounded down. */
			g_assert_cmpuint(totals[1] - 2 * totals[0], <=, 1);
			tally_history_trim(h, now_ns - MS);
			tally_sampler_unlock(s);
			tally_sampler_row(s, 1);
		}
		tally_sampler_stop(s);
		struct tally_reading last;
		g_assert_true(tally_history_last(h, &last));
		g_assert_cmpuint(last.totals[0], ==, scripts[0].total);
		tally_sampler_destroy(s);
	}
	atomic_store(&through, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void *
take_once(void *data)
{
	*(uint64_t *)data = tally_snapshot_take();
	return NULL;
}

static void
wait_until_in_sample(void)
{
	for (int i = 0; i < 10000 && !atomic_load(&scripts[0].in_sample); i++)
		g_usleep(1000);
	g_assert_true(atomic_load(&scripts[0].in_sample));
}

/* What the child finds: a lock whose holder does not exist. */
static int
child_of_fork(struct tally_sampler *s)
{
	atomic_store(&scripts[0].stuck, false);
	alarm(20);
	tally_sampler_abandon(s);
	if (calls(0, ABANDON) != 1 || calls(1, ABANDON) != 1 || calls(0, CLOSE) != 0 ||
	    tally_snapshot_exact() || tally_snapshot_take() != TALLY_NO_SNAPSHOT)
		return 1;
	memset(scripts, 0, sizeof(scripts));
	s = tally_sampler_create_of(&config, kinds, 2);
	if (!s || tally_sampler_n_sources(s) != 2 || tally_snapshot_take() != 2)
		return 2;
	tally_sampler_destroy(s);
	return calls(0, CLOSE) == 1 ? 0 : 3;
}

/* A capture that is just ending has told nobody whom to abandon. */
static int
child_of_the_end(struct tally_sampler *s)
{
	(void)s;
	atomic_store(&scripts[0].stuck, false);
	alarm(20);
	if (tally_snapshot_take() != TALLY_NO_SNAPSHOT)
		return 1;
	memset(scripts, 0, sizeof(scripts));
	s = tally_sampler_create_of(&config, kinds, 2);
	if (!s || tally_sampler_n_sources(s) != 2 || tally_snapshot_take() != 2)
		return 2;
	tally_sampler_destroy(s);
	return calls(0, CLOSE) == 1 ? 0 : 3;
}

static void
fork_in_a_sample(int (*child)(struct tally_sampler *s))
{
	reset(TALLY_SNAPSHOT_EXACT);
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
	uint64_t number = 0;
	pthread_t thread;
	atomic_store(&scripts[0].stuck, true);
	g_assert_cmpint(pthread_create(&thread, NULL, take_once, &number), ==, 0);
	wait_until_in_sample();
	pid_t pid = fork();
	g_assert_cmpint(pid, >=, 0);
	if (pid == 0)
		_exit(child(s));
	int status;
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	g_assert_true(WIFEXITED(status));
	g_assert_cmpint(WEXITSTATUS(status), ==, 0);
	/* Here all is as it was. */
	atomic_store(&scripts[0].stuck, false);
	pthread_join(thread, NULL);
	g_assert_cmpuint(number, >=, 2);
	g_assert_true(tally_snapshot_exact());
	tally_sampler_destroy(s);
}

static void
test_fork(void)
{
	fork_in_a_sample(child_of_fork);
	fork_in_a_sample(child_of_the_end);
}

/* A source whose kernel call hangs holds up nobody: not who wants its values, not the game in
 * `exact`, not the other source: it answers only after all of them came back. When it does, what
 * grew meanwhile is not known. */
static void
hang_for_a_while(enum tally_snapshot snapshot)
{
	reset(snapshot);
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
	tally_sampler_ready(s);
	uint64_t now_ns = tally_clock_now_ns(), hung_ns = now_ns, unknown = 0;
	struct tally_reading r;
	atomic_store(&scripts[0].stuck, true);
	tally_sampler_cover(s, now_ns);
	g_assert_true(said("*left out until it answers"));
	g_assert_true(tally_history_last(tally_sampler_history(s, 1), &r));
	g_assert_cmpuint(r.time_ns, >=, hung_ns);
	/* It was waited for once. */
	unsigned before = calls(1, SAMPLE);
	for (int i = 0; i < 1000; i++)
		g_assert_cmpuint(tally_snapshot_take(), !=, TALLY_NO_SNAPSHOT);
	now_ns = tally_clock_now_ns();
	g_assert_cmpuint(calls(1, SAMPLE), ==, before + 1000);
	g_assert_cmpuint(calls(0, SAMPLE), ==, 2);
	uint64_t number = tally_snapshot_take();
	tally_history_invalid(tally_sampler_history(s, 0), now_ns, now_ns + 1, &unknown);
	g_assert_cmpuint(unknown, ==, 3);
	atomic_store(&scripts[0].stuck, false);
	wait_for_samples(0, 3);
	tally_sampler_cover(s, tally_clock_now_ns());
	uint64_t next = tally_snapshot_take();
	tally_sampler_lock(s);
	g_assert_false(tally_history_find(tally_sampler_history(s, 0), number, &r));
	g_assert_true(tally_history_find(tally_sampler_history(s, 1), number, &r));
	unknown = 0;
	tally_history_invalid(tally_sampler_history(s, 0), hung_ns, now_ns, &unknown);
	g_assert_cmpuint(unknown, ==, 3);
	g_assert_true(tally_history_find(tally_sampler_history(s, 0), next, &r));
	unknown = 0;
	tally_history_invalid(tally_sampler_history(s, 0), r.time_ns - 1, r.time_ns, &unknown);
	g_assert_cmpuint(unknown, ==, 0);
	tally_sampler_unlock(s);
	tally_sampler_destroy(s);
	g_assert_cmpuint(calls(0, CLOSE), ==, 1);
}

static void
test_hangs(void)
{
	hang_for_a_while(TALLY_SNAPSHOT_SAMPLED);
	hang_for_a_while(TALLY_SNAPSHOT_EXACT);
}

/* Nor does one that hangs while it is opened, or at the end. A capture can follow once it is
 * through. */
static void
test_stuck(void)
{
	for (int opening = 0; opening < 2; opening++) {
		reset(opening ? TALLY_SNAPSHOT_EXACT : TALLY_SNAPSHOT_SAMPLED);
		atomic_store(&scripts[0].stuck_opening, opening);
		struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
		tally_sampler_ready(s);
		g_assert_cmpuint(tally_sampler_n_sources(s), ==, opening ? 0 : 2);
		expect_row(s, 0, "mali-panfrost", !opening,
			   opening ? "it did not answer in time" : NULL);
		if (!opening) {
			atomic_store(&scripts[0].stuck, true);
			tally_sampler_cover(s, tally_clock_now_ns());
		}
		tally_sampler_stop(s);
		tally_sampler_destroy(s);
		g_assert_cmpuint(calls(0, STOP) + calls(0, CLOSE) + calls(0, DESTROY), ==, 0);
		g_assert_true(said(opening ? "it did not open*" : "it does not answer*"));
		g_assert_null(tally_sampler_create_of(&config, kinds, 1));
		g_assert_cmpuint(tally_snapshot_take(), ==, TALLY_NO_SNAPSHOT);
		atomic_store(&scripts[0].stuck, false);
		atomic_store(&scripts[0].stuck_opening, false);
		for (int i = 0; i < 10000 && calls(0, DESTROY) == 0; i++)
			g_usleep(1000);
		g_assert_cmpuint(calls(0, STOP), ==, 1);
		g_assert_cmpuint(calls(0, CLOSE), ==, 1);
		s = NULL;
		for (int i = 0; i < 10000 && !s; i++) {
			s = tally_sampler_create_of(&config, kinds, 2);
			g_usleep(1000);
		}
		tally_sampler_ready(s);
		g_assert_cmpuint(tally_sampler_n_sources(s), ==, 2);
		tally_sampler_destroy(s);
	}
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
	g_test_add_func("/sampler/threads", test_threads);
	g_test_add_func("/sampler/fork", test_fork);
	g_test_add_func("/sampler/hangs", test_hangs);
	g_test_add_func("/sampler/stuck", test_stuck);
	return g_test_run();
}
