/* SPDX-License-Identifier: MIT */
/* cli/top/follow.h - reads a log that is still being written, line by line, as the lines
 * arrive.
 *
 * A line is returned when its newline has arrived; until then an incomplete line is kept. A
 * log that was replaced by another file, truncated or rewritten is read from its start
 * again, and that is reported. Nothing here blocks. One thread.
 */
#ifndef PASSTALLY_CLI_FOLLOW_H
#define PASSTALLY_CLI_FOLLOW_H

#include "json/record_json.h"

/* The first bytes of a log: its header contains the time and the process, so that a
 * different log at the same path is recognized even when it is longer than the old one was. */
#define TALLY_FOLLOW_HEAD 256

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
	char head[TALLY_FOLLOW_HEAD];
	size_t n_head;
};

enum tally_follow_status {
	TALLY_FOLLOW_LINE = 0,
	TALLY_FOLLOW_WAIT, /* nothing new; the log may not exist yet */
	/* the lines so far belong to another log: discard them and continue calling */
	TALLY_FOLLOW_OTHER,
	TALLY_FOLLOW_BAD, /* not a log, or an invalid line: only a new file helps */
};

/* The file need not exist. */
struct tally_follow *tally_follow_create(const char *path);
void tally_follow_destroy(struct tally_follow *f);

/* *line is valid until the next call. */
enum tally_follow_status tally_follow_next(struct tally_follow *f, struct tally_log_line *line);

#endif
