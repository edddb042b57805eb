/* SPDX-License-Identifier: MIT */
#include "query/linux/linux.h"
#include "tests/unit/query/linux_work.h"
#include "tests/unit/sandbox.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "query/linux/event.h"

static bool
is_here(void)
{
	bool user_only;
	char why[256];
	int error = tally_linux_event_try(&user_only);
	if (!error)
		return true;
	tally_linux_event_explain(error, tally_linux_event_paranoid(), why);
	g_test_skip(why);
	return false;
}

static void
test_known_time(void)
{
	if (is_here())
		check_known_time(tally_linux_perf_create, 2 * MS);
}

static void
test_coming_and_going(void)
{
	if (is_here())
		check_coming_and_going(tally_linux_perf_create, 2 * MS);
}

static void
test_events(void)
{
	if (is_here())
		check_events(tally_linux_perf_create);
}

/* What is counted, and what is in the log. */
static void
test_choice(void)
{
	if (!is_here())
		return;
	struct counting c;
	begin_counting(&c, tally_linux_perf_create(), NULL);
	g_assert_cmpuint(c.src->n_counters, ==, 3);
	g_assert_cmpstr(c.src->counters[0]->key, ==, "cpu_task_clock");
	g_assert_cmpstr(c.src->counters[1]->key, ==, "cpu_page_faults");
	g_assert_cmpstr(c.src->counters[2]->key, ==, "cpu_context_switches");
	g_assert_cmpuint(*c.src->logged, ==, 7);
	for (uint32_t i = 0; i < c.src->n_counters; i++) {
		g_assert_cmpstr(c.src->counters[i]->source, ==, "linux-perf");
		g_assert_true(tally_counter_adds_up(c.src->counters[i]));
	}
	end_counting(&c);

	struct tally_snapshot_source *src = tally_linux_perf_create();
	src->wanted = "cpu_page_faults";
	src->metrics_wanted = true;
	g_assert_cmpint(src->ops->open(src), ==, TALLY_OK);
	for (uint32_t i = 0; i < src->n_counters; i++) {
		bool logged = *src->logged >> i & 1;
		g_assert_cmpint(logged, ==,
				strcmp(src->counters[i]->key, "cpu_page_faults") == 0);
	}
	g_assert_cmpuint(src->n_counters, >=, 2); /* the task clock too, for metrics */
	src->ops->close(src);
	src->ops->destroy(src);

	src = tally_linux_perf_create();
	src->wanted = "no_such_counter";
	g_assert_cmpint(src->ops->open(src), ==, TALLY_UNSUPPORTED);
	g_assert_cmpstr(src->reason, !=, "");
	src->ops->destroy(src);
}

static void
test_descriptors(void)
{
	if (!is_here())
		return;
	struct counting c;
	bool open_before[MOST_DESCRIPTORS];
	uint32_t before = list_descriptors(open_before);
	begin_counting(&c, tally_linux_perf_create(), "all");
	int lowest = lowest_new_descriptor(open_before);
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	g_assert_cmpint(lowest, >=, (int)MIN(limit.rlim_cur / 2, 2048));
	g_assert_cmpint(lowest, <, MOST_DESCRIPTORS);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	end_counting(&c);
	g_assert_cmpuint(count_descriptors(), ==, before);

	/* Too few for all threads: the source reports it, and leaves none open. */
	struct rlimit few = { .rlim_cur = 32, .rlim_max = limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	struct tally_snapshot_source *src = tally_linux_perf_create();
	g_assert_cmpint(src->ops->open(src), ==, TALLY_UNSUPPORTED);
	g_test_message("%s", src->reason);
	g_assert_nonnull(strstr(src->reason, "ulimit -n"));
	src->ops->destroy(src);
	setrlimit(RLIMIT_NOFILE, &limit);
	g_assert_cmpuint(count_descriptors(), ==, before);
}

static void
test_short_lived(void)
{
	if (is_here())
		check_short_lived(tally_linux_perf_create);
}

static void
test_closed_by_the_program(void)
{
	if (!is_here())
		return;
	struct counting c;
	bool before[MOST_DESCRIPTORS];
	list_descriptors(before);
	begin_counting(&c, tally_linux_perf_create(), NULL);
	int lowest = lowest_new_descriptor(before);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	for (int fd = lowest; fd < lowest + 64; fd++)
		close(fd);
	g_assert_cmpint(read_counting(&c), ==, TALLY_LOST);
	g_assert_nonnull(strstr(c.src->reason, "closed"));
	end_counting(&c);
}

static void
test_fork(void)
{
	if (!is_here())
		return;
	struct counting c;
	uint32_t before = count_descriptors();
	begin_counting(&c, tally_linux_perf_create(), NULL);
	pid_t child = fork();
	if (child == 0) {
		c.src->ops->abandon(c.src);
		bool ok = count_descriptors() == before;
		/* And a child may count itself. */
		struct counting own;
		begin_counting(&own, tally_linux_perf_create(), "cpu_task_clock");
		spin(150 * MS);
		ok &= read_counting(&own) == TALLY_OK;
		ok &= total_of(&own, "cpu_task_clock") >= 149 * MS;
		_exit(ok ? 0 : 1);
	}
	int status;
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_cmpint(status, ==, 0);
	spin(20 * MS);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	/* Its own count, not the child's. */
	g_assert_cmpuint(total_of(&c, "cpu_task_clock"), >=, 19 * MS);
	g_assert_cmpuint(total_of(&c, "cpu_task_clock"), <, 140 * MS);
	end_counting(&c);
}

static unsigned n_asked;
static pthread_barrier_t turn;

int
getrusage(__rusage_who_t who, struct rusage *usage)
{
	n_asked++;
	return (int)syscall(SYS_getrusage, who, usage);
}

static void *
read_beside(void *unused)
{
	struct counting c;
	tally_own_threads_enter();
	begin_counting(&c, tally_linux_perf_create(), NULL);
	for (unsigned round = 0; round < 3; round++) {
		pthread_barrier_wait(&turn); /* it works */
		pthread_barrier_wait(&turn); /* and sleeps */
		nap(10);
		g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
		g_assert_cmpuint(total_of(&c, "cpu_page_faults"), >=, 100 * (round + 1));
		n_asked = 0;
		for (unsigned i = 0; i < 20; i++)
			g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
		g_assert_cmpuint(n_asked, <=, 10);
	}
	end_counting(&c);
	tally_own_threads_leave();
	return unused;
}

/* While no thread of the game runs, the kernel's accounts are hardly read, and nothing is lost. */
static void
test_still(void)
{
	pthread_t ours;
	if (!is_here())
		return;
	pthread_barrier_init(&turn, NULL, 2);
	g_assert_cmpint(pthread_create(&ours, NULL, read_beside, NULL), ==, 0);
	for (unsigned round = 0; round < 3; round++) {
		pthread_barrier_wait(&turn);
		touch_pages(100);
		pthread_barrier_wait(&turn);
	}
	pthread_join(ours, NULL);
}

/* What was opened before it goes on; nothing is opened in it. */
static void
test_sandbox(void)
{
	if (!is_here() || !sandbox_is_entered())
		return;
	struct counting c;
	struct spinner ours;
	begin_counting(&c, tally_linux_perf_create(), "cpu_task_clock");
	sandbox_enter();
	begin_spinner(&ours, 20 * MS, true);
	atomic_store(&ours.starts, true);
	spin(40 * MS);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	pthread_join(ours.thread, NULL);
	g_assert_cmpuint(total_of(&c, "cpu_task_clock"), >=, 40 * MS);
	end_counting(&c);
	struct tally_snapshot_source *src = tally_linux_perf_create();
	g_assert_cmpint(src->ops->probe(src), ==, TALLY_UNSUPPORTED);
	g_assert_nonnull(strstr(src->reason, "filter of system calls"));
	g_assert_cmpint(src->ops->open(src), ==, TALLY_UNSUPPORTED);
	src->ops->destroy(src);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/linux-perf/known-time", test_known_time);
	g_test_add_func("/linux-perf/coming-and-going", test_coming_and_going);
	g_test_add_func("/linux-perf/events", test_events);
	g_test_add_func("/linux-perf/choice", test_choice);
	g_test_add_func("/linux-perf/descriptors", test_descriptors);
	g_test_add_func("/linux-perf/short-lived", test_short_lived);
	g_test_add_func("/linux-perf/closed-by-the-program", test_closed_by_the_program);
	g_test_add_func("/linux-perf/still", test_still);
	g_test_add_func("/linux-perf/sandbox", test_sandbox);
	g_test_add_func("/linux-perf/fork", test_fork);
	return g_test_run();
}
