#include "query/linux/linux.h"
#include "linux_work.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "layer/config/config.h"
#include "query/linux/roster.h"
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

/* Ours nap and touch memory while they live, and stay out of it when they are gone. */
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

/* A thread that shares its CPU with others waits for it. */
static void
test_run_delay(void)
{
	struct counting c;
	struct spinner s[6];
	begin_counting(&c, tally_linux_proc_create(), "cpu_run_delay");
	g_assert_cmpuint(c.src->n_counters, ==, 1);
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < G_N_ELEMENTS(s); i++)
		begin_spinner(&s[i], 60 * MS, false);
	for (unsigned i = 0; i < 40; i++) {
		nap(5);
		g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(s); i++)
		pthread_join(s[i].thread, NULL);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	uint64_t passed = clock_ns(CLOCK_MONOTONIC) - begin;
	uint64_t waited = total_of(&c, "cpu_run_delay");
	g_test_message("%" G_GUINT64_FORMAT " ns waited in %" G_GUINT64_FORMAT " ns", waited,
		       passed);
	/* No thread waits longer than it lives. */
	g_assert_cmpuint(waited, <=, (G_N_ELEMENTS(s) + 1) * passed);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (cpus > 0 && cpus < (long)G_N_ELEMENTS(s))
		g_assert_cmpuint(waited, >=, 20 * MS);
	end_counting(&c);
}

/* Who can not look which threads there are does not say that none of them waited. */
static void
test_closed_by_the_program(void)
{
	struct counting c;
	bool before[MOST_DESCRIPTORS];
	list_descriptors(before);
	begin_counting(&c, tally_linux_proc_create(), "cpu_run_delay,cpu_task_clock");
	int lowest = lowest_new_descriptor(before);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	g_assert_cmpuint(c.unknown, ==, 0);
	for (int fd = lowest; fd < lowest + 64; fd++)
		close(fd);
	nap(30);
	uint64_t task_ns = total_of(&c, "cpu_task_clock");
	spin(5 * MS);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	g_assert_cmpuint(total_of(&c, "cpu_task_clock"), >, task_ns);
	for (uint32_t i = 0; i < c.src->n_counters; i++) {
		bool delay = strcmp(c.src->counters[i]->key, "cpu_run_delay") == 0;
		g_assert_cmpuint(c.unknown >> i & 1, ==, delay);
	}
	end_counting(&c);
}

/* ---- following threads ---- */

static unsigned n_joined;

/* As dear as thousands of threads are. */
static bool
join_slowly(void *data, struct tally_linux_thread *entry)
{
	(void)entry;
	n_joined++;
	spin(*(const uint64_t *)data);
	return true;
}

static void
leave(void *data, struct tally_linux_thread *entry)
{
	(void)data, (void)entry;
}

/* Our own threads take no room. */
static void
test_overflow(void)
{
	uint64_t cost_ns = 0;
	struct tally_linux_roster r = {
		.entry_size = sizeof(struct tally_linux_thread),
		.join = join_slowly,
		.leave = leave,
		.data = &cost_ns,
	};
	nap(30); /* threads of other tests are gone */
	g_assert_true(tally_linux_roster_open(&r, 64));
	n_joined = 0;
	tally_linux_roster_scan(&r, 1);
	uint32_t n = n_joined;
	tally_linux_roster_close(&r);
	for (uint32_t more = 0; more < 3; more++) {
		struct spinner s[2];
		g_assert_true(tally_linux_roster_open(&r, n));
		for (uint32_t i = 0; i < more; i++)
			begin_spinner(&s[i], 200 * MS, i == 0);
		while (more && tally_own_threads_list((pid_t[TALLY_MAX_OWN_THREADS]){ 0 }) < 1)
			nap(1);
		g_assert_cmpint(tally_linux_roster_overflows(&r), ==, more == 2);
		for (uint32_t i = 0; i < more; i++)
			pthread_join(s[i].thread, NULL);
		tally_linux_roster_close(&r);
		nap(30);
	}
}

static bool
join_never(void *data, struct tally_linux_thread *entry)
{
	(void)entry;
	errno = *(const int *)data;
	return false;
}

/* The kernel attaches nothing more to a thread on its way out, though it lists it still. */
static void
test_ending(void)
{
	int error = EMFILE;
	struct tally_linux_roster r = {
		.entry_size = sizeof(struct tally_linux_thread),
		.join = join_never,
		.leave = leave,
		.data = &error,
	};
	g_assert_true(tally_linux_roster_open(&r, 64));
	tally_linux_roster_scan(&r, 1);
	g_assert_cmpuint(r.n_missing, >=, 1);
	error = ESRCH;
	tally_linux_roster_scan(&r, 1 + 5000 * MS);
	g_assert_cmpuint(r.n_missing, ==, 0);
	tally_linux_roster_close(&r);
}

/* Where a look is dear the next one comes later, but it comes. */
static void
test_dear_looks(void)
{
	uint64_t cost_ns = 0;
	struct tally_linux_roster r = {
		.entry_size = sizeof(struct tally_linux_thread),
		.join = join_slowly,
		.leave = leave,
		.data = &cost_ns,
	};
	struct spinner s[3];
	g_assert_true(tally_linux_roster_open(&r, 64));
	n_joined = 0;
	tally_linux_roster_scan(&r, 1);
	unsigned n = n_joined;
	g_assert_cmpuint(n, >=, 1);
	cost_ns = 6 * MS;
	begin_spinner(&s[0], 200 * MS, false);
	tally_linux_roster_scan(&r, 1 + 4 * MS);
	g_assert_cmpuint(n_joined, ==, n + 1);
	begin_spinner(&s[1], 200 * MS, false);
	tally_linux_roster_scan(&r, 1 + 104 * MS);
	g_assert_cmpuint(n_joined, ==, n + 1);
	tally_linux_roster_scan(&r, 1 + 1104 * MS);
	g_assert_cmpuint(n_joined, ==, n + 2);
	cost_ns = 60 * MS; /* no more than a second later */
	begin_spinner(&s[2], 200 * MS, false);
	tally_linux_roster_scan(&r, 1 + 2204 * MS);
	g_assert_cmpuint(n_joined, ==, n + 3);
	g_assert_cmpuint(r.pause_ns, ==, 1000 * MS);
	for (unsigned i = 0; i < G_N_ELEMENTS(s); i++)
		pthread_join(s[i].thread, NULL);
	tally_linux_roster_close(&r);
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

/* In a child, for a filter is for good. */
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
	const char *const keys[] = { "cpu_task_clock", "cpu_page_faults", "cpu_context_switches" };
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

/* A metric of clusters finds what it is made of, which is not in the log. */
static void
test_for_metrics(void)
{
	struct tally_snapshot_source *src = tally_linux_proc_create();
	src->wanted = "g715.cpu_activity[0]";
	src->metrics_wanted = true;
	g_assert_cmpint(src->ops->open(src), ==, TALLY_OK);
	g_assert_cmpuint(*src->logged, ==, 0);
	unsigned found = 0;
	for (uint32_t i = 0; i < src->n_counters; i++)
		found += strcmp(src->counters[i]->key, "CPUActivityUser.Cluster[0]") == 0 ||
			 strcmp(src->counters[i]->key, "CPUActivityTime.Cluster[0]") == 0;
	g_assert_cmpuint(found, ==, 2);
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
	/* Perf alone can say these. */
	for (uint32_t i = 0; i < c.src->n_counters; i++) {
		g_assert_cmpstr(c.src->counters[i]->key, !=, "cpu_cycles");
		g_assert_cmpstr(c.src->counters[i]->key, !=, "cpu_migrations");
	}
	g_assert_nonnull(strstr(c.src->reason, "perf"));
	end_counting(&c);
	g_assert_cmpuint(count_descriptors(), ==, before);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/linux-proc/known-time", test_known_time);
	g_test_add_func("/linux-proc/coming-and-going", test_coming_and_going);
	g_test_add_func("/linux-proc/events", test_events);
	g_test_add_func("/linux-proc/own-threads", test_own_threads);
	g_test_add_func("/linux-proc/run-delay", test_run_delay);
	g_test_add_func("/linux-proc/closed-by-the-program", test_closed_by_the_program);
	g_test_add_func("/linux-proc/overflow", test_overflow);
	g_test_add_func("/linux-proc/ending", test_ending);
	g_test_add_func("/linux-proc/dear-looks", test_dear_looks);
	g_test_add_func("/linux-proc/for-metrics", test_for_metrics);
	g_test_add_func("/linux-proc/descriptors", test_descriptors);
	g_test_add_func("/linux-proc/perf-denied", test_perf_denied);
	return g_test_run();
}
