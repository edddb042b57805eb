/* SPDX-License-Identifier: MIT */
/* cli/shared/result.h - a file that a command produces from a log: complete or not at all.
 *
 * It is written under a temporary name in the same folder and renamed when complete; an
 * error or a signal that ends the command removes it. A log is never replaced, and the
 * result is never readable by more people than the log is. "-" is standard output; a pipe or
 * a device is written directly. Errors are printed on standard error. One thread; one
 * at a time.
 */
#ifndef PASSTALLY_CLI_SHARED_RESULT_H
#define PASSTALLY_CLI_SHARED_RESULT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct tally_result {
	const char *command; /* command name for error messages */
	const char *path;
	FILE *file; /* the stream to write to; NULL = not open */
	char *part; /* the temporary file; NULL = written directly to `path` */
	int error; /* errno of a failed write, if the caller saw one */
};

/* The permissions of a file made from this log, before the umask: the read and write
 * permissions of the log; for a log from a pipe, those of the user. */
mode_t tally_result_mode(const char *log);
/* Returns TALLY_EXIT_OK or, after printing an error, TALLY_EXIT_USAGE, as where the file is a
 * log; `hint` then says how to name the output. `binary`: refuse to write to a terminal. */
int tally_result_open(struct tally_result *t, const char *command, const char *path, mode_t mode,
		      bool binary, const char *hint);
/* `good` false: removes the file. Returns false if the file was not created, after printing
 * an error if `good`. Standard output is checked by tally_cli_finish(). A target that is not
 * open is not touched. */
bool tally_result_close(struct tally_result *t, bool good);

#endif
