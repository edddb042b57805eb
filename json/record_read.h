/* SPDX-License-Identifier: MIT */
/* json/record_read.h - reads a log line by line.
 *
 * A reader belongs to one thread at a time.
 */
#ifndef PASSTALLY_JSON_RECORD_READ_H
#define PASSTALLY_JSON_RECORD_READ_H

#include "json/record_json.h"

/* Reads the bytes of `source`, and closes it in the end. `growing`: for a file that is still
 * being written. TALLY_READ_END then means that there is no whole line yet: call again. NULL:
 * out of memory; the source is then still the caller's. */
struct tally_log_reader *
tally_log_reader_open(const struct tally_lines_source *source, bool growing);
void tally_log_reader_close(struct tally_log_reader *reader);
/* From now on a bad line is left out and counted. Some are still errors, because the following
 * lines would have a different meaning without them: the header, a second header, a device, and
 * lines after the end line. Without a pass_info line its passes have no name. */
void tally_log_reader_skip_bad(struct tally_log_reader *reader);
const struct tally_skipped_lines *tally_log_reader_skipped(const struct tally_log_reader *reader);
/* The next record; everything it points to is valid until the next call. Keys of counters and
 * interned strings (formats, units) are equal pointers for equal strings over the reader's life.
 * After TRUNCATED or BAD every later call returns the same. */
enum tally_read_status tally_log_reader_next(struct tally_log_reader *reader,
					     struct tally_log_line *line,
					     struct tally_read_error *error);
/* Bytes consumed and, where it is known, the total (else 0): for progress. */
void tally_log_reader_progress(const struct tally_log_reader *reader, uint64_t *done,
			       uint64_t *total);

#endif
