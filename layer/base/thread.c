/* SPDX-License-Identifier: MIT */
#include "layer/base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* Untouched pages cost nothing; the static TLS of the game's libraries
 * is taken from the stack. */
#define STACK_BYTES (256u << 10)

bool
tally_thread_start(void *(*run)(void *), void *data)
{
	pthread_attr_t attr;
	if (pthread_attr_init(&attr) != 0)
		return false;
	long least = sysconf(_SC_THREAD_STACK_MIN);
	size_t stack = STACK_BYTES + (least > 0 ? (size_t)least : 0);
	pthread_attr_setstacksize(&attr, stack);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* The game's signals are for the game's threads. SIGSYS is each thread's own: a sandbox
	 * answers calls that it does not let through in a handler, and where it is blocked the
	 * kernel ends the program. */
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_t thread;
	int error = pthread_create(&thread, &attr, run, data);
	if (error) /* libraries with much static TLS: let the system choose */
		error = pthread_attr_setstacksize(&attr, 8u << 20) ||
			pthread_create(&thread, &attr, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return error == 0;
}
