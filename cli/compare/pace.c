/* SPDX-License-Identifier: MIT */
#include "cli/answer/hitch.h"
#include "cli/compare/compare.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#include <math.h>
#include <string.h>

#define QUANTILE 0.99
#define RESAMPLES 1999
#define PER 1000.0 /* frames over which hitches are counted */

/* The frame times of one side. */
struct pace_side {
	GPtrArray *runs; /* elements: const GArray *, of uint64_t */
	double *frames; /* all of them, one run after the other */
	double *flags; /* 1 = the frame is a hitch */
	double *each; /* of each run: p99, or hitches in 1000 frames */
	uint32_t n;
	double found; /* hitches */
};

const char *const tally_pace_keys[TALLY_N_PACES] = {
	[TALLY_PACE_P99] = "p99",
	[TALLY_PACE_HITCHES] = "hitches",
};

static double
quantile_of(const double *values, uint32_t n)
{
	g_autofree double *sorted = g_memdup2(values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), tally_order_double);
	return sorted[MAX((uint32_t)ceil(QUANTILE * n), 1) - 1];
}

/* Sets the flags of the frames that are hitches and returns how many there are. */
static uint64_t
find_hitches(const GArray *run, double *flags)
{
	struct tally_hitches h;
	tally_hitches_init(&h);
	for (guint i = 0; i < run->len; i++) {
		uint64_t before = h.count;
		tally_hitches_next(&h)->ns[TALLY_HITCH_FRAME] = g_array_index(run, uint64_t, i);
		tally_hitches_add(&h);
		if (h.count > before)
			flags[h.judged - 1] = 1;
	}
	/* Of the last few, only their number is known; the flags serve to detect clusters. */
	uint64_t before = h.count;
	tally_hitches_conclude(&h);
	uint64_t count = h.count;
	for (uint64_t i = 0; i < count - before; i++)
		flags[run->len - 1 - i] = 1;
	tally_hitches_finish(&h);
	return count;
}

static void
gather(struct pace_side *s, const struct tally_compare_row *row, unsigned side)
{
	const GPtrArray *sources = row->subject->sources[side];
	s->runs = g_ptr_array_new();
	uint32_t n = 0;
	TALLY_EACH (const struct tally_compare_source, source, sources) {
		if (!source || !source->frame_ns)
			continue;
		g_ptr_array_add(s->runs, source->frame_ns);
		n += source->frame_ns->len;
	}
	s->frames = g_new(double, MAX(n, 1));
	s->flags = g_new0(double, MAX(n, 1));
	s->each = g_new0(double, MAX(s->runs->len, 1));
	for (guint k = 0; k < s->runs->len; k++) {
		const GArray *run = s->runs->pdata[k];
		double *at = s->frames + s->n;
		for (guint i = 0; i < run->len; i++)
			at[i] = (double)g_array_index(run, uint64_t, i);
		if (row->pace == TALLY_PACE_HITCHES) {
			double hitches = (double)find_hitches(run, s->flags + s->n);
			s->found += hitches;
			s->each[k] = PER * hitches / run->len;
		} else {
			s->each[k] = quantile_of(at, run->len);
		}
		s->n += run->len;
	}
}

static void
drop(struct pace_side *s)
{
	g_ptr_array_unref(s->runs);
	g_free(s->frames);
	g_free(s->flags);
	g_free(s->each);
}

/* How much more the number of flagged frames varies than if they were independent, at least
 * 1. */
static double
dispersion(const double *flags, uint32_t n)
{
	double sum = 0, long_run;
	for (uint32_t i = 0; i < n; i++)
		sum += flags[i];
	double variance = sum / n * (1 - sum / n);
	tally_block_length(flags, n, &long_run);
	return variance > 0 ? MAX(long_run / variance, 1) : 1;
}

/* Whether the side's slowest frame may by chance be below its p99 (as it may where it has fewer
 * than 500 frames), or a delay of one frame in 100 may be in none of them. */
static bool
is_few(const struct tally_compare *c, const struct pace_side *s, double spread)
{
	return pow(QUANTILE, s->n / spread) > (1 - c->settings.confidence) / 2;
}

/* The chance of counts so different in n[0] and n[1] frames where their rates are equal: given
 * their sum, the counts are binomial. */
static double
counts_p(const double *counts, const double *n)
{
	double all = counts[0] + counts[1], share = n[1] / (n[0] + n[1]);
	double more = tally_binomial_tail(counts[1], all, share);
	double less = tally_binomial_tail(counts[0], all, 1 - share);
	return MIN(1, 2 * MIN(more, less));
}

static void
finish_row(const struct tally_compare *c, struct tally_compare_row *row, double low, double high,
	   double p)
{
	row->difference = row->mean[1] - row->mean[0];
	row->tested = true;
	row->low = MIN(low, row->difference);
	row->high = MAX(high, row->difference);
	row->df = (double)(row->n[0] + row->n[1] - 2);
	double reach = tally_student_quantile(1 - c->settings.confidence, row->df);
	row->se = (row->high - row->low) / 2 / reach;
	/* Both must agree: counts show that the frames differ, the interval that the value does. */
	bool clear = row->low > 0 || row->high < 0;
	row->p = clear ? p : MAX(p, 1 - c->settings.confidence);
}

/* The frames that are among the slowest 1 % of both sides together: the number of each side. */
static void
count_slowest(struct pace_side *sides, double *counts)
{
	uint32_t n = sides[0].n + sides[1].n;
	g_autofree double *all = g_new(double, n);
	double above = 0, at = 0;
	memcpy(all, sides[0].frames, sides[0].n * sizeof(*all));
	memcpy(all + sides[0].n, sides[1].frames, sides[1].n * sizeof(*all));
	double limit = quantile_of(all, n);
	for (uint32_t i = 0; i < n; i++) {
		above += all[i] > limit;
		at += all[i] == limit;
	}
	/* If many frames are equally long: with or without them, whichever is closer to 1 %. */
	double want = (1 - QUANTILE) * n;
	bool with = fabs(above + at - want) < fabs(above - want);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		counts[side] = 0;
		for (uint32_t i = 0; i < sides[side].n; i++) {
			double v = sides[side].frames[i];
			sides[side].flags[i] = v > limit || (with && v == limit);
			counts[side] += sides[side].flags[i];
		}
	}
}

static void
judge_p99(const struct tally_compare *c, struct tally_compare_row *row, struct pace_side *sides)
{
	double counts[TALLY_N_SIDES], n[TALLY_N_SIDES], *samples[TALLY_N_SIDES];
	count_slowest(sides, counts);
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		double spread = dispersion(sides[i].flags, sides[i].n);
		if (is_few(c, &sides[i], spread)) {
			row->verdict = TALLY_VERDICT_FEW;
			return;
		}
		counts[i] /= spread;
		n[i] = sides[i].n / spread;
	}
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		samples[i] = g_new(double, RESAMPLES);
		row->block[i] = tally_bootstrap_quantile(sides[i].frames, sides[i].n, QUANTILE,
							 row->subject->slot + i * 9973 + 1,
							 samples[i], RESAMPLES);
	}
	for (uint32_t r = 0; r < RESAMPLES; r++)
		samples[0][r] = samples[1][r] - samples[0][r];
	qsort(samples[0], RESAMPLES, sizeof(double), tally_order_double);
	uint32_t cut = (uint32_t)((1 - c->settings.confidence) / 2 * (RESAMPLES + 1));
	cut = MAX(cut, 1);
	finish_row(c, row, samples[0][cut - 1], samples[0][RESAMPLES - cut], counts_p(counts, n));
	g_free(samples[0]);
	g_free(samples[1]);
}

/* The p at which x or more of n frames are as unlikely as `level`. */
static double
rate_limit(double x, double n, double level)
{
	double low = 0, high = 1;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;
		if (tally_binomial_tail(x, n, middle) < level)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static void
judge_hitches(const struct tally_compare *c, struct tally_compare_row *row,
	      const struct pace_side *sides)
{
	double counts[TALLY_N_SIDES], n[TALLY_N_SIDES], low[TALLY_N_SIDES], high[TALLY_N_SIDES];
	double level = (1 - c->settings.confidence) / 2;
	bool few = sides[0].n < TALLY_COMPARE_LEAST || sides[1].n < TALLY_COMPARE_LEAST;
	bool none = sides[0].found + sides[1].found == 0;
	if (few || (none && (is_few(c, &sides[0], 1) || is_few(c, &sides[1], 1)))) {
		row->verdict = TALLY_VERDICT_FEW;
		return;
	}
	if (none) {
		row->verdict = TALLY_VERDICT_EQUAL;
		return;
	}
	/* The exact interval of each rate (Clopper and Pearson). */
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		double spread = dispersion(sides[i].flags, sides[i].n);
		counts[i] = sides[i].found / spread;
		n[i] = sides[i].n / spread;
		row->block[i] = 1;
		low[i] = PER * (counts[i] > 0 ? rate_limit(counts[i], n[i], level) : 0);
		high[i] = PER * rate_limit(counts[i] + 1, n[i], 1 - level);
	}
	/* The interval of their difference (Zou and Donner). */
	const double *at = row->mean;
	double difference = at[1] - at[0];
	finish_row(c, row, difference - hypot(at[1] - low[1], high[0] - at[0]),
		   difference + hypot(high[1] - at[1], at[0] - low[0]), counts_p(counts, n));
}

static void
judge_runs(const struct tally_compare *c, struct tally_compare_row *row,
	   const struct pace_side *sides)
{
	struct tally_bootstrap_side s[TALLY_N_SIDES] = {
		{ .values = sides[0].each, .n = sides[0].runs->len },
		{ .values = sides[1].each, .n = sides[1].runs->len },
	};
	if (row->pace == TALLY_PACE_HITCHES && sides[0].found + sides[1].found == 0)
		row->verdict = TALLY_VERDICT_EQUAL;
	else
		tally_compare_test(c, row, s);
}

void
tally_compare_judge_pace(const struct tally_compare *c, struct tally_compare_row *row)
{
	struct pace_side sides[TALLY_N_SIDES] = { 0 };
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		gather(&sides[i], row, i);
		row->n[i] = sides[i].n;
		if (!sides[i].n)
			continue;
		row->mean[i] = row->pace == TALLY_PACE_P99
				       ? quantile_of(sides[i].frames, sides[i].n)
				       : PER * sides[i].found / sides[i].n;
	}
	row->runs = sides[0].runs->len >= TALLY_COMPARE_LEAST_RUNS &&
		    sides[1].runs->len >= TALLY_COMPARE_LEAST_RUNS;
	if (!sides[0].n || !sides[1].n)
		row->verdict = TALLY_VERDICT_ONE_SIDE;
	else if (row->runs)
		judge_runs(c, row, sides);
	else if (row->pace == TALLY_PACE_P99)
		judge_p99(c, row, sides);
	else
		judge_hitches(c, row, sides);
	for (unsigned i = 0; i < TALLY_N_SIDES; i++)
		drop(&sides[i]);
}
