/* SPDX-License-Identifier: MIT */
#include "json/record_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "json/record_write.h"
#include "json/sink.h"

/* Kept free below max_bytes by ordinary lines, so that the note that says why and the end line
 * still fit; a note leaves room for the end, which is some 200 bytes without statistics. A limit so
 * small that an eighth of it is less keeps an eighth. */
#define RESERVE_BYTES (64u << 10)
#define RESERVE_FOR_END 512u

struct tally_recorder {
	struct tally_sink *sink;
	uint64_t reserve;
	bool limited; /* max_bytes reached: only notes and the end are taken */
	struct tally_json_kept keys[TALLY_JSON_KEPT];
};

static struct tally_recorder *
recorder_open(const struct tally_recorder_options *options, enum tally_record_status *status,
	      char *why, size_t size)
{
	struct tally_recorder *r = calloc(1, sizeof(*r));
	if (!r) {
		*status = TALLY_RECORD_NO_MEMORY;
		snprintf(why, size, "The log %s cannot be opened: out of memory.",
			 options->path);
		return NULL;
	}
	r->sink = tally_sink_open(options, status, why, size);
	if (!r->sink) {
		free(r);
		return NULL;
	}
	uint64_t share = options->max_bytes / 8;
	r->reserve = share < RESERVE_BYTES ? share : RESERVE_BYTES;
	return r;
}

/* The writer of a new line, or NULL with the reason in *status. */
static struct tally_json_writer *
begin(struct tally_recorder *r, enum tally_record_status *status)
{
	struct tally_json_writer *w = r->limited ? NULL : tally_sink_begin_line(r->sink);
	if (w)
		w->kept = r->keys;
	else
		*status = r->limited ? TALLY_RECORD_LIMIT : tally_sink_flush(r->sink);
	return w;
}

static enum tally_record_status
end(struct tally_recorder *r)
{
	enum tally_record_status status = tally_sink_end_line(r->sink, r->reserve);
	r->limited = status == TALLY_RECORD_LIMIT;
	return status;
}

#define RECORD(line_) \
	static enum tally_record_status record_##line_( \
		struct tally_recorder *r, const struct tally_##line_##_record *record) \
	{ \
		enum tally_record_status status; \
		struct tally_json_writer *w = begin(r, &status); \
		if (!w) \
			return status; \
		tally_json_put_##line_(w, record); \
		return end(r); \
	}
RECORD(header)
RECORD(device)
RECORD(pass_info)
RECORD(frame)

/* The keys of its frames may be other texts at the same addresses. */
static enum tally_record_status
record_new_device(struct tally_recorder *r, const struct tally_device_record *device)
{
	memset(r->keys, 0, sizeof(r->keys));
	return record_device(r, device);
}

static enum tally_record_status
record_note(struct tally_recorder *r, const struct tally_note_record *note)
{
	struct tally_json_writer *w = tally_sink_begin_line(r->sink);
	if (!w)
		return tally_sink_flush(r->sink);
	tally_json_put_note(w, note);
	uint64_t reserve = r->reserve / 2;
	return tally_sink_end_line(r->sink,
				   reserve < RESERVE_FOR_END ? reserve : RESERVE_FOR_END);
}

static enum tally_record_status
record_end(struct tally_recorder *r, const struct tally_end_record *record)
{
	enum tally_record_status status = TALLY_RECORD_LIMIT;
	/* Better an end without its lists, which are for checking, than none. */
	int with = record->n_statistics > 0 || record->n_growth > 0;
	for (; with >= 0 && status == TALLY_RECORD_LIMIT; with--) {
		struct tally_json_writer *w = tally_sink_begin_line(r->sink);
		if (!w)
			return tally_sink_flush(r->sink);
		tally_json_put_end(w, record, with);
		status = tally_sink_end_line(r->sink, 0);
	}
	return status;
}

static enum tally_record_status
recorder_flush(struct tally_recorder *r)
{
	return tally_sink_flush(r->sink);
}

static const char *
recorder_why(const struct tally_recorder *r)
{
	return tally_sink_why(r->sink);
}

static void
recorder_close(struct tally_recorder *r)
{
	if (!r)
		return;
	tally_sink_close(r->sink);
	free(r);
}

static void
recorder_abandon(struct tally_recorder *r)
{
	if (!r)
		return;
	tally_sink_abandon(r->sink);
	free(r);
}

const struct tally_recorder_ops tally_json_recorder = {
	.open = recorder_open,
	.header = record_header,
	.device = record_new_device,
	.pass_info = record_pass_info,
	.frame = record_frame,
	.note = record_note,
	.end = record_end,
	.flush = recorder_flush,
	.why = recorder_why,
	.close = recorder_close,
	.abandon = recorder_abandon,
};
