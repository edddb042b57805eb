/* SPDX-License-Identifier: MIT */
/* cli/top/top.h - follows a log on the terminal until the user leaves.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT end the view, unless they are ignored. The terminal is
 * restored. One view; one thread.
 */
#ifndef PASSTALLY_CLI_TOP_H
#define PASSTALLY_CLI_TOP_H

#include <stdbool.h>
#include <stdint.h>

struct tally_top_options {
	const char *path;
	double seconds; /* length of the window */
	const char *sort; /* NULL: sort by share */
	int64_t device; /* -1: the device of the newest frame */
	bool once; /* print one table and return */
	const char *prometheus; /* the file written in place of tables; NULL = none */
};

#define TALLY_TOP_SECONDS 10

/* Returns an exit status. If standard output is not a terminal to draw on, prints plain
 * tables until the log ends. */
int tally_top_watch(const struct tally_top_options *options);

#endif
