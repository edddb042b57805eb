/* cli/shared/result.h - a file that a command makes of a log: whole or not at all.
 *
 * It grows beside its place and is moved there when all was written; an error or a signal
 * that ends the command takes it away. A log is never replaced, and what is made of a log is
 * readable by no more people than the log is. "-" is standard output; a pipe or a device is
 * written in place. Complaints go to standard error. One thread; at most TALLY_MOST_RESULTS
 * at a time.
 */
#ifndef PASSTALLY_CLI_SHARED_RESULT_H
#define PASSTALLY_CLI_SHARED_RESULT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define TALLY_MOST_RESULTS 4

struct tally_result {
	const char *command; /* for complaints */
	const char *path;
	FILE *file; /* write here; NULL = not open */
	char *part; /* where it grows; NULL = at `path` itself */
	int error; /* errno of a failed write, where the caller saw one */
};

/* The permissions that what is made of this log gets, before the umask: read and write of
 * the log's own; of a log from a pipe, the user's. */
mode_t tally_result_mode(const char *log);
/* TALLY_EXIT_OK, or after printing an error TALLY_EXIT_USAGE (it is a log, which `hint` says
 * how to name) or TALLY_EXIT_FAILED. `binary`: not for a terminal. */
int tally_result_open(struct tally_result *t, const char *command, const char *path, mode_t mode,
		      bool binary, const char *hint);
/* `good` false: take it away. False when it is not there, after printing an error if `good`.
 * Standard output is judged by tally_cli_finish(). A target that is not open is not touched. */
bool tally_result_close(struct tally_result *t, bool good);

#endif
