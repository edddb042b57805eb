/* SPDX-License-Identifier: MIT */
#include "json/record_json.h"

#include <string.h>

#include "json/record_write.h"
#include "json/sink.h"

/* Ordinary lines keep this much free below max_bytes, so that the note with the reason and the
 * end line still fit; a note leaves room for the end, which is about 200 bytes without
 * statistics. If an eighth of the limit is less, an eighth is kept free. */
#define RESERVE_BYTES (64u << 10)
#define RESERVE_FOR_END 512u

static uint64_t
reserve_of(const struct tally_recorder *r)
{
	uint64_t share = r->max_bytes / 8;
	return share < RESERVE_BYTES ? share : RESERVE_BYTES;
}

/* The writer of a new line, or NULL with the reason in *status. */
static struct tally_json_writer *
begin(struct tally_recorder *r, enum tally_record_status *status)
{
	struct tally_json_writer *w = r->limited ? NULL : tally_sink_begin_line(r);
	if (!w)
		*status = r->limited ? TALLY_RECORD_LIMIT : tally_sink_flush(r);
	return w;
}

static enum tally_record_status
end(struct tally_recorder *r)
{
	enum tally_record_status status = tally_sink_end_line(r, reserve_of(r));
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
RECORD(pipeline)
RECORD(frame)
RECORD(process)

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
	struct tally_json_writer *w = tally_sink_begin_line(r);
	if (!w)
		return tally_sink_flush(r);
	tally_json_put_note(w, note);
	uint64_t reserve = reserve_of(r) / 2;
	return tally_sink_end_line(r, reserve < RESERVE_FOR_END ? reserve : RESERVE_FOR_END);
}

static enum tally_record_status
record_end(struct tally_recorder *r, const struct tally_end_record *record)
{
	enum tally_record_status status = TALLY_RECORD_LIMIT;
	/* An end line without its lists, which are for checking, is better than none. */
	int with = record->n_statistics > 0 || record->n_growth > 0;
	for (; with >= 0 && status == TALLY_RECORD_LIMIT; with--) {
		struct tally_json_writer *w = tally_sink_begin_line(r);
		if (!w)
			return tally_sink_flush(r);
		tally_json_put_end(w, record, with);
		status = tally_sink_end_line(r, 0);
	}
	return status;
}

const struct tally_recorder_ops tally_json_recorder = {
	.open = tally_sink_open,
	.header = record_header,
	.device = record_new_device,
	.pass_info = record_pass_info,
	.pipeline = record_pipeline,
	.frame = record_frame,
	.process = record_process,
	.note = record_note,
	.end = record_end,
	.flush = tally_sink_flush,
	.why = tally_sink_why,
	.close = tally_sink_close,
	.abandon = tally_sink_abandon,
};
