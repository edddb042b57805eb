/* SPDX-License-Identifier: MIT */
/* The log reader: the order lines must keep, what each field must be, cut files, bounds; where
 * and how it reports what is wrong. */
#include <glib.h>
#include <string.h>

#include "json/record_json.h"
#include "json/record_read.h"
#include "tests/unit/json/log_bytes.h"

#define HEADER \
	"{\"type\":\"header\",\"schema\":\"passtally/1\",\"version\":\"1\",\"program\":\"p\"," \
	"\"pid\":1,\"started\":\"2026-01-01T00:00:00Z\",\"options\":{}}\n"
#define DEVICE \
	"{\"type\":\"device\",\"device\":0,\"api\":\"vulkan\",\"sources\":[],\"counters\":[]}\n"
#define INFO \
	"{\"type\":\"pass_info\",\"id\":\"00000000000000aa\",\"kind\":\"render\"," \
	"\"target\":{}}\n"
#define FRAME(n, more) \
	"{\"type\":\"frame\",\"frame\":" n ",\"device\":0,\"start_ns\":1,\"cpu_ns\":2," \
	"\"overhead_ns\":3,\"dropped_passes\":0," more "}\n"
#define PASS(more) \
	FRAME("1", "\"passes\":[{\"index\":0,\"id\":\"00000000000000aa\"," \
		   "\"kind\":\"render\"" more "}]")
#define END \
	"{\"type\":\"end\",\"frames\":1,\"frames_dropped\":0,\"passes\":0,\"reason\":\"exit\"}\n"

static const struct {
	const char *what, *log;
	uint64_t line, column; /* 0: it is good */
	const char *message; /* a part of it */
} log_cases[] = {
	{ "header alone", HEADER, 0, 0, "" },
	{ "all of it", HEADER DEVICE INFO FRAME("1", "\"passes\":[]") END, 0, 0, "" },
	{ "frames may be left out",
	  HEADER DEVICE FRAME("1", "\"passes\":[]") FRAME("9", "\"passes\":[]"), 0, 0,
	  "" },
	{ "unknown fields are skipped",
	  HEADER DEVICE FRAME("1", "\"passes\":[],\"new\":[{},null]"), 0, 0, "" },
	{ "unknown flags are skipped",
	  HEADER DEVICE FRAME("1", "\"passes\":[],\"flags\":[\"new\"]"), 0, 0, "" },
	{ "a line of a later version",
	  HEADER "{\"type\":\"new\",\"a\":{\"b\":[1.5e3]}}\n" DEVICE, 0, 0, "" },
	{ "a device may be told again", HEADER DEVICE DEVICE, 0, 0, "" },
	{ "white space",
	  " " HEADER "{ \"type\" : \"device\" ,\t\"device\":0,\"api\":\"vulkan\","
	  "\"sources\":[ ],\"counters\":[]}\r\n",
	  0, 0, "" },
	{ "an escaped key",
	  HEADER "{\"\\u0074ype\":\"note\",\"level\":\"info\",\"message\":\"m\"}\n", 0, 0,
	  "" },
	{ "type in the middle",
	  HEADER "{\"level\":\"info\",\"type\":\"note\",\"message\":\"m\"}\n", 0, 0, "" },

	{ "nothing", "", 1, 1, "the file is empty" },
	{ "no log", "hello\n", 1, 1, "not a passtally log: a log's first line is" },
	{ "other JSON", "{\"traceEvents\":[]}\n", 1, 1, "not a passtally log" },
	{ "an array", "[]\n", 1, 1, "not a passtally log" },
	{ "noise", "\x01\x02\xfe\xff\n", 1, 1, "not a passtally log" },
	{ "a table", "frame,pass\n1,2\n", 1, 1, "not a passtally log" },
	{ "a byte order mark", "\xef\xbb\xbf" HEADER, 1, 1,
	  "not a passtally log" },
	{ "no header", DEVICE, 1, 1, "the first line is not a header" },
	{ "another schema",
	  "{\"type\":\"header\",\"schema\":\"passtally/2\",\"pid\":\"x\"}\n", 1, 27,
	  "this is schema passtally/2; this passtally reads passtally/1: update passtally" },
	{ "a schema of another house",
	  "{\"type\":\"header\",\"schema\":\"passtally/0\",\"pid\":\"x\"}\n", 1, 27,
	  "this is schema passtally/0; this passtally reads passtally/1" },
	{ "a schema that is no word", "{\"type\":\"header\",\"schema\":\"\\u001b[2J\"}\n",
	  1, 27, "this is schema ?[2J;" },
	{ "two headers", HEADER HEADER, 2, 1, "a second header" },
	{ "an empty line", HEADER "\n", 2, 1,
	  "expected an object, but the line ends here" },
	{ "two objects", HEADER "{\"type\":\"new\"}{}\n", 2, 15,
	  "expected the end of the line" },
	{ "a frame before its device", HEADER FRAME("1", "\"passes\":[]"), 2, 1,
	  "frame 1 is of device 0, which has no device line before it" },
	{ "frames out of order",
	  HEADER DEVICE FRAME("7", "\"passes\":[]") FRAME("6", "\"passes\":[]"), 4, 1,
	  "frame 6 of device 0 comes after its frame 7" },
	{ "a frame twice",
	  HEADER DEVICE FRAME("7", "\"passes\":[]") FRAME("7", "\"passes\":[]"), 4, 1,
	  "comes after" },
	{ "a pass not introduced", HEADER DEVICE PASS(""), 3, 123,
	  "\"id\": pass 00000000000000aa has no pass_info line before it" },
	{ "a line after the end", HEADER END DEVICE, 3, 1,
	  "a line follows the end line" },
	{ "no type", HEADER "{\"a\":1}\n", 2, 1, "the line needs the field \"type\"" },
	{ "type is no string", HEADER "{\"type\":3}\n", 2, 9,
	  "expected a string, found '3'" },

	{ "a missing field", HEADER "{\"type\":\"note\",\"level\":\"info\"}\n", 2, 1,
	  "a note needs the field \"message\"" },
	{ "a word that is none",
	  HEADER "{\"type\":\"note\",\"level\":\"fatal\",\"message\":\"\"}\n", 2, 24,
	  "\"level\": \"fatal\" is none of info, warning, error" },
	{ "a double for an integer", HEADER DEVICE FRAME("1.0", "\"passes\":[]"), 3, 25,
	  "\"frame\": expected an integer" },
	{ "an exponent for an integer", HEADER DEVICE FRAME("1e3", "\"passes\":[]"), 3,
	  25, "\"frame\": expected an integer" },
	{ "a sign", HEADER DEVICE FRAME("-1", "\"passes\":[]"), 3, 25, "found '-'" },
	{ "a leading zero", HEADER DEVICE FRAME("01", "\"passes\":[]"), 3, 25,
	  "begin with a 0" },
	{ "65 bits", HEADER DEVICE FRAME("18446744073709551616", "\"passes\":[]"), 3, 25,
	  "does not fit in 64 bits" },
	{ "NaN", HEADER DEVICE INFO PASS(",\"counters\":{\"a\":NaN}"), 4, 174,
	  "\"counters\": expected a number, found 'N'" },
	{ "Infinity", HEADER DEVICE INFO PASS(",\"counters\":{\"a\":-Infinity}"), 4, 175,
	  "found 'I'" },
	{ "a number too large", HEADER DEVICE INFO PASS(",\"counters\":{\"a\":1e999}"), 4,
	  174, "too large for a double" },
	{ "a counter twice",
	  HEADER DEVICE INFO PASS(",\"counters\":{\"a\":1,\"b\":1,\"a\":1}"), 4, 182,
	  "the key \"a\" stands twice" },
	{ "a known key twice", HEADER DEVICE INFO PASS(",\"index\":0"), 4, 158,
	  "the key \"index\" stands twice in a pass" },
	{ "more than all", HEADER DEVICE FRAME("1", "\"passes\":[],\"coverage\":1.01"), 3,
	  120, "\"coverage\": a share is between 0 and 1" },
	{ "a short id",
	  HEADER
	  "{\"type\":\"pass_info\",\"id\":\"aa\",\"kind\":\"render\",\"target\":{}}\n",
	  2, 26, "\"id\": an id is 16 digits" },
	{ "an id in capitals",
	  HEADER "{\"type\":\"pass_info\",\"id\":\"00000000000000AA\"}\n", 2, 26,
	  "an id is 16 digits" },
	{ "a queue that is none", HEADER DEVICE INFO PASS(",\"queue\":\"1\""), 4, 166,
	  "a queue is \"family.index\"" },
	{ "a time that is none",
	  "{\"type\":\"header\",\"schema\":\"passtally/1\","
	  "\"started\":\"2026-02-29T00:00:00Z\"}\n",
	  1, 51, "RFC 3339" },
	{ "a NUL in text",
	  HEADER "{\"type\":\"note\",\"level\":\"info\",\"message\":\"a\\u0000\"}\n", 2,
	  41, "\"message\": the text holds a NUL character" },
	{ "bad UTF-8",
	  HEADER "{\"type\":\"note\",\"level\":\"info\",\"message\":\"a\xc3(\"}\n", 2, 43,
	  "byte 0xc3 is not valid UTF-8" },
	{ "half a surrogate", HEADER "{\"type\":\"note\",\"message\":\"a\\ud800b\"}\n", 2,
	  28, "\\ud800 is half of a surrogate pair" },
	{ "a raw tab", HEADER "{\"type\":\"note\",\"message\":\"a\tb\"}\n", 2, 28,
	  "a control character (byte 0x09)" },
	{ "a cut line that has its newline", HEADER "{\"type\":\"note\",\"level\":\n", 2,
	  24, "expected a string, but the line ends here" },
};

static void
check_log(const char *log, size_t len, uint64_t line, uint64_t column, const char *message)
{
	char *exact = g_memdup2(log, len);
	struct tally_log_reader *reader = open_log_bytes(exact, len);
	struct tally_log_line got;
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	do
		status = tally_log_reader_next(reader, &got, &error);
	while (status == TALLY_READ_OK);
	g_assert_cmpint(status, ==, line ? TALLY_READ_BAD : TALLY_READ_END);
	if (!g_strstr_len(error.message, -1, message))
		g_assert_cmpstr(error.message, ==, message);
	if (line) {
		g_assert_cmpuint(error.line, ==, line);
		g_assert_cmpuint(error.column, ==, column);
		struct tally_read_error again = { 0 };
		g_assert_cmpint(tally_log_reader_next(reader, &got, &again), ==, TALLY_READ_BAD);
		g_assert_cmpmem(&error, sizeof(error), &again, sizeof(again));
	}
	tally_log_reader_close(reader);
	g_free(exact);
}

static void
test_logs(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(log_cases); i++) {
		g_test_message("%s", log_cases[i].what);
		check_log(log_cases[i].log, strlen(log_cases[i].log), log_cases[i].line,
			  log_cases[i].column, log_cases[i].message);
	}
}

#define JUNK "\x01\xff{\n"

static const struct {
	const char *what, *log;
	uint64_t n_skipped, first; /* the first of them */
	uint64_t n_read; /* lines */
	uint64_t line; /* number of values that are still an error; 0: nothing */
} skip_cases[] = {
	{ "nothing is bad", HEADER DEVICE INFO PASS("") END, 0, 0, 5, 0 },
	{ "junk", HEADER DEVICE JUNK INFO PASS("") "\n" END, 2, 3, 5, 0 },
	{ "a frame", HEADER DEVICE INFO PASS(",\"gpu_ns\":-1") FRAME("2", "\"passes\":[]") END,
	  1, 4, 5, 0 },
	{ "a frame again", HEADER DEVICE INFO PASS("") PASS("") END, 1, 5, 5, 0 },
	{ "a note", HEADER "{\"type\":\"note\"}\n" DEVICE END, 1, 2, 3, 0 },
	{ "a pass_info, whose pass then has no name",
	  HEADER DEVICE "{\"type\":\"pass_info\",x\n" PASS("") END, 1, 3, 4, 0 },
	{ "what may have been a pass_info", HEADER DEVICE JUNK PASS("") END, 1, 3, 4, 0 },
	{ "an end", HEADER DEVICE "{\"type\":\"end\"}\n", 1, 3, 2, 0 },
	{ "more than are listed",
	  HEADER JUNK JUNK JUNK JUNK JUNK JUNK JUNK JUNK JUNK JUNK JUNK JUNK, 12, 2, 1, 0 },
	{ "a pass without pass_info", HEADER DEVICE PASS("") END, 1, 3, 3, 0 },
	{ "no header", JUNK HEADER DEVICE, 0, 0, 0, 1 },
	{ "a device", HEADER JUNK "{\"type\":\"device\",x\n" END, 1, 2, 1, 3 },
	{ "a second header", HEADER JUNK HEADER END, 1, 2, 1, 3 },
	{ "what follows the end", HEADER END JUNK, 0, 0, 2, 3 },
};

static void
test_skip_bad(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(skip_cases); i++) {
		g_test_message("%s", skip_cases[i].what);
		size_t len = strlen(skip_cases[i].log);
		char *exact = g_memdup2(skip_cases[i].log, len);
		struct tally_log_reader *reader = open_log_bytes(exact, len);
		tally_log_reader_skip_bad(reader);
		struct tally_log_line line;
		struct tally_read_error error = { 0 };
		enum tally_read_status status;
		uint64_t n_read = 0;
		while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK)
			n_read++;
		const struct tally_skipped_lines *skipped = tally_log_reader_skipped(reader);
		g_assert_cmpuint(n_read, ==, skip_cases[i].n_read);
		g_assert_cmpuint(skipped->n, ==, skip_cases[i].n_skipped);
		g_assert_cmpuint(skipped->numbers[0], ==, skip_cases[i].first);
		g_assert_cmpint(status, ==, skip_cases[i].line ? TALLY_READ_BAD : TALLY_READ_END);
		if (skip_cases[i].line)
			g_assert_cmpuint(error.line, ==, skip_cases[i].line);
		tally_log_reader_close(reader);
		g_free(exact);
	}
}

static const struct {
	const char *text;
	uint64_t want; /* UINT64_MAX: refused */
} time_cases[] = {
	{ "1970-01-01T00:00:00Z", 0 },
	{ "1970-01-01t00:00:00.000000001z", 1 },
	{ "1970-01-01T00:59:60.5+01:00", 500000000 },
	{ "1969-12-31T23:59:59-00:01", UINT64_C(59000000000) },
	{ "2000-02-29T23:59:59.123456789999Z", UINT64_C(951868799123456789) },
	{ "2554-07-21T23:34:33.709551614Z", UINT64_MAX - 1 },
	{ "2554-07-21T23:34:34Z", UINT64_MAX },
	{ "1969-12-31T23:59:59Z", UINT64_MAX },
	{ "2100-02-29T00:00:00Z", UINT64_MAX },
	{ "2026-13-01T00:00:00Z", UINT64_MAX },
	{ "2026-01-32T00:00:00Z", UINT64_MAX },
	{ "2026-01-01T24:00:00Z", UINT64_MAX },
	{ "2026-01-01T00:00:00.Z", UINT64_MAX },
	{ "2026-01-01T00:00:00", UINT64_MAX },
	{ "2026-01-01T00:00:00+0100", UINT64_MAX },
	{ "2026-01-01 00:00:00Z", UINT64_MAX },
	{ "2026-01-01T00:00:00Z ", UINT64_MAX },
	{ "", UINT64_MAX },
};

static void
test_times(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(time_cases); i++) {
		g_test_message("%s", time_cases[i].text);
		char *log = g_strdup_printf("{\"type\":\"header\",\"schema\":\"passtally/1\","
					    "\"version\":\"\",\"program\":\"\",\"pid\":1,"
					    "\"started\":\"%s\",\"options\":{}}\n",
					    time_cases[i].text);
		struct tally_log_reader *reader = open_log_bytes(log, strlen(log));
		struct tally_log_line line;
		struct tally_read_error error;
		enum tally_read_status status = tally_log_reader_next(reader, &line, &error);
		if (time_cases[i].want == UINT64_MAX) {
			g_assert_cmpint(status, ==, TALLY_READ_BAD);
		} else {
			g_assert_cmpint(status, ==, TALLY_READ_OK);
			g_assert_cmpuint(line.header.started_unix_ns, ==, time_cases[i].want);
		}
		tally_log_reader_close(reader);
		g_free(log);
	}
}

/* Text before and after deep or long things, too large for a table. */
static void
test_bounds(void)
{
	GString *log = g_string_new(HEADER "{\"type\":\"new\",\"a\":");
	size_t line_start = strlen(HEADER);
	for (int i = 0; i < 63; i++)
		g_string_append_c(log, '[');
	size_t innermost = log->len;
	for (int i = 0; i < 63; i++)
		g_string_append_c(log, ']');
	g_string_append(log, "}\n");
	check_log(log->str, log->len, 0, 0, "");
	g_string_insert(log, (gssize)innermost, "[]");
	check_log(log->str, log->len, 2, innermost - line_start + 1, "nested deeper than 64");

	/* More different counter keys than are kept. */
	g_string_assign(log, HEADER DEVICE INFO
			"{\"type\":\"frame\",\"passes\":[{\"counters\":{");
	for (int i = 0; i < 65537; i++)
		g_string_append_printf(log, "%s\"k%d\":%d", i ? "," : "", i, i);
	g_string_append(log, "}}]}\n");
	struct tally_log_reader *reader = open_log_bytes(log->str, log->len);
	struct tally_log_line line;
	struct tally_read_error error;
	enum tally_read_status status;
	while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK)
		;
	g_assert_cmpint(status, ==, TALLY_READ_BAD);
	g_assert_nonnull(strstr(error.message, "more than 65536 different keys"));
	tally_log_reader_close(reader);
	g_string_free(log, TRUE);
}

/* Wherever the log is cut, the lines before are returned, and the cut is recognized as such. */
static void
test_every_cut(void)
{
	char *path = g_test_build_filename(G_TEST_DIST, "..", "golden", "log-1.jsonl", NULL);
	char *bytes;
	size_t len;
	g_assert_true(g_file_get_contents(path, &bytes, &len, NULL));
	for (size_t cut = 0; cut < len; cut++) {
		char *exact = g_memdup2(bytes, cut);
		struct tally_log_reader *reader = open_log_bytes(exact, cut);
		struct tally_log_line line;
		struct tally_read_error error;
		enum tally_read_status status;
		size_t lines = 0, newlines = 0;
		while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK)
			lines++;
		for (size_t i = 0; i < cut; i++)
			newlines += bytes[i] == '\n';
		bool at_border = cut == 0 || bytes[cut - 1] == '\n' || bytes[cut] == '\n';
		if (cut == 0 || (newlines == 0 && !at_border)) {
			g_assert_cmpint(status, ==, TALLY_READ_BAD);
			g_assert_cmpuint(error.line, ==, 1);
		} else if (at_border) {
			g_assert_cmpint(status, ==, TALLY_READ_END);
			g_assert_cmpuint(lines, ==, newlines + (bytes[cut] == '\n'));
		} else {
			g_assert_cmpint(status, ==, TALLY_READ_TRUNCATED);
			g_assert_cmpuint(lines, ==, newlines);
			g_assert_cmpuint(error.line, ==, newlines + 1);
			g_assert_cmpint(tally_log_reader_next(reader, &line, &error), ==,
					TALLY_READ_TRUNCATED);
		}
		tally_log_reader_close(reader);
		g_free(exact);
	}
	g_free(bytes);
	g_free(path);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/reader/logs", test_logs);
	g_test_add_func("/reader/skip_bad", test_skip_bad);
	g_test_add_func("/reader/times", test_times);
	g_test_add_func("/reader/bounds", test_bounds);
	g_test_add_func("/reader/every_cut", test_every_cut);
	return g_test_run();
}
