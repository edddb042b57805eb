/* layer/log_file.h - the name of the log, and its opening without harm to any that is there.
 *
 * A process may be forked, may execute another program and may be one of several that a launcher
 * starts with the same options: each of them gets a log of its own. Called by the session with its
 * lock held; opening blocks as open(2) does.
 */
#ifndef PASSTALLY_LAYER_LOG_FILE_H
#define PASSTALLY_LAYER_LOG_FILE_H

#include "layer/config/config.h"
#include "layer/recorder.h"

/* What makes the names of one capture. */
struct tally_naming {
	const struct tally_config *config;
	const char *program; /* %e; may be a path */
	uint64_t started_unix_ns;
	long pid;
	bool forked; /* the parent has the name as it stands */
};

/* The pattern (NULL: the default log) expanded; ".PID" is added where a forked child would else
 * have its parent's name. Caller frees; NULL on OOM and where no home is known. */
char *tally_naming_expand(const struct tally_naming *naming, const char *pattern);

/* Open the log, under a name with a number where its own is taken; a note says so. `path` gets the
 * name. NULL: an error note says why nothing is captured. */
struct tally_recorder *tally_log_file_open(const struct tally_naming *naming,
					   const struct tally_recorder_ops *ops, char *path,
					   size_t size);

#endif
