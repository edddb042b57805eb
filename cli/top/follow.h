/* cli/top/follow.h - read a log that is still written to, line by line, as its lines come.
 *
 * A line is handed out when its newline is there; half a line is waited for. A log that was
 * replaced by another file, truncated or rewritten is read from its start again, and that is
 * reported. inotify says when to look; where it cannot (a network's file system, no watches
 * left) time does. Nothing here blocks. One thread.
 */
#ifndef PASSTALLY_CLI_FOLLOW_H
#define PASSTALLY_CLI_FOLLOW_H

#include "json/record_json.h"

struct tally_follow;

enum tally_follow_status {
	TALLY_FOLLOW_LINE = 0,
	TALLY_FOLLOW_WAIT, /* nothing new; the log may not be there yet */
	TALLY_FOLLOW_ANEW, /* what was read is another log's: forget it, and go on asking */
	TALLY_FOLLOW_BAD, /* no log, or a wrong line: only a new file helps */
};

/* The file need not be there. */
struct tally_follow *tally_follow_create(const char *path);
void tally_follow_destroy(struct tally_follow *f);

/* *line is valid until the next call. */
enum tally_follow_status tally_follow_next(struct tally_follow *f, struct tally_log_line *line);
/* Why the last answer was BAD, "PATH:LINE:COLUMN: message"; for WAIT why the log cannot be
 * opened, or NULL. Lives until the next call. */
const char *tally_follow_why(const struct tally_follow *f);
/* Was the log ever opened? */
bool tally_follow_is_open(const struct tally_follow *f);
/* Bytes read and in the file. */
void tally_follow_progress(const struct tally_follow *f, uint64_t *done, uint64_t *total);

/* Readable when the log may have changed; -1: not known. */
int tally_follow_fd(const struct tally_follow *f);
/* Take what made it readable away; before tally_follow_next(), or something may be missed. */
void tally_follow_heed(struct tally_follow *f);

#endif
