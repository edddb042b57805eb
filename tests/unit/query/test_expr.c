/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "query/metric/expr.h"

/* Values for the names a to f; any other name is absent. */
static bool
evaluate(const char *text, double *out)
{
	static const double given[] = { 6, 4, 0, -2.5, 1e308, 3 };
	struct tally_expr_error error;
	struct tally_expr *e = tally_expr_parse(text, strlen(text), &error);
	if (!e)
		g_error("%s: column %u: %s", text, error.column, error.message);
	double values[TALLY_EXPR_MAX_NAMES];
	uint64_t valid[TALLY_EXPR_MAX_NAMES / 64] = { 0 };
	for (uint32_t i = 0; i < tally_expr_n_names(e); i++) {
		const char *name = tally_expr_name(e, i);
		values[i] = NAN; /* must never be read where `valid` is clear */
		if (strlen(name) == 1 && name[0] >= 'a' && name[0] <= 'f') {
			values[i] = given[name[0] - 'a'];
			valid[i / 64] |= UINT64_C(1) << (i % 64);
		}
	}
	bool known = tally_expr_evaluate(e, values, valid, out);
	tally_expr_destroy(e);
	return known;
}

static void
test_values(void)
{
	static const struct {
		const char *text;
		double want;
	} rows[] = {
		{ "1", 1 },
		{ "1 + 2 * 3", 7 },
		{ "(1 + 2) * 3", 9 },
		{ "10 - 4 - 3", 3 },
		{ "16 / 4 / 2", 2 },
		{ "2 * 3 / 4 * 5", 7.5 },
		{ "$a - $b", 2 },
		{ "$a-$b", 2 },
		{ "a-b", 2 },
		{ "a-1", 5 },
		{ "${a} - ${b}", 2 },
		{ "$a + a", 12 },
		{ "-a", -6 },
		{ "- -a", 6 },
		{ "--a", 6 },
		{ "-a * -b", 24 },
		{ "+a", 6 },
		{ "a * -2 + 1", -11 },
		{ "-2 - -3", 1 },
		{ "min(a, b)", 4 },
		{ "deviation(4, 8, 32)", 2 },
		{ "max(a, b)", 6 },
		{ "max (min (a, 100), 0)", 6 },
		{ "MIN(9, 8, 7, a, b, 5)", 4 },
		{ "max(9, 8, 10, a)", 10 },
		{ "min(a)", 6 },
		{ "SUM(a * b)", 24 },
		{ "sum(1, 2, 3, a)", 12 },
		{ "max(min(d, 100), 0)", 0 },
		{ "max(min((a / b) * 100, 100), 0)", 100 },
		{ ".5 + 1.", 1.5 },
		{ "1.25e2", 125 },
		{ "1e-3 * 1E+3", 1 },
		{ "18446744073709551615", 18446744073709551615.0 },
		{ "0.1", 0.1 },
		{ "1e-400", 0 },
		{ "9007199254740993", 9007199254740992.0 },
		{ "\t a\n / \r\n b ", 1.5 },
		{ "c / a", 0 },
		{ "-c / a", 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		double got = NAN;
		g_test_message("%s", rows[i].text);
		g_assert_true(evaluate(rows[i].text, &got));
		g_assert_cmpfloat(got, ==, rows[i].want);
	}
}

static void
test_absent(void)
{
	static const char *const rows[] = {
		"a / c",
		"c / c",
		"1 / 0",
		"1 / (a - 6)",
		"max(min((a / c) * 100, 100), 0)",
		"max(min(c / c, 100), 0)",
		"x",
		"a + x",
		"min(a, x)",
		"0 * x",
		"e * 10",
		"min(e * 10, 100)",
		"max(-e * 10, 0)",
		"e + e",
		"min(1, 1 / (1 / 0))",
		"deviation(0, 0, 0)",
		"deviation(3, 120000, 505032704)",
		"deviation(2.5, 4, 4)",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		double got = 42;
		g_test_message("%s", rows[i]);
		g_assert_false(evaluate(rows[i], &got));
		g_assert_cmpfloat(got, ==, 42);
	}
}

static void
test_infinite_input(void)
{
	struct tally_expr_error error;
	struct tally_expr *e = tally_expr_parse("min(x, 1)", 9, &error);
	uint64_t valid = 1;
	double out = 42;
	g_assert_false(tally_expr_evaluate(e, (double[]){ INFINITY }, &valid, &out));
	g_assert_false(tally_expr_evaluate(e, (double[]){ NAN }, &valid, &out));
	g_assert_true(tally_expr_evaluate(e, (double[]){ -7 }, &valid, &out));
	g_assert_cmpfloat(out, ==, -7);
	tally_expr_destroy(e);
}

static void
test_names(void)
{
	static const char text[] = "$Mali4x + JM.GPU_ACTIVE * $CPUActivityUser.Cluster[0..N] - "
				   "$B.Cluster[12] / ${gl-intel.eu active} + min + $Mali4x + _x";
	static const char *const want[] = {
		"Mali4x",
		"JM.GPU_ACTIVE",
		"CPUActivityUser.Cluster[0..N]",
		"B.Cluster[12]",
		"gl-intel.eu active",
		"min",
		"_x",
	};
	struct tally_expr_error error;
	struct tally_expr *e = tally_expr_parse(text, strlen(text), &error);
	g_assert_nonnull(e);
	g_assert_cmpuint(tally_expr_n_names(e), ==, G_N_ELEMENTS(want));
	for (uint32_t i = 0; i < G_N_ELEMENTS(want); i++)
		g_assert_cmpstr(tally_expr_name(e, i), ==, want[i]);
	g_assert_null(tally_expr_name(e, G_N_ELEMENTS(want)));
	tally_expr_destroy(e);
}

static void
test_errors(void)
{
	static const struct {
		const char *text;
		uint32_t line, column;
		const char *part;
	} rows[] = {
		{ "", 1, 1, "an expression is missing" },
		{ "  ", 1, 3, "an expression is missing" },
		{ "1 +", 1, 4, "not the end" },
		{ "1 2", 1, 3, "expected an operator or the end, not '2'" },
		{ "a b", 1, 3, "expected an operator or the end, not 'b'" },
		{ "(1", 1, 1, "this '(' is never closed" },
		{ "a * (1 + (2)", 1, 5, "this '(' is never closed" },
		{ "(1 2)", 1, 4, "expected an operator or ')', not '2'" },
		{ "min(1 2)", 1, 7, "expected an operator, ',' or ')', not '2'" },
		{ "1)", 1, 2, "')' without '('" },
		{ "1, 2", 1, 2, "',' has its place in" },
		{ "min(, 2)", 1, 5, "not ','" },
		{ "min()", 1, 5, "not ')'" },
		{ "deviation(1, 2)", 1, 10, "how many" },
		{ "deviation(1, 2, 3, 4)", 1, 10, "how many" },
		{ "mim(1, 2)", 1, 1, "there is no function 'mim': there are min, max, sum and "
		  "deviation" },
		{ "1 +\n  * 2", 2, 3, "not '*'" },
		{ "1 +\r\n$ 2", 2, 2, "a name has to follow '$'" },
		{ "$1a", 1, 2, "a name has to follow '$', not '1a'" },
		{ "2x", 1, 2, "an operator is missing between the number and 'x'" },
		{ "1.2.3", 1, 4, "an operator is missing" },
		{ ".", 1, 1, "no number" },
		{ "1e999", 1, 1, "too large" },
		{ "a % b", 1, 3, "not '%'" },
		{ "\xc3\xa9 + 1", 1, 1, "not '\xc3\xa9'" },
		{ "${\xc3\xa9} + \xc3\xa9", 1, 8, "not '\xc3\xa9'" },
		{ "${", 1, 1, "without '}'" },
		{ "${a\n}", 1, 1, "without '}'" },
		{ "${}", 1, 1, "a name is missing" },
		{ "a[", 1, 2, "'[' of a name" },
		{ "a[]", 1, 2, "'[' of a name" },
		{ "a[0", 1, 2, "'[' of a name" },
		{ "\x01", 1, 1, "byte 0x01" },
		{ "a = b", 1, 3, "not '='" },
		{ "\xff\xff\xff\xff\xff\xff", 1, 1, "expected" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct tally_expr_error error;
		g_autofree char *shown = g_strescape(rows[i].text, NULL);
		g_test_message("%s", shown);
		g_assert_null(tally_expr_parse(rows[i].text, strlen(rows[i].text), &error));
		g_assert_cmpuint(error.line, ==, rows[i].line);
		g_assert_cmpuint(error.column, ==, rows[i].column);
		g_assert_nonnull(strstr(error.message, rows[i].part));
	}
}

static void
test_nul_byte(void)
{
	struct tally_expr_error error;
	g_assert_null(tally_expr_parse("a\0+ b", 5, &error));
	g_assert_cmpuint(error.column, ==, 2);
	g_assert_null(tally_expr_parse("a + \0", 5, &error));
	g_assert_cmpuint(error.column, ==, 5);
	g_assert_null(tally_expr_parse("(a\0", 3, &error));
}

/* As deep, long and wide as is allowed, and then one more. */
static void
test_limits(void)
{
	for (unsigned extra = 0; extra < 2; extra++) {
		unsigned depth = TALLY_EXPR_MAX_DEPTH + extra;
		GString *text = g_string_new("");
		/* On each level an operand of a function, a sum and a product is pending. */
		for (unsigned i = 0; i < depth; i++)
			g_string_append(text, "max(1, 2 + 3 * ");
		g_string_append(text, "1 + 1 * 1");
		for (unsigned i = 0; i < depth; i++)
			g_string_append(text, ")");
		struct tally_expr_error error;
		struct tally_expr *e = tally_expr_parse(text->str, text->len, &error);
		g_assert_true((e != NULL) == (extra == 0));
		double out = 0;
		if (e)
			g_assert_true(tally_expr_evaluate(e, NULL, NULL, &out) && out > 1e30);
		else
			g_assert_nonnull(strstr(error.message, "nested more than 64 deep"));
		tally_expr_destroy(e);
		g_string_free(text, TRUE);

		text = g_string_new("");
		for (unsigned i = 0; i < TALLY_EXPR_MAX_NAMES + extra; i++)
			g_string_append_printf(text, "%sn%u", i ? "+" : "", i);
		e = tally_expr_parse(text->str, text->len, &error);
		g_assert_true((e != NULL) == (extra == 0));
		tally_expr_destroy(e);
		g_string_free(text, TRUE);

		text = g_string_new("1");
		while (text->len + 2 <= TALLY_EXPR_MAX_BYTES)
			g_string_append(text, "+1");
		while (text->len < TALLY_EXPR_MAX_BYTES + extra)
			g_string_append_c(text, ' ');
		e = tally_expr_parse(text->str, text->len, &error);
		g_assert_true((e != NULL) == (extra == 0));
		tally_expr_destroy(e);
		g_string_free(text, TRUE);
	}
	GString *minuses = g_string_new("");
	for (unsigned i = 0; i < 60000; i++)
		g_string_append_c(minuses, '-');
	g_string_append_c(minuses, 'a');
	double out;
	g_assert_true(evaluate(minuses->str, &out));
	g_assert_cmpfloat(out, ==, 6);
	g_string_free(minuses, TRUE);
	struct tally_expr_error error;
	g_autofree char *name = g_strnfill(300, 'n');
	g_assert_null(tally_expr_parse(name, strlen(name), &error));
	g_autofree char *digits = g_strnfill(401, '1');
	g_assert_null(tally_expr_parse(digits, strlen(digits), &error));
}

/* The game's locale may write 1,5: numbers do not depend on it. */
static void
test_locale(void)
{
	static const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8" };
	g_autofree char *before = g_strdup(setlocale(LC_NUMERIC, NULL));
	bool found = false;
	for (size_t i = 0; i < G_N_ELEMENTS(locales) && !found; i++)
		found = setlocale(LC_NUMERIC, locales[i]) != NULL;
	if (!found) {
		g_test_skip("no locale with a decimal comma is installed");
		return;
	}
	double out = 0;
	bool known = evaluate("1.5e0 + 0.25", &out);
	setlocale(LC_NUMERIC, before);
	g_assert_true(known);
	g_assert_cmpfloat(out, ==, 1.75);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/expr/values", test_values);
	g_test_add_func("/expr/absent", test_absent);
	g_test_add_func("/expr/infinite_input", test_infinite_input);
	g_test_add_func("/expr/names", test_names);
	g_test_add_func("/expr/errors", test_errors);
	g_test_add_func("/expr/nul_byte", test_nul_byte);
	g_test_add_func("/expr/limits", test_limits);
	g_test_add_func("/expr/locale", test_locale);
	return g_test_run();
}
