/* SPDX-License-Identifier: MIT */
#include "cli/answer/hitch.h"
#include "cli/compare/compare.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#include <math.h>

#define QUANTILE 0.99
#define PER 1000.0 /* frames over which hitches are counted */

/* The frame times of one side. */
struct pace_side {
	/* elements: double, of each run or part of one: p99, or hitches in 1000 frames */
	GArray *values;
	GArray *frames; /* elements: double */
	double hitches;
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
	/* Of the last few, only their number is known. */
	uint64_t before = h.count;
	tally_hitches_conclude(&h);
	uint64_t count = h.count;
	for (uint64_t i = 0; i < count - before; i++)
		flags[run->len - 1 - i] = 1;
	tally_hitches_finish(&h);
	return count;
}

static void
add_run(struct pace_side *s, const GArray *run, enum tally_pace pace, uint32_t parts)
{
	const guint len = run->len, at = s->frames->len;
	g_autofree double *flags = g_new0(double, MAX(len, 1));
	if (pace == TALLY_PACE_HITCHES)
		s->hitches += (double)find_hitches(run, flags);
	for (guint i = 0; i < len; i++) {
		double ns = (double)g_array_index(run, uint64_t, i);
		g_array_append_val(s->frames, ns);
	}
	const double *frames = &g_array_index(s->frames, double, at);
	for (guint part = 0; part < parts && len >= parts; part++) {
		guint from = part * len / parts, n = (part + 1) * len / parts - from;
		double value = pace == TALLY_PACE_P99 ? quantile_of(frames + from, n)
						      : PER * tally_mean(flags + from, n);
		g_array_append_val(s->values, value);
	}
}

static void
gather(struct pace_side *s, const struct tally_compare_row *row, unsigned side)
{
	TALLY_EACH (const struct tally_compare_source, source, row->subject->sources[side])
		if (source && source->frame_ns)
			add_run(s, source->frame_ns, row->pace,
				row->runs ? 1 : TALLY_COMPARE_PARTS);
}

static uint32_t
count_runs(const struct tally_compare_row *row, unsigned side)
{
	uint32_t n = 0;
	TALLY_EACH (const struct tally_compare_source, source, row->subject->sources[side])
		n += source && source->frame_ns;
	return n;
}

/* Whether the slowest of so many frames may by chance be below their p99, or a delay of one frame
 * in 100 may be in none of them. */
static bool
is_few(const struct tally_compare *c, uint64_t n)
{
	return pow(QUANTILE, (double)n) > (1 - c->settings.confidence) / 2;
}

static enum tally_verdict
judge(const struct tally_compare *c, struct tally_compare_row *row, const struct pace_side *s)
{
	const bool hitches = row->pace == TALLY_PACE_HITCHES;
	const bool none = hitches && s[0].hitches + s[1].hitches == 0;
	const uint64_t least = MIN(row->n[0], row->n[1]);
	if (!least)
		return TALLY_VERDICT_ONE_SIDE;
	if (least < TALLY_COMPARE_LEAST || (!row->runs && (none || !hitches) && is_few(c, least)))
		return TALLY_VERDICT_FEW;
	if (none)
		return TALLY_VERDICT_EQUAL;
	struct tally_means_side sides[TALLY_N_SIDES];
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		/* A count varies at least as much as one of independent events (Poisson). */
		double se = hitches ? PER * sqrt(MAX(s[i].hitches, 1)) / (double)row->n[i] : 0;
		sides[i] = (struct tally_means_side){
			(const double *)(const void *)s[i].values->data, s[i].values->len, se
		};
	}
	tally_compare_test(c, row, sides);
	return row->verdict;
}

void
tally_compare_judge_pace(const struct tally_compare *c, struct tally_compare_row *row)
{
	struct pace_side sides[TALLY_N_SIDES] = { 0 };
	row->runs = count_runs(row, 0) >= TALLY_COMPARE_LEAST_RUNS &&
		    count_runs(row, 1) >= TALLY_COMPARE_LEAST_RUNS;
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		sides[i].values = g_array_new(FALSE, FALSE, sizeof(double));
		sides[i].frames = g_array_new(FALSE, FALSE, sizeof(double));
		gather(&sides[i], row, i);
		const GArray *frames = sides[i].frames;
		row->n[i] = frames->len;
		if (frames->len)
			row->mean[i] = row->pace == TALLY_PACE_P99
					       ? quantile_of(
							 (const double *)(const void *)frames->data,
							 frames->len)
					       : PER * sides[i].hitches / frames->len;
	}
	row->verdict = judge(c, row, sides);
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		g_array_unref(sides[i].values);
		g_array_unref(sides[i].frames);
	}
}
