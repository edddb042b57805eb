/* SPDX-License-Identifier: MIT */
/* json/sink.h - a file that always contains only whole lines.
 *
 * A line is built in the sink's buffer with a tally_json_writer, then kept or discarded as a
 * whole. Whole lines go to the kernel when the buffer is full or at flush. When the disk is
 * full the file is cut back to its last whole line. One thread at a time; open, flush, close
 * and, occasionally, ending a line block as open(2) and write(2) do. Errors are sticky: after
 * one, nothing more is written (but see TALLY_RECORD_LIMIT). Memory: 256 KiB, more for a longer
 * line, up to TALLY_LINE_MAX, and 16 KiB for keys.
 */
#ifndef PASSTALLY_JSON_SINK_H
#define PASSTALLY_JSON_SINK_H

#include <sys/types.h>

#include "json/writer.h"
#include "layer/recorder.h"

#define TALLY_LINE_MAX (64u << 20) /* bytes, without the newline; also the reader's limit */

struct tally_recorder {
	struct tally_json_writer writer; /* first: make_line_room() converts one to the other */
	int fd;
	dev_t device; /* identifies the file that fd was, see is_ours() */
	ino_t inode;
	char *buffer;
	size_t size;
	size_t line; /* where the line being built begins; whole lines precede it */
	size_t last; /* the length of the line before it */
	uint64_t written; /* bytes in the file: whole lines */
	uint64_t max_bytes;
	enum tally_record_status status;
	char *path;
	char why[512];
	/* Of json/record_json.c: */
	bool limited; /* max_bytes reached: only notes and the end are accepted */
	struct tally_json_kept keys[TALLY_JSON_KEPT];
};

/* Like tally_recorder_ops.open. `force` replaces only a regular file that belongs to this user;
 * its contents are gone once this returns. */
struct tally_recorder *tally_sink_open(const struct tally_recorder_options *options,
				   enum tally_record_status *status, char *why, size_t size);

/* Returns a writer at the start of a new line. The pointer is valid until
 * tally_sink_end_line(). NULL after an error. */
struct tally_json_writer *tally_sink_begin_line(struct tally_recorder *sink);

/* Keeps the line, if `reserve` bytes would still be left below max_bytes, else discards it:
 * TALLY_RECORD_LIMIT, the only status after which lines may be tried again (shorter ones, or
 * with a smaller reserve). A line over TALLY_LINE_MAX is LIMIT too. */
enum tally_record_status tally_sink_end_line(struct tally_recorder *sink, uint64_t reserve);

enum tally_record_status tally_sink_flush(struct tally_recorder *sink);
/* The last error as a sentence, "" when there was none. */
const char *tally_sink_why(const struct tally_recorder *sink);
/* Flushes and closes; accepts NULL. */
void tally_sink_close(struct tally_recorder *sink);
/* In a forked child: frees without writing a byte. Accepts NULL. */
void tally_sink_abandon(struct tally_recorder *sink);

#endif
