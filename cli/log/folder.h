/* SPDX-License-Identifier: MIT */
/* cli/log/folder.h - the folder where logs go by default, and which of its logs a command uses
 * when none is named.
 *
 * A file counts as a log only if its first line is a header that the reader accepts,
 * whatever its name is. One thread; files are opened and read as far as stated.
 */
#ifndef PASSTALLY_CLI_LOG_FOLDER_H
#define PASSTALLY_CLI_LOG_FOLDER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct tally_folder_log {
	char *path;
	char *program; /* base name, as in %e, without a multiarch triplet (".x86_64-linux-gnu") */
	char *started_as; /* base name of its first argument, cut likewise; NULL = not known */
	int64_t changed_ns; /* when it was last written to */
	uint64_t started_unix_ns;
	uint64_t bytes; /* of the file */
	long pid; /* of its writer, as the writer saw it */
};

/* $XDG_STATE_HOME/passtally; the caller frees it. NULL: no home is known. */
char *tally_folder_path(void);
/* Whether a log lies in that folder: its name alone says where it is. */
bool tally_folder_holds(const char *path);
/* The logs of a folder, last written first; struct tally_folder_log, freed with the array.
 * Reads the first line of each. A folder that does not exist has none. */
GPtrArray *tally_folder_list(const char *folder);
uint64_t tally_folder_bytes(const GPtrArray *logs); /* of all of them */
/* The path of a log without ".jsonl" and ".zst", from which files beside it take their names; the
 * caller frees it. */
char *tally_folder_stem(const char *log);
/* Reads the first line. False: the file is not a log. *log is freed by
 * tally_folder_log_finish() if true. */
bool tally_folder_log_read(struct tally_folder_log *log, const char *path);
void tally_folder_log_finish(struct tally_folder_log *log);

/* Whether it is a log of the program of that name, which may be that of its file or the one by
 * which it was started, with or without a multiarch triplet. */
bool tally_folder_log_is_of(const struct tally_folder_log *log, const char *program);

/* Whether a process of that number runs. */
bool tally_process_lives(int64_t pid);
/* Whether a process has an open file open for writing: 1 = yes, 0 = no, -1 = unknown, as where the
 * file system has no leases. */
int tally_file_is_written(int fd);
/* Whether a process has the file open for writing; also true if that is unknown and the log's
 * writer is running. */
bool tally_folder_log_is_written(const struct tally_folder_log *log);

/* Removes the logs of a folder that were last written to longest ago, until those that are
 * left have at most `quota` bytes together. Those that are still written to stay. *n and
 * *bytes count what was removed. */
void tally_folder_trim(const char *folder, uint64_t quota, unsigned *n, uint64_t *bytes);

/* The log that `word` means for `command`: a file of that name, or "-", or else the log in the
 * default folder that the program of that name wrote last; NULL: the one that any program wrote
 * last. A log that was chosen in this way is printed on standard error. The caller frees it;
 * NULL after printing an error. A path that is not there is returned as it is, for its reader to
 * report. */
char *tally_folder_choose(const char *command, const char *word);
/* The two logs that one program wrote last, for compare: the last one of all (of `program`,
 * or of any if that is NULL) and the one before. False after printing an error. The caller
 * frees both. */
bool tally_folder_choose_two(const char *command, const char *program, char **base,
			     char **fresh);

/* For a list of files from the command line: replaces each word by its log, or adds the newest
 * log to an empty list. The paths live as long as `owned`, which frees them. False after
 * printing an error. */
bool tally_folder_choose_all(const char *command, GPtrArray *words, GPtrArray *owned);

#endif
