/* cli/top/top.h - follow a log on the terminal until the user has seen enough.
 *
 * For `passtally top` and `passtally run --live`. SIGINT, SIGTERM, SIGHUP and SIGQUIT end
 * the view; while it is shown they do besides what they did before, if that was a handler.
 * The terminal and the signals are put back. One at a time; one thread.
 */
#ifndef PASSTALLY_CLI_TOP_H
#define PASSTALLY_CLI_TOP_H

#include <stdbool.h>
#include <stdint.h>

struct tally_top_options {
	const char *path;
	double seconds; /* of the window */
	const char *sort; /* NULL: share */
	bool reverse;
	int64_t device; /* -1: the one that drew last */
	unsigned rows; /* of a plain table, 0 = all */
	bool no_colour, ascii;
	bool once; /* print one table and be done */
	/* run --live: the game is our child, and its keys are ours. */
	bool (*is_over)(void *data);
	void *data;
};

#define TALLY_TOP_SECONDS 10

/* An exit status. Where standard output is no terminal to draw on: plain tables, until the log
 * ends. */
int tally_top_watch(const struct tally_top_options *options);

#endif
