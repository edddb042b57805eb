/* SPDX-License-Identifier: MIT */
/* Lines from sources of bytes, in pieces of any size. */
#include <glib.h>
#include <string.h>

#include "json/lines.h"
#include "json/reader.h"
#include "json/sink.h"
#include "tests/unit/json/log_bytes.h"

static const struct {
	const char *text;
	size_t n;
	const char *last; /* line */
	bool whole; /* the last one */
} cases[] = {
	{ "", 0, NULL, false },  { "\n", 1, "", true },          { "a", 1, "a", false },
	{ "a\n", 1, "a", true }, { "a\n\nbc\n", 3, "bc", true }, { "a\nbc\r", 2, "bc\r", false },
};

static void
check_lines(struct tally_lines *lines, size_t n, const char *last, bool want_whole)
{
	for (size_t i = 0; i < n; i++) {
		char *line;
		size_t len;
		bool whole;
		g_assert_cmpint(tally_lines_next(lines, &line, &len, &whole), ==,
				TALLY_LINES_OK);
		memset(line + len, '\n', 1); /* as the reader does */
		if (i + 1 < n)
			continue;
		g_assert_cmpuint(len, ==, strlen(last));
		g_assert_true(memcmp(line, last, len) == 0);
		g_assert_cmpint(whole, ==, want_whole);
	}
	for (int again = 0; again < 2; again++) {
		char *line;
		size_t len;
		bool whole;
		g_assert_cmpint(tally_lines_next(lines, &line, &len, &whole), ==,
				TALLY_LINES_END);
	}
}

static void
open_bytes(struct tally_lines *lines, const char *bytes, size_t len)
{
	struct tally_lines_source source;
	g_assert_true(log_bytes_source(&source, -1, bytes, len));
	tally_lines_init(lines, &source, false);
}

static void
test_memory(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct tally_lines lines;
		open_bytes(&lines, cases[i].text, strlen(cases[i].text));
		check_lines(&lines, cases[i].n, cases[i].last, cases[i].whole);
		tally_lines_finish(&lines);
	}
}

/* Lines around the sizes at which the buffer grows. */
static void
test_growth(void)
{
	static const size_t sizes[] = { 262143, 262144, 262145, 524287, 524288, 1000000 };
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		char *text = g_malloc(sizes[i] + 3);
		memset(text, 'x', sizes[i]);
		memcpy(text + sizes[i], "\ny\n", 3);
		struct tally_lines lines;
		open_bytes(&lines, text, sizes[i] + 3);
		char *line;
		size_t len;
		bool whole;
		g_assert_cmpint(tally_lines_next(&lines, &line, &len, &whole), ==,
				TALLY_LINES_OK);
		g_assert_cmpuint(len, ==, sizes[i]);
		for (size_t k = 0; k < TALLY_JSON_PADDING; k++)
			g_assert_cmpint(line[len + 1 + k], !=, 'x'); /* readable */
		check_lines(&lines, 1, "y", true);
		tally_lines_finish(&lines);
		g_free(text);
	}
}

static void
test_longest(void)
{
	size_t size = (size_t)TALLY_LINE_MAX + 2;
	char *text = g_malloc(size);
	memset(text, ' ', size);
	for (size_t len = TALLY_LINE_MAX; len <= (size_t)TALLY_LINE_MAX + 1; len++) {
		text[len] = '\n';
		struct tally_lines lines;
		open_bytes(&lines, text, len + 1);
		char *line;
		size_t got;
		bool whole;
		enum tally_lines_status status = tally_lines_next(&lines, &line, &got, &whole);
		g_assert_cmpint(status, ==,
				len > TALLY_LINE_MAX ? TALLY_LINES_TOO_LONG : TALLY_LINES_OK);
		tally_lines_finish(&lines);
		text[len] = ' ';
	}
	g_free(text);
}

/* A source that gives `texts` one by one and then `last`. */
struct script {
	const char *const *texts;
	enum tally_lines_status last;
	unsigned closed;
};

static enum tally_lines_status
script_read(void *user, char *to, size_t size, size_t *n, const char **why)
{
	struct script *s = user;
	*n = 0;
	*why = "because";
	if (!*s->texts)
		return s->last;
	*n = strlen(*s->texts);
	g_assert_cmpuint(*n, <=, size);
	memcpy(to, *s->texts++, *n);
	return TALLY_LINES_OK;
}

static void
script_progress(void *user, uint64_t *done, uint64_t *total)
{
	(void)user;
	*done = 3;
	*total = 9;
}

static void
script_close(void *user)
{
	((struct script *)user)->closed++;
}

static struct tally_lines_source
source_of(struct script *script)
{
	return (struct tally_lines_source){ script, script_read, script_progress, script_close };
}

/* Bytes that arrive one by one. */
static void
test_single_bytes(void)
{
	static const char *const texts[] = { "o",  "n", "e", "\n", "t", "w", "o",
					     "\n", "t", "h", "r",  "e", "e", NULL };
	struct script script = { .texts = texts, .last = TALLY_LINES_END };
	const struct tally_lines_source source = source_of(&script);
	struct tally_lines lines;
	tally_lines_init(&lines, &source, false);
	check_lines(&lines, 3, "three", false);
	tally_lines_finish(&lines);
}

/* What grows: what has no newline yet is no line, and an end is not for ever. */
static void
test_growing(void)
{
	static const struct {
		const char *text, *line; /* NULL: none is whole */
	} steps[] = {
		{ "", NULL },  { "on", NULL },       { "e\ntw", "one" }, { "", NULL },
		{ "o", NULL }, { "\nthree", "two" }, { "\n", "three" },  { "", NULL },
	};
	struct script script = { .last = TALLY_LINES_END };
	const struct tally_lines_source source = source_of(&script);
	struct tally_lines lines;
	tally_lines_init(&lines, &source, true);
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
		const char *const texts[] = { *steps[i].text ? steps[i].text : NULL, NULL };
		script.texts = texts;
		char *line;
		size_t n;
		bool whole = false;
		enum tally_lines_status status = tally_lines_next(&lines, &line, &n, &whole);
		if (!steps[i].line) {
			g_assert_cmpint(status, ==, TALLY_LINES_END);
			continue;
		}
		g_assert_cmpint(status, ==, TALLY_LINES_OK);
		g_assert_true(whole);
		g_assert_cmpmem(line, n, steps[i].line, strlen(steps[i].line));
	}
	tally_lines_finish(&lines);
}

static void
test_source(void)
{
	static const char *const texts[] = { "a", "b\nc", "d\n", "e", NULL };
	static const enum tally_lines_status ends[] = { TALLY_LINES_END, TALLY_LINES_CUT,
							TALLY_LINES_DAMAGED, TALLY_LINES_IO };
	static const char *const want[] = { "ab", "cd", "e" };
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		struct script script = { .texts = texts, .last = ends[i] };
		const struct tally_lines_source source = source_of(&script);
		struct tally_lines lines;
		tally_lines_init(&lines, &source, false);
		char *line;
		size_t len;
		bool whole;
		/* What follows the last newline of a source that fails is not a line. */
		bool failed = ends[i] == TALLY_LINES_DAMAGED || ends[i] == TALLY_LINES_IO;
		for (int k = 0; k < 3 - failed; k++) {
			g_assert_cmpint(tally_lines_next(&lines, &line, &len, &whole), ==,
					TALLY_LINES_OK);
			g_assert_cmpmem(line, len, want[k], strlen(want[k]));
			g_assert_cmpint(whole, ==, k < 2);
		}
		for (int again = 0; again < 2; again++)
			g_assert_cmpint(tally_lines_next(&lines, &line, &len, &whole), ==,
					ends[i]);
		if (failed)
			g_assert_cmpstr(lines.why, ==, "because");
		tally_lines_finish(&lines);
		g_assert_cmpuint(script.closed, ==, 1);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/lines/memory", test_memory);
	g_test_add_func("/lines/single-bytes", test_single_bytes);
	g_test_add_func("/lines/source", test_source);
	g_test_add_func("/lines/growing", test_growing);
	g_test_add_func("/lines/growth", test_growth);
	g_test_add_func("/lines/longest", test_longest);
	return g_test_run();
}
