/* SPDX-License-Identifier: MIT */
/* cli/run/log.h - the log of a run, as `passtally run` handles it.
 *
 * run chooses the path before the program starts, so that it knows the path afterwards. A program
 * that starts others may leave more logs: each process that finds the path taken writes
 * NAME.PID.jsonl (PATH.PID if the path does not end in .jsonl).
 */
#ifndef PASSTALLY_CLI_RUN_LOG_H
#define PASSTALLY_CLI_RUN_LOG_H

#include "layer/config/config.h"

#include <glib.h>
#include <stdbool.h>

struct tally_run_log {
	char *path; /* absolute */
	bool by_default; /* the default location, whose folder is created */
	GHashTable *before; /* such files that existed before */
};

/* Chooses the path for a program that starts now; `pid` is %p in it. Returns false after
 * printing an error. */
bool tally_run_log_choose(struct tally_run_log *log, const struct tally_config *config,
			  const char *program, uint64_t started_unix_ns, long pid);
/* Prepares the location: creates the default folder; with `force` removes an old log.
 * Returns TALLY_EXIT_OK, or TALLY_EXIT_USAGE after printing an error, also for a folder that
 * is missing or cannot be written: what the program would render is lost. */
int tally_run_log_prepare(struct tally_run_log *log, bool force);
/* The value of PASSTALLY_LOG for it (a pattern: '%' is doubled); the caller frees it. */
char *tally_run_log_variable(const struct tally_run_log *log);
/* The logs that exist now: paths (char *), freed by the caller. */
GPtrArray *tally_run_log_find(const struct tally_run_log *log);

/* The contents of a log. */
struct tally_run_content {
	bool device, frame; /* at least one */
	bool digest; /* frames have no lines */
};
/* Reads as far as the first frame. */
struct tally_run_content tally_run_log_content(const char *path);
/* Removes from the disk and from the array the logs that contain nothing: neither a device nor
 * a frame, nor a writer. Returns how many. */
unsigned tally_run_log_remove_empty(GPtrArray *logs);

void tally_run_log_finish(struct tally_run_log *log);

#endif
