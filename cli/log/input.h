/* SPDX-License-Identifier: MIT */
/* cli/log/input.h - reads logs: their bytes, plain or compressed, and their lines.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_LOG_INPUT_H
#define PASSTALLY_CLI_LOG_INPUT_H

#include "json/record_json.h"

/* ---- the bytes of a log, as every command that reads one gets them.
 *
 * Plain text, or zstd: the first bytes decide, never the name, so standard input and a
 * renamed file work as well. Nothing is read before the first line is requested. A
 * compressed file that ends too early gives the lines it contains and then TALLY_LINES_CUT;
 * one that is damaged gives TALLY_LINES_DAMAGED. */

/* `path` "-" is standard input. NULL with *status and *error set. */
struct tally_log_reader *tally_log_input_open(const char *path, enum tally_read_status *status,
					      struct tally_read_error *error);
/* Reads a file that is still being written, from `fd`, which stays the caller's: see `growing`
 * of tally_log_reader_open(). NULL: out of memory. */
struct tally_log_reader *tally_log_input_follow(int fd);
/* Like tally_log_input_open() for a reader that must look ahead: passes the first lines to
 * `wants`, until that returns false or the log ends or is bad, and then gives a reader that starts
 * again with the first line. `skip_bad`: bad lines do not end that. These lines of a file are
 * read twice; those of a pipe are kept in memory. */
struct tally_log_reader *
tally_log_input_open_ahead(const char *path, bool skip_bad,
			   bool (*wants)(void *user, const struct tally_log_line *line),
			   void *user, enum tally_read_status *status,
			   struct tally_read_error *error);

/* ---- a whole log, line by line ---- */

/* Why a command that shows frames refuses a digest. */
#define TALLY_LOG_IS_DIGEST                                                                        \
	"a digest, which has no frames to show: passtally check, fleet ingest and the module "     \
	"passtally.py read it"

struct tally_log_taker {
	/* False: no further lines are wanted. The line is valid until this returns, its keys and
	 * interned strings until tally_log_read_lines() does. */
	bool (*take)(void *user, const struct tally_log_line *line);
	void *user;
	const char *verb, *path; /* of the progress that a terminal shows: "reading", LOG */
	bool digests; /* it can take a digest; else one is TALLY_READ_BAD, as one is that was cut */
};

/* Reads to the end, and closes `reader`. Returns what ended the lines, with *error set, or
 * TALLY_READ_OK if take() did. `skipped`, unless NULL, is set to the lines left out. */
enum tally_read_status
tally_log_read_lines(struct tally_log_reader *reader, const struct tally_log_taker *taker,
		     struct tally_skipped_lines *skipped, struct tally_read_error *error);

#endif
