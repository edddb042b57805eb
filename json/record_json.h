/* SPDX-License-Identifier: MIT */
/* json/record_json.h - converts records to log lines and back.
 *
 * Writing: tally_json_recorder is the recorder of layer/recorder.h over a file (json/sink.c).
 * Reading: a tally_log_reader reads one record after the other from a source of bytes,
 * strictly: it accepts only RFC 8259 JSON, UTF-8, no known key twice, and "passtally/1" lines in
 * a legal order. Unknown fields are skipped (later versions add fields). Memory is bounded by
 * the longest line (at most 64 MiB) and does not grow with the file. One thread at a time.
 */
#ifndef PASSTALLY_JSON_RECORD_JSON_H
#define PASSTALLY_JSON_RECORD_JSON_H

#include "json/lines.h"
#include "layer/recorder.h"

extern const struct tally_recorder_ops tally_json_recorder;

/* Formats one line, without the newline, into `out`; returns the length it has or would have.
 * For `passtally counters --json` and tests. */
size_t tally_json_write_device(char *out, size_t size, const struct tally_device_record *device);

enum tally_line_type {
	TALLY_LINE_HEADER = 0,
	TALLY_LINE_DEVICE,
	TALLY_LINE_PASS_INFO,
	TALLY_LINE_PIPELINE,
	TALLY_LINE_FRAME,
	TALLY_LINE_PROCESS,
	TALLY_LINE_NOTE,
	TALLY_LINE_END,
	TALLY_LINE_UNKNOWN, /* a type of a later version: skipped by readers */
};

struct tally_log_line {
	enum tally_line_type type;
	uint64_t number; /* line number, from 1 */
	size_t bytes; /* length of its text */
	union {
		struct tally_header_record header;
		struct tally_device_record device;
		struct tally_pass_info_record pass_info;
		struct tally_pipeline_record pipeline;
		struct tally_frame_record frame;
		struct tally_process_record process;
		struct tally_note_record note;
		struct tally_end_record end;
	};
};

enum tally_read_status {
	TALLY_READ_OK = 0,
	TALLY_READ_END,       /* clean end of file */
	/* the last line, which is not the header, is cut: all lines before it were returned */
	TALLY_READ_TRUNCATED,
	TALLY_READ_BAD,       /* not a log: see the error */
	TALLY_READ_IO,
	TALLY_READ_NO_MEMORY,
};

struct tally_read_error {
	uint64_t line, column; /* from 1; column in bytes */
	char message[256];     /* the error, without place or file name */
};

/* Lines that were left out because they are not records. */
struct tally_skipped_lines {
	uint64_t n;
	uint64_t numbers[10]; /* of the first of them */
};

struct tally_log_reader;

#endif
