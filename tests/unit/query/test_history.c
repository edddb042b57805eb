/* SPDX-License-Identifier: MIT */
#include "query/sampler/history.h"

#include <glib.h>
#include <string.h>

#include "query/sampler/share_of.h"

#define MAX_READINGS 4096
#define N 3

/* All readings that were added, and the totals at a time by the slow method. */
struct world {
	struct tally_history *history;
	uint64_t time_ns[MAX_READINGS];
	uint64_t totals[MAX_READINGS][N];
	uint32_t n;
};

static bool
add(struct world *w, uint64_t time_ns, const uint64_t *totals, uint64_t unknown, uint64_t flags)
{
	w->time_ns[w->n] = time_ns;
	memcpy(w->totals[w->n], totals, sizeof(w->totals[0]));
	w->n++;
	return tally_history_add(w->history, &(struct tally_reading){
						     .first = 10 * w->n - 2,
						     .number = 10 * w->n,
						     .time_ns = time_ns,
						     .totals = totals,
						     .unknown = &unknown,
						     .flags = flags,
					     });
}

static void
open_world(struct world *w, size_t max_bytes)
{
	memset(w, 0, sizeof(*w));
	w->history = tally_history_create(N, max_bytes);
	g_assert_nonnull(w->history);
}

static void
test_share_of(void)
{
	GRand *rand = g_rand_new_with_seed(1);
	for (int i = 0; i < 200000; i++) {
		uint64_t n[3];
		for (int k = 0; k < 3; k++)
			n[k] = ((uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand)) >>
			       g_rand_int_range(rand, 0, 64);
		uint64_t amount = i % 5 ? n[0] : UINT64_MAX, whole = i % 7 ? n[1] : UINT64_MAX;
		if (whole == 0)
			whole = 1;
		uint64_t part = i % 3 ? n[2] % whole : whole - n[2] % 2;
		uint64_t rest, large_rest;
		uint64_t share = tally_share_of(amount, part, whole, &rest);
		g_assert_cmpuint(share, ==,
				 tally_share_of_large(amount, part, whole, &large_rest));
		g_assert_cmpuint(rest, ==, large_rest);
		/* Modulo 2^64, and therefore exact where the division's rules hold. */
		g_assert_cmpuint(rest, <, whole);
		g_assert_cmpuint(share, <=, amount);
		g_assert_cmpuint(share * whole + rest, ==, amount * part);
#ifdef __SIZEOF_INT128__
		__extension__ typedef unsigned __int128 wide;
		g_assert_true((wide)amount * part / whole == share);
#endif
	}
	g_rand_free(rand);
}

static void
test_empty(void)
{
	struct world w;
	open_world(&w, 1 << 20);
	uint64_t totals[N] = { 7, 7, 7 }, unknown = 0;
	struct tally_reading r;
	g_assert_false(tally_history_first(w.history, &r));
	g_assert_false(tally_history_last(w.history, &r));
	g_assert_false(tally_history_find(w.history, 1, &r));
	tally_history_at(w.history, 5, totals);
	for (int i = 0; i < N; i++)
		g_assert_cmpuint(totals[i], ==, 0);
	g_assert_cmpuint(tally_history_invalid(w.history, 1, 2, &unknown), ==, 0);
	g_assert_cmpuint(unknown, ==, 7);
	tally_history_trim(w.history, 100);
	tally_history_destroy(w.history);
	tally_history_destroy(NULL);
}

static const struct {
	uint64_t time_ns, totals[2];
} at_rows[] = {
	{ 0, { 10, 0 } }, /* before the first: the first reading's */
	{ 100, { 10, 0 } },   { 101, { 10, 10 } }, /* 3 in 10 ns, rounded down */
	{ 104, { 11, 40 } },  { 109, { 12, 90 } },  { 110, { 13, 100 } },
	{ 111, { 13, 100 } }, { 900, { 13, 100 } },
};

static void
test_at(void)
{
	struct world w;
	open_world(&w, 1 << 20);
	const uint64_t large = UINT64_C(1) << 62;
	add(&w, 100, (uint64_t[N]){ 10, 0, 5 }, 0, 0);
	add(&w, 110, (uint64_t[N]){ 13, 100, 5 }, 0, 0);
	add(&w, 110, (uint64_t[N]){ 13, 100, large }, 0, 0); /* becomes 111 */
	add(&w, 115, (uint64_t[N]){ 13, 100, 3 * large }, 0, 0);
	uint64_t totals[N];
	for (size_t i = 0; i < G_N_ELEMENTS(at_rows); i++) {
		g_test_message("at %u", (unsigned)at_rows[i].time_ns);
		tally_history_at(w.history, at_rows[i].time_ns, totals);
		g_assert_cmpuint(totals[0], ==, at_rows[i].totals[0]);
		g_assert_cmpuint(totals[1], ==, at_rows[i].totals[1]);
	}
	/* Delta times time does not fit in 64 bits. */
	for (uint64_t t = 0; t <= 4; t++) {
		tally_history_at(w.history, 111 + t, totals);
		g_assert_cmpuint(totals[2], ==, large + t * (large / 2));
	}
	tally_history_destroy(w.history);
}

static void
test_find(void)
{
	struct world w;
	open_world(&w, 1 << 20);
	for (uint64_t i = 0; i < 100; i++)
		g_assert_true(add(&w, 50 * i, (uint64_t[N]){ i, 2 * i, 3 * i }, 0, 0));
	struct tally_reading r;
	for (uint64_t number = 0; number < 1020; number++) {
		/* Each reading answers three numbers: its own and those before it that were
		 * requested with it. */
		uint64_t last = (number + 2) / 10 * 10;
		bool there = number >= 8 && number <= last && last <= 1000;
		g_assert_cmpint(tally_history_find(w.history, number, &r), ==, there);
		if (!there)
			continue;
		g_assert_cmpuint(r.number, ==, last);
		g_assert_cmpuint(r.time_ns, ==, 50 * (last / 10 - 1));
		g_assert_cmpuint(r.totals[2], ==, 3 * (last / 10 - 1));
	}
	g_assert_true(tally_history_first(w.history, &r) && r.number == 10);
	g_assert_true(tally_history_last(w.history, &r) && r.number == 1000);
	/* The last reading at or before the time stays. */
	tally_history_trim(w.history, 1249);
	g_assert_true(tally_history_first(w.history, &r));
	g_assert_cmpuint(r.time_ns, ==, 1200);
	g_assert_false(tally_history_find(w.history, 240, &r));
	g_assert_true(tally_history_find(w.history, 250, &r));
	tally_history_trim(w.history, UINT64_MAX);
	g_assert_true(tally_history_first(w.history, &r) && r.number == 1000);
	tally_history_destroy(w.history);
}

static const struct {
	uint64_t begin_ns, end_ns, unknown, flags;
} doubt_rows[] = {
	{ 100, 200, 1, 1 }, { 100, 101, 1, 1 }, { 199, 201, 3, 3 }, { 200, 300, 2, 2 },
	{ 300, 400, 0, 0 }, { 250, 350, 2, 2 }, { 150, 150, 0, 0 }, { 100, 400, 3, 3 },
	{ 99, 200, 7, 1 },  { 300, 401, 7, 0 }, { 0, 50, 7, 0 },    { 500, 600, 7, 0 },
	{ 400, 400, 0, 0 }, { 500, 500, 7, 0 },
};

static void
test_doubts(void)
{
	struct world w;
	open_world(&w, 1 << 20);
	static const uint64_t none[N];
	/* What the first reading reports applies to everything before it. */
	add(&w, 100, none, 7, 8);
	add(&w, 200, none, 1, 1);
	add(&w, 300, none, 2, 2);
	add(&w, 400, none, 0, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(doubt_rows); i++) {
		uint64_t unknown = 0;
		g_test_message("row %zu", i);
		g_assert_cmpuint(tally_history_invalid(w.history, doubt_rows[i].begin_ns,
						       doubt_rows[i].end_ns, &unknown),
				 ==, doubt_rows[i].flags);
		g_assert_cmpuint(unknown, ==, doubt_rows[i].unknown);
	}
	tally_history_destroy(w.history);
}

/* A source whose totals decrease has a delta of 0. */
static void
test_falls_back(void)
{
	struct world w;
	open_world(&w, 1 << 20);
	uint64_t totals[N];
	add(&w, 10, (uint64_t[N]){ 100, 100, 100 }, 0, 0);
	add(&w, 20, (uint64_t[N]){ 50, 100, 200 }, 0, 0);
	tally_history_at(w.history, 20, totals);
	g_assert_cmpuint(totals[0], ==, 100);
	g_assert_cmpuint(totals[2], ==, 200);
	tally_history_destroy(w.history);
}

/* Totals at any time never decrease, and agree with readings that are still kept. Unknown
 * intervals are never forgotten, only widened. */
static void
check_against(const struct world *w, const uint64_t *unknown, uint32_t first)
{
	uint64_t before[N] = { 0 }, totals[N];
	struct tally_reading r;
	for (uint32_t i = first; i < w->n; i++) {
		for (uint64_t t = w->time_ns[i]; t < w->time_ns[i] + 8; t += 3) {
			tally_history_at(w->history, t, totals);
			for (int k = 0; k < N; k++)
				g_assert_cmpuint(totals[k], >=, before[k]);
			memcpy(before, totals, sizeof(before));
		}
		if (tally_history_find(w->history, 10 * (i + 1), &r)) {
			tally_history_at(w->history, w->time_ns[i], totals);
			g_assert_cmpuint(r.time_ns, ==, w->time_ns[i]);
			g_assert_cmpmem(totals, sizeof(totals), w->totals[i], sizeof(totals));
			g_assert_cmpmem(r.totals, sizeof(totals), w->totals[i], sizeof(totals));
		}
		uint64_t doubts = 0;
		if (i > first) {
			tally_history_invalid(w->history, w->time_ns[i - 1], w->time_ns[i],
					      &doubts);
			g_assert_cmpuint(doubts & unknown[i], ==, unknown[i]);
		}
	}
}

static void
test_bounded(void)
{
	static struct world w;
	static uint64_t unknown[MAX_READINGS];
	/* Room for 32 readings of 8 numbers. */
	open_world(&w, 1);
	GRand *rand = g_rand_new_with_seed(2);
	uint64_t totals[N] = { 0 }, time_ns = 1000;
	for (uint32_t i = 0; i < MAX_READINGS; i++) {
		for (int k = 0; k < N; k++)
			totals[k] += g_rand_int_range(rand, 0, k == 0 ? 3 : 1000000);
		time_ns += g_rand_int_range(rand, 10, 100);
		unknown[i] = g_rand_int_range(rand, 0, 40) == 0 ? 4 : 0;
		g_assert_true(add(&w, time_ns, totals, unknown[i], 0));
		struct tally_reading first, last;
		g_assert_true(tally_history_first(w.history, &first));
		g_assert_true(tally_history_last(w.history, &last));
		g_assert_cmpuint(first.number, ==, 10); /* no reading was released */
		g_assert_cmpuint(last.number, ==, 10 * (i + 1));
		if (i % 500 == 499)
			check_against(&w, unknown, 0);
	}
	/* At least sixteen are kept, the newest ones among them. */
	uint32_t kept = 0;
	struct tally_reading r;
	for (uint32_t i = 0; i < w.n; i++)
		kept += tally_history_find(w.history, 10 * (i + 1), &r);
	g_assert_cmpuint(kept, >=, 16);
	for (uint32_t i = w.n - 4; i < w.n; i++)
		g_assert_true(tally_history_find(w.history, 10 * (i + 1), &r));
	g_rand_free(rand);
	tally_history_destroy(w.history);
}

/* With trimming, as in a capture: nothing that is still needed is released. */
static void
test_trimmed(void)
{
	static struct world w;
	static uint64_t unknown[MAX_READINGS];
	open_world(&w, 64 * 7 * 8 + 64);
	GRand *rand = g_rand_new_with_seed(3);
	uint64_t totals[N] = { 0 };
	uint32_t from = 0;
	for (uint32_t i = 0; i < MAX_READINGS; i++) {
		for (int k = 0; k < N; k++)
			totals[k] += g_rand_int_range(rand, 0, 1000);
		g_assert_true(add(&w, 100 * (i + 1), totals, 0, 0));
		/* Frames of 1 to 25 readings, the newest of which is still being filled. */
		if (i - from < (uint32_t)g_rand_int_range(rand, 2, 26))
			continue;
		from = i - 1;
		tally_history_trim(w.history, 100 * (from + 1) + 99);
		check_against(&w, unknown, from);
		struct tally_reading r;
		g_assert_true(tally_history_first(w.history, &r));
		g_assert_cmpuint(r.number, ==, 10 * (from + 1));
	}
	g_rand_free(rand);
	tally_history_destroy(w.history);
}

/* More counters than a word has bits, and none. */
static void
test_sizes(void)
{
	static const uint32_t sizes[] = { 0, 1, 63, 64, 65, 150 };
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		uint32_t n = sizes[i];
		struct tally_history *h = tally_history_create(n, 1 << 16);
		uint64_t totals[150] = { 0 }, unknown[3] = { 0 }, got[3] = { 0 };
		for (uint64_t t = 1; t <= 40; t++) {
			for (uint32_t k = 0; k < n; k++)
				totals[k] += k;
			if (n)
				unknown[(n - 1) / 64] = UINT64_C(1) << (n - 1) % 64;
			g_assert_true(tally_history_add(h, &(struct tally_reading){
								   .first = t,
								   .number = t,
								   .time_ns = t,
								   .totals = totals,
								   .unknown = unknown,
							   }));
		}
		tally_history_at(h, 20, totals);
		for (uint32_t k = 0; k < n; k++)
			g_assert_cmpuint(totals[k], ==, 20 * k);
		tally_history_invalid(h, 3, 4, got);
		g_assert_cmpmem(got, sizeof(got), unknown, sizeof(unknown));
		memset(got, 0, sizeof(got));
		tally_history_invalid(h, 39, 41, got);
		for (uint32_t k = 0; k < 192; k++)
			g_assert_cmpuint(got[k / 64] >> k % 64 & 1, ==, k < n);
		tally_history_destroy(h);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/history/share_of", test_share_of);
	g_test_add_func("/history/empty", test_empty);
	g_test_add_func("/history/at", test_at);
	g_test_add_func("/history/find", test_find);
	g_test_add_func("/history/doubts", test_doubts);
	g_test_add_func("/history/falls_back", test_falls_back);
	g_test_add_func("/history/bounded", test_bounded);
	g_test_add_func("/history/trimmed", test_trimmed);
	g_test_add_func("/history/sizes", test_sizes);
	return g_test_run();
}
