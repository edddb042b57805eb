/* SPDX-License-Identifier: MIT */
/* tests/unit/query/scripted_source.h - snapshot sources that follow a script, and log how they were
 * used.
 *
 * The script is set before the sampler starts; counts of calls may be read by any thread.
 */
#ifndef PASSTALLY_TESTS_UNIT_SCRIPTED_SOURCE_H
#define PASSTALLY_TESTS_UNIT_SCRIPTED_SOURCE_H

#include "query/linux/linux.h"
#include "query/sampler/reader.h"

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

/* One of the tests is about a forked child that starts threads. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return "die_after_fork=0";
}

/* ---- scripted sources ---- */

enum call { PROBE, OPEN, START, SAMPLE, STOP, CLOSE, ABANDON, DESTROY, N_CALLS };

/* What the source does, and how it was used. */
struct script {
	enum tally_status probe, open, start;
	const char *reason;
	uint32_t lost_at; /* the sample that returns TALLY_LOST, from 1; 0 = none */
	uint32_t not_ready_at;
	uint64_t least_ns, most_ns, cost_ns;
	bool no_counters, one_key;
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
static const struct tally_counter *const twice[2] = { &counters[0], &counters[0] };
static pthread_t main_thread;

static inline struct script *
called(struct tally_snapshot_source *src, enum call call)
{
	struct script *script = ((struct scripted *)src)->script;
	atomic_fetch_add(&script->calls[call], 1);
	return script;
}

static inline enum tally_status
answer(struct tally_snapshot_source *src, enum tally_status status)
{
	const char *reason = ((struct scripted *)src)->script->reason;
	if (status != TALLY_OK && reason)
		g_strlcpy(src->reason, reason, sizeof(src->reason));
	return status;
}

static inline enum tally_status
scripted_probe(struct tally_snapshot_source *src)
{
	return answer(src, called(src, PROBE)->probe);
}

static inline enum tally_status
scripted_open(struct tally_snapshot_source *src)
{
	static const uint64_t logged = 3;
	struct script *script = called(src, OPEN);
	while (atomic_load(&script->stuck_opening))
		g_usleep(1000);
	script->wanted = src->wanted;
	script->wanted_metrics = src->metrics_wanted;
	script->had_keys = src->keys != NULL;
	src->counters = script->one_key ? twice : both;
	src->n_counters = script->no_counters ? 0 : 2;
	src->logged = &logged;
	src->least_period_ns = script->least_ns;
	src->most_period_ns = script->most_ns;
	return answer(src, script->open);
}

static inline enum tally_status
scripted_start(struct tally_snapshot_source *src)
{
	return answer(src, called(src, START)->start);
}

static inline void
look_at_signals(struct script *script)
{
	sigset_t blocked;
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!pthread_equal(pthread_self(), main_thread) && !sigismember(&blocked, SIGUSR1))
		atomic_store(&script->lets_signals_in, true);
}

static inline enum tally_status
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

static inline void
scripted_stop(struct tally_snapshot_source *src)
{
	called(src, STOP);
}

static inline void
scripted_close(struct tally_snapshot_source *src)
{
	called(src, CLOSE);
}

static inline void
scripted_abandon(struct tally_snapshot_source *src)
{
	called(src, ABANDON);
}

static inline void
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

static inline struct tally_snapshot_source *
create_scripted(struct script *script)
{
	struct scripted *scripted = calloc(1, sizeof(*scripted));
	scripted->base.ops = &scripted_ops;
	scripted->script = script;
	return &scripted->base;
}

static inline struct tally_snapshot_source *
create_first(void)
{
	return create_scripted(&scripts[0]);
}

static inline struct tally_snapshot_source *
create_second(void)
{
	return create_scripted(&scripts[1]);
}

static inline struct tally_snapshot_source *
create_none(void)
{
	return NULL;
}

/* The names are known ones, so that --sources can name them. */
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

/* Since the last such question. */
static inline unsigned
n_warnings(void)
{
	struct tally_note_record note;
	unsigned n = 0;
	while (tally_log_take(&note))
		n += note.level != TALLY_LEVEL_INFO;
	return n;
}

/* Longer than any test takes. */
#define NEVER_NS (3600000 * MS)
static const struct tally_sampler_waits no_waits_end = {
	NEVER_NS, NEVER_NS, NEVER_NS, NEVER_NS
};

/* No source is read by itself, and no thread is given up because the machine is busy: a test that
 * is about either sets it. */
static inline void
reset(enum tally_snapshot snapshot)
{
	main_thread = pthread_self();
	memset(scripts, 0, sizeof(scripts));
	scripts[0].least_ns = scripts[1].least_ns = snapshot == TALLY_SNAPSHOT_EXACT ? NEVER_NS : 0;
	config = (struct tally_config){ .snapshot = snapshot, .period_ns = NEVER_NS };
	tally_sampler_waits = no_waits_end;
	tally_trigger_reset(&config);
	n_warnings();
	tally_log_reset();
}

static inline unsigned
calls(int which, enum call call)
{
	return atomic_load(&scripts[which].calls[call]);
}

static inline bool
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

static inline void
expect_row(struct tally_sampler *s, uint32_t i, const char *name, bool on, const char *reason)
{
	struct tally_source_info row = tally_sampler_row(s, i);
	g_assert_cmpstr(row.name, ==, name);
	g_assert_cmpint(row.on, ==, on);
	g_assert_cmpstr(row.reason, ==, reason);
}

/* Waits until this many samples were taken, at most ten seconds. */
static inline void
wait_for_samples(int which, unsigned n)
{
	for (int i = 0; i < 10000 && calls(which, SAMPLE) < n; i++)
		g_usleep(1000);
	g_assert_cmpuint(calls(which, SAMPLE), >=, n);
}

#endif
