/* SPDX-License-Identifier: MIT */
/* cli/run/launch.h - starts a program as a child process, as transparently as if it had been
 * started directly.
 *
 * The child stays in our process group, so the terminal's signals and job control reach it
 * directly: SIGINT and SIGQUIT are ignored here while it runs. SIGTERM, SIGHUP, SIGUSR1 and
 * SIGUSR2 sent to us are passed on. Its standard streams are untouched, unless `output` is set.
 * One program at a time; one thread.
 */
#ifndef PASSTALLY_CLI_RUN_LAUNCH_H
#define PASSTALLY_CLI_RUN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct tally_launch {
	pid_t pid; /* -1: no process could be made */
	int status; /* as waitpid(2) sets it, once the child has ended */
};

/* Executes argv[0] (searched for in PATH) in this process's environment. `output`: a file that
 * receives what the program would write to a terminal; it then reads nothing from a terminal.
 * NULL: its streams are left alone. Returns 0, or the errno of what failed; there is no child
 * then. */
int tally_launch_start(struct tally_launch *launch, char *const *argv, const char *output);

/* Starts a process that has the terminal and calls `show`, until the program has ended or later. */
void tally_launch_show(void (*show)(const struct tally_launch *, const void *),
		       const struct tally_launch *launch, const void *data);
/* Waits for the end of the program. */
void tally_launch_wait(struct tally_launch *launch);
/* Waits for the end of what shows it, ending that unless it may `stay`. Afterwards the previous
 * signal actions are restored. */
void tally_launch_finish(bool stay);

/* The exit status to pass on; does not return if the program was killed by a signal that can
 * also kill this process (which then dies of it, without a second core file). */
int tally_launch_leave(const struct tally_launch *launch);

#endif
