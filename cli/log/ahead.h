/* SPDX-License-Identifier: MIT */
/* cli/log/ahead.h - reads a whole log, on a second thread while the caller handles its lines.
 *
 * The thread reads, unpacks and decodes some lines ahead; the caller's own thread gets them one
 * by one, in order, and then what ended them, as from tally_log_reader_next(). Nothing but time
 * depends on the thread: if none can be made, the caller's reads. Memory: a few MiB, and
 * that of lines of more than 1 MiB one at a time.
 */
#ifndef PASSTALLY_CLI_LOG_AHEAD_H
#define PASSTALLY_CLI_LOG_AHEAD_H

#include "json/record_json.h"

struct tally_log_taker {
	/* False: no further lines are wanted. The line is valid until this returns, its keys and
	 * interned strings until tally_log_read_lines() does. */
	bool (*take)(void *user, const struct tally_log_line *line);
	void *user;
	const char *verb, *path; /* of the progress that a terminal shows: "reading", LOG */
};

/* Reads to the end, and closes `reader`. Returns what ended the lines, with *error set, or
 * TALLY_READ_OK if take() did. `skipped`, unless NULL, is set to the lines left out. */
enum tally_read_status
tally_log_read_lines(struct tally_log_reader *reader, const struct tally_log_taker *taker,
		     struct tally_skipped_lines *skipped, struct tally_read_error *error);

#endif
