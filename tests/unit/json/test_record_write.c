/* SPDX-License-Identifier: MIT */
/* The recorder: what it does at its limit and after a fork; one record as text. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "json/record_json.h"
#include "json/record_read.h"
#include "tests/unit/json/log_bytes.h"

static const struct tally_key_text options[] = { { "counters", "overview" } };
static const struct tally_header_record header = {
	.version = "1",
	.program = "/usr/bin/game",
	.pid = 1,
	.options = options,
	.n_options = 1,
};
static const struct tally_counter counter = {
	.key = "samples_passed",
	.name = "Samples passed",
	.unit = "1",
	.source = "gl-statistics",
	.description = "Samples that passed the depth and stencil tests.",
};
static const struct tally_counter *const counters[] = { &counter };
static const struct tally_source_info sources[] = { { "gl-statistics", true, NULL } };
static const struct tally_device_record device = {
	.device = 1,
	.api = TALLY_API_OPENGL_ES,
	.name = "\xff \"name\"",
	.beneath = -1,
	.sources = sources,
	.n_sources = 1,
	.counters = counters,
	.n_counters = 1,
};
static const struct tally_pass_info_record pass_info = { .id = 7 };
static const struct tally_note_record note = { .level = TALLY_LEVEL_WARNING, .message = "full" };
static const struct tally_statistic_record statistic = { .id = 7,
							 .key = "gpu_ns",
							 .integral = true };

static char *
temporary_name(void)
{
	char *folder = g_dir_make_tmp("passtally-unit-XXXXXX", NULL);
	g_assert_nonnull(folder);
	char *path = g_build_filename(folder, "log.jsonl", NULL);
	g_free(folder);
	return path;
}

static void
remove_temporary(char *path)
{
	char *folder = g_path_get_dirname(path);
	g_unlink(path);
	g_rmdir(folder);
	g_free(folder);
	g_free(path);
}

static struct tally_recorder *
open_recorder(const char *path, uint64_t max_bytes)
{
	enum tally_record_status status;
	char why[256] = "";
	const struct tally_recorder_options how = { .path = path, .max_bytes = max_bytes };
	struct tally_recorder *r = tally_json_recorder.open(&how, &status, why, sizeof(why));
	g_assert_cmpstr(why, ==, "");
	g_assert_nonnull(r);
	g_assert_cmpint(status, ==, TALLY_RECORD_OK);
	return r;
}

/* It is a complete log from beginning to end. */
static void
check_log(const char *bytes, size_t len)
{
	struct tally_log_reader *reader = open_log_bytes(bytes, len);
	struct tally_log_line line;
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	do
		status = tally_log_reader_next(reader, &line, &error);
	while (status == TALLY_READ_OK);
	g_assert_cmpstr(error.message, ==, "");
	g_assert_cmpint(status, ==, TALLY_READ_END);
	tally_log_reader_close(reader);
}

/* Lines stop below max_bytes, the note and the end still fit, and the log is valid. */
static void
test_limit(void)
{
	static const uint64_t limits[] = { 4096, 20000, 100000, 1000000 };
	for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
		char *path = temporary_name();
		struct tally_recorder *r = open_recorder(path, limits[i]);
		const struct tally_recorder_ops *ops = &tally_json_recorder;
		g_assert_cmpint(ops->header(r, &header), ==, TALLY_RECORD_OK);
		g_assert_cmpint(ops->device(r, &device), ==, TALLY_RECORD_OK);
		struct tally_frame_record frame = { .device = 1, .start_ns = 1 };
		while (ops->frame(r, &frame) == TALLY_RECORD_OK)
			frame.frame++;
		g_assert_cmpuint(frame.frame, >, 0);
		g_assert_cmpint(ops->frame(r, &frame), ==, TALLY_RECORD_LIMIT);
		g_assert_cmpint(ops->pass_info(r, &pass_info), ==, TALLY_RECORD_LIMIT);
		g_assert_nonnull(strstr(ops->why(r), "--max-log"));
		g_assert_cmpint(ops->note(r, &note), ==, TALLY_RECORD_OK);

		/* Statistics that do not fit are left out. */
		struct tally_statistic_record *many = g_new(struct tally_statistic_record, 5000);
		for (size_t s = 0; s < 5000; s++)
			many[s] = statistic;
		const struct tally_end_record last = {
			.reason = "max-log",
			.statistics = many,
			.n_statistics = 5000,
		};
		g_assert_cmpint(ops->end(r, &last), ==, TALLY_RECORD_OK);
		ops->close(r);
		g_free(many);

		char *bytes;
		size_t len;
		g_assert_true(g_file_get_contents(path, &bytes, &len, NULL));
		g_assert_cmpuint(len, <=, limits[i]);
		g_assert_cmpuint(len, >, limits[i] / 2);
		g_assert_nonnull(strstr(bytes, "\"type\":\"end\""));
		g_assert_null(strstr(bytes, "\"statistics\""));
		check_log(bytes, len);
		g_free(bytes);
		remove_temporary(path);
	}
}

static void
test_device_text(void)
{
	char whole[4096], small[4096];
	size_t len = tally_json_write_device(whole, sizeof(whole), &device);
	g_assert_cmpuint(len, ==, strlen(whole));
	g_assert_true(g_str_has_prefix(whole, "{\"type\":\"device\",\"device\":1,"));
	g_assert_true(g_str_has_suffix(whole, "]}"));
	for (size_t size = 0; size <= len + 1; size++) {
		memset(small, '#', sizeof(small));
		g_assert_cmpuint(tally_json_write_device(small, size, &device), ==, len);
		if (size) {
			g_assert_true(memcmp(small, whole, size - 1) == 0);
			g_assert_cmpint(small[size - 1], ==, '\0');
		}
		g_assert_cmpint(small[size], ==, '#');
	}
}

/* What a device prints must be a line of a log. */
static void
test_device_line(void)
{
	char text[4096];
	tally_json_write_device(text, sizeof(text), &device);
	char *log = g_strconcat(
		"{\"type\":\"header\",\"schema\":\"passtally/1\",\"version\":\"\","
		"\"program\":\"\",\"pid\":1,\"started\":\"1970-01-01T00:00:00Z\","
		"\"options\":{}}\n",
		text, "\n", NULL);
	check_log(log, strlen(log));
	g_free(log);
}

/* The child of a fork writes nothing, even if text was buffered. */
static void
test_abandon(void)
{
	char *path = temporary_name(), *bytes;
	size_t len;
	struct tally_recorder *r = open_recorder(path, 0);
	g_assert_cmpint(tally_json_recorder.header(r, &header), ==, TALLY_RECORD_OK);
	tally_json_recorder.abandon(r);
	g_assert_true(g_file_get_contents(path, &bytes, &len, NULL));
	g_assert_cmpuint(len, ==, 0);
	g_free(bytes);
	remove_temporary(path);
	tally_json_recorder.abandon(NULL);
	tally_json_recorder.close(NULL);
}

/* After a device is described again its keys may differ, at the same addresses. */
static void
test_new_keys(void)
{
	char *path = temporary_name(), *bytes, key[] = "first";
	const struct tally_recorder_ops *ops = &tally_json_recorder;
	const struct tally_keyed_value value = { .key = key, .value.u64 = 12 };
	const struct tally_frame_record frame = {
		.device = 1,
		.unattributed = &value,
		.n_unattributed = 1,
	};
	size_t len;
	struct tally_recorder *r = open_recorder(path, 0);
	g_assert_cmpint(ops->header(r, &header), ==, TALLY_RECORD_OK);
	for (int i = 0; i < 2; i++) {
		strcpy(key, i ? "other" : "first");
		g_assert_cmpint(ops->device(r, &device), ==, TALLY_RECORD_OK);
		g_assert_cmpint(ops->frame(r, &frame), ==, TALLY_RECORD_OK);
	}
	ops->close(r);
	g_assert_true(g_file_get_contents(path, &bytes, &len, NULL));
	char *first = strstr(bytes, "\"unattributed\":{\"counters\":{\"first\":12}}");
	g_assert_nonnull(first);
	g_assert_nonnull(strstr(first, "\"unattributed\":{\"counters\":{\"other\":12}}"));
	g_free(bytes);
	remove_temporary(path);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record_write/limit", test_limit);
	g_test_add_func("/record_write/device_text", test_device_text);
	g_test_add_func("/record_write/device_line", test_device_line);
	g_test_add_func("/record_write/new_keys", test_new_keys);
	g_test_add_func("/record_write/abandon", test_abandon);
	return g_test_run();
}
