/* cli/run/tell.h - what `passtally run` says on standard error, during and after the program.
 *
 * One thread. Nothing here fails: what cannot be read is said to be so.
 */
#ifndef PASSTALLY_CLI_RUN_TELL_H
#define PASSTALLY_CLI_RUN_TELL_H

#include "cli/shared/cli.h"
#include "layer/config/config.h"

#include <glib.h>

/* Lines of the status file, each once: "level: source: message" (char *); the caller frees
 * it. */
GPtrArray *tally_run_status_read(const char *path);
/* Does one of them speak of an error? */
bool tally_run_status_has_error(const GPtrArray *lines);

/* The summary of the logs that a run left, and what its status said. */
void tally_run_tell_summary(const GPtrArray *logs, const GPtrArray *status);
/* Nothing was captured: why that may be. `program` as the user named it. */
void tally_run_tell_nothing(const char *program, const char *library);
/* Nor was it to be, where the program that was started is one that is left alone. */
void tally_run_tell_blocked(const struct tally_config *config, const char *program,
			    char *const *argv, const GPtrArray *status);

/* Frames in a growing log, for a progress line. */
struct tally_run_watch {
	const char *path;
	struct tally_progress progress;
	int fd; /* -1 until the log is there */
	uint64_t frames, bytes;
	size_t matched; /* of the text a frame line starts with; SIZE_MAX: not in this line */
};
void tally_run_watch_begin(struct tally_run_watch *watch, const char *path);
void tally_run_watch_tick(void *watch);
void tally_run_watch_end(struct tally_run_watch *watch);

#endif
