/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "layer/base/int192.h"

static const char *const spelled[] = {
	"0",
	"1",
	"-1",
	"999999999",
	"1000000000",
	"18446744073709551615",
	"18446744073709551616",
	"-340282366920938463463374607431768211456",
	/* 2^191 - 1 and -2^191 */
	"3138550867693340381917894711603833208051177722232017256447",
	"-3138550867693340381917894711603833208051177722232017256448",
};

static void
test_spelling(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(spelled); i++) {
		struct tally_int192 w;
		char out[TALLY_INT192_DIGITS];
		if (i + 1 < G_N_ELEMENTS(spelled)) {
			g_assert_true(tally_int192_parse(spelled[i], strlen(spelled[i]), &w));
		} else {
			/* The value that has no positive counterpart is not read. */
			g_assert_false(tally_int192_parse(spelled[i], strlen(spelled[i]), &w));
			w = (struct tally_int192){ { 0, 0, UINT64_C(1) << 63 } };
		}
		g_assert_cmpuint(tally_int192_print(&w, out), ==, strlen(spelled[i]));
		g_assert_cmpstr(out, ==, spelled[i]);
	}
}

static void
test_refused(void)
{
	static const char *const bad[] = {
		"", "-", "+1", "1.0", "1e5", " 1", "0x1",
		"3138550867693340381917894711603833208051177722232017256448",
		"99999999999999999999999999999999999999999999999999999999999999999",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		struct tally_int192 w;
		g_test_message("%s", bad[i]);
		g_assert_false(tally_int192_parse(bad[i], strlen(bad[i]), &w));
	}
}

static void
test_adding(void)
{
	struct tally_int192 w = { { 0 } };
	char out[TALLY_INT192_DIGITS];
	tally_int192_add_u64(&w, UINT64_MAX);
	tally_int192_add_u64(&w, UINT64_MAX);
	tally_int192_add_i64(&w, INT64_MIN);
	tally_int192_print(&w, out);
	g_assert_cmpstr(out, ==, "27670116110564327422");
	for (int i = 0; i < 4; i++)
		tally_int192_add_i64(&w, INT64_MIN);
	tally_int192_print(&w, out);
	g_assert_cmpstr(out, ==, "-9223372036854775810");
	g_assert_true(tally_int192_is_negative(&w));

	struct tally_int192 squares = { { 0 } };
	for (int i = 0; i < 1000; i++)
		tally_int192_add_square(&squares, UINT64_MAX);
	tally_int192_print(&squares, out);
	g_assert_cmpstr(out, ==, "340282366920938463426481119284349108225000");
}

static const struct {
	const char *number;
	double want;
} rounded[] = {
	{ "9007199254740993", 9007199254740992.0 }, /* a tie goes to the even one */
	{ "9007199254740995", 9007199254740996.0 },
	{ "-9007199254740993", -9007199254740992.0 },
	{ "18446744073709553664", 18446744073709551616.0 }, /* a tie above 2^64 */
	{ "18446744073709553665", 18446744073709555712.0 }, /* just above it */
	{ "3138550867693340381917894711603833208051177722232017256447", 0x1p191 },
	{ "0", 0 },
};

static void
test_rounding(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rounded); i++) {
		struct tally_int192 w;
		g_test_message("%s", rounded[i].number);
		g_assert_true(tally_int192_parse(rounded[i].number,
						 strlen(rounded[i].number), &w));
		g_assert_cmpfloat(tally_int192_f64(&w), ==, rounded[i].want);
		/* The remainder is less than half of its last place. */
		tally_int192_subtract_f64(&w, rounded[i].want);
		g_assert_cmpfloat(ABS(tally_int192_f64(&w)), <=, ABS(rounded[i].want) * 0x1p-53);
	}
}

static const struct {
	const char *what;
	int64_t add[4];
	unsigned n, times;
	const char *want;
} sum_cases[] = {
	{ "nothing", { 0 }, 0, 1, "0" },
	{ "one", { 1 }, 1, 1, "1" },
	{ "down through zero", { 5, -7 }, 2, 1, "-2" },
	{ "the smallest", { INT64_MIN }, 1, 1, "-9223372036854775808" },
	{ "past 64 bits", { INT64_MAX }, 1, 4, "36893488147419103228" },
	{ "far below zero", { INT64_MIN }, 1, 4, "-36893488147419103232" },
	{ "there and back", { INT64_MAX, INT64_MIN, 1 }, 3, 9, "0" },
};

static void
test_sums(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sum_cases); i++) {
		struct tally_int192 sum = { { 0 } };
		for (unsigned t = 0; t < sum_cases[i].times; t++)
			for (unsigned k = 0; k < sum_cases[i].n; k++)
				tally_int192_add_i64(&sum, sum_cases[i].add[k]);
		char text[TALLY_INT192_DIGITS];
		tally_int192_print(&sum, text);
		g_test_message("%s", sum_cases[i].what);
		g_assert_cmpstr(text, ==, sum_cases[i].want);
		g_assert_cmpfloat(tally_int192_f64(&sum), ==,
				  g_ascii_strtod(sum_cases[i].want, NULL));
	}
	struct tally_int192 sum = { { 0 } };
	for (unsigned t = 0; t < 1000; t++)
		tally_int192_add_u64(&sum, UINT64_MAX);
	char text[TALLY_INT192_DIGITS];
	tally_int192_print(&sum, text);
	g_assert_cmpstr(text, ==, "18446744073709551615000");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/int192/spelling", test_spelling);
	g_test_add_func("/int192/refused", test_refused);
	g_test_add_func("/int192/adding", test_adding);
	g_test_add_func("/int192/rounding", test_rounding);
	g_test_add_func("/int192/sums", test_sums);
	return g_test_run();
}
