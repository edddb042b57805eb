/* SPDX-License-Identifier: MIT */
/* Any bytes into the log reader. It must end, stay in its memory, keep its promises about strings
 * and counts, and say where and what when it refuses; and the writer must write what it accepts
 * back as JSON. */
#include "json/record_read.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/json/log_bytes.h"

#include "json/reader.h"
#include "json/record_json.h"
#include "json/record_write.h"

const struct fuzz_target fuzz_target = { "reader", "{}[]:,\"\\0129.eE-+truefalsn \n\xc3\xa9", 50 };

static size_t touched; /* so that nothing read is optimized away */

static void
touch(const char *s)
{
	if (s)
		touched += strlen(s);
}

static void
touch_values(const struct tally_keyed_value *values, uint32_t n)
{
	fuzz_require(n || !values, "no values, no array");
	for (uint32_t i = 0; i < n; i++) {
		touch(values[i].key);
		fuzz_require(values[i].value.storage < TALLY_N_STORAGES, "a storage");
		fuzz_require(tally_json_is_writable(values[i].value), "a number is finite");
	}
}

static void
touch_frame(const struct tally_frame_record *frame)
{
	touch(frame->set);
	touch_values(frame->unattributed, frame->n_unattributed);
	for (uint32_t i = 0; i < frame->n_passes; i++) {
		const struct tally_pass_record *pass = &frame->passes[i];
		touch(pass->label);
		fuzz_require(pass->kind < TALLY_N_PASS_KINDS, "a kind");
		touch_values(pass->counters, pass->n_counters);
		touch_values(pass->metrics, pass->n_metrics);
		for (uint32_t w = 0; w < pass->n_workloads; w++) {
			touch(pass->workloads[w].command);
			touch_values(pass->workloads[w].counters, pass->workloads[w].n_counters);
		}
	}
}

static bool
make_room(struct tally_json_writer *w, size_t need)
{
	(void)w;
	(void)need;
	return false;
}

/* Escapes make a text at most three times as long; fields are only left out. */
static void
check_rewrite(const struct tally_log_line *line, size_t size)
{
	size_t room = size * 4 + 4096;
	char *bytes = calloc(1, room + TALLY_JSON_PADDING);
	if (!bytes)
		return;
	struct tally_json_writer w = { .at = bytes, .end = bytes + room, .room = make_room };
	switch (line->type) {
	case TALLY_LINE_HEADER:
		tally_json_put_header(&w, &line->header);
		break;
	case TALLY_LINE_DEVICE:
		tally_json_put_device(&w, &line->device);
		break;
	case TALLY_LINE_PASS_INFO:
		tally_json_put_pass_info(&w, &line->pass_info);
		break;
	case TALLY_LINE_PIPELINE:
		tally_json_put_pipeline(&w, &line->pipeline);
		break;
	case TALLY_LINE_FRAME:
		touch_frame(&line->frame);
		tally_json_put_frame(&w, &line->frame);
		break;
	case TALLY_LINE_PROCESS:
		tally_json_put_process(&w, &line->process);
		break;
	case TALLY_LINE_NOTE:
		tally_json_put_note(&w, &line->note);
		break;
	case TALLY_LINE_END:
		tally_json_put_end(&w, &line->end, true);
		break;
	case TALLY_LINE_UNKNOWN:
		free(bytes);
		return;
	}
	fuzz_require(!w.failed, "what was read fits when it is written");
	struct tally_json_reader r = { 0 };
	tally_json_begin(&r, bytes, (size_t)(w.at - bytes));
	fuzz_require(tally_json_skip(&r) && tally_json_end(&r), "what is written is JSON");
	free(bytes);
}

/* `skip`: read past bad lines; every line is then read, counted or an error. */
static void
read_all(const char *exact, size_t size, bool skip)
{
	struct tally_log_reader *reader = open_log_bytes(exact, size);
	if (!reader)
		return;
	if (skip)
		tally_log_reader_skip_bad(reader);
	const struct tally_skipped_lines *skipped = tally_log_reader_skipped(reader);
	struct tally_log_line line;
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	uint64_t number = 0;
	while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK) {
		fuzz_require(line.number == ++number + skipped->n, "lines are numbered");
		check_rewrite(&line, size);
	}
	fuzz_require(skip || !skipped->n, "nothing is skipped unasked");
	if (status == TALLY_READ_BAD || status == TALLY_READ_TRUNCATED) {
		fuzz_require(error.line == number + skipped->n + 1,
			     "the error is in the next line");
		fuzz_require(error.column >= 1 && error.column <= size + 1,
			     "the column is in the line");
		fuzz_require(error.message[0], "an error has a message");
	}
	struct tally_read_error again = { 0 };
	fuzz_require(tally_log_reader_next(reader, &line, &again) == status,
		     "the end stays the end");
	tally_log_reader_close(reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *exact = fuzz_copy(data, size);
	read_all(exact, size, false);
	read_all(exact, size, true);
	free(exact);
	return 0;
}
