/* SPDX-License-Identifier: MIT */
/* layer/session/log_file.h - names the log, and opens it without damage to an existing one.
 *
 * A process may be forked, may execute another program and may be one of several that a
 * launcher starts with the same options: each of them gets its own log. Called by the
 * session with its lock held; opening blocks as open(2) does.
 */
#ifndef PASSTALLY_LAYER_SESSION_LOG_FILE_H
#define PASSTALLY_LAYER_SESSION_LOG_FILE_H

#include "layer/config/config.h"
#include "layer/recorder.h"

/* The inputs for the names of one capture. */
struct tally_naming {
	const struct tally_config *config;
	const char *program; /* %e; may be a path */
	uint64_t started_unix_ns;
	long pid;
	bool forked; /* the parent has the unchanged name */
};

/* Expands the pattern (NULL: the default log); ".PID" is added (NAME.PID.jsonl) if a forked
 * child would otherwise have its parent's name. Caller frees; NULL on OOM and if no home is
 * known. */
char *tally_naming_expand(const struct tally_naming *naming, const char *pattern);

/* Opens the log, under a name with a number if its own is taken, which a note reports. `path`
 * gets the name. NULL: an error note says why nothing is captured. */
struct tally_recorder *tally_log_file_open(const struct tally_naming *naming,
					   const struct tally_recorder_ops *ops, char *path,
					   size_t size);

#endif
