/* SPDX-License-Identifier: MIT */
#include "layer/base/thread.h"

#include "layer/base/clock.h"
#include "layer/base/own_threads.h"
#include "layer/base/small_file.h"

#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sandbox.h"

static atomic_bool ended;
static atomic_int n_answered;

/* A sandbox's broker would do here what the call asks for. */
static void
answer(int sig)
{
	(void)sig;
	atomic_fetch_add(&n_answered, 1);
}

static void *
make_refused_call(void *mask)
{
	pthread_sigmask(SIG_SETMASK, NULL, mask);
	syscall(SYS_getsid, 0);
	tally_own_threads_enter();
	g_assert_cmpuint(tally_clock_thread().thread, !=, 0);
	tally_own_threads_leave();
	atomic_store(&ended, true);
	return NULL;
}

static void
test_sandbox(void)
{
	if (!sandbox_is_entered())
		return;
	const struct sigaction handler = { .sa_handler = answer };
	g_assert_cmpint(sigaction(SIGSYS, &handler, NULL), ==, 0);
	sandbox_shut_in();
	sigset_t mask;
	g_assert_true(tally_thread_start(make_refused_call, &mask));
	while (!atomic_load(&ended))
		g_usleep(1000);
	g_assert_cmpint(atomic_load(&n_answered), ==, 1);
	g_assert_true(sigismember(&mask, SIGTERM));
	g_assert_true(sigismember(&mask, SIGUSR1));
}

/* Room for our descriptors, by no call at which a filter ends the program. */
static void
test_room(void)
{
	g_autofree char *status = NULL;
	if (!sandbox_is_entered())
		return;
	bool enough = sysconf(_SC_OPEN_MAX) > 2048;
	sandbox_enter();
	errno = 7;
	tally_small_file_make_room();
	g_assert_cmpint(errno, ==, 7);
	g_assert_true(g_file_get_contents("/proc/self/status", &status, NULL, NULL));
	const char *size = strstr(status, "\nFDSize:");
	const char *threads = strstr(status, "\nThreads:");
	if (enough && strtol(threads + 9, NULL, 10) == 1)
		g_assert_cmpint(strtol(size + 8, NULL, 10), >, 2048);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/thread/sandbox", test_sandbox);
	g_test_add_func("/thread/room", test_room);
	return g_test_run();
}
