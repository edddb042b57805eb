/* SPDX-License-Identifier: MIT */
/* The strict reader, one line at a time: what is JSON, what is not, and where it stops. */
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "json/swar.h"

/* A line in memory of exactly its size, as the reader requires. */
static char *
copy_line(const char *text, size_t len)
{
	char *line = g_malloc0(len + TALLY_JSON_PADDING);
	memcpy(line, text, len);
	return line;
}

static const struct {
	const char *text;
	size_t column; /* from 1; 0: it is good */
	const char *message;
} skip_cases[] = {
	{ "{}", 0, "" },
	{ " [ ] ", 0, "" },
	{ "\t{\"a\" : [ 1 , -2.5e+3 , true,false,null , \"\" ] }\r", 0, "" },
	{ "0", 0, "" },
	{ "-0", 0, "" },
	{ "-0.0e-0", 0, "" },
	{ "123456789012345678901234567890", 0, "" }, /* its value was not read */
	{ "1E5", 0, "" },
	{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"", 0, "" },
	{ "{\"a\":1,\"A\":1,\"\":1}", 0, "" },
	{ "[\"a\",\"a\"]", 0, "" },
	{ "{\"a\":{\"a\":{\"a\":1}}}", 0, "" },

	{ "", 1, "expected a value, but the line ends here" },
	{ "{", 2, "expected a key in quotes, but the line ends here" },
	{ "[", 2, "expected a value, but the line ends here" },
	{ "[1", 3, "expected ',' or ']', but the line ends here" },
	{ "[1,", 4, "expected a value, but the line ends here" },
	{ "[1,]", 4, "expected a value, found ']'" },
	{ "[,1]", 2, "expected a value, found ','" },
	{ "[1 2]", 4, "expected ',' or ']', found '2'" },
	{ "{\"a\"}", 5, "expected ':' after the key, found '}'" },
	{ "{\"a\":}", 6, "expected a value, found '}'" },
	{ "{\"a\":1,}", 8, "expected a key in quotes, found '}'" },
	{ "{a:1}", 2, "expected a key in quotes, found 'a'" },
	{ "{'a':1}", 2, "expected a key in quotes, found '''" },
	{ "{\"a\":1]", 7, "expected ',' or '}', found ']'" },
	{ "[1}", 3, "expected ',' or ']', found '}'" },
	{ "{} x", 4, "expected the end of the line after the object, found 'x'" },
	{ "NaN", 1, "expected a value, found 'N'" },
	{ "nan", 2, "expected true, false, null or a number, found 'a'" },
	{ "Infinity", 1, "expected a value, found 'I'" },
	{ "-Infinity", 2, "expected a number, found 'I'" },
	{ "True", 1, "expected a value, found 'T'" },
	{ "tru", 4, "expected true, false, null or a number, but the line ends here" },
	{ "trux", 4, "found 'x'" },
	{ "nullx", 5, "expected the end of the line" },
	{ "+1", 1, "expected a value, found '+'" },
	{ ".5", 1, "expected a value, found '.'" },
	{ "1.", 3, "expected a digit, but the line ends here" },
	{ "1.e5", 3, "expected a digit, found 'e'" },
	{ "1e", 3, "expected a digit" },
	{ "1e+", 4, "expected a digit" },
	{ "01", 1, "a number may not begin with a 0" },
	{ "-01", 2, "a number may not begin with a 0" },
	{ "00", 1, "a number may not begin with a 0" },
	{ "-", 2, "expected a number, but the line ends here" },
	{ "0x10", 2, "expected the end of the line" },
	{ "1_000", 2, "expected the end of the line" },
	{ "// comment", 1, "expected a value, found '/'" },

	{ "\"abc", 5, "the line ends inside a string" },
	{ "\"abcdefghijklmnop", 18, "the line ends inside a string" },
	{ "\"a\tb\"", 3, "a control character (byte 0x09)" },
	{ "\"a\nb\"", 3, "a control character (byte 0x0a)" },
	{ "\"\x1f\"", 2, "a control character (byte 0x1f)" },
	{ "\"\\a\"", 3, "expected one of \"\\/bfnrtu after a backslash, found 'a'" },
	{ "\"\\", 3, "expected one of \"\\/bfnrtu after a backslash, but the line ends here" },
	{ "\"\\u12g4\"", 6, "expected four hexadecimal digits after \\u, found 'g'" },
	{ "\"\\u12", 6, "expected four hexadecimal digits after \\u, but the line ends here" },
	{ "\"\\ud800\"", 2, "\\ud800 is half of a surrogate pair without the other half" },
	{ "\"\\ud800\\n\"", 2, "\\ud800 is half" },
	{ "\"\\ud800\\ud800\"", 2, "\\ud800 is half" },
	{ "\"\\udc00\"", 2, "\\udc00 is the second half of a surrogate pair without the first" },
	{ "\"\\ud800", 8, "\\ud800 is half" },
	{ "\"\\ud800\\", 9, "\\ud800 is half" },
	{ "\"\xff\"", 2, "byte 0xff is not valid UTF-8 here" },
	{ "\"abcdefgh\x80\"", 10, "byte 0x80 is not valid UTF-8" },
	{ "\"\xc0\x80\"", 2, "byte 0xc0 is not valid UTF-8" },
	{ "\"\xed\xa0\x80\"", 2, "byte 0xed is not valid UTF-8" },
	{ "\"\xf4\x90\x80\x80\"", 2, "byte 0xf4 is not valid UTF-8" },
	{ "\"\\n\xe2\x82\"", 4, "byte 0xe2 is not valid UTF-8" },
	{ "\"\xe2\x82", 4, "the line ends inside a string" },
	{ "\"\xff", 2, "byte 0xff is not valid UTF-8" },
	{ "\xef\xbb\xbf{}", 1, "expected a value, found byte 0xef" },
};

static void
check_skip(const char *text, size_t len, size_t column, const char *message)
{
	struct tally_json_reader r = { 0 };
	char *line = copy_line(text, len);
	tally_json_begin(&r, line, len);
	bool good = tally_json_skip(&r) && tally_json_end(&r);
	g_assert_cmpint(good, ==, column == 0);
	g_assert_cmpint(r.failed, ==, column != 0);
	if (!strstr(r.message, message))
		g_assert_cmpstr(r.message, ==, message);
	if (column) {
		g_assert_cmpuint((size_t)(r.where - r.begin) + 1, ==, column);
		g_assert_cmpint(r.cut, ==, column == len + 1);
	} else {
		g_assert_cmpuint(r.depth, ==, 0);
	}
	g_free(line);
}

static void
test_skip(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(skip_cases); i++) {
		char *shown = g_strescape(skip_cases[i].text, NULL);
		g_test_message("%s", shown);
		g_free(shown);
		check_skip(skip_cases[i].text, strlen(skip_cases[i].text), skip_cases[i].column,
			   skip_cases[i].message);
	}
	check_skip("\"a\0b\"", 5, 3, "a control character (byte 0x00)");
	check_skip("[\0]", 3, 2, "expected a value, found byte 0x00");
}

static void
test_depth(void)
{
	char text[140];
	for (int depth = 63; depth <= 66; depth++) {
		for (int i = 0; i < depth; i++) {
			text[i] = '[';
			text[2 * depth - 1 - i] = ']';
		}
		check_skip(text, 2 * (size_t)depth, depth > 64 ? 65 : 0,
			   depth > 64 ? "nested deeper than 64" : "");
	}
}

static const struct {
	const char *text;
	const char *want;
	size_t len;
	bool has_nul;
} text_cases[] = {
	{ "\"\"", "", 0, false },
	{ "\"abc\"", "abc", 3, false },
	{ "\"abcdefghijklmnop\"", "abcdefghijklmnop", 16, false },
	{ "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xae\"",
	  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xae", 9, false },
	{ "\"a\\nb\"", "a\nb", 3, false },
	{ "\"\\u0041\\u00e9\\u20ac\\ud83c\\udfae\"",
	  "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xae", 10, false },
	{ "\"\\uFFFF\\u0800\\u07ff\\u0080\\u007f\"",
	  "\xef\xbf\xbf\xe0\xa0\x80\xdf\xbf\xc2\x80\x7f", 11, false },
	{ "\"a\\u0000b\"", "a\0b", 3, true },
	{ "\"\\\\\\\"\\/ and \xc3\xa9 behind\"", "\\\"/ and \xc3\xa9 behind", 17, false },
};

static void
test_text(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(text_cases); i++) {
		struct tally_json_reader r = { 0 };
		struct tally_json_text text;
		size_t len = strlen(text_cases[i].text);
		char *line = copy_line(text_cases[i].text, len);
		tally_json_begin(&r, line, len);
		g_assert_true(tally_json_read_text(&r, &text));
		g_assert_true(tally_json_end(&r));
		g_assert_cmpuint(text.len, ==, text_cases[i].len);
		g_assert_true(memcmp(text.s, text_cases[i].want, text.len + 1) == 0);
		g_assert_cmpint(text.has_nul, ==, text_cases[i].has_nul);
		g_free(line);
	}
}

enum kind { U64, I64, F64, REFUSED };

static const struct {
	const char *text;
	enum kind kind; /* of tally_json_read_value() */
	uint64_t u64;
	int64_t i64;
	double f64;
	bool is_u64, is_i64; /* what the strict readers report */
} number_cases[] = {
	{ "0", U64, 0, 0, 0, true, true },
	{ "7", U64, 7, 7, 7, true, true },
	{ "12345678", U64, 12345678, 12345678, 12345678, true, true },
	{ "123456789", U64, 123456789, 123456789, 123456789, true, true },
	{ "1234567890123456", U64, UINT64_C(1234567890123456), INT64_C(1234567890123456),
	  1234567890123456, true, true },
	{ "12345678901234567", U64, UINT64_C(12345678901234567),
	  INT64_C(12345678901234567), 12345678901234567.0, true, true },
	{ "9223372036854775807", U64, INT64_MAX, INT64_MAX, 9223372036854775807.0, true,
	  true },
	{ "9223372036854775808", U64, UINT64_C(9223372036854775808), 0,
	  9223372036854775808.0, true, false },
	{ "18446744073709551615", U64, UINT64_MAX, 0, 18446744073709551615.0, true,
	  false },
	{ "18446744073709551616", REFUSED, 0, 0, 18446744073709551616.0, false, false },
	{ "20000000000000000000", REFUSED, 0, 0, 2e19, false, false },
	{ "100000000000000000000", REFUSED, 0, 0, 1e20, false, false },
	{ "-0", I64, 0, 0, -0.0, false, true },
	{ "-1", I64, 0, -1, -1, false, true },
	{ "-9223372036854775808", I64, 0, INT64_MIN, -9223372036854775808.0, false,
	  true },
	{ "-9223372036854775809", REFUSED, 0, 0, -9223372036854775809.0, false, false },
	{ "0.0", F64, 0, 0, 0, false, false },
	{ "1.0", F64, 0, 0, 1, false, false },
	{ "1e3", F64, 0, 0, 1000, false, false },
	{ "-2.5E-1", F64, 0, 0, -0.25, false, false },
	{ "123456789012345678901234567890.0", F64, 0, 0, 123456789012345678901234567890.0,
	  false, false },
	{ "01", REFUSED, 0, 0, NAN, false, false },
	{ "007", REFUSED, 0, 0, NAN, false, false },
	{ "1e999", REFUSED, 0, 0, NAN, false, false },
	{ "-", REFUSED, 0, 0, NAN, false, false },
	{ "\"1\"", REFUSED, 0, 0, NAN, false, false },
	{ "null", REFUSED, 0, 0, NAN, false, false },
};

/* One number with every reader, before and after everything that may surround it. */
static void
check_number(size_t i, const char *format)
{
	char text[80];
	g_snprintf(text, sizeof(text), format, number_cases[i].text);
	g_test_message("%s", text);
	for (int as = U64; as <= REFUSED; as++) {
		struct tally_json_reader r = { 0 };
		char *line = copy_line(text, strlen(text));
		tally_json_begin(&r, line, strlen(text));
		bool in_array = text[0] == '[';
		if (in_array)
			g_assert_true(tally_json_open_array(&r) && tally_json_next_item(&r));
		uint64_t u64 = 0;
		int64_t i64 = 0;
		double f64 = 0;
		struct tally_value v = { 0 };
		bool want;
		bool got;
		switch (as) {
		case U64:
			want = number_cases[i].is_u64;
			got = tally_json_read_u64(&r, &u64);
			g_assert_true(!got || u64 == number_cases[i].u64);
			break;
		case I64:
			want = number_cases[i].is_i64;
			got = tally_json_read_i64(&r, &i64);
			g_assert_true(!got || i64 == number_cases[i].i64);
			break;
		case F64:
			want = !isnan(number_cases[i].f64);
			got = tally_json_read_f64(&r, &f64);
			g_assert_true(!got || f64 == number_cases[i].f64);
			break;
		default:
			want = number_cases[i].kind != REFUSED;
			got = tally_json_read_value(&r, &v);
			g_assert_true(!got ||
				      v.storage == (enum tally_storage)number_cases[i].kind);
			if (got && v.storage == TALLY_STORAGE_U64)
				g_assert_cmpuint(v.u64, ==, number_cases[i].u64);
			else if (got && v.storage == TALLY_STORAGE_I64)
				g_assert_cmpint(v.i64, ==, number_cases[i].i64);
			else if (got)
				g_assert_cmpfloat(v.f64, ==, number_cases[i].f64);
		}
		g_assert_cmpint(got, ==, want);
		if (got && in_array)
			g_assert_true(tally_json_next_item(&r) || !r.failed);
		else if (got)
			g_assert_true(tally_json_end(&r));
		g_free(line);
	}
}

static void
test_numbers(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(number_cases); i++) {
		check_number(i, "%s");
		check_number(i, " %s ");
		check_number(i, "[%s]");
		check_number(i, "[ %s ,1]");
		check_number(i, "[%s,1]");
	}
}

/* Digits of every length before and after the decimal point, as members of an object. */
static void
test_decimals(void)
{
	GRand *random = g_rand_new_with_seed(7);
	for (int i = 0; i < 200000; i++) {
		int n = g_rand_int_range(random, 1, 23),
		    point = g_rand_int_range(random, 1, n + 1);
		char text[64], *at = text;
		for (int digit = 0; digit <= n; digit++) {
			char drawn = (char)("0123456789"[g_rand_int_range(random, 0, 10)]);
			*at++ = digit == point ? '.' : drawn;
			if (digit == 0 && point > 1 && text[0] == '0')
				text[0] = '1';
		}
		if (point == n)
			*at++ = '5';
		*at = '\0';
		char line[64 + TALLY_JSON_PADDING];
		int len = g_snprintf(line, 64, "{\"a\":%s%s", text, i % 2 ? "}" : ",\"b\":1}");
		struct tally_json_reader r = { 0 };
		struct tally_json_text key;
		struct tally_value v;
		tally_json_begin(&r, line, (size_t)len);
		g_assert_true(tally_json_open_object(&r) && tally_json_next_key(&r, &key));
		g_assert_true(tally_json_read_value(&r, &v));
		g_assert_cmpint(v.storage, ==, TALLY_STORAGE_F64);
		g_assert_true(v.f64 == g_ascii_strtod(text, NULL));
	}
	g_rand_free(random);
}

static void
test_words(void)
{
	struct tally_json_reader r = { 0 };
	char line[64 + TALLY_JSON_PADDING] = "[true,false,null]";
	bool v = false;
	tally_json_begin(&r, line, strlen(line));
	g_assert_true(tally_json_open_array(&r) && tally_json_next_item(&r));
	g_assert_true(tally_json_read_bool(&r, &v) && v && tally_json_next_item(&r));
	g_assert_true(tally_json_read_bool(&r, &v) && !v && tally_json_next_item(&r));
	g_assert_cmpint(tally_json_peek(&r), ==, 'n');
	g_assert_true(tally_json_read_null(&r));
	g_assert_false(tally_json_next_item(&r));
	g_assert_false(r.failed);
	g_assert_true(tally_json_end(&r));
}

/* tally_json_take_key() accepts the key that the text contains, and no other. */
static void
test_take_key(void)
{
	static const struct {
		const char *text, *spelled;
		bool taken;
	} cases[] = {
		{ "{\"gpu_ns\":1}", "\"gpu_ns\":", true },
		{ "{\"n\":1}", "\"n\":", true },
		{ "{\"serialized_by\":1}", "\"serialized_by\":", true },
		{ "{\"serialized_by_\":1}", "\"serialized_by\":", false },
		{ "{\"serialized_bz\":1}", "\"serialized_by\":", false },
		{ "{ \"gpu_ns\":1}", "\"gpu_ns\":", false }, /* the slow path takes these */
		{ "{\"gpu_ns\" :1}", "\"gpu_ns\":", false },
		{ "{}", "\"gpu_ns\":", false },
		{ "{\"", "\"gpu_ns\":", false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct tally_json_reader r = { 0 };
		char *line = copy_line(cases[i].text, strlen(cases[i].text));
		tally_json_begin(&r, line, strlen(cases[i].text));
		g_assert_true(tally_json_open_object(&r));
		g_assert_cmpint(tally_json_take_key(&r, cases[i].spelled,
						    strlen(cases[i].spelled)),
				==, cases[i].taken);
		if (cases[i].taken) {
			uint64_t v;
			g_assert_true(tally_json_read_u64(&r, &v));
			g_assert_false(tally_json_take_key(&r, cases[i].spelled,
							   strlen(cases[i].spelled)));
			struct tally_json_text key;
			g_assert_false(tally_json_next_key(&r, &key));
			g_assert_false(r.failed);
		}
		g_free(line);
	}
}

static void
test_quote(void)
{
	char out[48];
	g_assert_cmpstr(tally_json_quote(out, "abc", 3), ==, "abc");
	g_assert_cmpstr(tally_json_quote(out, "a\nb\xc3\xa9\x1b", 6), ==, "a?b???");
	char longer[60];
	memset(longer, 'x', sizeof(longer));
	tally_json_quote(out, longer, sizeof(longer));
	g_assert_cmpuint(strlen(out), ==, 43);
	g_assert_true(g_str_has_suffix(out, "x..."));
}

/* Every byte in each of the eight positions of digits. */
static void
test_hex(void)
{
	static const char digits[] = "0123456789abcdef";
	for (int at = 0; at < 8; at++) {
		for (int c = 0; c < 256; c++) {
			char eight[] = "0f9a63c5";
			eight[at] = (char)c;
			const char *digit = c ? strchr(digits, c) : NULL;
			bool good = true;
			uint32_t v = tally_swar_read_hex(eight, &good);
			g_assert_cmpint(good, ==, digit != NULL);
			if (digit)
				g_assert_cmphex(v, ==, strtoul(eight, NULL, 16));
			good = false;
			tally_swar_read_hex("01234567", &good);
			g_assert_false(good);
		}
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/json_reader/skip", test_skip);
	g_test_add_func("/json_reader/depth", test_depth);
	g_test_add_func("/json_reader/text", test_text);
	g_test_add_func("/json_reader/numbers", test_numbers);
	g_test_add_func("/json_reader/decimals", test_decimals);
	g_test_add_func("/json_reader/words", test_words);
	g_test_add_func("/json_reader/take_key", test_take_key);
	g_test_add_func("/json_reader/quote", test_quote);
	g_test_add_func("/json_reader/hex", test_hex);
	return g_test_run();
}
