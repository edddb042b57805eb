/* SPDX-License-Identifier: MIT */
/* layer/event/late.h: where a thread is found while its frame is late, and where it is not. */
#include "layer/event/late.h"

#include <glib.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layer/base/clock.h"

#define MS UINT64_C(1000000)

static atomic_ullong frames_thread;
static atomic_bool over;
static int ends[2]; /* of a pipe: a byte lets the thread go on */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t frames, waited_for;

static void
read_pipe(void)
{
	char byte;
	g_assert_cmpint(read(ends[0], &byte, 1), ==, 1);
}

static void
poll_pipe(void)
{
	struct pollfd f = { .fd = ends[0], .events = POLLIN };
	g_assert_cmpint(poll(&f, 1, -1), ==, 1);
	read_pipe();
}

static void
lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void
join(void)
{
	pthread_join(waited_for, NULL);
}

static void
nap(void)
{
	while (!atomic_load(&over))
		g_usleep(200000);
}

static void
wait_in_driver(void)
{
	static _Atomic uint64_t none;
	struct tally_clock_wait wait = tally_clock_wait_begin();
	read_pipe();
	tally_clock_wait_end(&wait);
	tally_clock_show_waiting(&none);
}

static void
work(void)
{
	while (!atomic_load(&over))
		;
}

static void *
run_worker(void *unused)
{
	prctl(PR_SET_NAME, "worker");
	read_pipe();
	return unused;
}

static uint64_t base_ns; /* of the frames */

/* Ends 20 frames, each 10 ms after the one before; then the next is not ended. */
static void *
run_frames(void *waits)
{
	void (*const *in)(void) = waits;
	uint64_t tid = tally_clock_thread().thread;
	for (unsigned i = 0; i < 20; i++)
		tally_late_frame_ended(tid, base_ns + i * 10 * MS);
	atomic_store(&frames_thread, tid);
	(*in)();
	return NULL;
}

static const struct {
	const char *name;
	void (*wait)(void);
	const char *in, *of, *thread; /* in NULL: nothing is found */
	bool driver;
} table[] = {
	{ "pipe", read_pipe, "read", "pipe", NULL, false },
	{ "poll", poll_pipe, "poll", NULL, NULL, false },
	{ "lock", lock, "futex", NULL, "holder", false },
	{ "join", join, "futex", NULL, "worker", false },
	{ "nap", nap, "clock_nanosleep", NULL, NULL, false },
	{ "driver", wait_in_driver, "read", "pipe", NULL, true },
	{ "work", work, NULL, NULL, NULL, false },
};

static void
test_place(const void *row)
{
	const struct tally_asleep_record *found;
	const unsigned i = GPOINTER_TO_UINT(row);
	bool joins = table[i].wait == join;
	prctl(PR_SET_NAME, "holder");
	atomic_store(&frames_thread, 0);
	atomic_store(&over, false);
	base_ns = tally_clock_now_ns();
	tally_late_forget();
	pthread_mutex_lock(&mutex);
	if (joins)
		pthread_create(&waited_for, NULL, run_worker, NULL);
	pthread_create(&frames, NULL, run_frames, (void *)&table[i].wait);
	while (!atomic_load(&frames_thread))
		g_usleep(1000);
	g_usleep(50000);
	uint64_t tid = atomic_load(&frames_thread), begin_ns = base_ns + 190 * MS;
	uint64_t late_ns = begin_ns + 15 * MS;

	/* Not late yet; then every 2 ms; nothing is known of another thread, or time. */
	g_assert_cmpuint(tally_late_look(late_ns - 9 * MS), ==, late_ns);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, late_ns, &found), ==, 0);
	for (unsigned look = 0; look < 3; look++)
		g_assert_cmpuint(tally_late_look(late_ns + 2 * look * MS), ==,
				 late_ns + 2 * (look + 1) * MS);
	g_assert_cmpuint(tally_late_find(tid + 1, begin_ns, begin_ns + 40 * MS, &found), ==, 0);
	g_assert_cmpuint(tally_late_find(tid, base_ns, begin_ns, &found), ==, 0);
	uint32_t n = tally_late_find(tid, begin_ns, begin_ns + 40 * MS, &found);
	g_assert_cmpuint(n, ==, table[i].in ? 1 : 0);
	if (n) {
		g_assert_cmpstr(found->in, ==, table[i].in);
		g_assert_cmpstr(found->of, ==, table[i].of);
		g_assert_cmpstr(found->thread, ==, table[i].thread);
		g_assert_cmpint(found->driver, ==, table[i].driver);
		g_assert_cmpuint(found->n, ==, 3);
		g_assert_cmpuint(found->ns, ==, 25 * MS); /* to the frame's end */
	}
	/* The frame has ended, late: the next one has none of it. */
	tally_late_frame_ended(tid, begin_ns + 40 * MS);
	tally_late_look(begin_ns + 41 * MS);
	g_assert_cmpuint(tally_late_find(tid, begin_ns + 40 * MS, begin_ns + 50 * MS, &found), ==,
			 0);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, begin_ns + 40 * MS, &found), ==, n);

	atomic_store(&over, true);
	pthread_mutex_unlock(&mutex);
	g_assert_cmpint(write(ends[1], "x", 1), ==, 1);
	pthread_join(frames, NULL);
	char byte;
	if (!table[i].of && table[i].wait != poll_pipe && !joins)
		g_assert_cmpint(read(ends[0], &byte, 1), ==, 1);
	tally_late_forget();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_cmpint(pipe(ends), ==, 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		char *path = g_strdup_printf("/late/%s", table[i].name);
		g_test_add_data_func(path, GUINT_TO_POINTER(i), test_place);
		g_free(path);
	}
	return g_test_run();
}
