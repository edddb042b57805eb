/* SPDX-License-Identifier: MIT */
/* Numbers to text and back: shortest, exact, in every locale. */
#include <glib.h>
#include <float.h>
#include <locale.h>
#include <stdbool.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"

static const struct {
	double v;
	const char *want;
} double_cases[] = {
	{ 0.0, "0.0" },
	{ -0.0, "-0.0" },
	{ 1, "1.0" },
	{ -1, "-1.0" },
	{ 0.1, "0.1" },
	{ 0.3, "0.3" },
	{ 0.1 + 0.2, "0.30000000000000004" },
	{ 1.0 / 3, "0.3333333333333333" },
	{ 123456.789, "123456.789" },
	{ 0.0001, "0.0001" },
	{ 0.00001, "1e-5" },
	{ 1.5e-7, "1.5e-7" },
	{ 1e15, "1000000000000000.0" },
	{ 9007199254740993.0, "9007199254740992.0" },
	{ 1e16, "1e16" },
	{ 1.2345678901234567e17, "1.2345678901234566e17" },
	{ 1e22, "1e22" },
	{ 1e23, "1e23" },
	{ 5e-324, "5e-324" },
	{ 2.2250738585072014e-308, "2.2250738585072014e-308" },
	{ 1.7976931348623157e308, "1.7976931348623157e308" },
	{ 2251799813685248.5, "2251799813685248.5" },
	{ 2.98023223876953125e-8, "2.9802322387695312e-8" },
};

static void
test_doubles(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(double_cases); i++) {
		char out[TALLY_F64_CHARS + 1];
		out[tally_number_format_f64(out, double_cases[i].v)] = '\0';
		g_assert_cmpstr(out, ==, double_cases[i].want);
		double back = tally_number_parse_f64(out);
		g_assert_true(memcmp(&back, &double_cases[i].v, sizeof(back)) == 0);
	}
}

/* xorshift: the same numbers every run. */
static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The least number of digits that identifies the value. */
static int
count_least_digits(double v)
{
	char text[40];
	for (int digits = 1; digits < 17; digits++) {
		g_snprintf(text, sizeof(text), "%.*e", digits - 1, v);
		if (strtod(text, NULL) == v)
			return digits;
	}
	return 17;
}

static int
count_digits(const char *text)
{
	int n = 0, zeros = 0;
	for (; *text && *text != 'e'; text++) {
		if (!g_ascii_isdigit(*text) || (n == 0 && *text == '0'))
			continue;
		n++;
		zeros = *text == '0' ? zeros + 1 : 0;
	}
	return n - zeros;
}

static void
test_random_doubles(void)
{
	uint64_t state = UINT64_C(88172645463325252);
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = next_random(&state);
		if (i % 2) /* sums of few powers of two, near 1 */
			bits = (bits & UINT64_C(0xfff0000000000)) | (1003 + (bits & 63)) << 52;
		double v;
		memcpy(&v, &bits, sizeof(v));
		if (!isfinite(v) || v == 0)
			continue;
		char out[TALLY_F64_CHARS + 1];
		size_t len = tally_number_format_f64(out, v);
		g_assert_cmpuint(len, <=, TALLY_F64_CHARS);
		out[len] = '\0';
		g_assert_true(strtod(out, NULL) == v);
		g_assert_true(tally_number_parse_f64(out) == v);
		g_assert_cmpint(count_digits(out), ==, count_least_digits(v));
		g_assert_true(strpbrk(out, ".e") != NULL);
	}
}

/* Spellings that our writer never produces. */
static const struct {
	const char *text;
	double want;
} parse_cases[] = {
	{ "0", 0 },
	{ "-0", -0.0 },
	{ "1E5", 1e5 },
	{ "1e+5", 1e5 },
	{ "100e-2", 1 },
	{ "0.000e99999", 0 },
	{ "1e-400", 0 },
	{ "0e999999999999999999999", 0 },
	{ "1e400", INFINITY },
	{ "-1e999999999999999999999", -INFINITY },
	{ "9007199254740993", 9007199254740992.0 },
	{ "9007199254740992.99999999999999999999999999", 9007199254740992.0 },
	{ "9007199254740993.00000000000000000000000001", 9007199254740994.0 },
	{ "18446744073709551615", 18446744073709551616.0 },
	{ "2.4703282292062327e-324", 0 },
	{ "2.4703282292062328e-324", 5e-324 },
	{ "1.7976931348623158e308", DBL_MAX },
	{ "1.7976931348623159e308", INFINITY },
	{ "0.1000000000000000055511151231257827021181583404541015625", 0.1 },
	{ "123456789012345678901234567890", 123456789012345678901234567890.0 },
};

static void
test_parse(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(parse_cases); i++) {
		g_test_message("%s", parse_cases[i].text);
		double got = tally_number_parse_f64(parse_cases[i].text);
		g_assert_true(memcmp(&got, &parse_cases[i].want, sizeof(got)) == 0);
	}
}

/* More digits than could matter: the last one still breaks the tie. */
static void
test_parse_long(void)
{
	GString *text = g_string_new("9007199254740993.");
	for (int i = 0; i < 2000; i++)
		g_string_append_c(text, '0');
	g_assert_true(tally_number_parse_f64(text->str) == 9007199254740992.0);
	g_string_append_c(text, '1');
	g_assert_true(tally_number_parse_f64(text->str) == 9007199254740994.0);
	g_string_assign(text, "1");
	for (int i = 0; i < 1000; i++)
		g_string_append_c(text, '0');
	g_string_append(text, "e-1000");
	g_assert_true(tally_number_parse_f64(text->str) == 1.0);
	g_string_assign(text, "0.");
	for (int i = 0; i < 1000; i++)
		g_string_append_c(text, '0');
	g_string_append(text, "1e1001");
	g_assert_true(tally_number_parse_f64(text->str) == 1.0);
	g_string_free(text, TRUE);
}

static void
test_integers(void)
{
	uint64_t state = 1, v = 0;
	for (int i = 0; i < 100000; i++, v = next_random(&state) >> (i & 63)) {
		char out[TALLY_U64_CHARS + 1], want[32];
		out[tally_number_format_u64(out, v)] = '\0';
		g_snprintf(want, sizeof(want), "%" G_GUINT64_FORMAT, v);
		g_assert_cmpstr(out, ==, want);
	}
	for (uint64_t power = 1;; power *= 10) {
		char out[TALLY_U64_CHARS + 1], want[32];
		out[tally_number_format_u64(out, power)] = '\0';
		g_snprintf(want, sizeof(want), "%" G_GUINT64_FORMAT, power);
		g_assert_cmpstr(out, ==, want);
		out[tally_number_format_u64(out, power - 1)] = '\0';
		g_snprintf(want, sizeof(want), "%" G_GUINT64_FORMAT, power - 1);
		g_assert_cmpstr(out, ==, want);
		if (power > UINT64_MAX / 10)
			break;
	}
}

/* Every code path of the parser gives what strtod(3) gives. */
static void
test_parse_random(void)
{
	GRand *rand = g_rand_new_with_seed(11);
	for (int i = 0; i < 300000; i++) {
		char text[64];
		uint64_t digits = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
		int exponent = g_rand_int_range(rand, -345, 335);
		if (i % 4 == 0) /* ties and their neighbors */
			g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT "e%d",
				   (digits >> 10 | UINT64_C(1) << 53) | 1, exponent % 30);
		else if (i % 4 == 1)
			g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT "E%d",
				   digits >> digits % 64, exponent);
		else if (i % 4 == 2)
			g_snprintf(text, sizeof(text), "0.%020" G_GUINT64_FORMAT,
				   digits >> digits % 64);
		else
			g_snprintf(text, sizeof(text), "-%" G_GUINT64_FORMAT ".%u", digits,
				   g_rand_int(rand));
		double got = tally_number_parse_f64(text);
		double want = strtod(text, NULL);
		if (memcmp(&got, &want, sizeof(got)) != 0)
			g_error("%s: %a, not %a", text, got, want);
	}
	g_rand_free(rand);
}

/* A game may set a decimal comma. */
static void
test_locale(void)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
					     "ru_RU.UTF-8" };
	bool set = false;
	for (size_t i = 0; i < G_N_ELEMENTS(names) && !set; i++)
		set = setlocale(LC_NUMERIC, names[i]) && localeconv()->decimal_point[0] == ',';
	if (!set) {
		g_test_skip("no locale with a decimal comma is installed");
		return;
	}
	char out[TALLY_F64_CHARS + 1];
	out[tally_number_format_f64(out, 0.5)] = '\0';
	g_assert_cmpstr(out, ==, "0.5");
	const char *slow = "0.5000000000000000000000001";
	g_assert_true(tally_number_parse_f64(slow) == 0.5);
	setlocale(LC_NUMERIC, "C");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/number/doubles", test_doubles);
	g_test_add_func("/number/random_doubles", test_random_doubles);
	g_test_add_func("/number/parse", test_parse);
	g_test_add_func("/number/parse_long", test_parse_long);
	g_test_add_func("/number/integers", test_integers);
	g_test_add_func("/number/parse/random", test_parse_random);
	g_test_add_func("/number/locale", test_locale);
	return g_test_run();
}
