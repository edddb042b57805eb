/* SPDX-License-Identifier: MIT */
#include "layer/base/futex.h"

#include <errno.h>
#include <glib.h>

#define ROUNDS 2000
#define SLEEPERS 4

/* It would hang if it waited: no time is measured. */
static void
test_another_value(void)
{
	_Atomic uint32_t word = 3;
	tally_futex_wait(&word, 2, TALLY_FOREVER);
}

static void
test_timeout(void)
{
	static const uint64_t timeouts_ns[] = { 0, 1, 999999999, UINT64_C(1000000000) };
	_Atomic uint32_t word = 3;
	for (size_t i = 0; i < G_N_ELEMENTS(timeouts_ns); i++)
		tally_futex_wait(&word, 3, timeouts_ns[i]);
}

static void
test_errno_is_kept(void)
{
	_Atomic uint32_t word = 0;
	errno = ENOTTY;
	tally_futex_wake_all(&word);
	g_assert_cmpint(errno, ==, ENOTTY);
}

struct turns {
	_Atomic uint32_t turn; /* even: the main thread's turn */
};

static gpointer
answer(gpointer data)
{
	struct turns *t = data;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		while (atomic_load(&t->turn) != 2 * i + 1)
			tally_futex_wait(&t->turn, 2 * i, TALLY_FOREVER);
		atomic_store(&t->turn, 2 * i + 2);
		tally_futex_wake_all(&t->turn);
	}
	return NULL;
}

/* A lost wake-up would leave both asleep forever. */
static void
test_turns(void)
{
	struct turns t = { 0 };
	GThread *thread = g_thread_new("answer", answer, &t);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		atomic_store(&t.turn, 2 * i + 1);
		tally_futex_wake_all(&t.turn);
		while (atomic_load(&t.turn) != 2 * i + 2)
			tally_futex_wait(&t.turn, 2 * i + 1, TALLY_FOREVER);
	}
	g_thread_join(thread);
}

static gpointer
sleep_on(gpointer data)
{
	_Atomic uint32_t *word = data;
	while (atomic_load(word) == 0)
		tally_futex_wait(word, 0, TALLY_FOREVER);
	return NULL;
}

static void
test_wakes_all(void)
{
	for (unsigned round = 0; round < 50; round++) {
		_Atomic uint32_t word = 0;
		GThread *threads[SLEEPERS];
		for (unsigned i = 0; i < SLEEPERS; i++)
			threads[i] = g_thread_new("sleeper", sleep_on, &word);
		atomic_store(&word, 1);
		tally_futex_wake_all(&word);
		for (unsigned i = 0; i < SLEEPERS; i++)
			g_thread_join(threads[i]);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/futex/another-value", test_another_value);
	g_test_add_func("/futex/timeout", test_timeout);
	g_test_add_func("/futex/errno-is-kept", test_errno_is_kept);
	g_test_add_func("/futex/turns", test_turns);
	g_test_add_func("/futex/wakes-all", test_wakes_all);
	return g_test_run();
}
