/* SPDX-License-Identifier: MIT */
/* cli/run/live.h - `passtally run --live`: the live view, shown while the program runs.
 *
 * The view owns the terminal: program output that would go there goes to a file next to the log,
 * and program input from there is empty. Streams that are already redirected stay unchanged.
 */
#ifndef PASSTALLY_CLI_RUN_LIVE_H
#define PASSTALLY_CLI_RUN_LIVE_H

#include "cli/run/launch.h"

#include <stdbool.h>

/* Whether there is a terminal for it. Returns false after printing an error. */
bool tally_run_live_check(void);
/* Creates the file for the program's output; returns its path, which the caller frees with
 * g_free(). It is /dev/null, after printing an error, if no file can be created. */
char *tally_run_live_make_output(const char *log_path);
struct tally_run_view {
	const char *log;
	bool quiet;
};
/* For tally_launch_show(), with a view: shows the log until the user leaves it, and then says so
 * if the program is still running. */
void tally_run_live_show(const struct tally_launch *launch, const void *view);
/* Prints where the output is; an empty file is removed. */
void tally_run_live_print_output(const char *path, bool quiet);

#endif
