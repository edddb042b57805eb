/* SPDX-License-Identifier: MIT */
#include "layer/frame/interval.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define MAX_INTERVALS 8
#define MAX_TIME 64

static const struct {
	const char *what;
	struct tally_interval some[4], others[4];
	size_t n_some, n_others;
	struct tally_span of_some, of_all;
} cases[] = {
	{ .what = "nothing" },
	{ "one", { { 5, 9 } }, { { 0, 0 } }, 1, 0, { 4, 4 }, { 4, 4 } },
	{ "one that is empty", { { 7, 7 } }, { { 0, 0 } }, 1, 0, { 0, 0 }, { 0, 0 } },
	{ "a gap counts to the envelope alone",
	  { { 0, 2 }, { 5, 6 } },
	  { { 0, 0 } },
	  2,
	  0,
	  { 3, 6 },
	  { 3, 6 } },
	{ "neighbours that touch",
	  { { 0, 2 }, { 2, 5 } },
	  { { 0, 0 } },
	  2,
	  0,
	  { 5, 5 },
	  { 5, 5 } },
	{ "an overlap is counted once",
	  { { 0, 4 }, { 3, 6 } },
	  { { 0, 0 } },
	  2,
	  0,
	  { 6, 6 },
	  { 6, 6 } },
	{ "one inside another, then after the outer one",
	  { { 0, 9 }, { 2, 3 }, { 8, 12 } },
	  { { 0, 0 } },
	  3,
	  0,
	  { 12, 12 },
	  { 12, 12 } },
	{ "not in order",
	  { { 8, 9 }, { 0, 1 }, { 4, 6 } },
	  { { 0, 0 } },
	  3,
	  0,
	  { 4, 9 },
	  { 4, 9 } },
	{ "others alone", { { 0, 0 } }, { { 3, 4 } }, 0, 1, { 0, 0 }, { 1, 1 } },
	{ "others fill the gap",
	  { { 0, 2 }, { 6, 8 } },
	  { { 1, 7 } },
	  2,
	  1,
	  { 4, 8 },
	  { 8, 8 } },
	{ "others begin before and end after",
	  { { 4, 5 } },
	  { { 9, 10 }, { 0, 1 } },
	  1,
	  2,
	  { 1, 1 },
	  { 3, 10 } },
	{ "the ends of the clock",
	  { { 0, 1 }, { UINT64_MAX - 1, UINT64_MAX } },
	  { { 0, 0 } },
	  2,
	  0,
	  { 2, UINT64_MAX },
	  { 2, UINT64_MAX } },
};

static void
assert_span(struct tally_span got, struct tally_span want)
{
	g_assert_cmpuint(got.union_ns, ==, want.union_ns);
	g_assert_cmpuint(got.envelope_ns, ==, want.envelope_ns);
}

static void
test_cases(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct tally_interval some[4], others[4];
		memcpy(some, cases[i].some, sizeof(some));
		memcpy(others, cases[i].others, sizeof(others));
		struct tally_span of_some, of_all;
		g_test_message("%s", cases[i].what);
		tally_interval_spans(some, cases[i].n_some, others, cases[i].n_others, &of_some,
				     &of_all);
		assert_span(of_some, cases[i].of_some);
		assert_span(of_all, cases[i].of_all);
	}
}

/* Each unit of time by itself. */
static struct tally_span
count_units(const struct tally_interval *a, size_t n_a, const struct tally_interval *b,
	    size_t n_b)
{
	bool covered[MAX_TIME] = { false };
	uint64_t begin = UINT64_MAX, end = 0;
	for (size_t i = 0; i < n_a + n_b; i++) {
		const struct tally_interval *one = i < n_a ? &a[i] : &b[i - n_a];
		begin = MIN(begin, one->begin);
		end = MAX(end, one->end);
		for (uint64_t t = one->begin; t < one->end; t++)
			covered[t] = true;
	}
	struct tally_span span = { 0, n_a + n_b ? end - begin : 0 };
	for (size_t t = 0; t < MAX_TIME; t++)
		span.union_ns += covered[t];
	return span;
}

static size_t
draw(struct tally_interval *out)
{
	size_t n = (size_t)g_test_rand_int_range(0, MAX_INTERVALS);
	for (size_t i = 0; i < n; i++) {
		out[i].begin = (uint64_t)g_test_rand_int_range(0, MAX_TIME);
		out[i].end = (uint64_t)g_test_rand_int_range((gint32)out[i].begin, MAX_TIME);
	}
	return n;
}

static void
test_random(void)
{
	for (unsigned turn = 0; turn < 5000; turn++) {
		struct tally_interval some[MAX_INTERVALS], others[MAX_INTERVALS];
		size_t n_some = draw(some), n_others = draw(others);
		struct tally_span want_some = count_units(some, n_some, NULL, 0);
		struct tally_span want_all = count_units(some, n_some, others, n_others);
		struct tally_span of_some, of_all;
		tally_interval_spans(some, n_some, others, n_others, &of_some, &of_all);
		assert_span(of_some, want_some);
		assert_span(of_all, want_all);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/interval/cases", test_cases);
	g_test_add_func("/interval/random", test_random);
	return g_test_run();
}
