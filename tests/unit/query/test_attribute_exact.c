/* SPDX-License-Identifier: MIT */
/* Totals cut into passes by the readings of --snapshot exact. */
#include "tests/unit/query/attribute_world.h"

/* ---- exact ---- */

/* Readings 1 to 8 at 100, 200, ..., 800; the counters increase by 10, 11, 12, ... and by their
 * squares. */
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

/* Passes of one command buffer share the delta around it by their GPU time. */
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

/* As with work that runs at the same time: of equal parts none is favored. */
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

/* Two queues that were sampled at the same time: the delta is shared, not counted twice. */
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
	/* 10, a half of 11, 12; of 11 the first pass has one more. */
	g_assert_cmpuint(w.delta[0][0], ==, 16);
	g_assert_cmpuint(w.delta[1][0], ==, 17);
	g_assert_cmpuint(w.delta[2][0], ==, 13);
	g_assert_cmpuint(w.delta[3][0], ==, 8); /* half of it lies in another interval */
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
		/* Groups that follow one another, each of one to four passes. */
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

/* Meaningless timestamps do not lead to meaningless results. */
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
	g_test_add_func("/attribute/exact", test_exact);
	g_test_add_func("/attribute/exact_group", test_exact_group);
	g_test_add_func("/attribute/exact_group_fair", test_exact_group_fair);
	g_test_add_func("/attribute/exact_overlap", test_exact_overlap);
	g_test_add_func("/attribute/random_exact", test_random_exact);
	g_test_add_func("/attribute/absurd", test_absurd);
	return g_test_run();
}
