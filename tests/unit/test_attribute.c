/* SPDX-License-Identifier: MIT */
#include "query/attribute/attribute.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "layer/record.h"

#define N 3 /* counters */
#define MAX_WORK 400

/* A history, an attributor, and the arrays of one call. */
struct world {
	struct tally_history *history;
	struct tally_attributor *attributor;
	uint64_t number;
	struct tally_work work[MAX_WORK];
	struct tally_share shares[MAX_WORK];
	uint64_t delta[MAX_WORK][N], unknown[MAX_WORK][1];
	uint64_t unattributed[N], unattributed_unknown[1], unlogged[N], total[N];
	struct tally_window window;
	uint32_t n;
};

static void
open_world(struct world *w, size_t history_bytes)
{
	memset(w, 0, sizeof(*w));
	w->history = tally_history_create(N, history_bytes);
	w->attributor = tally_attributor_create(N);
	g_assert_true(w->history && w->attributor);
	for (uint32_t i = 0; i < MAX_WORK; i++) {
		w->shares[i].delta = w->delta[i];
		w->shares[i].unknown = w->unknown[i];
	}
	w->window.unattributed = w->unattributed;
	w->window.unattributed_unknown = w->unattributed_unknown;
	w->window.unlogged = w->unlogged;
	w->window.delta = w->total;
}

static void
close_world(struct world *w)
{
	tally_history_destroy(w->history);
	tally_attributor_destroy(w->attributor);
}

static void
read_totals(struct world *w, uint64_t time_ns, const uint64_t *totals, uint64_t unknown,
	    uint64_t flags)
{
	g_assert_true(tally_history_add(w->history, &(struct tally_reading){
							    .first = w->number + 1,
							    .number = ++w->number,
							    .time_ns = time_ns,
							    .totals = totals,
							    .unknown = &unknown,
							    .flags = flags,
						    }));
}

/* What every cut must hold: nothing is lost, and what is not known is not told. */
static void
cut(struct world *w, bool exact, uint64_t begin_ns, uint64_t end_ns)
{
	/* What was in the arrays before does not matter. */
	memset(w->delta, 0xee, sizeof(w->delta));
	memset(w->unknown, 0xee, sizeof(w->unknown));
	memset(w->unattributed, 0xee, sizeof(w->unattributed));
	memset(w->unattributed_unknown, 0xee, sizeof(w->unattributed_unknown));
	memset(w->unlogged, 0xee, sizeof(w->unlogged));
	memset(w->total, 0xee, sizeof(w->total));
	w->window.begin_ns = begin_ns;
	w->window.end_ns = end_ns;
	g_assert_true(tally_attribute(w->attributor, w->history, exact, w->work, w->shares, w->n,
				      &w->window));
	for (int k = 0; k < N; k++) {
		uint64_t sum = w->unattributed[k] + w->unlogged[k];
		for (uint32_t i = 0; i < w->n; i++) {
			const struct tally_share *share = &w->shares[i];
			if (!share->known || (share->unknown[0] >> k & 1))
				g_assert_cmpuint(share->delta[k], ==, 0);
			g_assert_cmpuint(share->delta[k], <=, w->total[k]);
			sum += share->delta[k];
		}
		g_assert_cmpuint(sum, ==, w->total[k]);
		g_assert_cmpuint(w->total[k], <, UINT64_C(1) << 62); /* none is negative */
		if (w->unattributed_unknown[0] >> k & 1)
			g_assert_cmpuint(w->unattributed[k], ==, 0);
	}
}

/* ---- sampled ---- */

struct sampled_row {
	const char *what;
	struct tally_work work[4];
	uint32_t n;
	uint64_t want[4][2], unattributed[2];
	unsigned known; /* bit a pass */
};

/* Of 0 to 1000 ns, in which one counter grows by 1000 and one by 10. */
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

/* Growth that is not known is withheld where it may have happened, and only there. */
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
	/* 120 to 200 was idle; what is known of idle time is 100 + 200 + 100 + 100. */
	g_assert_cmpuint(w.unattributed_unknown[0], ==, 2);
	g_assert_cmpuint(w.unlogged[1], ==, 200 + 500);
	g_assert_cmpuint(w.unlogged[0], ==, 0);
	g_assert_cmpuint(w.window.flags, ==, TALLY_FLAG(SATURATED));
	/* Nothing was read after 300. */
	w.work[0] = (struct tally_work){ .begin_ns = 300, .end_ns = 320 };
	w.n = 1;
	cut(&w, false, 300, 350);
	g_assert_cmpuint(w.unknown[0][0], ==, 7);
	g_assert_cmpuint(w.unattributed_unknown[0], ==, 7);
	g_assert_cmpuint(w.shares[0].flags, ==, TALLY_FLAG(UNSAMPLED));
	g_assert_cmpuint(w.window.flags, ==, TALLY_FLAG(UNSAMPLED));
	/* What comes now came since then; what came before 350 is no value of what runs now. */
	read_totals(&w, 400, (uint64_t[N]){ 400, 2000, 0 }, 0, 0);
	w.n = 0;
	cut(&w, false, 350, 400);
	g_assert_cmpuint(w.total[0], ==, 100);
	g_assert_cmpuint(w.unlogged[0], ==, 50);
	g_assert_cmpuint(w.unattributed[0], ==, 50);
	close_world(&w);
}

/* Work that began before the first reading: what it did until then is in no total. */
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

/* Nobody is favoured, over time, by what does not divide evenly. */
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

/* The slow way: every stretch between two boundaries, every pass in it, in real numbers. */
static void
check_sampled(const struct world *w, bool crowded)
{
	static uint64_t times[2 * MAX_WORK + 2];
	static double want[MAX_WORK];
	static uint32_t shared[MAX_WORK]; /* stretches that it had company in */
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
			/* Less than one each time that something had to be rounded, and what the
			 * time before left over where it was not dealt out. */
			double most = crowded ? 2.0 * shared[i] : shared[i];
			g_assert_cmpfloat(ABS(off), <=, most + 1e-6 + want[i] * 1e-14);
		}
	}
}

static void
advance_totals(GRand *rand, uint64_t *totals)
{
	totals[0] += g_rand_int_range(rand, 0, 5);
	totals[1] += g_rand_int_range(rand, 0, 100000);
	totals[2] += (uint64_t)g_rand_int(rand) << 20;
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
		/* Readings reach up to the end, and often past it. */
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

/* More at once than are dealt to one by one. */
static void
test_random_crowded(void)
{
	random_sampled(100, 1 << 20, MAX_WORK, 3000, true);
}

/* The history is coarsened under our feet: other shares, but nothing lost. */
static void
test_random_coarse(void)
{
	for (uint32_t seed = 0; seed < 10; seed++)
		random_sampled(seed, 1, 12, 300, false);
}

/* What was cut once is not handed out again, nor taken back, when its reading is let go. */
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
	/* Now the growth seems to lie between 0 and 200. */
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

/* Many passes all the time, two counters of which grow by less than there are: all is dealt out. */
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

/* ---- exact ---- */

/* Readings 1 to 8 at 100, 200, ..., 800; the counters grow by 10, 11, 12, ... and their squares. */
static void
open_exact(struct world *w)
{
	uint64_t totals[N] = { 0 };
	open_world(w, 1 << 16);
	for (uint64_t i = 1; i <= 8; i++) {
		read_totals(w, 100 * i, totals, 0, i == 8 ? TALLY_FLAG(OVERFLOW) : 0);
		totals[0] += 9 + i;
		totals[1] += (9 + i) * (9 + i);
	}
}

static void
test_exact(void)
{
	static struct world w;
	open_exact(&w);
	/* Its GPU time, 0 to 5, does not matter. */
	w.work[0] = (struct tally_work){ .from = 1, .to = 2, .end_ns = 5 };
	w.work[1] = (struct tally_work){ .from = 2, .to = 4 };
	w.work[2] = (struct tally_work){ .from = 7, .to = 8, .begin_ns = 150, .end_ns = 160 };
	w.work[3] = (struct tally_work){ .begin_ns = 450, .end_ns = 460 };
	w.work[4] = (struct tally_work){ .begin_ns = 450, .end_ns = 460, .from = 4 };
	w.work[5] = (struct tally_work){ .begin_ns = 450, .end_ns = 460, .from = 4, .to = 9 };
	w.work[6] = (struct tally_work){ .begin_ns = 450, .end_ns = 460, .from = 6, .to = 5 };
	w.n = 7;
	cut(&w, true, 100, 800);
	static const uint64_t want[7][2] = { { 10, 100 }, { 11 + 12, 121 + 144 }, { 16, 256 } };
	static const uint64_t flags[7] = {
		0,
		0,
		TALLY_FLAG(OVERFLOW),
		TALLY_FLAG(UNSAMPLED),
		TALLY_FLAG(UNSAMPLED),
		TALLY_FLAG(LOST),
		TALLY_FLAG(LOST),
	};
	for (uint32_t i = 0; i < w.n; i++) {
		g_test_message("pass %u", i);
		g_assert_cmpint(w.shares[i].known, ==, i < 3);
		g_assert_false(w.shares[i].estimated);
		g_assert_cmpuint(w.delta[i][0], ==, want[i][0]);
		g_assert_cmpuint(w.delta[i][1], ==, want[i][1]);
		g_assert_cmpuint(w.shares[i].flags, ==, flags[i]);
	}
	g_assert_cmpuint(w.unattributed[0], ==, 13 + 14 + 15);
	close_world(&w);
}

/* Passes of one command buffer share what grew around it by their GPU time. */
static void
test_exact_group(void)
{
	static struct world w;
	open_exact(&w);
	w.work[0] = (struct tally_work){ .begin_ns = 1, .end_ns = 31, .from = 1, .to = 4 };
	w.work[1] = (struct tally_work){ .begin_ns = 31, .end_ns = 91, .from = 1, .to = 4 };
	w.work[2] = (struct tally_work){ .begin_ns = 90, .end_ns = 100, .from = 1, .to = 4 };
	w.work[3] = (struct tally_work){ .begin_ns = 95, .end_ns = 95, .from = 1, .to = 4 };
	w.work[4] = (struct tally_work){ .from = 4, .to = 5 };
	w.work[5] = (struct tally_work){ .from = 4, .to = 5 };
	w.n = 6;
	cut(&w, true, 100, 800);
	/* 33 as 30 : 60 : 10 is 9.9, 19.8, 3.3; 365 is 109.5, 219, 36.5. */
	static const uint64_t want[6][2] = { { 10, 110 }, { 20, 219 }, { 3, 36 } };
	for (uint32_t i = 0; i < w.n; i++) {
		g_test_message("pass %u", i);
		g_assert_cmpint(w.shares[i].known, ==, i < 3);
		g_assert_cmpint(w.shares[i].estimated, ==, i < 3);
		g_assert_cmpuint(w.delta[i][0], ==, want[i][0]);
		g_assert_cmpuint(w.delta[i][1], ==, want[i][1]);
		g_assert_cmpuint(w.shares[i].flags, ==, i < 3 ? 0 : TALLY_FLAG(UNSAMPLED));
	}
	g_assert_cmpuint(w.unattributed[0], ==, 13 + 14 + 15 + 16);
	close_world(&w);
}

/* As with work that runs at once: of equal parts none is favoured. */
static void
test_exact_group_fair(void)
{
	static struct world w;
	uint64_t sums[3] = { 0 }, totals[N] = { 0 };
	open_world(&w, 1 << 20);
	read_totals(&w, 0, totals, 0, 0);
	for (uint64_t frame = 0; frame < 999; frame++) {
		totals[0] += 4;
		read_totals(&w, 100 * (frame + 1), totals, 0, 0);
		w.n = 3;
		for (int i = 0; i < 3; i++)
			w.work[i] = (struct tally_work){
				.end_ns = 50,
				.from = frame + 1,
				.to = frame + 2,
			};
		cut(&w, true, 100 * frame, 100 * (frame + 1));
		for (int i = 0; i < 3; i++)
			sums[i] += w.delta[i][0];
	}
	for (int i = 0; i < 3; i++)
		g_assert_cmpuint(sums[i], ==, 4 * 999 / 3);
	close_world(&w);
}

/* Two queues that were sampled at once: what grew is shared, not counted twice. */
static void
test_exact_overlap(void)
{
	static struct world w;
	open_exact(&w);
	w.work[0] = (struct tally_work){ .from = 1, .to = 3 };
	w.work[1] = (struct tally_work){ .from = 2, .to = 4 };
	w.work[2] = (struct tally_work){ .from = 4, .to = 5 };
	w.work[3] = (struct tally_work){ .from = 7, .to = 8 };
	w.n = 4;
	cut(&w, true, 100, 750);
	/* 10, a half of 11, 12; of 11 the first has one more. */
	g_assert_cmpuint(w.delta[0][0], ==, 16);
	g_assert_cmpuint(w.delta[1][0], ==, 17);
	g_assert_cmpuint(w.delta[2][0], ==, 13);
	g_assert_cmpuint(w.delta[3][0], ==, 8); /* half of it lies in another stretch */
	static const bool estimated[4] = { true, true, false, true };
	for (uint32_t i = 0; i < w.n; i++)
		g_assert_cmpint(w.shares[i].estimated, ==, estimated[i]);
	close_world(&w);
}

static void
test_random_exact(void)
{
	static struct world w;
	GRand *rand = g_rand_new_with_seed(7);
	uint64_t totals[N] = { 0 }, sums[N] = { 0 }, time_ns = 0, begin_ns = 0;
	open_world(&w, 1 << 20);
	read_totals(&w, 0, totals, 0, 0);
	for (int frame = 0; frame < 200; frame++) {
		uint64_t first = w.number;
		int n_readings = g_rand_int_range(rand, 1, 30);
		static uint64_t steps[32][N];
		for (int i = 0; i < n_readings; i++) {
			uint64_t before[N];
			memcpy(before, totals, sizeof(before));
			advance_totals(rand, totals);
			for (int k = 0; k < N; k++)
				steps[i][k] = totals[k] - before[k];
			time_ns += g_rand_int_range(rand, 1, 100);
			read_totals(&w, time_ns, totals, 0, 0);
		}
		/* Groups that follow each other, each of one to four passes. */
		static uint32_t size[MAX_WORK];
		w.n = 0;
		for (int at = 0; at < n_readings;) {
			int next = at + g_rand_int_range(rand, 1, 4);
			uint32_t group = g_rand_int_range(rand, 0, 5);
			if (next > n_readings)
				break;
			for (uint32_t i = 0; i < group; i++) {
				uint64_t begin = g_rand_int_range(rand, 0, 1000);
				size[w.n] = group;
				w.work[w.n++] = (struct tally_work){
					.begin_ns = begin,
					.end_ns = begin + g_rand_int_range(rand, 1, 500),
					.from = first + at,
					.to = first + next,
				};
			}
			at = next;
		}
		cut(&w, true, begin_ns, time_ns);
		for (uint32_t i = 0; i < w.n; i++) {
			g_assert_true(w.shares[i].known);
			g_assert_cmpint(w.shares[i].estimated, ==, size[i] > 1);
			g_assert_cmpuint(w.shares[i].flags, ==, 0);
			double whole = 0;
			for (uint32_t j = 0; j < w.n; j++)
				if (w.work[j].from == w.work[i].from)
					whole += w.work[j].end_ns - w.work[j].begin_ns;
			for (int k = 0; k < N; k++) {
				uint64_t grown = 0;
				for (uint64_t r = w.work[i].from; r < w.work[i].to; r++)
					grown += steps[r - first][k];
				if (size[i] == 1)
					g_assert_cmpuint(w.delta[i][k], ==, grown);
				double share = grown * (w.work[i].end_ns - w.work[i].begin_ns) /
					       whole;
				g_assert_cmpfloat(ABS(w.delta[i][k] - share), <,
						  1.0 + share * 1e-12);
			}
		}
		for (int k = 0; k < N; k++)
			sums[k] += w.total[k];
		begin_ns = time_ns;
		tally_history_trim(w.history, begin_ns);
	}
	g_assert_cmpmem(sums, sizeof(sums), totals, sizeof(totals));
	close_world(&w);
	g_rand_free(rand);
}

/* Stamps that make no sense are no reason to compute nonsense. */
static void
test_absurd(void)
{
	static struct world w;
	open_exact(&w);
	for (uint32_t i = 0; i < 3; i++)
		w.work[i] = (struct tally_work){ .end_ns = UINT64_MAX, .from = 1, .to = 8 };
	w.n = 3;
	cut(&w, true, 0, UINT64_MAX);
	for (uint32_t i = 0; i < 3; i++) {
		g_assert_true(w.shares[i].known);
		g_assert_cmpuint(w.delta[i][0], >=, (w.total[0]) / 3);
	}
	cut(&w, false, 0, UINT64_MAX);
	cut(&w, false, 500, 500);
	g_assert_cmpuint(w.total[0], ==, 0);
	cut(&w, false, 500, 400);
	g_assert_cmpuint(w.total[0], ==, 0);
	close_world(&w);
	struct tally_attributor *none = tally_attributor_create(0);
	struct tally_history *h = tally_history_create(0, 100);
	struct tally_window window = { .begin_ns = 1, .end_ns = 2 };
	uint64_t word = 0;
	window.unattributed = window.unattributed_unknown = window.unlogged = window.delta = &word;
	struct tally_share share = { .delta = &word, .unknown = &word };
	g_assert_true(tally_attribute(none, h, false, &(struct tally_work){ 0, 9, 0, 0 }, &share, 1,
				      &window));
	tally_history_destroy(h);
	tally_attributor_destroy(none);
	tally_attributor_destroy(NULL);
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
	g_test_add_func("/attribute/exact", test_exact);
	g_test_add_func("/attribute/exact_group", test_exact_group);
	g_test_add_func("/attribute/exact_group_fair", test_exact_group_fair);
	g_test_add_func("/attribute/exact_overlap", test_exact_overlap);
	g_test_add_func("/attribute/random_exact", test_random_exact);
	g_test_add_func("/attribute/absurd", test_absurd);
	return g_test_run();
}
