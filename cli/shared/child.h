/* SPDX-License-Identifier: MIT */
/* cli/shared/child.h - runs a program that a driver may crash or hang, with a time limit.
 *
 * Its output goes to files and is read back. A child that exceeds its limit, or that runs when
 * the user ends the command, is killed with all processes that it started. One thread; blocks
 * until the child has ended.
 */
#ifndef PASSTALLY_CLI_CHILD_H
#define PASSTALLY_CLI_CHILD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct tally_child {
	int status; /* as waitpid(2) sets it; of no meaning if `hung` or `error` is set */
	bool hung; /* killed at its limit */
	bool stopped; /* killed because the user ended the self-test */
	char *error; /* why it could not be started; NULL = it was started */
	char *out, *err; /* its output, never NULL */
	uint64_t ended_ns; /* CLOCK_MONOTONIC */
};

/* Adds the words of a command, borrowed, of which NULL is the last. */
void tally_child_words(GPtrArray *argv, ...) G_GNUC_NULL_TERMINATED;
/* From now on SIGINT, SIGTERM and SIGHUP only end the child that runs. */
void tally_child_take_signals(void);
/* The signal that came, 0 = none. */
int tally_child_signal(void);
/* `folder`/`name`.out and .err are written; with NULL for `folder`, the output is in memory
 * alone, and a line on a terminal says after 2 s that the command waits for `name`.
 * `environment` as execve(2) takes it. */
void tally_child_run(struct tally_child *child, char *const *argv, char **environment,
		     const char *folder, const char *name, double limit_s);
/* "exit status 3", "signal 11 (Segmentation fault)", ...; the caller frees it. */
char *tally_child_say(const struct tally_child *child);
/* The last line of its error output: drivers may have printed warnings before. The caller frees
 * it. */
char *tally_child_last_words(const struct tally_child *child);
/* Whether it ended by itself, not by a signal: then its status is an exit status. */
bool tally_child_exited(const struct tally_child *child);
void tally_child_clear(struct tally_child *child);

#endif
