/* SPDX-License-Identifier: MIT */
#include "query/microblaze/child_access.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)64 << 10)
#define BY_SIGNAL 77

struct work {
	void (*run)(void *data);
	void *data;
	volatile bool done;
};

/* Exits by the system call itself: what exit() would clean up belongs to the game. */
static void
leave(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

static void
on_signal(int signal)
{
	(void)signal;
	leave(BY_SIGNAL);
}

/* Runs in the child. Its table of signal handlers is a copy, so changes do not affect the
 * game. */
static int
run_child(void *data)
{
	struct work *work = data;
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGBUS, &action, NULL);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	work->run(work->data);
	work->done = true;
	leave(0);
	return 0;
}

enum tally_child_access
tally_child_access_run(void (*run)(void *data), void *data)
{
	struct work work = { .run = run, .data = data };
	int saved_errno = errno, status = 0;
	sigset_t all, before;
	char *stack = malloc(STACK_BYTES);
	if (!stack)
		return TALLY_CHILD_ACCESS_NONE;
	/* A signal that arrives meanwhile is meant for the game and stays pending: its handler
	 * must not run in the child. The child sends no signal when it exits, so that a game
	 * that waits for its own children does not see it (__WCLONE). */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	char *top = stack + STACK_BYTES;
	top -= (uintptr_t)top % 64;
	pid_t child = clone(run_child, top, CLONE_VM | CLONE_VFORK, &work);
	pid_t got = -1;
	while (child > 0 && (got = waitpid(child, &status, __WCLONE)) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	free(stack);
	errno = saved_errno;
	if (child < 0)
		return TALLY_CHILD_ACCESS_NONE;
	return work.done ? TALLY_CHILD_ACCESS_OK : TALLY_CHILD_ACCESS_BUS_ERROR;
}
