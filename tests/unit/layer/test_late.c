/* SPDX-License-Identifier: MIT */
/* layer/event/late.h: where a thread is found while its frame is late, and where it is not. */
#include "layer/event/late.h"

#include <glib.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "tests/unit/sandbox.h"

#define MS UINT64_C(1000000)

static atomic_ullong frames_thread;
static atomic_bool over;
static int ends[2]; /* of a pipe: a byte lets the thread go on */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t frames, waited_for;
/* A word in which a thread waits, and what stands after it. */
static struct {
	_Atomic uint32_t word, more[5];
} plant;
static uint64_t holder;

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
nap_to(void)
{
	struct timespec to;
	clock_gettime(CLOCK_MONOTONIC, &to);
	for (; !atomic_load(&over); to.tv_sec++)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &to, NULL);
}

static void
poll_nothing(void)
{
	while (!atomic_load(&over))
		poll(NULL, 0, 200);
}

static void
wait_in_driver(void)
{
	struct tally_clock_wait outer = tally_clock_wait_begin();
	struct tally_clock_wait inner = tally_clock_wait_begin();
	tally_clock_wait_end(&inner);
	read_pipe();
	tally_clock_wait_end(&outer);
}

static void
wait_in_word(uint32_t value, int operation)
{
	atomic_store(&plant.word, value);
	while (!atomic_load(&over))
		syscall(SYS_futex, &plant.word, operation, value, NULL, NULL, UINT32_MAX);
}

/* A lock of GLib, of Go, of many: 2 is locked, and a neighbour is a thread's number by chance. */
static void
wait_in_other_lock(void)
{
	plant.more[1] = (uint32_t)holder;
	wait_in_word(2, FUTEX_WAIT_PRIVATE);
}

/* A lock of musl, in a container, where threads have small numbers; an atomic's wait(). */
static void
wait_in_negative(void)
{
	wait_in_word(FUTEX_WAITERS | (uint32_t)holder, FUTEX_WAIT_PRIVATE);
}

/* Mesa's locks and fences are such words, locked is 2; in a container that is a thread's number. */
static void
wait_in_shared(void)
{
	wait_in_word((uint32_t)holder, FUTEX_WAIT_BITSET);
}

/* A mutex of glibc: a count, the holder, then users and kind in the order of the machine. */
static void
wait_in_planted(void)
{
	plant.more[1] = (uint32_t)holder;
	plant.more[sizeof(long) == 8 ? 2 : 3] = 1;
	wait_in_word(2, FUTEX_WAIT_PRIVATE);
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
	prctl(PR_SET_NAME, "frames");
	for (unsigned i = 0; i < 20; i++)
		tally_late_frame_ended(tid, base_ns + i * 10 * MS, true);
	atomic_store(&frames_thread, tid);
	(*in)();
	return NULL;
}

#define LOOKS "pread64" /* in which this thread, the main one, finds itself */

static const struct row {
	const char *name;
	void (*wait)(void);
	const char *in, *of, *thread; /* in NULL: nothing is found */
	const char *other_in, *other_of;
	uint64_t asked_ms;
} table[] = {
	{ "pipe", read_pipe, "read", "pipe", NULL, NULL, NULL, 0 },
	{ "poll", poll_pipe, "poll", NULL, NULL, NULL, NULL, 0 },
	{ "poll-nothing", poll_nothing, "poll", "sleep", NULL, NULL, NULL, 0 },
	{ "lock", lock, "futex", NULL, "holder", LOOKS, NULL, 0 },
	{ "planted", wait_in_planted, "futex", NULL, "holder", LOOKS, NULL, 0 },
	{ "other-lock", wait_in_other_lock, "futex", NULL, NULL, LOOKS, NULL, 0 },
	{ "negative", wait_in_negative, "futex", NULL, NULL, LOOKS, NULL, 0 },
	{ "shared", wait_in_shared, "futex", NULL, NULL, LOOKS, NULL, 0 },
	{ "join", join, "futex", NULL, "worker", "read", "pipe", 0 },
	{ "nap", nap, "clock_nanosleep", NULL, NULL, NULL, NULL, 200 },
	{ "nap-to", nap_to, "clock_nanosleep", NULL, NULL, NULL, NULL, 0 },
	{ "driver", wait_in_driver, NULL, NULL, NULL, NULL, NULL, 0 },
	{ "work", work, NULL, NULL, NULL, NULL, NULL, 0 },
};

/* The thread of frames is where it waits; its 20th frame ended 190 ms after base_ns. */
static uint64_t
start_frames(const struct row *p)
{
	prctl(PR_SET_NAME, "holder");
	holder = (uint64_t)syscall(SYS_gettid);
	atomic_store(&frames_thread, 0);
	atomic_store(&over, false);
	for (unsigned i = 0; i < G_N_ELEMENTS(plant.more); i++)
		atomic_store(&plant.more[i], 0);
	base_ns = tally_clock_now_ns();
	tally_late_forget();
	pthread_mutex_lock(&mutex);
	if (p->wait == join)
		pthread_create(&waited_for, NULL, run_worker, NULL);
	pthread_create(&frames, NULL, run_frames, (void *)&p->wait);
	while (!atomic_load(&frames_thread))
		g_usleep(1000);
	g_usleep(50000);
	return atomic_load(&frames_thread);
}

static void
stop_frames(void)
{
	struct pollfd f = { .fd = ends[0], .events = POLLIN };
	atomic_store(&over, true);
	atomic_store(&plant.word, 0);
	syscall(SYS_futex, &plant.word, FUTEX_WAKE, 1, NULL, NULL, 0);
	syscall(SYS_futex, &plant.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_mutex_unlock(&mutex);
	g_assert_cmpint(write(ends[1], "x", 1), ==, 1);
	pthread_join(frames, NULL);
	if (poll(&f, 1, 0) == 1)
		read_pipe();
	tally_late_forget();
}

static void
test_place(const void *row)
{
	const struct tally_asleep_record *found;
	const struct row *p = row;
	uint64_t tid = start_frames(p), begin_ns = base_ns + 190 * MS;
	uint64_t late_ns = begin_ns + 14 * MS;

	/* Not late yet; then every 2 ms; nothing is known of another thread, or time. */
	g_assert_cmpuint(tally_late_look(late_ns - 9 * MS), ==, late_ns);
	g_assert_cmpuint(tally_late_look(late_ns - MS), ==, late_ns);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, late_ns, &found), ==, 0);
	for (unsigned look = 0; look < 3; look++)
		g_assert_cmpuint(tally_late_look(late_ns + 2 * look * MS), ==,
				 late_ns + 2 * (look + 1) * MS);
	g_assert_cmpuint(tally_late_find(tid + 1, begin_ns, begin_ns + 40 * MS, &found), ==, 0);
	g_assert_cmpuint(tally_late_find(tid, base_ns, begin_ns, &found), ==, 0);
	uint32_t n = tally_late_find(tid, begin_ns, begin_ns + 40 * MS, &found);
	g_assert_cmpuint(n, ==, p->in ? 1 : 0);
	if (n) {
		g_assert_cmpstr(found->in, ==, p->in);
		g_assert_cmpstr(found->of, ==, p->of);
		g_assert_cmpstr(found->thread, ==, p->thread);
		g_assert_cmpstr(found->other_in, ==, p->other_in);
		g_assert_cmpstr(found->other_of, ==, p->other_of);
		g_assert_cmpuint(found->asked_ns, ==, sizeof(long) == 8 ? p->asked_ms * MS : 0);
		g_assert_cmpuint(found->n, ==, 3);
		g_assert_cmpuint(found->ns, ==, 6 * MS); /* to where the next look is due */
	}
	/* The same, as long as its end is not known. */
	g_assert_cmpuint(tally_late_find_unended(tid + 1, begin_ns + 40 * MS, &found), ==, 0);
	g_assert_cmpuint(tally_late_find_unended(tid, begin_ns + 18 * MS, &found), ==, n);
	g_assert_cmpuint(n ? found->ns : 4 * MS, ==, 4 * MS);
	/* The frame has ended, late: the next one has none of it. */
	tally_late_frame_ended(tid, begin_ns + 20 * MS, true);
	tally_late_look(begin_ns + 41 * MS);
	g_assert_cmpuint(tally_late_find(tid, begin_ns + 20 * MS, begin_ns + 30 * MS, &found), ==,
			 0);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, begin_ns + 20 * MS, &found), ==, n);
	g_assert_cmpuint(n ? found->ns : 6 * MS, ==, 6 * MS);
	stop_frames();
}

/* The lock goes from hand to hand while the thread waits: each holder is named. */
static void
test_handed_on(void)
{
	static const struct row p = { .wait = wait_in_planted };
	const struct tally_asleep_record *found;
	uint64_t tid = start_frames(&p), begin_ns = base_ns + 190 * MS;
	tally_late_look(begin_ns + 20 * MS);
	plant.more[1] = (uint32_t)tid;
	tally_late_look(begin_ns + 22 * MS);
	tally_late_look(begin_ns + 24 * MS);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, begin_ns + 40 * MS, &found), ==, 2);
	g_assert_cmpstr(found[0].thread, ==, "holder");
	g_assert_cmpuint(found[0].ns, ==, 2 * MS);
	g_assert_cmpstr(found[1].thread, ==, "frames");
	g_assert_cmpuint(found[1].ns, ==, 4 * MS);
	stop_frames();
}

/* The whole program was stopped, so nobody looked: where the thread was then, nobody knows. */
static void
test_stopped(void)
{
	static const struct row p = { .wait = read_pipe };
	const struct tally_asleep_record *found;
	uint64_t tid = start_frames(&p), begin_ns = base_ns + 190 * MS;
	tally_late_look(begin_ns + 20 * MS);
	tally_late_look(begin_ns + 5020 * MS);
	tally_late_look(begin_ns + 5120 * MS);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, begin_ns + 5130 * MS, &found), ==, 1);
	g_assert_cmpuint(found->n, ==, 3);
	g_assert_cmpuint(found->ns, ==, (2 + 110) * MS);
	stop_frames();
}

/* Nobody looks after 30 s: where the thread was then, nobody knows. */
static void
test_long(void)
{
	static const struct row p = { .wait = read_pipe };
	const struct tally_asleep_record *found;
	uint64_t tid = start_frames(&p), begin_ns = base_ns + 190 * MS;
	uint64_t next_ns = tally_late_look(begin_ns + 29900 * MS);
	g_assert_cmpuint(next_ns, >, begin_ns + 30000 * MS);
	g_assert_cmpuint(tally_late_look(next_ns), ==, UINT64_MAX);
	tally_late_frame_ended(tid, begin_ns + 60000 * MS, true);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, begin_ns + 60000 * MS, &found), ==, 1);
	g_assert_cmpuint(found->ns, ==, next_ns - (begin_ns + 29900 * MS));
	stop_frames();
}

/* A second thread that ends frames takes a free place, not that of one that is late. */
static void
test_second(void)
{
	static const struct row p = { .wait = read_pipe };
	const struct tally_asleep_record *found;
	uint64_t tid = start_frames(&p), begin_ns = base_ns + 190 * MS;
	tally_late_frame_ended(holder, begin_ns + 1100 * MS, true);
	tally_late_look(begin_ns + 1200 * MS);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, begin_ns + 1300 * MS, &found), ==, 1);
	stop_frames();
}

/* With --every 10, what is usual is what captured frames take, not the ten from one to the next,
 * and nobody looks meanwhile. */
static void
test_every(void)
{
	static const struct row p = { .wait = read_pipe };
	const struct tally_asleep_record *found;
	uint64_t tid = start_frames(&p), now_ns = base_ns + 190 * MS;
	tally_late_look(now_ns + 20 * MS);
	g_assert_cmpuint(tally_late_find_unended(tid, now_ns + 24 * MS, &found), ==, 1);
	for (unsigned i = 0; i < 20; i++) {
		tally_late_frame_ended(tid, now_ns += 10 * MS, false);
		g_assert_cmpuint(tally_late_look(now_ns + 50 * MS), ==, UINT64_MAX);
		g_assert_cmpuint(tally_late_find_unended(tid, now_ns + 50 * MS, &found), ==, 0);
		tally_late_frame_ended(tid, now_ns += 90 * MS, true);
	}
	g_assert_cmpuint(tally_late_look(now_ns + MS), ==, now_ns + 14 * MS);
	stop_frames();
}

/* After three frames that took longer, frames are looked at from their beginning, for a while; of
 * one that is late after all only what it slept in then is listed. */
static void
test_slower(void)
{
	static const struct row p = { .wait = nap };
	const struct tally_asleep_record *found;
	uint64_t tid = start_frames(&p), now_ns = base_ns + 190 * MS;
	for (unsigned i = 0; i < 3; i++) {
		g_assert_cmpuint(tally_late_look(now_ns + 3 * MS), >, now_ns + 13 * MS);
		tally_late_frame_ended(tid, now_ns += 16 * MS, true);
	}
	for (unsigned ms = 1; ms < 20; ms += 2)
		tally_late_look(now_ns + ms * MS);
	g_assert_cmpuint(tally_late_find(tid, now_ns, now_ns + 13 * MS, &found), ==, 1);
	g_assert_cmpstr(found->in, ==, "clock_nanosleep");
	g_assert_cmpuint(found->ns, ==, 10 * MS);
	g_assert_cmpuint(tally_late_find(tid, now_ns, now_ns + 20 * MS, &found), ==, 1);
	g_assert_cmpuint(found->ns, <, 4 * MS);
	for (unsigned i = 0; i < 12; i++) {
		uint64_t first_ns = now_ns + (i % 2 ? 4 : 2) * MS;
		g_assert_cmpuint(tally_late_look(now_ns + MS), ==, first_ns);
		g_assert_cmpuint(tally_late_look(first_ns), ==, first_ns + 4 * MS);
		tally_late_frame_ended(tid, now_ns += 12 * MS, true);
	}
	g_assert_cmpuint(tally_late_look(now_ns + MS), >, now_ns + 14 * MS);
	stop_frames();
}

/* Where a filter may end the program at process_vm_readv(), a lock names nobody; where no file can
 * be opened, nothing is found. */
static void
test_sandbox(const void *no_files)
{
	static const struct row p = { .wait = lock };
	const struct tally_asleep_record *found;
	if (!sandbox_is_entered())
		return;
	uint64_t tid = start_frames(&p), begin_ns = base_ns + 190 * MS;
	if (no_files)
		sandbox_shut_in();
	else
		sandbox_enter();
	tally_late_look(begin_ns + 20 * MS);
	g_assert_cmpuint(tally_late_find(tid, begin_ns, begin_ns + 40 * MS, &found), ==,
			 no_files ? 0 : 1);
	g_assert_cmpstr(no_files ? NULL : found->thread, ==, NULL);
	/* What was refused is not asked again. */
	g_assert_cmpint(tally_late_look(begin_ns + 30 * MS) == UINT64_MAX, ==, no_files != NULL);
	stop_frames();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_cmpint(pipe(ends), ==, 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		char *path = g_strdup_printf("/late/%s", table[i].name);
		g_test_add_data_func(path, &table[i], test_place);
		g_free(path);
	}
	g_test_add_func("/late/handed-on", test_handed_on);
	g_test_add_func("/late/stopped", test_stopped);
	g_test_add_func("/late/long", test_long);
	g_test_add_func("/late/second", test_second);
	g_test_add_func("/late/every", test_every);
	g_test_add_func("/late/slower", test_slower);
	g_test_add_data_func("/late/filtered", NULL, test_sandbox);
	g_test_add_data_func("/late/shut-in", "no files", test_sandbox);
	return g_test_run();
}
