/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare.h"
#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

/* With fewer passes too little is known about what they have in common. */
#define LEAST_PASSES 8
/* Number of parts of a run whose medians show how far its speed wanders. */
#define PARTS 6
#define LEAST_FRAMES (2 * PIECES)
/* How far runs differ beyond the differences of their parts: twice the variance of a run's
 * mean. */
#define SLOW 2.0
/* If the medians of the parts vary by this factor more than the error predicts, that is not
 * chance alone. */
#define LARGE 3.0
/* Number of shorter parts of a run, which show which passes move together. */
#define PIECES 12
/* Of the logarithms the middle half is averaged. */
#define TRIM 0.25
/* With eight runs or more the lowest and the highest are left out: one may have been
 * disturbed. */
#define TRIM_RUNS 0.125
/* The better of two tests is taken, which costs significance: most of that is charged to the
 * test of the pass itself. */
#define OTHERS 0.8
/* The fraction of a change of the mean that the median must show too. */
#define TYPICAL 0.5
/* From a median absolute deviation to a standard deviation of the normal distribution. */
#define MAD_TO_SD 1.4826

/* A pass that is in every frame of both sides. */
struct member {
	struct tally_compare_row *row;
	double *logs[TALLY_N_SIDES]; /* the logarithm of its time in each frame, or run */
	double level; /* its typical logarithm, over both sides */
	double typical; /* how much the median of its logarithms changed */
	double shift, se, df; /* the change that is the pass's own */
	double p;
	double parts[TALLY_N_SIDES]; /* the variance of its parts' medians */
	double *deviations; /* medians of pieces, or runs, relative to their middle */
};

struct group {
	GArray *members; /* elements: struct member */
	bool runs; /* the values are whole runs instead of frames */
	uint32_t n[TALLY_N_SIDES]; /* frames, or runs */
	uint32_t n_pieces; /* of both sides */
	double *common[TALLY_N_SIDES]; /* what all passes of a frame, or run, have in common */
};

static void
clear_member(gpointer p)
{
	struct member *m = p;
	g_free(m->logs[0]);
	g_free(m->logs[1]);
	g_free(m->deviations);
}

static double
median_of(const double *values, uint32_t n)
{
	g_autofree double *copy = g_memdup2(values, n * sizeof(*values));
	return tally_median(copy, n);
}

static double *
logs_of(const struct tally_compare_values *const *values, uint32_t n, uint32_t *found)
{
	double *v = tally_compare_values_join(values, n, found);
	for (uint32_t i = 0; i < *found; i++)
		v[i] = log(MAX(v[i], 1));
	return v;
}

/* Of each run the middle half of its frames. */
static double *
run_logs(const GPtrArray *values)
{
	double *out = g_new(double, MAX(values->len, 1));
	for (guint i = 0; i < values->len; i++) {
		const struct tally_compare_values *run = values->pdata[i];
		uint32_t n;
		g_autofree double *v = logs_of(&run, 1, &n);
		out[i] = tally_trimmed_mean(v, n, TRIM);
	}
	return out;
}

/* The times of the row's frames, or runs; NULL unless there are `n` of them, 0 = any number. */
static double *
row_logs(const struct tally_compare *c, const struct tally_compare_row *row, unsigned side,
	 uint32_t *n)
{
	g_autoptr(GPtrArray)
		values = tally_compare_row_values(c, row, (enum tally_side)side);
	uint32_t found = values->len;
	g_autofree double *v = row->runs ? run_logs(values)
					 : logs_of((const struct tally_compare_values
							    *const *)values->pdata,
						   values->len, &found);
	if (*n && found != *n)
		return NULL;
	*n = found;
	return g_steal_pointer(&v);
}

static bool
is_member(const struct tally_compare_row *row, const struct tally_compare_row *first)
{
	const struct tally_compare_subject *s = row->subject;
	return row->tested && row->runs == first->runs && !s->frame && !s->outside &&
	       strcmp(row->key, "gpu_ns") == 0 &&
	       tally_compare_same_place(s, first->subject);
}

/* The passes of the same place as `first` that are in as many frames as its busiest pass, on
 * both sides. */
static void
gather(struct group *g, const struct tally_compare *c, const struct tally_compare_row *first)
{
	uint64_t most[TALLY_N_SIDES] = { 0 };
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		for (unsigned side = 0; side < TALLY_N_SIDES && is_member(row, first); side++)
			most[side] = MAX(most[side], row->n[side]);
	}
	TALLY_EACH (struct tally_compare_row, row, c->rows) {
		if (!is_member(row, first) || row->n[0] != most[0] || row->n[1] != most[1])
			continue;
		struct member m = { .row = row };
		for (unsigned side = 0; side < TALLY_N_SIDES; side++)
			m.logs[side] = row_logs(c, row, side, &g->n[side]);
		if (m.logs[0] && m.logs[1]) {
			m.level = (median_of(m.logs[0], g->n[0]) +
				   median_of(m.logs[1], g->n[1])) /
				  2;
			g_array_append_val(g->members, m);
		} else {
			clear_member(&m);
		}
	}
}

/* For each frame the median of the distances of its passes from their levels. */
static void
find_common(struct group *g)
{
	g_autofree double *above = g_new(double, g->members->len);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		g->common[side] = g_new(double, g->n[side]);
		for (uint32_t i = 0; i < g->n[side]; i++) {
			guint n = 0;
			TALLY_EACH_OF (const struct member, m, g->members)
				above[n++] = m->logs[side][i] - m->level;
			g->common[side][i] = tally_median(above, n);
		}
	}
}

/* The variance of the medians of a run's parts. */
static double
part_variance(const double *values, uint32_t n)
{
	double medians[PARTS], mean = 0, squares = 0;
	for (uint32_t i = 0; i < PARTS; i++) {
		uint32_t from = n * i / PARTS, to = n * (i + 1) / PARTS;
		medians[i] = median_of(values + from, to - from);
		mean += medians[i] / PARTS;
	}
	for (uint32_t i = 0; i < PARTS; i++)
		squares += (medians[i] - mean) * (medians[i] - mean);
	return squares / (PARTS - 1);
}

/* The variance that the median of `n` values would have if frames were independent. */
static double
independent_variance(const double *values, uint32_t n, uint32_t part)
{
	g_autofree double *steps = g_new(double, n - 1);
	for (uint32_t i = 0; i + 1 < n; i++)
		steps[i] = fabs(values[i + 1] - values[i]);
	double step = MAD_TO_SD * tally_median(steps, n - 1);
	return step * step / 2 * (G_PI / 2) / part;
}

/* The variance of the medians of a run's parts, beyond what independent frames would show:
 * how far its speed wanders, and therefore how much that of two runs of one program may
 * differ. */
static double
wander(const double *common, uint32_t n)
{
	return MAX(part_variance(common, n) - independent_variance(common, n, n / PARTS), 0);
}

/* How the pieces, or the runs, of a side deviate from its middle. */
static uint32_t
deviate(const struct group *g, struct member *m, unsigned side, double middle, uint32_t at)
{
	uint32_t n = g->n[side], pieces = g->runs ? n : PIECES;
	for (uint32_t i = 0; i < pieces; i++) {
		uint32_t from = n * i / pieces, to = n * (i + 1) / pieces;
		m->deviations[at + i] =
			median_of(m->logs[side] + from, to - from) - middle;
	}
	return at + pieces;
}

/* The change of a pass against the others: for frames that of the median, which represents
 * undisturbed frames. */
static void
measure_member(struct group *g, struct member *m)
{
	struct tally_bootstrap_side sides[TALLY_N_SIDES] = { 0 };
	double middle[TALLY_N_SIDES], parts = 0;
	uint32_t at = 0;
	m->deviations = g_new(double, g->n[0] + g->n[1] + 2 * PIECES);
	m->typical = median_of(m->logs[1], g->n[1]) - median_of(m->logs[0], g->n[0]);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		for (uint32_t i = 0; i < g->n[side]; i++)
			m->logs[side][i] -= m->level + g->common[side][i];
		sides[side] = (struct tally_bootstrap_side){
			.values = m->logs[side],
			.n = g->n[side],
		};
	}
	const struct tally_bootstrap_settings settings = {
		.confidence = 0.99,
		.trim = g->runs ? TRIM_RUNS : TRIM,
		.resamples = 1,
		.independent = g->runs,
	};
	struct tally_bootstrap_result r;
	tally_bootstrap_compare(&sides[0], &sides[1], &settings, &r);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		middle[side] = g->runs ? sides[side].mean
				       : median_of(m->logs[side], g->n[side]);
		at = deviate(g, m, side, middle[side], at);
		if (g->runs)
			continue;
		m->parts[side] = part_variance(m->logs[side], g->n[side]);
		parts += m->parts[side];
		/* The variation of correlated frames is already in the error of the mean. */
		double own = sides[side].se * sides[side].se;
		if (m->parts[side] < LARGE * PARTS * own)
			m->parts[side] = 0;
	}
	g->n_pieces = at;
	m->shift = middle[1] - middle[0];
	m->se = g->runs ? r.se : sqrt(parts * (1 + SLOW) / PARTS);
	m->df = g->runs ? r.df : 4 * (PARTS - 1);
}

static void
center(struct group *g)
{
	g_autofree double *shifts = g_new(double, g->members->len);
	guint n = 0;
	TALLY_EACH_OF (const struct member, m, g->members)
		shifts[n++] = m->shift;
	double middle = tally_median(shifts, n);
	TALLY_EACH_OF (struct member, m, g->members)
		m->shift -= middle;
}

static void
set_interval(const struct tally_compare *c, struct tally_compare_row *row)
{
	double reach = row->se * tally_student_quantile(1 - c->settings.confidence, row->df);
	row->low = row->difference - reach;
	row->high = row->difference + reach;
}

/* Adds to the error of a time the possible difference of the machine's speed between the
 * runs. */
static void
widen(const struct tally_compare *c, struct tally_compare_row *row, const double *variances)
{
	double base = fabs(row->mean[TALLY_SIDE_BASE]), sum = variances[0] + variances[1];
	if (!(sum > 0) || !(row->se > 0))
		return;
	double half = (row->high - row->low) / 2;
	double own = half / tally_student_quantile(1 - c->settings.confidence, row->df);
	double level = sum * base * base;
	double level_df = (PARTS - 1) * sum * sum /
			  (variances[0] * variances[0] + variances[1] * variances[1]);
	double total = own * own + level;
	row->df = total * total / (own * own * own * own / row->df + level * level / level_df);
	row->se = sqrt(total);
	double p = tally_student_tail(fabs(row->difference) / row->se, row->df);
	if (row->pace) {
		/* The longer half of its interval is used, because its p was not from a normal
		 * error. */
		double level_of_all = 1 - c->settings.confidence;
		double wider = row->se * tally_student_quantile(level_of_all, row->df) / half;
		row->p = MAX(row->p, p);
		row->low = row->difference - wider * (row->difference - row->low);
		row->high = row->difference + wider * (row->high - row->difference);
		return;
	}
	row->p = p;
	set_interval(c, row);
}

/* Finds the passes that deviate from what the others predict for them. */
static void
judge_members(const struct tally_compare *c, struct group *g)
{
	g_autofree struct tally_outlier *items = g_new(struct tally_outlier,
						       g->members->len);
	uint32_t n = 0;
	TALLY_EACH_OF (const struct member, m, g->members) {
		if (m->se > 0)
			items[n++] = (struct tally_outlier){
				m->shift, m->se, m->df, 1, m->deviations,
			};
	}
	/* Six parts give little information on how far a single pass wanders. */
	if (!g->runs)
		tally_outliers_moderate(items, n, g->n_pieces);
	if (n)
		tally_outliers_judge(items, n, g->n_pieces, 1 - c->settings.confidence);
	n = 0;
	TALLY_EACH_OF (struct member, m, g->members) {
		if (!(m->se > 0))
			continue;
		m->shift = items[n].shift;
		m->se = items[n].se;
		m->df = items[n].df;
		m->p = items[n++].p;
	}
}

/* Takes the more significant of the two tests. Where the intervals have nothing in common, most
 * passes have changed, and the others are not a reference. A mean that changed without the
 * typical frame depends on a few slow frames, which busy machines cause: then the other test
 * has to show it too. */
static void
choose(const struct tally_compare *c, struct member *m)
{
	struct tally_compare_row *row = m->row;
	double base = row->mean[TALLY_SIDE_BASE], level = 1 - c->settings.confidence;
	if (!(m->se > 0) || !(base > 0))
		return;
	widen(c, row, m->parts);
	double reach = m->se * tally_student_quantile(level, m->df);
	double low = base * expm1(m->shift - reach), high = base * expm1(m->shift + reach);
	bool agree = low <= row->high && high >= row->low;
	double typical = base * expm1(m->typical) / row->difference;
	double p = m->p / OTHERS, own = row->p / (1 - OTHERS);
	bool sharper = high - low < row->high - row->low || p < level;
	if (!(typical >= TYPICAL)) {
		own = MAX(own, p);
		row->p = MAX(row->p, m->p);
	}
	if (agree)
		row->p = MIN(1, MIN(p, own));
	if (!agree || !sharper || (own < p && own < level))
		return;
	row->against_others = true;
	row->df = m->df;
	row->se = base * m->se;
	row->difference = base * expm1(m->shift);
	row->low = low;
	row->high = high;
}

static void
judge_group(struct tally_compare *c, struct group *g, const struct tally_compare_row *first)
{
	double variances[TALLY_N_SIDES] = { 0 };
	find_common(g);
	for (unsigned side = 0; side < TALLY_N_SIDES && !g->runs; side++)
		variances[side] = wander(g->common[side], g->n[side]);
	TALLY_EACH (struct tally_compare_row, row, c->rows)
		if (!g->runs && row->tested && !row->runs && row->is_time &&
		    tally_compare_same_place(row->subject, first->subject))
			widen(c, row, variances);
	if (g->members->len < LEAST_PASSES)
		return;
	TALLY_EACH_OF (struct member, m, g->members)
		measure_member(g, m);
	center(g);
	judge_members(c, g);
	TALLY_EACH_OF (struct member, m, g->members)
		choose(c, m);
}

static bool
is_first_of_place(const struct tally_compare *c, guint at)
{
	const struct tally_compare_row *row = g_ptr_array_index(c->rows, at);
	if (!is_member(row, row))
		return false;
	for (guint i = 0; i < at; i++)
		if (is_member(g_ptr_array_index(c->rows, i), row))
			return false;
	return true;
}

void
tally_compare_judge_others(struct tally_compare *c)
{
	for (guint i = 0; i < c->rows->len; i++) {
		if (!is_first_of_place(c, i))
			continue;
		const struct tally_compare_row *first = g_ptr_array_index(c->rows, i);
		struct group g = { .runs = first->runs };
		g.members = g_array_new(FALSE, FALSE, sizeof(struct member));
		g_array_set_clear_func(g.members, clear_member);
		gather(&g, c, first);
		uint32_t least = g.runs ? TALLY_COMPARE_LEAST_RUNS : LEAST_FRAMES;
		if (g.members->len && g.n[0] >= least && g.n[1] >= least)
			judge_group(c, &g, first);
		g_array_unref(g.members);
		for (unsigned side = 0; side < TALLY_N_SIDES; side++)
			g_free(g.common[side]);
	}
}
