/* SPDX-License-Identifier: MIT */
/* cli/top/follow.h - reads a log that is still being written, line by line, as the lines
 * arrive.
 *
 * A line is returned when its newline has arrived; until then an incomplete line is kept. A
 * log that was replaced by another file, truncated or rewritten is read from its start
 * again, and that is reported. inotify signals changes; where it cannot (a network file
 * system, no watches left) the caller polls by time. Nothing here blocks. One thread.
 */
#ifndef PASSTALLY_CLI_FOLLOW_H
#define PASSTALLY_CLI_FOLLOW_H

#include "json/record_json.h"

struct tally_follow;

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
/* The reason for the last BAD result, "PATH:LINE:COLUMN: message"; for WAIT the reason why
 * the log cannot be opened, or NULL. Valid until the next call. */
const char *tally_follow_why(const struct tally_follow *f);
/* Whether the log was ever opened. */
bool tally_follow_is_open(const struct tally_follow *f);
/* The number of bytes read and the size of the file. */
void tally_follow_progress(const struct tally_follow *f, uint64_t *done, uint64_t *total);

/* Readable when the log may have changed; -1: not available. */
int tally_follow_fd(const struct tally_follow *f);
/* Clears the readable state; call before tally_follow_next(), or a change may be missed. */
void tally_follow_heed(struct tally_follow *f);

#endif
