/* SPDX-License-Identifier: MIT */
#include "query/linux/linux.h"
#include "tests/unit/query/linux_work.h"
#include "tests/unit/sandbox.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "layer/base/sandbox.h"
#include "layer/config/config.h"
#include "query/sampler/sampler.h"

static void
test_known_time(void)
{
	check_known_time(tally_linux_proc_create, 12 * MS);
}

static void
test_coming_and_going(void)
{
	check_coming_and_going(tally_linux_proc_create, 12 * MS);
}

static void
test_events(void)
{
	check_events(tally_linux_proc_create);
}

/* Threads nap and touch memory while they live, and are left out when they are gone. */
static void *
run_ours(void *data)
{
	(void)data;
	tally_own_threads_enter();
	touch_pages(300);
	nap(300);
	tally_own_threads_leave();
	return NULL;
}

static void
test_own_threads(void)
{
	struct counting c;
	pthread_t ours;
	begin_counting(&c, tally_linux_proc_create(), NULL);
	g_assert_cmpint(pthread_create(&ours, NULL, run_ours, NULL), ==, 0);
	nap(40);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	pthread_join(ours, NULL);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	g_assert_cmpuint(total_of(&c, "cpu_context_switches"), >=, 40);
	g_assert_cmpuint(total_of(&c, "cpu_context_switches"), <, 40 + 100);
	g_assert_cmpuint(total_of(&c, "cpu_page_faults"), <, 150);
	end_counting(&c);
}

static void
test_short_lived(void)
{
	check_short_lived(tally_linux_proc_create);
}

/* ---- where perf is denied ---- */

static bool
deny_perf(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = G_N_ELEMENTS(code), .filter = code };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
	       syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) == -1 && errno == error;
}

static const char *
row_of(const struct tally_sampler *s, const char *name, bool *on)
{
	static char reason[300];
	*on = false;
	for (uint32_t i = 0; i < tally_sampler_n_rows(s); i++) {
		struct tally_source_info info = tally_sampler_row(s, i);
		if (strcmp(info.name, name) != 0)
			continue;
		*on = info.on;
		g_snprintf(reason, sizeof(reason), "%s", info.reason ? info.reason : "");
		return reason;
	}
	return NULL;
}

/* In a child process, because a filter is permanent. */
static int
take_over(int error)
{
	if (!deny_perf(error))
		return 77;
	struct tally_config config;
	tally_config_init(&config);
	config.cpu = true;
	struct tally_sampler *s = tally_sampler_create(&config);
	if (!s)
		return 2;
	tally_sampler_ready(s);
	bool perf_on, proc_on;
	const char *why = row_of(s, "linux-perf", &perf_on);
	if (!why || perf_on || !why[0])
		return 3;
	if (!row_of(s, "linux-proc", &proc_on) || !proc_on)
		return 4;
	/* The same keys. */
	const char *const keys[] = { "cpu_task_clock", "cpu_page_faults",
				     "cpu_context_switches" };
	const struct tally_snapshot_source *src = NULL;
	for (uint32_t i = 0; i < tally_sampler_n_sources(s); i++)
		if (strcmp(tally_sampler_source(s, i)->ops->name, "linux-proc") == 0)
			src = tally_sampler_source(s, i);
	unsigned logged = 0;
	for (uint32_t i = 0; src && i < src->n_counters; i++)
		if (src->logged[i / 64] >> (i % 64) & 1) {
			if (logged == G_N_ELEMENTS(keys) ||
			    strcmp(src->counters[i]->key, keys[logged]) != 0)
				return 5;
			logged++;
		}
	tally_sampler_stop(s);
	tally_sampler_destroy(s);
	tally_config_finish(&config);
	return logged == G_N_ELEMENTS(keys) ? 0 : 6;
}

static void
test_perf_denied(void)
{
	const int errors[] = { EACCES, EPERM, ENOSYS };
	for (size_t i = 0; i < G_N_ELEMENTS(errors); i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(take_over(errors[i]));
		int status;
		g_assert_cmpint(waitpid(child, &status, 0), ==, child);
		g_assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77) {
			g_test_skip("this kernel takes no seccomp filter");
			return;
		}
		g_assert_cmpint(WEXITSTATUS(status), ==, 0);
	}
}

/* A metric finds its inputs, which are not in the log. */
static void
test_for_metrics(void)
{
	struct tally_snapshot_source *src = tally_linux_proc_create();
	src->wanted = "cpu_busy_threads";
	src->metrics_wanted = true;
	g_assert_cmpint(src->ops->open(src), ==, TALLY_OK);
	g_assert_cmpuint(*src->logged, ==, 0);
	unsigned found = 0;
	for (uint32_t i = 0; i < src->n_counters; i++)
		found += strcmp(src->counters[i]->key, "cpu_task_clock") == 0;
	g_assert_cmpuint(found, ==, 1);
	src->ops->close(src);
	src->ops->destroy(src);
}

static void
test_descriptors(void)
{
	struct counting c;
	uint32_t before = count_descriptors();
	begin_counting(&c, tally_linux_proc_create(), "all");
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	/* Only perf has these. */
	for (uint32_t i = 0; i < c.src->n_counters; i++) {
		g_assert_cmpstr(c.src->counters[i]->key, !=, "cpu_cycles");
		g_assert_cmpstr(c.src->counters[i]->key, !=, "cpu_migrations");
	}
	g_assert_nonnull(strstr(c.src->reason, "perf"));
	end_counting(&c);
	g_assert_cmpuint(count_descriptors(), ==, before);
}

/* The program enters it while it is counted, and begins another of our threads in it. */
static void
test_sandbox(void)
{
	if (!sandbox_is_entered())
		return;
	struct counting c;
	struct spinner ours;
	begin_counting(&c, tally_linux_proc_create(), "all");
	sandbox_enter();
	begin_spinner(&ours, 60 * MS, true);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	atomic_store(&ours.starts, true);
	spin(60 * MS);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	pthread_join(ours.thread, NULL);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	g_assert_cmpuint(total_of(&c, "cpu_task_clock"), >=, 60 * MS);
	g_assert_cmpuint(total_of(&c, "cpu_task_clock"), <, 100 * MS);
	sandbox_shut_in();
	uint64_t before = total_of(&c, "cpu_task_clock");
	spin(20 * MS);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	g_assert_cmpuint(total_of(&c, "cpu_task_clock"), >=, before + 20 * MS);
	end_counting(&c);
	struct counting later;
	begin_counting(&later, tally_linux_proc_create(), "all");
	g_assert_nonnull(strstr(later.src->reason, "sandbox"));
	end_counting(&later);
}

/* For a moment the program has no descriptor left. */
static void
test_no_descriptors(void)
{
	struct rlimit limit, none;
	g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
	none = limit;
	none.rlim_cur = 0;
	g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
	bool shut_in = tally_is_shut_in(), filtered = tally_is_filtered();
	g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
	g_assert_true(shut_in && filtered); /* it may be */
	g_assert_false(tally_was_shut_in());
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/linux-proc/known-time", test_known_time);
	g_test_add_func("/linux-proc/coming-and-going", test_coming_and_going);
	g_test_add_func("/linux-proc/events", test_events);
	g_test_add_func("/linux-proc/short-lived", test_short_lived);
	g_test_add_func("/linux-proc/own-threads", test_own_threads);
	g_test_add_func("/linux-proc/for-metrics", test_for_metrics);
	g_test_add_func("/linux-proc/descriptors", test_descriptors);
	g_test_add_func("/linux-proc/sandbox", test_sandbox);
	g_test_add_func("/linux-proc/no-descriptors", test_no_descriptors);
	g_test_add_func("/linux-proc/perf-denied", test_perf_denied);
	return g_test_run();
}
