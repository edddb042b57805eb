/* SPDX-License-Identifier: MIT */
#include "json/record_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/decode_lines.h"
#include "json/sink.h"

struct tally_log_reader {
	struct tally_lines lines;
	struct tally_decoder decoder;
	uint64_t number; /* of the line being read */
	bool ended; /* the end line was read */
	bool skips; /* bad lines are left out */
	struct tally_skipped_lines skipped;
	/* Once reading is over, successfully or not: */
	enum tally_read_status status;
	struct tally_read_error error;
	char *copy; /* for a line whose type does not come first */
	size_t copy_size;
};

static const struct tally_field type_names[] = {
	[TALLY_LINE_HEADER] = TALLY_FIELD("header"),
	[TALLY_LINE_DEVICE] = TALLY_FIELD("device"),
	[TALLY_LINE_PASS_INFO] = TALLY_FIELD("pass_info"),
	[TALLY_LINE_PIPELINE] = TALLY_FIELD("pipeline"),
	[TALLY_LINE_FRAME] = TALLY_FIELD("frame"),
	[TALLY_LINE_PROCESS] = TALLY_FIELD("process"),
	[TALLY_LINE_NOTE] = TALLY_FIELD("note"),
	[TALLY_LINE_END] = TALLY_FIELD("end"),
};

struct tally_log_reader *
tally_log_reader_open(const struct tally_lines_source *source, bool growing)
{
	struct tally_log_reader *reader = calloc(1, sizeof(*reader));
	if (reader)
		tally_lines_init(&reader->lines, source, growing);
	return reader;
}

void
tally_log_reader_close(struct tally_log_reader *reader)
{
	if (!reader)
		return;
	tally_lines_finish(&reader->lines);
	tally_decoder_finish(&reader->decoder);
	free(reader->copy);
	free(reader);
}

void
tally_log_reader_skip_bad(struct tally_log_reader *reader)
{
	reader->skips = true;
}

const struct tally_skipped_lines *
tally_log_reader_skipped(const struct tally_log_reader *reader)
{
	return &reader->skipped;
}

void
tally_log_reader_progress(const struct tally_log_reader *reader, uint64_t *done, uint64_t *total)
{
	reader->lines.source.progress(reader->lines.source.user, done, total);
}

/* Reading is over: stores the status and returns it. */
static enum tally_read_status
finish(struct tally_log_reader *reader, enum tally_read_status status, uint64_t column,
       const char *message)
{
	reader->status = status;
	reader->error.line = reader->number;
	reader->error.column = column;
	snprintf(reader->error.message, sizeof(reader->error.message), "%s", message);
	return status;
}

static const char cut_header[] = "the file is cut: not even the header is whole";

/* The line that was just decoded is invalid. */
static enum tally_read_status
finish_failed(struct tally_log_reader *reader, bool whole)
{
	const struct tally_json_reader *json = &reader->decoder.json;
	enum tally_read_status status = TALLY_READ_BAD;
	if (json->no_memory)
		status = TALLY_READ_NO_MEMORY;
	else if (json->cut && !whole && reader->number == 1)
		return finish(reader, TALLY_READ_BAD, (uint64_t)(json->where - json->begin) + 1,
			      cut_header);
	else if (json->cut && !whole)
		status = TALLY_READ_TRUNCATED;
	return finish(reader, status, (uint64_t)(json->where - json->begin) + 1, json->message);
}

static enum tally_read_status
finish_unread(struct tally_log_reader *reader, enum tally_lines_status status)
{
	char message[128];
	if (status == TALLY_LINES_END && reader->number)
		return finish(reader, TALLY_READ_END, 0, "");
	reader->number++;
	switch (status) {
	case TALLY_LINES_END:
		return finish(reader, TALLY_READ_BAD, 1,
			      "the file is empty: a log begins with a header line");
	case TALLY_LINES_CUT:
		if (reader->number == 1)
			return finish(reader, TALLY_READ_BAD, 1, cut_header);
		return finish(reader, TALLY_READ_TRUNCATED, 1, "the file ends in the middle");
	case TALLY_LINES_DAMAGED:
		return finish(reader, TALLY_READ_BAD, 1, reader->lines.why);
	case TALLY_LINES_TOO_LONG:
		snprintf(message, sizeof(message), "the line is longer than %u MiB",
			 TALLY_LINE_MAX >> 20);
		return finish(reader, TALLY_READ_BAD, (uint64_t)TALLY_LINE_MAX + 1, message);
	case TALLY_LINES_NO_MEMORY:
		return finish(reader, TALLY_READ_NO_MEMORY, 1, "out of memory");
	default:
		return finish(reader, TALLY_READ_IO, 1, reader->lines.why);
	}
}

static enum tally_line_type
name_type(const char *s, size_t len)
{
	for (unsigned i = 0; i < TALLY_LINE_UNKNOWN; i++) {
		if (type_names[i].len == len && memcmp(type_names[i].name, s, len) == 0)
			return (enum tally_line_type)i;
	}
	return TALLY_LINE_UNKNOWN;
}

/* The type of a line that is spelled as our writer does, without changing it. */
static bool
peek_type(const char *line, size_t len, enum tally_line_type *type)
{
	static const char start[] = "{\"type\":\"";
	size_t skip = sizeof(start) - 1;
	if (len < skip || memcmp(line, start, skip) != 0)
		return false;
	const char *name = line + skip;
	size_t n = 0;
	while (skip + n < len && ((name[n] >= 'a' && name[n] <= 'z') || name[n] == '_'))
		n++;
	if (skip + n == len || name[n] != '"')
		return false;
	*type = name_type(name, n);
	return true;
}

/* The type of any other line: keys may be in any order, so this searches a copy, because
 * reading changes the text. False after failing the decoder's reader. */
static bool
search_type(struct tally_log_reader *reader, const char *line, size_t len,
	    enum tally_line_type *type)
{
	struct tally_json_reader *json = &reader->decoder.json;
	size_t need = len + TALLY_JSON_PADDING;
	if (need > reader->copy_size) {
		char *copy = realloc(reader->copy, need);
		if (!copy)
			return tally_json_fail_memory(json);
		reader->copy = copy;
		reader->copy_size = need;
	}
	memcpy(reader->copy, line, len);
	memset(reader->copy + len, 0, TALLY_JSON_PADDING);
	tally_json_begin(json, reader->copy, len);
	if (reader->number == 1 && line[strspn(line, " \t\r")] != '{')
		return tally_json_fail(json, json->begin, "not a passtally log: a log's "
							 "first line is a JSON object");
	if (!tally_json_open_object(json))
		return false;
	struct tally_json_text key;
	while (tally_json_next_key(json, &key)) {
		if (key.len == 4 && memcmp(key.s, "type", 4) == 0) {
			if (!tally_json_read_text(json, &key))
				return false;
			*type = name_type(key.s, key.len);
			return true;
		}
		if (!tally_json_skip(json))
			return false;
	}
	if (!json->failed)
		tally_json_fail(json, json->begin,
				reader->number == 1
					? "not a passtally log: the first line has no \"type\""
					: "the line needs the field \"type\"");
	return false;
}

/* Whether a line of this type is allowed here. */
static bool
check_order(struct tally_log_reader *reader, enum tally_line_type type)
{
	struct tally_json_reader *json = &reader->decoder.json;
	if (reader->ended)
		return tally_json_fail(json, json->begin, "a line follows the end line");
	if ((reader->number == 1) == (type == TALLY_LINE_HEADER))
		return true;
	return tally_json_fail(json, json->begin,
			       reader->number == 1
				       ? "not a passtally log: the first line is not a header"
				       : "a second header");
}

static bool
decode_line(struct tally_decoder *d, struct tally_log_line *line)
{
	switch (line->type) {
	case TALLY_LINE_HEADER:
		return tally_decode_header(d, &line->header);
	case TALLY_LINE_DEVICE:
		return tally_decode_device(d, &line->device);
	case TALLY_LINE_PASS_INFO:
		return tally_decode_pass_info(d, &line->pass_info);
	case TALLY_LINE_PIPELINE:
		return tally_decode_pipeline(d, &line->pipeline);
	case TALLY_LINE_FRAME:
		return tally_decode_frame(d, &line->frame);
	case TALLY_LINE_PROCESS:
		return tally_decode_process(d, &line->process);
	case TALLY_LINE_NOTE:
		return tally_decode_note(d, &line->note);
	case TALLY_LINE_END:
		return tally_decode_end(d, &line->end);
	default:
		return tally_json_skip(&d->json) && tally_json_end(&d->json);
	}
}

/* Whether the log makes sense without the line that was just decoded. `type` is
 * TALLY_LINE_UNKNOWN when the line does not have one. */
static bool
can_skip(const struct tally_log_reader *reader, enum tally_line_type type, bool whole)
{
	const struct tally_json_reader *json = &reader->decoder.json;
	return reader->skips && !json->no_memory && (whole || !json->cut) && reader->number != 1 &&
	       !reader->ended && type != TALLY_LINE_HEADER && type != TALLY_LINE_DEVICE;
}

static bool
skip_bad(struct tally_log_reader *reader, enum tally_line_type type, bool whole)
{
	struct tally_skipped_lines *skipped = &reader->skipped;
	if (!can_skip(reader, type, whole))
		return false;
	if (skipped->n < sizeof(skipped->numbers) / sizeof(skipped->numbers[0]))
		skipped->numbers[skipped->n] = reader->number;
	skipped->n++;
	reader->decoder.any_id |= type == TALLY_LINE_PASS_INFO || type == TALLY_LINE_UNKNOWN;
	return true;
}

/* Decodes one line. False when it is invalid; its type is then UNKNOWN if it was not found. */
static bool
read_line(struct tally_log_reader *reader, char *text, size_t len, struct tally_log_line *line)
{
	struct tally_decoder *d = &reader->decoder;
	line->number = reader->number;
	line->bytes = len;
	d->named = false;
	tally_decoder_begin_line(d);
	tally_json_begin(&d->json, text, len);
	if (!peek_type(text, len, &line->type)) {
		line->type = TALLY_LINE_UNKNOWN;
		if (!search_type(reader, text, len, &line->type))
			return false;
		tally_json_begin(&d->json, text, len);
	}
	return check_order(reader, line->type) && decode_line(d, line);
}

enum tally_read_status
tally_log_reader_next(struct tally_log_reader *reader, struct tally_log_line *line,
		      struct tally_read_error *error)
{
	bool good = false, whole = true;
	while (reader->status == TALLY_READ_OK && !good) {
		char *text;
		size_t len;
		enum tally_lines_status got = tally_lines_next(&reader->lines, &text, &len, &whole);
		if (got == TALLY_LINES_END && reader->lines.growing)
			return TALLY_READ_END;
		if (got != TALLY_LINES_OK) {
			finish_unread(reader, got);
			break;
		}
		reader->number++;
		good = read_line(reader, text, len, line);
		if (!good && !skip_bad(reader, line->type, whole))
			finish_failed(reader, whole);
	}
	if (!good) {
		*error = reader->error;
		return reader->status;
	}
	reader->ended = line->type == TALLY_LINE_END;
	return TALLY_READ_OK;
}
