/* SPDX-License-Identifier: MIT */
/* cli/top/follow.h - reads a log that is still being written, line by line, as the lines
 * arrive.
 *
 * A line is returned when its newline has arrived. The file that was opened is read, whatever
 * becomes of its name. Nothing here blocks. One thread.
 */
#ifndef PASSTALLY_CLI_FOLLOW_H
#define PASSTALLY_CLI_FOLLOW_H

#include "json/record_json.h"

struct tally_follow {
	bool opened; /* the log was opened at some time */
	/* The reason for the last BAD result, "PATH:LINE:COLUMN: message"; for WAIT the reason why
	 * the log cannot be opened, or NULL. */
	char *why;
	/* Private to follow.c. */
	char *path;
	int fd; /* -1: not open yet */
	struct tally_log_reader *reader;
	bool bad;
};

enum tally_follow_status {
	TALLY_FOLLOW_LINE = 0,
	TALLY_FOLLOW_WAIT, /* nothing new; the log may not exist yet */
	TALLY_FOLLOW_BAD, /* not a log, or an invalid line; every later call returns it again */
};

/* The file need not exist. */
struct tally_follow *tally_follow_create(const char *path);
void tally_follow_destroy(struct tally_follow *f);

/* *line is valid until the next call. */
enum tally_follow_status tally_follow_next(struct tally_follow *f, struct tally_log_line *line);

#endif
