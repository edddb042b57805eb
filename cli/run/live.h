/* cli/run/live.h - `passtally run --live`: the live view beside the program that it shows.
 *
 * The terminal is the view's: what of the program's output would go there goes to a file
 * beside the log, and its input from there is empty. Streams that are redirected already
 * stay as they are. One thread.
 */
#ifndef PASSTALLY_CLI_RUN_LIVE_H
#define PASSTALLY_CLI_RUN_LIVE_H

#include "cli/run/launch.h"

/* Is there a terminal for it? Returns false after printing an error. */
bool tally_run_live_check(void);
/* Make the file for the program's output; its path is the caller's (g_free). It is
 * /dev/null, after printing an error, where none can be made. */
char *tally_run_live_make_output(const char *log_path);
/* Show the view until the user leaves it or there is nothing to see; the program may run on. */
void tally_run_live_watch(struct tally_launch *launch, const char *log_path, bool quiet);
/* Say where the output is; a file that stayed empty goes. */
void tally_run_live_tell_output(const char *path, bool quiet);

#endif
