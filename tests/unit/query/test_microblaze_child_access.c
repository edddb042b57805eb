/* SPDX-License-Identifier: MIT */
/* The first access to memory that may not answer: what happens to it, and what the game
 * sees. */
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "query/microblaze/child_access.h"

static volatile sig_atomic_t n_bus, n_child, n_usr;

static void
on_signal(int number)
{
	if (number == SIGBUS)
		n_bus++;
	else if (number == SIGCHLD)
		n_child++;
	else
		n_usr++;
}

static void
catch_all(void)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	g_assert_cmpint(sigaction(SIGBUS, &action, NULL), ==, 0);
	g_assert_cmpint(sigaction(SIGCHLD, &action, NULL), ==, 0);
	g_assert_cmpint(sigaction(SIGUSR1, &action, NULL), ==, 0);
}

struct step {
	volatile uint32_t *from;
	uint32_t value;
	unsigned n;
	bool raises;
};

static void
look(void *data)
{
	struct step *s = data;
	s->n++;
	if (s->raises)
		kill(getppid(), SIGUSR1);
	s->value = *s->from;
	s->n++;
}

/* A file without bytes: access beyond its end is a bus error. */
static void *
map_nothing(void)
{
	int fd = memfd_create("nothing", MFD_CLOEXEC);
	g_assert_cmpint(fd, >=, 0);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	g_assert_true(map != MAP_FAILED);
	close(fd);
	return map;
}

/* The game has no child process, its handlers are unchanged, and no signal was reported. */
static void
check_untouched(void)
{
	struct sigaction now;
	g_assert_cmpint(sigaction(SIGBUS, NULL, &now), ==, 0);
	g_assert_true(now.sa_handler == on_signal);
	g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1);
	g_assert_cmpint(errno, ==, ECHILD);
	g_assert_cmpint(n_bus, ==, 0);
	g_assert_cmpint(n_child, ==, 0);
	sigset_t blocked;
	g_assert_cmpint(pthread_sigmask(SIG_BLOCK, NULL, &blocked), ==, 0);
	g_assert_false(sigismember(&blocked, SIGBUS) || sigismember(&blocked, SIGUSR1));
}

static void
test_fine(void)
{
	uint32_t number = 7;
	for (unsigned i = 0; i < 20; i++) {
		struct step s = { .from = &number };
		errno = E2BIG;
		g_assert_cmpint(tally_child_access_run(look, &s), ==, TALLY_CHILD_ACCESS_OK);
		g_assert_cmpint(errno, ==, E2BIG);
		g_assert_cmpuint(s.value, ==, 7);
		g_assert_cmpuint(s.n, ==, 2);
		check_untouched();
	}
}

static void
test_bus_error(void)
{
	void *map = map_nothing();
	struct step s = { .from = map };
	for (unsigned i = 0; i < 20; i++) {
		errno = E2BIG;
		g_assert_cmpint(tally_child_access_run(look, &s), ==, TALLY_CHILD_ACCESS_BUS_ERROR);
		g_assert_cmpint(errno, ==, E2BIG);
		g_assert_cmpuint(s.n, ==, i + 1);
		check_untouched();
	}
	munmap(map, 4096);
}

/* A signal that arrives meanwhile is the game's, and is delivered once, afterwards. */
static void
test_signal(void)
{
	uint32_t number = 7;
	struct step s = { .from = &number, .raises = true };
	n_usr = 0;
	g_assert_cmpint(tally_child_access_run(look, &s), ==, TALLY_CHILD_ACCESS_OK);
	g_assert_cmpuint(s.value, ==, 7);
	g_assert_cmpint(n_usr, ==, 1);
	check_untouched();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	catch_all();
	g_test_add_func("/microblaze-guard/fine", test_fine);
	g_test_add_func("/microblaze-guard/bus-error", test_bus_error);
	g_test_add_func("/microblaze-guard/signal", test_signal);
	return g_test_run();
}
