/* SPDX-License-Identifier: MIT */
#include "tests/unit/query/attribute_world.h"

/* ---- sampled ---- */

struct sampled_row {
	const char *what;
	struct tally_work work[4];
	uint32_t n;
	uint64_t want[4][2], unattributed[2];
	unsigned known; /* bit a pass */
};

/* Interval from 0 to 1000 ns, in which one counter increases by 1000 and one by 10. */
static const struct sampled_row sampled_rows[] = {
	{ .what = "no work", .unattributed = { 1000, 10 } },
	{ "one pass", { { 100, 400, 0, 0 } }, 1, { { 300, 3 } }, { 700, 7 }, 1 },
	{ "all of it", { { 0, 1000, 0, 0 } }, 1, { { 1000, 10 } }, { 0, 0 }, 1 },
	{ "more than it", { { 0, 5000, 0, 0 } }, 1, { { 1000, 10 } }, { 0, 0 }, 1 },
	{ "only before and after",
	  { { 0, 0, 0, 0 }, { 1000, 2000, 0, 0 }, { 4000, 5000, 0, 0 } },
	  3,
	  { { 0, 0 } },
	  { 1000, 10 },
	  0 },
	{ "no time of its own", { { 500, 500, 0, 0 } }, 1, { { 0, 0 } }, { 1000, 10 }, 0 },
	{ "ends before it begins", { { 600, 500, 0, 0 } }, 1, { { 0, 0 } }, { 1000, 10 }, 0 },
	{ "one after the other",
	  { { 0, 105, 0, 0 }, { 105, 1000, 0, 0 } },
	  2,
	  { { 105, 1 }, { 895, 9 } },
	  { 0, 0 },
	  3 },
	{ "not in order",
	  { { 700, 900, 0, 0 }, { 100, 300, 0, 0 } },
	  2,
	  { { 200, 2 }, { 200, 2 } },
	  { 600, 6 },
	  3 },
	{ "two at once",
	  { { 0, 200, 0, 0 }, { 0, 200, 0, 0 } },
	  2,
	  { { 100, 1 }, { 100, 1 } },
	  { 800, 8 },
	  3 },
	{ "overlapping by half",
	  { { 0, 400, 0, 0 }, { 200, 600, 0, 0 } },
	  2,
	  { { 300, 3 }, { 300, 3 } },
	  { 400, 4 },
	  3 },
	{ "three, what is left over goes to the first",
	  { { 0, 100, 0, 0 }, { 0, 100, 0, 0 }, { 0, 100, 0, 0 } },
	  3,
	  { { 34, 1 }, { 33, 0 }, { 33, 0 } },
	  { 900, 9 },
	  7 },
	{ "one within another",
	  { { 0, 1000, 0, 0 }, { 400, 600, 0, 0 } },
	  2,
	  { { 900, 9 }, { 100, 1 } },
	  { 0, 0 },
	  3 },
};

static void
test_sampled(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sampled_rows); i++) {
		const struct sampled_row *row = &sampled_rows[i];
		static struct world w;
		g_test_message("%s", row->what);
		open_world(&w, 1 << 16);
		read_totals(&w, 0, (uint64_t[N]){ 50, 70, 0 }, 0, 0);
		read_totals(&w, 1000, (uint64_t[N]){ 1050, 80, 0 }, 0, 0);
		memcpy(w.work, row->work, sizeof(row->work));
		w.n = row->n;
		cut(&w, false, 0, 1000);
		g_assert_cmpuint(w.total[0], ==, 1000);
		g_assert_cmpuint(w.total[1], ==, 10);
		for (uint32_t p = 0; p < row->n; p++) {
			g_assert_cmpint(w.shares[p].known, ==, row->known >> p & 1);
			g_assert_cmpint(w.shares[p].estimated, ==, w.shares[p].known);
			g_assert_cmpuint(w.delta[p][0], ==, row->want[p][0]);
			g_assert_cmpuint(w.delta[p][1], ==, row->want[p][1]);
		}
		g_assert_cmpuint(w.unattributed[0], ==, row->unattributed[0]);
		g_assert_cmpuint(w.unattributed[1], ==, row->unattributed[1]);
		close_world(&w);
	}
}

/* An unknown delta is withheld where it may have occurred, and only there. */
static void
test_unknown(void)
{
	static struct world w;
	open_world(&w, 1 << 16);
	read_totals(&w, 0, (uint64_t[N]){ 0, 0, 0 }, 0, 0);
	read_totals(&w, 100, (uint64_t[N]){ 100, 1000, 0 }, 0, 0);
	read_totals(&w, 200, (uint64_t[N]){ 200, 1000, 0 }, 2, TALLY_FLAG(SATURATED));
	read_totals(&w, 300, (uint64_t[N]){ 300, 2000, 0 }, 0, 0);
	w.work[0] = (struct tally_work){ .begin_ns = 10, .end_ns = 60 };
	w.work[1] = (struct tally_work){ .begin_ns = 80, .end_ns = 120 };
	w.work[2] = (struct tally_work){ .begin_ns = 210, .end_ns = 290 };
	w.n = 3;
	cut(&w, false, 0, 300);
	g_assert_cmpuint(w.unknown[0][0], ==, 0);
	g_assert_cmpuint(w.delta[0][1], ==, 500);
	g_assert_cmpuint(w.shares[0].flags, ==, 0);
	g_assert_cmpuint(w.unknown[1][0], ==, 2);
	g_assert_cmpuint(w.delta[1][0], ==, 40);
	g_assert_cmpuint(w.shares[1].flags, ==, TALLY_FLAG(SATURATED));
	g_assert_cmpuint(w.unknown[2][0], ==, 0);
	g_assert_cmpuint(w.delta[2][1], ==, 800);
	/* The GPU was idle from 120 to 200; the known idle time is 100 + 200 + 100 + 100. */
	g_assert_cmpuint(w.unattributed_unknown[0], ==, 2);
	g_assert_cmpuint(w.unlogged[1], ==, 200 + 500);
	g_assert_cmpuint(w.unlogged[0], ==, 0);
	g_assert_cmpuint(w.window.flags, ==, TALLY_FLAG(SATURATED));
	/* There is no reading after 300. */
	w.work[0] = (struct tally_work){ .begin_ns = 300, .end_ns = 320 };
	w.n = 1;
	cut(&w, false, 300, 350);
	g_assert_cmpuint(w.unknown[0][0], ==, 7);
	g_assert_cmpuint(w.unattributed_unknown[0], ==, 7);
	g_assert_cmpuint(w.shares[0].flags, ==, TALLY_FLAG(UNSAMPLED));
	g_assert_cmpuint(w.window.flags, ==, TALLY_FLAG(UNSAMPLED));
	/* New counts occurred since then; counts from before 350 do not belong to the work that
	 * runs now. */
	read_totals(&w, 400, (uint64_t[N]){ 400, 2000, 0 }, 0, 0);
	w.n = 0;
	cut(&w, false, 350, 400);
	g_assert_cmpuint(w.total[0], ==, 100);
	g_assert_cmpuint(w.unlogged[0], ==, 50);
	g_assert_cmpuint(w.unattributed[0], ==, 50);
	close_world(&w);
}

/* Work that began before the first reading: what it did before that is in no total. */
static void
test_before_the_first(void)
{
	static struct world w;
	open_world(&w, 1 << 20);
	read_totals(&w, 100, (uint64_t[N]){ 0 }, 0, 0);
	read_totals(&w, 300, (uint64_t[N]){ 200, 20, 2 }, 0, 0);
	w.work[0] = (struct tally_work){ .begin_ns = 50, .end_ns = 150 };
	w.work[1] = (struct tally_work){ .begin_ns = 150, .end_ns = 250 };
	w.n = 2;
	w.window.known_from_ns = 100;
	cut(&w, false, 100, 300);
	g_assert_cmpuint(w.unknown[0][0], ==, 7);
	g_assert_cmpuint(w.shares[0].flags, ==, TALLY_FLAG(UNSAMPLED));
	g_assert_cmpuint(w.unlogged[0], ==, 50);
	g_assert_cmpuint(w.delta[1][0], ==, 100);
	g_assert_cmpuint(w.shares[1].flags, ==, 0);
	close_world(&w);
}

/* When counts do not divide evenly, no pass is favored over time. */
static void
test_fair(void)
{
	static struct world w;
	uint64_t sums[3] = { 0 }, totals[N] = { 0 };
	open_world(&w, 1 << 20);
	read_totals(&w, 0, totals, 0, 0);
	for (uint64_t frame = 0; frame < 1000; frame++) {
		uint64_t from = 100 * frame;
		totals[0] += 7;
		read_totals(&w, from + 100, totals, 0, 0);
		w.n = 3;
		for (int i = 0; i < 3; i++)
			w.work[i] = (struct tally_work){ .begin_ns = from,
							 .end_ns = from + 100 };
		cut(&w, false, from, from + 100);
		for (int i = 0; i < 3; i++)
			sums[i] += w.delta[i][0];
	}
	for (int i = 0; i < 3; i++) {
		g_assert_cmpuint(sums[i], >=, 2333);
		g_assert_cmpuint(sums[i], <=, 2334);
	}
	close_world(&w);
}

static int
compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The slow algorithm: every interval between two boundaries, every pass in it, in real
 * numbers. */
static void
check_sampled(const struct world *w, bool crowded)
{
	static uint64_t times[2 * MAX_WORK + 2];
	static double want[MAX_WORK];
	static uint32_t shared[MAX_WORK]; /* intervals in which other passes ran too */
	uint64_t begin = w->window.begin_ns, end = w->window.end_ns;
	for (int k = 0; k < N; k++) {
		uint32_t n = 0;
		times[n++] = begin;
		times[n++] = end;
		for (uint32_t i = 0; i < w->n; i++) {
			times[n++] = CLAMP(w->work[i].begin_ns, begin, end);
			times[n++] = CLAMP(w->work[i].end_ns, begin, end);
		}
		qsort(times, n, sizeof(times[0]), compare_u64);
		memset(want, 0, sizeof(want));
		memset(shared, 0, sizeof(shared));
		uint64_t idle = 0;
		for (uint32_t t = 1; t < n; t++) {
			uint64_t a[N], b[N];
			uint32_t running = 0;
			tally_history_at(w->history, times[t - 1], a);
			tally_history_at(w->history, times[t], b);
			for (int step = 0; step < 2; step++) {
				for (uint32_t i = 0; i < w->n; i++) {
					if (w->work[i].begin_ns > times[t - 1] ||
					    w->work[i].end_ns < times[t] ||
					    w->work[i].begin_ns >= w->work[i].end_ns ||
					    times[t] == times[t - 1])
						continue;
					if (step == 0) {
						running++;
						continue;
					}
					want[i] += (double)(b[k] - a[k]) / running;
					shared[i] += running > 1;
				}
			}
			idle += running ? 0 : b[k] - a[k];
		}
		g_assert_cmpuint(w->unattributed[k], ==, idle);
		for (uint32_t i = 0; i < w->n; i++) {
			double off = (double)w->delta[i][k] - want[i];
			/* Less than one for each rounding, plus the remainder of the previous
			 * time where it was not apportioned. */
			double most = crowded ? 2.0 * shared[i] : shared[i];
			g_assert_cmpfloat(ABS(off), <=, most + 1e-6 + want[i] * 1e-14);
		}
	}
}

/* Frames of random passes: shares by the oracle, and over the run nothing is lost. */
static void
random_sampled(uint32_t seed, size_t history_bytes, int most_work, int most_length, bool oracle)
{
	static struct world w;
	GRand *rand = g_rand_new_with_seed(seed);
	uint64_t totals[N] = { 0 }, sums[N] = { 0 }, time_ns = 1000, begin_ns = 1000,
		 told_ns = 1000;
	open_world(&w, history_bytes);
	read_totals(&w, time_ns, totals, 0, 0);
	for (int frame = 0; frame < 120; frame++) {
		uint64_t end_ns = begin_ns + g_rand_int_range(rand, 1, 3000);
		/* Readings extend to the end, and often beyond it. */
		while (time_ns < end_ns) {
			time_ns += g_rand_int_range(rand, 1, 400);
			advance_totals(rand, totals);
			read_totals(&w, time_ns, totals, 0, 0);
		}
		w.n = g_rand_int_range(rand, 0, most_work);
		for (uint32_t i = 0; i < w.n; i++) {
			w.work[i].begin_ns = begin_ns + g_rand_int_range(rand, -200, 3200);
			w.work[i].end_ns = w.work[i].begin_ns +
					   g_rand_int_range(rand, -5, most_length);
		}
		cut(&w, false, begin_ns, end_ns);
		if (oracle)
			check_sampled(&w, most_work > 64);
		for (int k = 0; k < N; k++)
			sums[k] += w.total[k];
		begin_ns = told_ns = end_ns;
		if (oracle)
			tally_history_trim(w.history, end_ns);
	}
	uint64_t last[N];
	w.n = 0;
	cut(&w, false, told_ns, time_ns);
	tally_history_at(w.history, time_ns, last);
	g_assert_cmpmem(last, sizeof(last), totals, sizeof(totals));
	for (int k = 0; k < N; k++)
		g_assert_cmpuint(sums[k] + w.total[k], ==, totals[k]);
	close_world(&w);
	g_rand_free(rand);
}

static void
test_random_sampled(void)
{
	for (uint32_t seed = 0; seed < 10; seed++) {
		random_sampled(seed, 1 << 20, 12, 300, true);
		random_sampled(seed, 1 << 20, 40, 2000, true);
	}
}

/* More passes at once than are apportioned one by one. */
static void
test_random_crowded(void)
{
	random_sampled(100, 1 << 20, MAX_WORK, 3000, true);
}

/* The history is coarsened meanwhile: other shares, but nothing is lost. */
static void
test_random_coarse(void)
{
	for (uint32_t seed = 0; seed < 10; seed++)
		random_sampled(seed, 1, 12, 300, false);
}

/* Counts that were apportioned once are not apportioned again, nor withdrawn, when their
 * reading is released. */
static void
test_coarsened_after(void)
{
	static struct world w;
	uint64_t totals[N] = { 0, 0, 0 };
	open_world(&w, 1);
	read_totals(&w, 0, totals, 0, 0);
	totals[0] = 1000;
	for (uint64_t t = 100; t <= 1600; t += 100)
		read_totals(&w, t, totals, 0, 0);
	cut(&w, false, 0, 100);
	g_assert_cmpuint(w.total[0], ==, 1000);
	struct tally_reading r;
	for (uint64_t t = 1700; tally_history_find(w.history, 2, &r); t += 100)
		read_totals(&w, t, totals, 0, 0);
	/* Now the delta seems to lie between 0 and 200. */
	tally_history_at(w.history, 150, totals);
	g_assert_cmpuint(totals[0], ==, 750);
	w.work[0] = (struct tally_work){ .begin_ns = 110, .end_ns = 190 };
	w.n = 1;
	cut(&w, false, 100, 150);
	g_assert_cmpuint(w.total[0], ==, 0);
	cut(&w, false, 150, 300);
	g_assert_cmpuint(w.total[0], ==, 0);
	close_world(&w);
}

/* Many passes at any time, and two counters with smaller deltas than that number: everything is
 * apportioned. */
static void
test_many_at_once(void)
{
	static struct world w;
	open_world(&w, 1 << 16);
	read_totals(&w, 0, (uint64_t[N]){ 0, 0, 0 }, 0, 0);
	read_totals(&w, 1000, (uint64_t[N]){ 299, 1000000, 1 }, 0, 0);
	w.n = 300;
	for (uint32_t i = 0; i < w.n; i++)
		w.work[i] = (struct tally_work){ .begin_ns = 0, .end_ns = 1000 };
	cut(&w, false, 0, 1000);
	for (uint32_t i = 0; i < w.n; i++) {
		g_assert_cmpuint(w.delta[i][0], <=, 1);
		g_assert_cmpuint(w.delta[i][1], >=, 3333);
		g_assert_cmpuint(w.delta[i][1], <=, 3334);
	}
	close_world(&w);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/attribute/sampled", test_sampled);
	g_test_add_func("/attribute/unknown", test_unknown);
	g_test_add_func("/attribute/before_the_first", test_before_the_first);
	g_test_add_func("/attribute/fair", test_fair);
	g_test_add_func("/attribute/random_sampled", test_random_sampled);
	g_test_add_func("/attribute/random_crowded", test_random_crowded);
	g_test_add_func("/attribute/random_coarse", test_random_coarse);
	g_test_add_func("/attribute/coarsened_after", test_coarsened_after);
	g_test_add_func("/attribute/many_at_once", test_many_at_once);
	return g_test_run();
}
