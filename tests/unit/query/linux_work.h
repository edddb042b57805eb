/* SPDX-License-Identifier: MIT */
/* tests/unit/query/linux_work.h - work of known cost for the tests of linux-perf and linux-proc.
 *
 * Threads that run for a CPU time that they measure themselves, and functions that open, start
 * and sample a source in one line each. One thread; the measured process is that of the test.
 */
#ifndef PASSTALLY_TESTS_UNIT_LINUX_WORK_H
#define PASSTALLY_TESTS_UNIT_LINUX_WORK_H

#include <dirent.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "layer/base/own_threads.h"
#include "query/linux/counters.h"

#define MS UINT64_C(1000000)

static inline uint64_t
clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline void
spin(uint64_t cpu_ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static inline void
nap(unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

struct spinner {
	pthread_t thread;
	uint64_t cpu_ns; /* to run */
	bool ours;
	atomic_bool entered, starts; /* one of ours: it is listed; it may run */
	uint64_t ran_ns; /* measured by the thread itself */
};

static inline void *
run_spinner(void *data)
{
	struct spinner *s = data;
	if (s->ours)
		tally_own_threads_enter();
	atomic_store(&s->entered, true);
	while (s->ours && !atomic_load(&s->starts))
		nap(1);
	spin(s->cpu_ns);
	s->ran_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (s->ours)
		tally_own_threads_leave();
	return NULL;
}

/* One of ours waits until `starts`: a source has to read while it is listed. */
static inline void
begin_spinner(struct spinner *s, uint64_t cpu_ns, bool ours)
{
	*s = (struct spinner){ .cpu_ns = cpu_ns, .ours = ours };
	g_assert_cmpint(pthread_create(&s->thread, NULL, run_spinner, s), ==, 0);
	while (ours && !atomic_load(&s->entered))
		nap(1);
}

static inline void
touch_pages(unsigned n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, n * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	g_assert_true(memory != MAP_FAILED);
	/* A page at a time. */
	madvise(memory, n * page, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < n; i++)
		*(volatile char *)(memory + i * page) = 1;
	munmap(memory, n * page);
}

#define MOST_DESCRIPTORS 8192

/* Which numbers below MOST_DESCRIPTORS are open; returns how many. */
static inline uint32_t
list_descriptors(bool open[MOST_DESCRIPTORS])
{
	uint32_t n = 0;
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	memset(open, 0, MOST_DESCRIPTORS * sizeof(*open));
	while ((entry = readdir(dir))) {
		int fd = atoi(entry->d_name);
		if (entry->d_name[0] == '.' || fd == dirfd(dir) || fd >= MOST_DESCRIPTORS)
			continue;
		open[fd] = true;
		n++;
	}
	closedir(dir);
	return n;
}

static inline uint32_t
count_descriptors(void)
{
	bool open[MOST_DESCRIPTORS];
	return list_descriptors(open);
}

/* The lowest descriptor that is open now and was not `before`; MOST_DESCRIPTORS: none. */
static inline int
lowest_new_descriptor(const bool before[MOST_DESCRIPTORS])
{
	bool now[MOST_DESCRIPTORS];
	int fd = 0;
	list_descriptors(now);
	while (fd < MOST_DESCRIPTORS && (!now[fd] || before[fd]))
		fd++;
	return fd;
}

/* A source that counts `wanted`. */
struct counting {
	struct tally_snapshot_source *src;
	uint64_t totals[64], unknown;
	struct tally_totals last;
};

static inline void
begin_counting(struct counting *c, struct tally_snapshot_source *src, const char *wanted)
{
	*c = (struct counting){ .src = src };
	g_assert_nonnull(src);
	g_assert_cmpint(src->ops->probe(src), ==, TALLY_OK);
	src->wanted = wanted;
	int status = src->ops->open(src);
	g_test_message("%s: %s", src->ops->name, src->reason);
	g_assert_cmpint(status, ==, TALLY_OK);
	g_assert_cmpint(src->ops->start(src), ==, TALLY_OK);
}

/* Takes a reading; totals never decrease. */
static inline enum tally_status
read_counting(struct counting *c)
{
	uint64_t before[64];
	memcpy(before, c->totals, sizeof(before));
	c->unknown = 0;
	c->last = (struct tally_totals){ .totals = c->totals, .unknown = &c->unknown };
	enum tally_status status = c->src->ops->sample(c->src, &c->last);
	g_assert_cmpuint(c->last.begin_ns, <=, c->last.end_ns);
	for (uint32_t i = 0; i < c->src->n_counters; i++)
		g_assert_cmpuint(c->totals[i], >=, before[i]);
	return status;
}

/* The total of a key, which must be counted. */
static inline uint64_t
total_of(const struct counting *c, const char *key)
{
	for (uint32_t i = 0; i < c->src->n_counters; i++)
		if (strcmp(c->src->counters[i]->key, key) == 0) {
			g_assert_cmpuint(c->unknown >> i & 1, ==, 0);
			return c->totals[i];
		}
	g_error("%s is not counted", key);
}

static inline void
end_counting(struct counting *c)
{
	c->src->ops->stop(c->src);
	c->src->ops->close(c->src);
	c->src->ops->destroy(c->src);
}

/* The time that the host took from this virtual machine: perf's task clock includes it, the
 * kernel's accounting of CPU time does not. Counted in steps. */
static inline uint64_t
stolen_ns(void)
{
	unsigned long long ticks = 0;
	FILE *file = fopen("/proc/stat", "r");
	if (!file)
		return 0;
	if (fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		ticks = 0;
	fclose(file);
	return ticks * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK) * MS;
}
#define STEAL_STEP (20 * MS)

/* What both sources must do correctly, each opened by `create`. `tick_ns`: by how much the
 * total of a thread may be late. */
typedef struct tally_snapshot_source *create_source(void);

static inline void
check_known_time(create_source *create, uint64_t tick_ns)
{
	struct counting c;
	struct spinner before, after, ours;
	begin_spinner(&before, 150 * MS, false);
	begin_counting(&c, create(), "cpu_task_clock");
	uint64_t process = clock_ns(CLOCK_PROCESS_CPUTIME_ID), stolen = stolen_ns();
	begin_spinner(&after, 80 * MS, false);
	begin_spinner(&ours, 100 * MS, true);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	atomic_store(&ours.starts, true);
	for (unsigned i = 0; i < 100; i++) {
		nap(3);
		g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	}
	pthread_join(before.thread, NULL);
	pthread_join(after.thread, NULL);
	pthread_join(ours.thread, NULL);
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	process = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process;
	uint64_t game = process - ours.ran_ns;
	stolen = stolen_ns() - stolen + STEAL_STEP;
	uint64_t counted = total_of(&c, "cpu_task_clock");
	g_test_message("the game ran %" G_GUINT64_FORMAT " ns, counted are %" G_GUINT64_FORMAT,
		       game, counted);
	g_assert_cmpuint(counted, >=, game - game / 50 - tick_ns);
	g_assert_cmpuint(counted, <=, game + game / 50 + tick_ns + stolen);
	end_counting(&c);
}

/* Threads that live for a while between samples: the time that they ran stays counted. */
static inline void
check_coming_and_going(create_source *create, uint64_t tick_ns)
{
	enum { ROUNDS = 12, AT_ONCE = 4 };
	struct counting c;
	begin_counting(&c, create(), "cpu_task_clock");
	uint64_t process = clock_ns(CLOCK_PROCESS_CPUTIME_ID), threads = 0, stolen = stolen_ns();
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct spinner s[AT_ONCE];
		for (unsigned i = 0; i < AT_ONCE; i++)
			begin_spinner(&s[i], 8 * MS, false);
		for (unsigned i = 0; i < 12; i++) {
			nap(2);
			g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
		}
		for (unsigned i = 0; i < AT_ONCE; i++) {
			pthread_join(s[i].thread, NULL);
			threads += s[i].ran_ns;
		}
		g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	}
	process = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process;
	stolen = stolen_ns() - stolen + STEAL_STEP;
	uint64_t counted = total_of(&c, "cpu_task_clock");
	g_test_message("threads ran %" G_GUINT64_FORMAT " ns, the process %" G_GUINT64_FORMAT
		       ", counted are %" G_GUINT64_FORMAT,
		       threads, process, counted);
	g_assert_cmpuint(counted, >=, threads - threads / 50 - tick_ns);
	g_assert_cmpuint(counted, <=, process + process / 50 + tick_ns + stolen);
	end_counting(&c);
}

/* Threads of half a millisecond, which begin and end between two samples: 300 of them, each of
 * which touches 10 pages. */
static inline void *
run_shortly(void *data)
{
	(void)data;
	spin(MS / 2);
	touch_pages(10);
	return NULL;
}

static inline void
check_short_lived(create_source *create)
{
	enum { MANY = 300 };
	struct counting c;
	begin_counting(&c, create(), "cpu_task_clock+cpu_page_faults");
	uint64_t process = clock_ns(CLOCK_PROCESS_CPUTIME_ID), stolen = stolen_ns();
	for (unsigned i = 0; i < MANY; i++) {
		pthread_t thread;
		g_assert_cmpint(pthread_create(&thread, NULL, run_shortly, NULL), ==, 0);
		pthread_join(thread, NULL);
		if (i % 100 == 0)
			g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	}
	process = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process;
	stolen = stolen_ns() - stolen + STEAL_STEP;
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	uint64_t counted = total_of(&c, "cpu_task_clock");
	g_test_message("of %" G_GUINT64_FORMAT " ns %" G_GUINT64_FORMAT " are counted", process,
		       counted);
	g_assert_cmpuint(counted, >=, process - process / 50);
	g_assert_cmpuint(counted, <=, process + process / 50 + stolen);
	g_assert_cmpuint(total_of(&c, "cpu_page_faults"), >=, 10 * MANY);
	end_counting(&c);
}

/* Context switches of this process, as the kernel counts them: a sleep whose time is over
 * before the thread blocks is not one. */
static inline uint64_t
context_switches(void)
{
	struct rusage usage;
	g_assert_cmpint(getrusage(RUSAGE_SELF, &usage), ==, 0);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static inline void
check_events(create_source *create)
{
	struct counting c;
	begin_counting(&c, create(), "overview+cpu_minor_faults+cpu_major_faults");
	uint64_t switches = context_switches();
	touch_pages(512);
	nap(60);
	switches = context_switches() - switches;
	g_assert_cmpint(read_counting(&c), ==, TALLY_OK);
	for (uint32_t i = 0; i < c.src->n_counters; i++)
		g_test_message("%s: %" G_GUINT64_FORMAT, c.src->counters[i]->key, c.totals[i]);
	uint64_t minor = total_of(&c, "cpu_minor_faults");
	g_assert_cmpuint(minor, >=, 512);
	g_assert_cmpuint(minor, <, 512 + 200);
	g_assert_cmpuint(total_of(&c, "cpu_page_faults"), ==,
			 minor + total_of(&c, "cpu_major_faults"));
	g_test_message("%" G_GUINT64_FORMAT " context switches", switches);
	g_assert_cmpuint(switches, >, 0);
	g_assert_cmpuint(total_of(&c, "cpu_context_switches"), >=, switches);
	g_assert_cmpuint(total_of(&c, "cpu_context_switches"), <, switches + 200);
	end_counting(&c);
}

#endif
