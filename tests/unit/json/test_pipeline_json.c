/* SPDX-License-Identifier: MIT */
/* What a log says of pipelines and of the process, written and read back. */
#include "json/record_read.h"
#include "json/record_write.h"
#include "tests/unit/json/log_bytes.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

static bool
no_room(struct tally_json_writer *w, size_t need)
{
	(void)w;
	(void)need;
	return false;
}

static const struct tally_stage_record stages[] = {
	{ TALLY_STAGE_VERTEX, "main", 0x0123456789abcdef, 1044 },
	{ TALLY_STAGE_FRAGMENT, NULL, UINT64_MAX, UINT64_MAX },
};
static const struct tally_keyed_value statistics[] = {
	{ .key = "vertex: Spill Count", .value = { .u64 = 7 } },
	{ .key = "fragment: Occupancy", .value = { .storage = TALLY_STORAGE_F64, .f64 = 0.5 } },
};
static const struct tally_pipeline_record pipelines[] = {
	{ 0xcdfb829e0a4dc5ce, TALLY_PASS_RENDER, "opaque \"wood\"", stages, 2, statistics, 2 },
	{ 1, TALLY_PASS_RAYTRACING, NULL, &stages[1], 1, NULL, 0 },
};
static const struct tally_pipeline_use_record uses[] = {
	{ 0xcdfb829e0a4dc5ce, { .draws = 3, .vertices = 9, .instances = 3, .calls = 2 } },
	{ 1, { .dispatches = 1, .calls = 1 } },
	{ 2, { 0 } },
};
static const struct tally_thread_record threads[] = {
	{ "dxvk-cs", 95000000, false, true, 3000000, true },
	{ "game", 20000000, true, false, 0, false },
};
static const struct tally_asleep_record asleep[] = {
	{ .in = "futex", .thread = "loader", .ns = 7000, .n = 3 },
	{ .in = "ioctl", .of = "device", .ns = 8, .n = 1 },
};
static const struct tally_process_record processes[] = {
	{ 6900000000, 100000000, 1 << 19, 0, true, 4000, &threads[1], 1, NULL, 0 },
	{ 7000000000, 100000000, 1 << 20, 4096, true, 5000, threads, 2, asleep, 2 },
};
static const char expected_process[] =
	"{\"type\":\"process\",\"time_ns\":7000000000,\"period_ns\":100000000,"
	"\"resident_bytes\":1048576,\"disk_bytes\":4096,\"ready_ns\":5000,\"threads\":"
	"[{\"name\":\"dxvk-cs\","
	"\"cpu_ns\":95000000,\"ready_ns\":3000000,\"main\":true},"
	"{\"name\":\"game\",\"cpu_ns\":20000000,\"ends_frames\":true}],"
	"\"asleep\":[{\"in\":\"futex\",\"thread\":\"loader\",\"n\":3,\"ns\":7000},"
	"{\"in\":\"ioctl\",\"of\":\"device\",\"n\":1,\"ns\":8}]}\n";
static const char expected[] =
	"{\"type\":\"pipeline\",\"id\":\"cdfb829e0a4dc5ce\",\"kind\":\"render\","
	"\"name\":\"opaque \\\"wood\\\"\",\"stages\":[{\"stage\":\"vertex\",\"entry\":\"main\","
	"\"code\":\"0123456789abcdef\",\"bytes\":1044},{\"stage\":\"fragment\","
	"\"code\":\"ffffffffffffffff\",\"bytes\":18446744073709551615}],"
	"\"statistics\":{\"vertex: Spill Count\":7,\"fragment: Occupancy\":0.5}}\n";

static size_t
write_log(char *text, size_t size)
{
	struct tally_json_writer w = { .at = text, .end = text + size, .room = no_room };
	const struct tally_header_record header = { .version = "1", .program = "p" };
	const struct tally_device_record device = { .beneath = -1 };
	const struct tally_pass_info_record info = { .id = 5 };
	const struct tally_pass_record passes[] = {
		{ .id = 5, .context = -1, .queue_family = -1, .surface = -1, .pipelines = uses,
		  .n_pipelines = 2 },
		{ .id = 5, .context = -1, .queue_family = -1, .surface = -1 },
		{ .id = 5, .context = -1, .queue_family = -1, .surface = -1,
		  .pipelines = &uses[2], .n_pipelines = 1 },
	};
	const struct tally_frame_record frame = { .passes = passes, .n_passes = 3 };
	tally_json_put_header(&w, &header);
	tally_json_put(&w, "\n", 1);
	tally_json_put_device(&w, &device);
	tally_json_put(&w, "\n", 1);
	tally_json_put_pass_info(&w, &info);
	tally_json_put(&w, "\n", 1);
	for (size_t i = 0; i < G_N_ELEMENTS(pipelines); i++) {
		tally_json_put_pipeline(&w, &pipelines[i]);
		tally_json_put(&w, "\n", 1);
	}
	tally_json_put_frame(&w, &frame);
	tally_json_put(&w, "\n", 1);
	for (unsigned i = 0; i < G_N_ELEMENTS(processes); i++) {
		tally_json_put_process(&w, &processes[i]);
		tally_json_put(&w, "\n", 1);
	}
	return (size_t)(w.at - text);
}

static void
next_line(struct tally_log_reader *reader, struct tally_log_line *line, enum tally_line_type type)
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status = tally_log_reader_next(reader, line, &error);
	g_test_message("%s", error.message);
	g_assert_cmpint(status, ==, TALLY_READ_OK);
	g_assert_cmpint(line->type, ==, type);
}

static void
check_pipeline(const struct tally_pipeline_record *got, const struct tally_pipeline_record *want)
{
	g_assert_cmphex(got->id, ==, want->id);
	g_assert_cmpint(got->kind, ==, want->kind);
	g_assert_cmpstr(got->name, ==, want->name);
	g_assert_cmpuint(got->n_stages, ==, want->n_stages);
	g_assert_cmpuint(got->n_statistics, ==, want->n_statistics);
	for (uint32_t i = 0; i < want->n_statistics; i++) {
		g_assert_cmpstr(got->statistics[i].key, ==, want->statistics[i].key);
		g_assert_cmphex(got->statistics[i].value.u64, ==, want->statistics[i].value.u64);
	}
	for (uint32_t i = 0; i < want->n_stages; i++) {
		g_assert_cmpint(got->stages[i].stage, ==, want->stages[i].stage);
		g_assert_cmpstr(got->stages[i].entry, ==, want->stages[i].entry);
		g_assert_cmphex(got->stages[i].code, ==, want->stages[i].code);
		g_assert_cmpuint(got->stages[i].bytes, ==, want->stages[i].bytes);
	}
}

static void
check_process(const struct tally_process_record *got, const struct tally_process_record *want)
{
	g_assert_cmpuint(got->time_ns, ==, want->time_ns);
	g_assert_cmpuint(got->period_ns, ==, want->period_ns);
	g_assert_cmpuint(got->resident_bytes, ==, want->resident_bytes);
	g_assert_cmpuint(got->disk_bytes, ==, want->disk_bytes);
	g_assert_true(got->has_ready);
	g_assert_cmpuint(got->ready_ns, ==, want->ready_ns);
	g_assert_cmpuint(got->n_threads, ==, want->n_threads);
	g_assert_cmpuint(got->n_asleep, ==, want->n_asleep);
	for (uint32_t i = 0; i < want->n_asleep; i++) {
		g_assert_cmpstr(got->asleep[i].in, ==, want->asleep[i].in);
		g_assert_cmpstr(got->asleep[i].thread, ==, want->asleep[i].thread);
		g_assert_cmpuint(got->asleep[i].ns, ==, want->asleep[i].ns);
	}
	for (uint32_t i = 0; i < want->n_threads; i++) {
		g_assert_cmpstr(got->threads[i].name, ==, want->threads[i].name);
		g_assert_cmpuint(got->threads[i].cpu_ns, ==, want->threads[i].cpu_ns);
		g_assert_cmpint(got->threads[i].ends_frames, ==, want->threads[i].ends_frames);
		g_assert_cmpint(got->threads[i].main, ==, want->threads[i].main);
		g_assert_cmpint(got->threads[i].has_ready, ==, want->threads[i].has_ready);
		g_assert_cmpuint(got->threads[i].ready_ns, ==, want->threads[i].ready_ns);
	}
}

static void
test_round_trip(void)
{
	static char text[8192];
	size_t len = write_log(text, sizeof(text));
	g_assert_nonnull(strstr(text, expected));
	g_assert_nonnull(strstr(text, expected_process));
	struct tally_log_reader *reader = open_log_bytes(text, len);
	struct tally_log_line line;
	next_line(reader, &line, TALLY_LINE_HEADER);
	next_line(reader, &line, TALLY_LINE_DEVICE);
	next_line(reader, &line, TALLY_LINE_PASS_INFO);
	for (size_t i = 0; i < G_N_ELEMENTS(pipelines); i++) {
		next_line(reader, &line, TALLY_LINE_PIPELINE);
		check_pipeline(&line.pipeline, &pipelines[i]);
	}
	next_line(reader, &line, TALLY_LINE_FRAME);
	static const uint32_t n[] = { 2, 0, 1 };
	const struct tally_pipeline_use_record *want = uses;
	for (unsigned i = 0; i < 3; i++) {
		const struct tally_pass_record *pass = &line.frame.passes[i];
		g_assert_cmpuint(pass->n_pipelines, ==, n[i]);
		for (uint32_t j = 0; j < n[i]; j++, want++) {
			g_assert_cmphex(pass->pipelines[j].id, ==, want->id);
			g_assert_cmpmem(&pass->pipelines[j].call_counts,
					sizeof(want->call_counts), &want->call_counts,
					sizeof(want->call_counts));
		}
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(processes); i++) {
		next_line(reader, &line, TALLY_LINE_PROCESS);
		check_process(&line.process, &processes[i]);
	}
	tally_log_reader_close(reader);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pipeline-json/round-trip", test_round_trip);
	return g_test_run();
}
