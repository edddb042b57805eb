/* SPDX-License-Identifier: MIT */
/* Each allocation of json/ fails once, first alone, then with all after it: the writer leaves whole
 * lines and says why, the reader returns what it has read and then NO_MEMORY on every further
 * call.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "json/record_json.h"
#include "json/record_read.h"
#include "tests/unit/json/log_bytes.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static unsigned fail_at; /* counted from 1; 0 = never */
static bool fail_on; /* and all after it */
static unsigned count;

static bool
fails(void)
{
	count++;
	return fail_at && (count == fail_at || (fail_on && count > fail_at));
}

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

static void
arm(unsigned at, bool on)
{
	count = 0;
	fail_at = at;
	fail_on = on;
}

/* True when an allocation was made to fail. */
static bool
disarm(void)
{
	bool failed = fail_at && count >= fail_at;
	fail_at = 0;
	return failed;
}

/* ---- writing ---- */

enum { N_PASSES = 3000 };

/* A frame longer than the sink's first buffer. */
static struct tally_frame_record
make_frame(struct tally_pass_record *passes)
{
	for (uint32_t i = 0; i < N_PASSES; i++)
		passes[i] = (struct tally_pass_record){ .index = i,
							.id = 7,
							.label = "a label" };
	return (struct tally_frame_record){ .passes = passes, .n_passes = N_PASSES };
}

static void
write_all(const char *path, const struct tally_frame_record *frame)
{
	const struct tally_recorder_ops *ops = &tally_json_recorder;
	const struct tally_recorder_options options = { .path = path, .force = true };
	const struct tally_header_record header = { .version = "1", .program = "p" };
	const struct tally_device_record device = { .device = 0, .beneath = -1 };
	const struct tally_pass_info_record info = { .id = 7 };
	const struct tally_end_record end = { .reason = "exit" };
	enum tally_record_status status = TALLY_RECORD_OK;
	char why[256] = "";
	struct tally_recorder *r = ops->open(&options, &status, why, sizeof(why));
	if (!r) {
		g_assert_cmpint(status, ==, TALLY_RECORD_NO_MEMORY);
		g_assert_nonnull(strstr(why, "out of memory"));
		return;
	}
	g_assert_cmpint(ops->header(r, &header), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->device(r, &device), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->pass_info(r, &info), ==, TALLY_RECORD_OK);
	status = ops->frame(r, frame);
	if (status != TALLY_RECORD_OK) {
		g_assert_cmpint(status, ==, TALLY_RECORD_NO_MEMORY);
		g_assert_nonnull(strstr(ops->why(r), "out of memory"));
	}
	g_assert_cmpint(ops->end(r, &end), ==, status);
	ops->close(r);
}

static void
test_write(void)
{
	char *folder = g_dir_make_tmp("passtally-XXXXXX", NULL);
	char *path = g_build_filename(folder, "log.jsonl", NULL);
	struct tally_pass_record *passes = g_new(struct tally_pass_record, N_PASSES);
	struct tally_frame_record frame = make_frame(passes);
	for (int on = 0; on < 2; on++) {
		unsigned n = 0;
		bool failed = true;
		while (failed) {
			arm(++n, on);
			write_all(path, &frame);
			failed = disarm();
			char *bytes;
			size_t len;
			if (!g_file_get_contents(path, &bytes, &len, NULL))
				continue; /* nothing was opened */
			g_assert_true(len == 0 || bytes[len - 1] == '\n');
			g_free(bytes);
		}
		g_assert_cmpuint(n, >, 3); /* recorder, path, buffer, reallocation */
	}
	g_free(passes);
	g_unlink(path);
	g_rmdir(folder);
	g_free(path);
	g_free(folder);
}

/* ---- reading ---- */

static size_t
read_all(const char *bytes, size_t len, enum tally_read_status want)
{
	struct tally_log_reader *reader = open_log_bytes(bytes, len);
	if (!reader) {
		g_assert_cmpint(want, !=, TALLY_READ_END);
		return 0;
	}
	struct tally_log_line line;
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	size_t lines = 0;
	while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK)
		lines++;
	g_assert_cmpint(status, ==, want);
	if (want == TALLY_READ_NO_MEMORY) {
		g_assert_cmpuint(error.line, ==, lines + 1);
		g_assert_cmpstr(error.message, ==, "out of memory");
		/* There may be memory now: the error stays anyway. */
		bool armed = disarm();
		g_assert_true(armed);
		g_assert_cmpint(tally_log_reader_next(reader, &line, &error), ==, want);
	}
	tally_log_reader_close(reader);
	return lines;
}

/* Every line type, and every list that a line can contain. */
static const char log_lines[] =
	"{\"type\":\"header\",\"schema\":\"passtally/"
	"1\",\"version\":\"1\",\"program\":\"p\","
	"\"argv\":[\"p\",\"-x\"],\"pid\":1,\"started\":\"2026-01-01T00:00:00Z\","
	"\"options\":{\"frame\":\"present\",\"set\":\"a\"}}\n"
	"{\"type\":\"device\",\"device\":0,\"api\":\"opengl\",\"name\":\"n\",\"sources\":"
	"[{\"name\":\"api\",\"state\":\"on\"}],\"counters\":[{\"key\":\"count\",\"unit\":"
	"\"1\","
	"\"kind\":\"event\",\"source\":\"api\",\"scope\":\"pass\"}],\"metrics\":"
	"[{\"key\":\"share\",\"unit\":\"percent\",\"expression\":\"$count\",\"dialect\":"
	"\"arm\"}]}"
	"\n"
	"{\"type\":\"pass_info\",\"id\":\"00000000000000aa\",\"kind\":\"render\","
	"\"target\":"
	"{\"width\":1,\"height\":1,\"color\":[\"RGBA8\",null],\"depth\":\"D16\"}}\n"
	"{\"type\":\"frame\",\"frame\":1,\"device\":0,\"start_ns\":1,\"cpu_ns\":2,"
	"\"set\":\"a\","
	"\"passes\":[{\"index\":0,\"id\":\"00000000000000aa\",\"kind\":\"render\","
	"\"counters\":"
	"{\"count\":1},\"metrics\":{\"share\":0.5},\"estimated\":[\"share\"],"
	"\"workloads\":"
	"[{\"command\":\"draw\",\"counters\":{\"count\":1}}]}],\"unattributed\":{"
	"\"counters\":"
	"{\"count\":2}},\"overhead_ns\":0,\"dropped_passes\":0}\n";
static const char last_line[] = "{\"type\":\"end\",\"frames\":1,\"frames_dropped\":0,"
				"\"passes\":1,\"reason\":\"exit\","
				"\"statistics\":[{\"id\":\"00000000000000aa\",\"key\":"
				"\"count\",\"n\":1,\"sum\":\"1\"}]}\n";

static void
test_read(void)
{
	/* Also a line with keys in another order, and one with many unknown keys. */
	GString *log = g_string_new(log_lines);
	g_string_append(log, "{\"level\":\"info\",\"message\":\"m\",\"type\":\"note\"");
	for (int i = 0; i < 100; i++)
		g_string_append_printf(log, ",\"later%d\":%d", i, i);
	g_string_append(log, "}\n");
	g_string_append(log, last_line);

	size_t n_lines = read_all(log->str, log->len, TALLY_READ_END);
	g_assert_cmpuint(n_lines, ==, 6);
	for (int on = 0; on < 2; on++) {
		arm(0, false);
		read_all(log->str, log->len, TALLY_READ_END);
		unsigned n_allocations = count;
		g_assert_cmpuint(n_allocations, >, 20);
		for (unsigned n = 1; n <= n_allocations; n++) {
			arm(n, on);
			g_assert_cmpuint(read_all(log->str, log->len, TALLY_READ_NO_MEMORY), <,
					 n_lines);
			disarm();
		}
	}
	g_string_free(log, TRUE);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/torture_json/write", test_write);
	g_test_add_func("/torture_json/read", test_read);
	return g_test_run();
}
