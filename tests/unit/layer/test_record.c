/* SPDX-License-Identifier: MIT */
#include "layer/record.h"

#include <glib.h>

#define U64(v) { .storage = TALLY_STORAGE_U64, .u64 = (v) }
#define I64(v) { .storage = TALLY_STORAGE_I64, .i64 = (v) }
#define F64(v) { .storage = TALLY_STORAGE_F64, .f64 = (v) }

static const struct {
	const char *what;
	struct tally_value a, b, sum; /* sum is a where the two cannot be added */
	bool good;
} add_cases[] = {
	{ "u64", U64(2), U64(3), U64(5), true },
	{ "u64, the largest", U64(UINT64_MAX - 1), U64(1), U64(UINT64_MAX), true },
	{ "u64, too large", U64(UINT64_MAX), U64(1), U64(UINT64_MAX), false },
	{ "i64", I64(-2), I64(-3), I64(-5), true },
	{ "i64, too small", I64(INT64_MIN), I64(-1), I64(INT64_MIN), false },
	{ "f64", F64(0.5), F64(0.25), F64(0.75), true },
	{ "i64 to u64", U64(1), I64(1), U64(1), false },
	{ "f64 to u64", U64(1), F64(1), U64(1), false },
	{ "u64 to f64", F64(1), U64(1), F64(1), false },
};

static void
test_add(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(add_cases); i++) {
		struct tally_value sum = add_cases[i].a;
		g_test_message("%s", add_cases[i].what);
		g_assert_cmpint(tally_value_add(&sum, add_cases[i].b), ==, add_cases[i].good);
		g_assert_cmpint(sum.storage, ==, add_cases[i].sum.storage);
		g_assert_cmphex(sum.u64, ==, add_cases[i].sum.u64);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/add", test_add);
	return g_test_run();
}
