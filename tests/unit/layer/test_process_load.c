/* SPDX-License-Identifier: MIT */
/* layer/event/process_load.h: who is listed, and with what. */
#include "layer/event/process_load.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/base/own_threads.h"
#include "tests/unit/sandbox.h"

#define WORK_NS UINT64_C(60000000)

static atomic_bool over;
static atomic_uint ready;
static int entries_left = -1; /* until the listing fails, -1: it does not */
static unsigned n_read; /* entries of listings */

/* The program closed all of its descriptors, ours with them. */
struct dirent *
readdir(DIR *folder)
{
	struct dirent *(*real)(DIR *) = NULL;
	*(void **)&real = dlsym(RTLD_NEXT, "readdir64");
	g_assert_cmpint(dirfd(folder), >=, 128); /* not one that the program may get next */
	if (entries_left == 0) {
		errno = EBADF;
		return NULL;
	}
	entries_left -= entries_left > 0;
	n_read++;
	return real(folder);
}

static unsigned n_opened; /* files of how long a thread had no CPU */

int
open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = NULL;
	*(void **)&real = dlsym(RTLD_NEXT, "open64");
	n_opened += g_str_has_suffix(path, "/schedstat");
	return real(path, flags, 0);
}

/* Works so long on a CPU, however busy the machine is. */
static void
work(uint64_t ns)
{
	uint64_t begin = tally_clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	while (tally_clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin < ns)
		continue;
}

static void *
worker(void *own)
{
	pthread_setname_np(pthread_self(), own ? "ours" : "worker");
	if (own)
		tally_own_threads_enter();
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < 3)
		g_usleep(100);
	work(WORK_NS);
	atomic_fetch_add(&ready, 1);
	while (!atomic_load(&over))
		g_usleep(1000);
	if (own)
		tally_own_threads_leave();
	return NULL;
}

/* All that this thread starts share a CPU with it. */
static void
share_cpu(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	g_assert_cmpint(sched_setaffinity(0, sizeof(one), &one), ==, 0);
}

static atomic_uint asleep;

static void *
sleeper(void *unused)
{
	atomic_fetch_add(&asleep, 1);
	while (!atomic_load(&over))
		g_usleep(1000);
	return unused;
}

static void
join_all(pthread_t *threads, unsigned n)
{
	atomic_store(&over, true);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&over, false);
}

static void
test_busiest(void)
{
	struct tally_process_load *load = tally_process_load_create(0);
	struct tally_process_record r;
	uint64_t me = (uint64_t)syscall(SYS_gettid);
	pthread_t threads[2];
	share_cpu();
	for (unsigned i = 0; i < 2; i++)
		g_assert_cmpint(pthread_create(&threads[i], NULL, worker, i ? &threads : NULL), ==,
				0);
	while (atomic_load(&ready) < 2)
		g_usleep(100);
	uint64_t begin_ns = tally_clock_now_ns();
	g_assert_false(tally_process_load_read(load, begin_ns, me, &r));
	atomic_fetch_add(&ready, 1);
	work(WORK_NS / 3);
	while (atomic_load(&ready) < 5)
		g_usleep(100);
	/* The period is what the caller says: a busy machine changes no share. */
	g_assert_true(tally_process_load_read(load, begin_ns + 2 * WORK_NS, me, &r));
	g_assert_cmpuint(r.period_ns, ==, 2 * WORK_NS);
	g_assert_cmpuint(r.time_ns, ==, begin_ns + 2 * WORK_NS);
	g_assert_cmpuint(r.resident_bytes, >, 100000);
	g_assert_cmpuint(r.n_threads, ==, 2);
	g_assert_cmpstr(r.threads[0].name, ==, "worker");
	g_assert_cmpuint(r.threads[0].cpu_ns, >=, WORK_NS);
	g_assert_false(r.threads[0].ends_frames);
	g_assert_true(r.threads[1].ends_frames);
	g_assert_false(r.threads[0].main || r.threads[1].main);
	/* Another worked for as long, and of the kernel's clock some is always missing. */
	bool known = access("/proc/self/schedstat", R_OK) == 0;
	g_assert_cmpint(r.has_ready, ==, known);
	g_assert_cmpint(r.threads[0].has_ready, ==, known);
	g_assert_cmpuint(r.threads[0].ready_ns, >=, known ? WORK_NS / 4 : 0);
	g_assert_false(r.threads[1].has_ready);
	g_assert_cmpuint(r.threads[1].cpu_ns, >=, WORK_NS / 3);
	/* Nobody works. */
	g_assert_true(tally_process_load_read(load, begin_ns + 200 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.n_threads, ==, 0);
	g_assert_false(r.has_ready);
	/* It ends no frames anymore. */
	work(WORK_NS / 3);
	g_assert_true(tally_process_load_read(load, begin_ns + 201 * WORK_NS, 0, &r));
	uint32_t n_main = 0;
	for (uint32_t i = 0; i < r.n_threads; i++)
		n_main += r.threads[i].main && strcmp(r.threads[i].name, "worker") != 0;
	g_assert_cmpuint(n_main, ==, 1);
	join_all(threads, 2);
	tally_process_load_destroy(load);
}

static void
test_too_many(void)
{
	pthread_t threads[320];
	struct tally_process_load *load = tally_process_load_create(0);
	struct tally_process_record r;
	for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++)
		g_assert_cmpint(pthread_create(&threads[i], NULL, sleeper, NULL), ==, 0);
	while (atomic_load(&asleep) < G_N_ELEMENTS(threads)) /* one that never ran is not listed */
		g_usleep(100);
	g_assert_false(tally_process_load_read(load, WORK_NS, 0, &r));
	work(WORK_NS / 3);
	n_read = 0;
	g_assert_true(tally_process_load_read(load, 2 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.n_threads, ==, 0);
	g_assert_cmpuint(n_read, <, 300); /* what is not listed is not read */
	g_assert_cmpuint(r.resident_bytes, >, 100000);
	join_all(threads, G_N_ELEMENTS(threads));
	/* As soon as there are fewer, they are listed again. */
	g_assert_true(tally_process_load_read(load, 3 * WORK_NS, 0, &r));
	work(WORK_NS / 3);
	g_assert_true(tally_process_load_read(load, 4 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.n_threads, ==, 1);
	tally_process_load_destroy(load);
}

static _Atomic uint64_t a_napper;

static void *
napper(void *busy)
{
	if (!busy)
		atomic_store(&a_napper, (uint64_t)syscall(SYS_gettid));
	atomic_fetch_add(&asleep, 1);
	while (!atomic_load(&over)) {
		g_usleep(1000);
		if (busy)
			work(WORK_NS / 100);
	}
	return NULL;
}

/* However many threads run, how long they had no CPU is asked of few. */
static void
test_many_run(void)
{
	pthread_t threads[60];
	struct tally_process_load *load = tally_process_load_create(0);
	struct tally_process_record r;
	uint64_t now_ns = WORK_NS;
	atomic_store(&asleep, 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++)
		g_assert_cmpint(pthread_create(&threads[i], NULL, napper,
					       i == 50 ? &threads : NULL), ==, 0);
	while (atomic_load(&asleep) < G_N_ELEMENTS(threads))
		g_usleep(100);
	for (unsigned i = 0; i < 4; i++) {
		work(WORK_NS / 6);
		n_opened = 0;
		tally_process_load_read(load, now_ns += WORK_NS / 4, atomic_load(&a_napper), &r);
		g_assert_cmpuint(n_opened, <=, 12);
	}
	g_assert_cmpint(r.has_ready, ==, access("/proc/self/schedstat", R_OK) == 0);
	g_assert_cmpuint(r.n_threads, >=, 2);
	for (unsigned i = 0; i < 2; i++) /* this one, and the busy one */
		g_assert_cmpint(r.threads[i].has_ready, ==,
				access("/proc/self/schedstat", R_OK) == 0);
	join_all(threads, G_N_ELEMENTS(threads));
	tally_process_load_destroy(load);
}

/* A thread that a listing lacks has not begun after it. */
static void
test_cut(void)
{
	struct tally_process_load *load = tally_process_load_create(0);
	struct tally_process_record r;
	work(WORK_NS);
	entries_left = 2; /* the folder itself, and the one that it is in */
	g_assert_false(tally_process_load_read(load, WORK_NS, 0, &r));
	entries_left = -1;
	g_assert_true(tally_process_load_read(load, 2 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.n_threads, ==, 0);
	work(WORK_NS / 3);
	g_assert_true(tally_process_load_read(load, 3 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.n_threads, ==, 1);
	g_assert_cmpuint(r.threads[0].cpu_ns, <, WORK_NS);
	tally_process_load_destroy(load);
}

static void *
work_once(void *unused)
{
	pthread_setname_np(pthread_self(), "new");
	work(WORK_NS / 3);
	return sleeper(unused);
}

static void *
our_sleeper(void *unused)
{
	tally_own_threads_enter();
	sleeper(unused);
	tally_own_threads_leave();
	return unused;
}

/* One that takes the place of one of ours, so that there are as many, is not overlooked. */
static void
test_after_ours(void)
{
	struct tally_process_load *load = tally_process_load_create(0);
	struct tally_process_record r;
	pthread_t thread;
	atomic_store(&asleep, 0);
	g_assert_cmpint(pthread_create(&thread, NULL, our_sleeper, NULL), ==, 0);
	while (!atomic_load(&asleep))
		g_usleep(100);
	g_assert_false(tally_process_load_read(load, WORK_NS, 0, &r));
	join_all(&thread, 1);
	g_assert_cmpint(pthread_create(&thread, NULL, work_once, NULL), ==, 0);
	while (atomic_load(&asleep) < 2)
		g_usleep(100);
	g_assert_true(tally_process_load_read(load, 6 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.n_threads, >, 0);
	g_assert_cmpstr(r.threads[0].name, ==, "new");
	join_all(&thread, 1);
	tally_process_load_destroy(load);
}

/* Threads are listed when some came or went, and not again. */
static void
test_listed_once(void)
{
	struct tally_process_load *load = tally_process_load_create(0);
	struct tally_process_record r;
	pthread_t thread;
	uint64_t now_ns = WORK_NS;
	atomic_store(&asleep, 0);
	g_assert_false(tally_process_load_read(load, now_ns, 0, &r));
	for (unsigned i = 0; i < 3; i++) {
		/* The second and third take the place of another, so that there are as many. */
		if (i)
			join_all(&thread, 1);
		g_assert_cmpint(pthread_create(&thread, NULL, work_once, NULL), ==, 0);
		while (atomic_load(&asleep) <= i)
			g_usleep(100);
		n_read = 0;
		g_assert_true(tally_process_load_read(load, now_ns += 5 * WORK_NS, 0, &r));
		g_assert_cmpuint(n_read, >, 0);
		g_assert_cmpuint(r.n_threads, >, 0);
		g_assert_cmpstr(r.threads[0].name, ==, "new");
		n_read = 0;
		g_assert_true(tally_process_load_read(load, now_ns += 5 * WORK_NS, 0, &r));
		g_assert_cmpuint(n_read, ==, 0);
		g_assert_true(!r.n_threads || r.threads[0].cpu_ns < WORK_NS / 3);
		g_assert_cmpuint(r.resident_bytes, >, 100000);
	}
	join_all(&thread, 1);
	tally_process_load_destroy(load);
}

/* From the process's start on, where that is known: all that its threads did. */
static void
test_start(void)
{
	struct tally_process_load *load = tally_process_load_create(5);
	struct tally_process_record r;
	work(WORK_NS);
	g_assert_true(tally_process_load_read(load, 5 + 3 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.period_ns, ==, 3 * WORK_NS);
	g_assert_cmpuint(r.n_threads, ==, 1);
	g_assert_cmpuint(r.threads[0].cpu_ns, >=, WORK_NS);
	g_assert_true(tally_process_load_read(load, 5 + 200 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.period_ns, ==, 197 * WORK_NS);
	g_assert_cmpuint(r.n_threads, ==, 0);
	tally_process_load_destroy(load);
}

static void
test_sandbox(void)
{
	if (!sandbox_is_entered())
		return;
	struct tally_process_load *load = tally_process_load_create(0);
	struct tally_process_record r;
	sandbox_enter();
	g_assert_false(tally_process_load_read(load, WORK_NS, 0, &r));
	work(WORK_NS);
	g_assert_true(tally_process_load_read(load, 2 * WORK_NS, 0, &r));
	g_assert_cmpuint(r.n_threads, ==, 1);
	g_assert_cmpuint(r.threads[0].cpu_ns, >=, WORK_NS / 2);
	tally_process_load_destroy(load);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/process-load/busiest", test_busiest);
	g_test_add_func("/process-load/too-many", test_too_many);
	g_test_add_func("/process-load/many-run", test_many_run);
	g_test_add_func("/process-load/cut", test_cut);
	g_test_add_func("/process-load/listed-once", test_listed_once);
	g_test_add_func("/process-load/after-ours", test_after_ours);
	g_test_add_func("/process-load/start", test_start);
	g_test_add_func("/process-load/sandbox", test_sandbox);
	return g_test_run();
}
