/* SPDX-License-Identifier: MIT */
/* Bytes out: escaping, values, times, and what happens when there is no more room. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "json/writer.h"

/* A writer into memory of `limit` bytes that is enlarged byte by byte, so that every boundary
 * between two pieces is tested. */
struct grown {
	struct tally_json_writer writer; /* first */
	char *bytes;
	size_t size, limit;
};

static bool
grow(struct tally_json_writer *w, size_t need)
{
	struct grown *g = (struct grown *)w;
	size_t used = (size_t)(w->at - g->bytes);
	g_assert_cmpuint(need, <=, TALLY_JSON_ROOM);
	if (used + need > g->limit)
		return false;
	g->size = used + need;
	g->bytes = g_realloc(g->bytes, g->size);
	w->at = g->bytes + used;
	w->end = g->bytes + g->size;
	return true;
}

static void
init_grown(struct grown *g, size_t limit)
{
	*g = (struct grown){ .bytes = g_malloc(1), .limit = limit };
	g->writer.at = g->bytes;
	g->writer.end = g->bytes;
	g->writer.room = grow;
}

static void
check_written(struct grown *g, const char *want)
{
	g_assert_false(g->writer.failed);
	char *got = g_strndup(g->bytes, (size_t)(g->writer.at - g->bytes));
	g_assert_cmpstr(got, ==, want);
	g_free(got);
	g_free(g->bytes);
}

static const struct {
	const char *text, *want;
} text_cases[] = {
	{ NULL, "\"\"" },
	{ "", "\"\"" },
	{ "a", "\"a\"" },
	{ "eight by", "\"eight by\"" },
	{ "nine byte", "\"nine byte\"" },
	{ "a text that is longer than two words", "\"a text that is longer than two words\"" },
	{ "\"", "\"\\\"\"" },
	{ "12345\"78", "\"12345\\\"78\"" },
	{ "1234567\"", "\"1234567\\\"\"" },
	{ "12345678\"", "\"12345678\\\"\"" },
	{ "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"" },
	{ "\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\"" },
	{ "C:\\dir\\file", "\"C:\\\\dir\\\\file\"" },
	{ "C:\\xmas", "\"C:\\\\x5cxmas\"" },
	{ "ends in \\", "\"ends in \\\\\"" },
	{ "\\\\x", "\"\\\\\\\\x5cx\"" },
	{ "\xc3\xa9", "\"\xc3\xa9\"" },
	{ "abcdefg\xc3\xa9", "\"abcdefg\xc3\xa9\"" },
	{ "\xe2\x82\xac\xf0\x9f\x8e\xae", "\"\xe2\x82\xac\xf0\x9f\x8e\xae\"" },
	{ "\xff", "\"\\\\xff\"" },
	{ "\xc3", "\"\\\\xc3\"" },
	{ "abcdefg\xc3", "\"abcdefg\\\\xc3\"" },
	{ "\xc3(", "\"\\\\xc3(\"" },
	{ "\xed\xa0\x80", "\"\\\\xed\\\\xa0\\\\x80\"" },
	{ "\xc0\xaf", "\"\\\\xc0\\\\xaf\"" },
	{ "\\\xff", "\"\\\\\\\\xff\"" },
	{ "plain, then one bad \x80 and plain again",
	  "\"plain, then one bad \\\\x80 and plain again\"" },
};

static void
test_text(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(text_cases); i++) {
		g_test_message("%s", text_cases[i].want);
		struct grown g;
		init_grown(&g, 1000);
		tally_json_put_text(&g.writer, text_cases[i].text);
		g_assert_true(g_utf8_validate(g.bytes, g.writer.at - g.bytes, NULL));
		check_written(&g, text_cases[i].want);
	}
}

/* Turns \xNN in the text into the byte, from left to right. */
static char *
undo_escapes(const char *json, size_t len)
{
	GString *plain = g_string_new(NULL);
	for (size_t i = 1; i + 1 < len; i++) { /* the JSON level: only \\ occurs here */
		if (json[i] == '\\')
			i++;
		g_string_append_c(plain, json[i]);
	}
	GString *text = g_string_new(NULL);
	for (size_t i = 0; i < plain->len; i++) {
		const char *s = plain->str + i;
		if (s[0] == '\\' && s[1] == 'x') {
			g_string_append_c(text, (char)(g_ascii_xdigit_value(s[2]) * 16 +
						       g_ascii_xdigit_value(s[3])));
			i += 3;
		} else {
			g_string_append_c(text, *s);
		}
	}
	g_string_free(plain, TRUE);
	return g_string_free(text, FALSE);
}

/* Whatever a label is, the log contains it exactly. */
static void
test_text_is_reversible(void)
{
	static const char pieces[] = {
		'\\', 'x', '5', 'c', (char)0xff, (char)0xc3, (char)0xa9, 'f'
	};
	for (unsigned n = 0; n < 8 * 8 * 8 * 8 * 8; n++) {
		char text[6] = { 0 };
		for (unsigned i = 0, rest = n; i < 5; i++, rest /= 8)
			text[i] = pieces[rest % 8];
		struct grown g;
		init_grown(&g, 1000);
		tally_json_put_text(&g.writer, text);
		size_t len = (size_t)(g.writer.at - g.bytes);
		char *back = undo_escapes(g.bytes, len);
		g_assert_cmpstr(back, ==, text);
		g_free(back);
		g_free(g.bytes);
	}
}

static const struct {
	struct tally_value v;
	const char *want; /* NULL: not writable */
} value_cases[] = {
	{ { .storage = TALLY_STORAGE_U64, .u64 = UINT64_MAX }, "18446744073709551615" },
	{ { .storage = TALLY_STORAGE_I64, .i64 = INT64_MIN }, "-9223372036854775808" },
	{ { .storage = TALLY_STORAGE_I64, .i64 = INT64_MAX }, "9223372036854775807" },
	{ { .storage = TALLY_STORAGE_F64, .f64 = 2 }, "2.0" },
	{ { .storage = TALLY_STORAGE_F64, .f64 = -1.5e-300 }, "-1.5e-300" },
	{ { .storage = TALLY_STORAGE_F64, .f64 = NAN }, NULL },
	{ { .storage = TALLY_STORAGE_F64, .f64 = INFINITY }, NULL },
	{ { .storage = TALLY_STORAGE_F64, .f64 = -INFINITY }, NULL },
};

static void
test_values(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(value_cases); i++) {
		bool writable = tally_json_is_writable(value_cases[i].v);
		g_assert_cmpint(writable, ==, value_cases[i].want != NULL);
		if (!writable)
			continue;
		struct grown g;
		init_grown(&g, 1000);
		tally_json_put_value(&g.writer, value_cases[i].v);
		check_written(&g, value_cases[i].want);
	}
}

static void
test_ids_and_sums(void)
{
	struct grown g;
	init_grown(&g, 1000);
	tally_json_put_id(&g.writer, UINT64_C(0x00ab54a98ceb1f0a));
	static const struct tally_int192 wide[] = {
		{ { 0 } },
		{ { UINT64_MAX, UINT64_MAX, UINT64_MAX } },
		{ { UINT64_MAX, UINT64_MAX, 0 } },
		{ { 0, 0, UINT64_C(1) << 63 } },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(wide); i++)
		tally_json_put_int192(&g.writer, &wide[i]);
	check_written(&g, "\"00ab54a98ceb1f0a\"\"0\"\"-1\""
			  "\"340282366920938463463374607431768211455\""
			  "\"-3138550867693340381917894711603833208051177722232017256448\"");
}

static const struct {
	uint64_t unix_ns;
	const char *want;
} time_cases[] = {
	{ 0, "\"1970-01-01T00:00:00.000000000Z\"" },
	{ UINT64_C(951782399999999999), "\"2000-02-28T23:59:59.999999999Z\"" },
	{ UINT64_C(951782400000000000), "\"2000-02-29T00:00:00.000000000Z\"" },
	{ UINT64_C(951868800000000000), "\"2000-03-01T00:00:00.000000000Z\"" },
	{ UINT64_C(1735689599000000000), "\"2024-12-31T23:59:59.000000000Z\"" },
	{ UINT64_C(4107542400000000000), "\"2100-03-01T00:00:00.000000000Z\"" },
	{ UINT64_MAX, "\"2554-07-21T23:34:33.709551615Z\"" },
};

static void
test_times(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(time_cases); i++) {
		struct grown g;
		init_grown(&g, 1000);
		tally_json_put_time(&g.writer, time_cases[i].unix_ns);
		check_written(&g, time_cases[i].want);
	}
}

/* Numbers that share their first digits with earlier ones, and others between them. */
static void
test_nanoseconds(void)
{
	static const uint64_t around[] = {
		0, 99999999, 100000000, 1700000000, 399999999999, UINT64_MAX - 300000000,
	};
	struct tally_json_writer w = { .at = NULL };
	for (int i = 0; i < 20000; i++) {
		char got[TALLY_U64_CHARS + 1], want[TALLY_U64_CHARS + 1];
		uint64_t ns = around[g_test_rand_int_range(0, G_N_ELEMENTS(around))] +
			      (uint64_t)g_test_rand_int_range(0, 300000000);
		*tally_json_put_ns_at(&w, got, ns) = '\0';
		g_snprintf(want, sizeof(want), "%" G_GUINT64_FORMAT, ns);
		g_assert_cmpstr(got, ==, want);
	}
}

/* After a refusal nothing more is written, however small. */
static void
test_no_room(void)
{
	for (size_t limit = 0; limit < 300; limit++) {
		struct grown g;
		init_grown(&g, limit);
		tally_json_put_text(&g.writer,
				    "a \"text\" of some length \xff\xff, with a tail");
		tally_json_put_u64(&g.writer, 1);
		tally_json_put_f64(&g.writer, 0.5);
		tally_json_put_id(&g.writer, 7);
		tally_json_put_int192(&g.writer, &(struct tally_int192){ { 1, 1 } });
		tally_json_put_time(&g.writer, 1);
		size_t used = (size_t)(g.writer.at - g.bytes);
		g_assert_cmpuint(used, <=, limit);
		if (g.writer.failed) {
			TALLY_JSON_PUT(&g.writer, "}");
			tally_json_put_i64(&g.writer, -1);
			g_assert_cmpuint((size_t)(g.writer.at - g.bytes), ==, used);
		} else {
			g_assert_cmpuint(limit, >=, 100);
		}
		g_free(g.bytes);
	}
}

/* Two words that share an entry are both found, in whichever order they come. */
static void
test_kept_together(void)
{
	static struct tally_json_kept kept[TALLY_JSON_KEPT];
	static char words[64 * TALLY_JSON_KEPT];
	struct grown g;
	init_grown(&g, 1000);
	g.writer.kept = kept;
	const char *first = words, *second = words + 1;
	while (tally_json_kept_at(&g.writer, second, 0) != tally_json_kept_at(&g.writer, first, 0))
		g_assert_true(++second < words + sizeof(words));
	for (int i = 0; i < 2; i++) {
		tally_json_put_kept(&g.writer, first);
		tally_json_put_kept(&g.writer, second);
	}
	g_assert_nonnull(tally_json_find_kept(&g.writer, first));
	g_assert_nonnull(tally_json_find_kept(&g.writer, second));
	check_written(&g, "\"\"\"\"\"\"\"\"");
}

/* The bytes are the same whether a text is found by its address or not; entries are replaced. */
static void
test_kept_text(void)
{
	static struct tally_json_kept kept[TALLY_JSON_KEPT];
	char *texts[4 * TALLY_JSON_KEPT];
	size_t n = 0;
	for (; n < G_N_ELEMENTS(text_cases); n++)
		texts[n] = g_strdup(text_cases[n].text ? text_cases[n].text : "");
	for (; n < G_N_ELEMENTS(texts); n++)
		texts[n] = g_strnfill(n % 70, (char)('a' + n % 26));
	for (size_t i = 0; i < 3 * n; i++) {
		struct grown plain, g;
		init_grown(&plain, 1000);
		init_grown(&g, 1000);
		g.writer.kept = kept;
		tally_json_put_text(&plain.writer, texts[i % n]);
		tally_json_put_kept(&g.writer, texts[i % n]);
		if (i % 3) /* at once, when it is certainly kept */
			tally_json_put_kept(&g.writer, texts[i % n]);
		char *once = g_strndup(plain.bytes, (size_t)(plain.writer.at - plain.bytes));
		char *want = g_strconcat(once, i % 3 ? once : NULL, NULL);
		check_written(&g, want);
		check_written(&plain, once);
		g_free(want);
		g_free(once);
	}
	for (size_t i = 0; i < n; i++)
		g_free(texts[i]);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/json_writer/text", test_text);
	g_test_add_func("/json_writer/text_is_reversible", test_text_is_reversible);
	g_test_add_func("/json_writer/kept_text", test_kept_text);
	g_test_add_func("/json_writer/kept_together", test_kept_together);
	g_test_add_func("/json_writer/values", test_values);
	g_test_add_func("/json_writer/ids_and_sums", test_ids_and_sums);
	g_test_add_func("/json_writer/times", test_times);
	g_test_add_func("/json_writer/nanoseconds", test_nanoseconds);
	g_test_add_func("/json_writer/no_room", test_no_room);
	return g_test_run();
}
