/* SPDX-License-Identifier: MIT */
/* cli/run/launch.h - starts a program as a child process, as transparently as if it had been
 * started directly.
 *
 * The child stays in our process group, so the terminal's signals and job control reach it
 * directly: SIGINT and SIGQUIT are ignored here while it runs. SIGTERM, SIGHUP, SIGUSR1 and
 * SIGUSR2 sent to us are passed on. Its standard streams are untouched, unless `output` is
 * set. One program at a time; one thread.
 */
#ifndef PASSTALLY_CLI_LAUNCH_H
#define PASSTALLY_CLI_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct tally_launch {
	pid_t pid;
	int go; /* the child waits until this is closed */
	int error; /* the errno of a failed exec is read from here */
	int status; /* as waitpid(2) sets it, once the child has ended */
	/* Set before tally_launch_go(): a file that receives what the program would write to
	 * a terminal; the program then reads nothing from a terminal. NULL: its streams are
	 * left alone. */
	const char *output;
};

/* Forks. The child waits until tally_launch_go(). False: errno says why. */
bool tally_launch_fork(struct tally_launch *launch, char *const *argv);
/* Lets the child execute argv[0] (searched for in PATH), with `value` in its environment
 * under `name`. Returns 0, or the errno of a failed exec; the child has then ended. */
int tally_launch_go(struct tally_launch *launch, const char *name, const char *value);
/* Cancels the launch: the child ends without executing anything. */
void tally_launch_abort(struct tally_launch *launch);

/* Whether it has ended (and waits to be reaped). */
bool tally_launch_is_over(const struct tally_launch *launch);
/* Waits for the end; `tick`, if not NULL, is called about four times a second. Afterwards
 * the previous signal actions are restored. */
void tally_launch_wait(struct tally_launch *launch, void (*tick)(void *), void *data);

/* The exit status to pass on; does not return if the program was killed by a signal that can
 * also kill this process (which then dies of it, without a second core file). */
int tally_launch_leave(const struct tally_launch *launch);

#endif
