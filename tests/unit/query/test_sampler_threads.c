/* SPDX-License-Identifier: MIT */
/* The sampler and its threads: captures in parallel with samples, forks, sources that hang. */
#include "tests/unit/query/scripted_source.h"

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
	/* Numbers start again with each capture, and only then. */
	g_assert_cmpuint(captures, <=, N_CAPTURES);
	return NULL;
}

/* The game's threads take samples before, during and after a capture, several times. */
static void
test_threads(void)
{
	reset(TALLY_SNAPSHOT_SAMPLED);
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

/* What the child finds: a lock whose owner does not exist. */
static int
child_of_fork(struct tally_sampler *s)
{
	atomic_store(&scripts[0].stuck, false);
	alarm(60);
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

/* A capture that is just ending has not told anyone which sampler to abandon. */
static int
child_of_the_end(struct tally_sampler *s)
{
	(void)s;
	atomic_store(&scripts[0].stuck, false);
	alarm(60);
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
	/* Here everything is as it was. */
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

/* A source whose kernel call hangs delays nobody: not the thread that wants its values, not the
 * game with `exact`, not the other source; it answers only after all of them returned. When it
 * does, the delta of that time is not known. */
static void
hang_for_a_while(enum tally_snapshot snapshot)
{
	reset(snapshot);
	/* The other source, which does not hang, answers in that time on any machine. */
	tally_sampler_waits.answer_ns = 1000 * MS;
	struct tally_sampler *s = tally_sampler_create_of(&config, kinds, 2);
	tally_sampler_ready(s);
	uint64_t now_ns = tally_clock_now_ns(), hung_ns = now_ns, unknown = 0;
	struct tally_reading r;
	atomic_store(&scripts[0].stuck, true);
	tally_sampler_cover(s, now_ns);
	g_assert_true(said("*left out until it answers"));
	tally_sampler_lock(s);
	g_assert_true(tally_history_last(tally_sampler_history(s, 1), &r));
	g_assert_cmpuint(r.time_ns, >=, hung_ns);
	tally_sampler_unlock(s);
	/* It was waited for once. */
	unsigned before = calls(1, SAMPLE);
	for (int i = 0; i < 1000; i++)
		g_assert_cmpuint(tally_snapshot_take(), !=, TALLY_NO_SNAPSHOT);
	now_ns = tally_clock_now_ns();
	/* With `exact` the source is also read each 100 ms without a request. */
	g_assert_cmpuint(calls(1, SAMPLE), >=, before + 1000);
	g_assert_cmpuint(calls(0, SAMPLE), ==, 2);
	uint64_t number = tally_snapshot_take();
	tally_sampler_lock(s);
	tally_history_invalid(tally_sampler_history(s, 0), now_ns, now_ns + 1, &unknown);
	tally_sampler_unlock(s);
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

/* Nor does a source that hangs while it is opened, or at the end. A capture can follow once the
 * call has returned. */
static void
test_stuck(void)
{
	for (int opening = 0; opening < 2; opening++) {
		reset(opening ? TALLY_SNAPSHOT_EXACT : TALLY_SNAPSHOT_SAMPLED);
		tally_sampler_waits.answer_ns = tally_sampler_waits.stop_ns = 50 * MS;
		if (opening)
			tally_sampler_waits.open_ns = 50 * MS;
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
		tally_sampler_waits = no_waits_end;
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
	g_test_add_func("/sampler/threads", test_threads);
	g_test_add_func("/sampler/fork", test_fork);
	g_test_add_func("/sampler/hangs", test_hangs);
	g_test_add_func("/sampler/stuck", test_stuck);
	return g_test_run();
}
