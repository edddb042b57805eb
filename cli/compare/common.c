/* SPDX-License-Identifier: MIT */
#include "cli/compare/common.h"

#include "cli/compare/join.h"
#include "cli/compare/row.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#include <math.h>
#include <string.h>

/* With fewer passes nothing is known about what they have in common; with fewer than the second,
 * not how it depends on their times. */
#define LEAST_PASSES 4
#define LEAST_FOR_LINE 8
/* A run's typical frame: the mean of its frames from this part to that, the fastest first. What
 * other programs do to a frame is in the slower ones. */
#define TYPICAL_FROM 0.1
#define TYPICAL_TO 0.4
/* Of more passes than this not every pair gives a slope. */
#define MOST_SLOPES 200
/* The typical frame of two runs of one program differed by less than this (a logarithm) on every
 * machine that was recorded, however busy. */
#define MOST_SPEED 0.35

/* A pass that is in every frame of both sides. */
struct member {
	struct tally_compare_row *row;
	double level; /* the logarithm of its time, over both sides */
	double shift; /* by how much its typical frame changed, as a logarithm */
	/* of each run, or part of a run, its typical frame, as a logarithm */
	double *runs[TALLY_N_SIDES];
};

struct group {
	GArray *members; /* elements: struct member */
	uint32_t runs[TALLY_N_SIDES];
	uint32_t slot;
	bool by_runs;
};

static void
clear_member(gpointer p)
{
	struct member *m = p;
	g_free(m->runs[0]);
	g_free(m->runs[1]);
}

static double
median_of(const double *values, uint32_t n)
{
	g_autofree double *copy = g_memdup2(values, n * sizeof(*values));
	return tally_median(copy, n);
}

/* The logarithm of the typical frame of each run, or of each of its parts; NULL unless each has
 * frames. */
static double *
typical_frames(const GPtrArray *values, bool runs, uint32_t *n_out)
{
	const uint32_t parts = runs ? 1 : TALLY_COMPARE_PARTS;
	g_autofree double *out = g_new(double, MAX(values->len * parts, 1));
	*n_out = 0;
	for (uint32_t i = 0; i < values->len * parts; i++) {
		uint32_t n;
		g_autofree double *v = tally_compare_values_part(values->pdata[i / parts],
								 i % parts, parts, &n);
		if (!n)
			return NULL;
		for (uint32_t k = 0; k < n; k++)
			v[k] = log(MAX(v[k], 1));
		qsort(v, n, sizeof(*v), tally_order_double);
		uint32_t from = (uint32_t)(TYPICAL_FROM * n), to = (uint32_t)(TYPICAL_TO * n);
		out[(*n_out)++] = tally_mean(v + from, MAX(to, from + 1) - from);
	}
	return g_steal_pointer(&out);
}

static double
change_of(double *const runs[TALLY_N_SIDES], const uint32_t n[TALLY_N_SIDES])
{
	return median_of(runs[TALLY_SIDE_NEW], n[TALLY_SIDE_NEW]) -
	       median_of(runs[TALLY_SIDE_BASE], n[TALLY_SIDE_BASE]);
}

/* ---- what all passes have in common ---- */

/* A busy machine slows all passes by a factor, and small ones by a little more: a straight line
 * over the logarithms of their times. It goes through medians (Theil and Sen), so that passes
 * that did change do not move it. With few passes the line is flat. */
static void
take_out_common(const struct group *g, double *values)
{
	guint n = g->members->len, slopes = 0, step = 1 + n / MOST_SLOPES;
	const struct member *m = (const struct member *)(const void *)g->members->data;
	g_autofree double *found = g_new(double, (gsize)n *(n / step + 1) + 1);
	for (guint i = 0; i < n && n >= LEAST_FOR_LINE; i++)
		for (guint j = i + 1; j < n; j += step)
			if (fabs(m[j].level - m[i].level) > 1e-6)
				found[slopes++] = (values[j] - values[i]) /
						  (m[j].level - m[i].level);
	double slope = slopes ? tally_median(found, slopes) : 0;
	for (guint i = 0; i < n; i++)
		found[i] = values[i] -= slope * m[i].level;
	double middle = tally_median(found, n);
	for (guint i = 0; i < n; i++)
		values[i] -= middle;
}

/* ---- who takes part ---- */

static bool
is_member(const struct tally_compare_row *row, const struct group *g)
{
	const struct tally_compare_subject *s = row->subject;
	bool pass = !s->outside || (!s->renamed && strcmp(s->name, TALLY_DRAWN_TOGETHER) == 0);
	return row->tested && row->runs == g->by_runs && !s->frame && pass && row == s->gpu &&
	       s->slot == g->slot;
}

/* The passes of the same place that are in as many frames as its busiest pass, on both sides. */
static void
gather(struct group *g, const struct tally_compare *c)
{
	uint64_t most[TALLY_N_SIDES] = { 0 };
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		bool counts = is_member(row, g) && !row->subject->outside;
		for (unsigned side = 0; side < TALLY_N_SIDES && counts; side++)
			most[side] = MAX(most[side], row->n[side]);
	}
	TALLY_EACH (struct tally_compare_row, row, c->rows) {
		if (!is_member(row, g) || row->n[0] != most[0] || row->n[1] != most[1])
			continue;
		struct member m = { .row = row };
		bool whole = true;
		for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
			uint32_t n;
			m.runs[side] = typical_frames(row->values[side], row->runs, &n);
			g->runs[side] = g->runs[side] ? g->runs[side] : n;
			whole &= m.runs[side] && n == g->runs[side];
			m.level += m.runs[side] ? median_of(m.runs[side], n) / 2 : 0;
		}
		if (whole) {
			m.shift = change_of(m.runs, g->runs);
			g_array_append_val(g->members, m);
		} else {
			clear_member(&m);
		}
	}
}

/* ---- one pass ---- */

/* Whether what is left of a change without the machine's speed contradicts the change itself: it
 * certainly goes the other way, or the speed would have to differ by more than it ever did. */
static bool
contradicts(const struct tally_compare_row *row, const struct tally_means *r)
{
	double seen = log(row->mean[TALLY_SIDE_NEW] / row->mean[TALLY_SIDE_BASE]);
	bool counts = MIN(fabs(seen), fabs(r->difference) + r->reach) > TALLY_COMPARE_SAME;
	bool turned = seen * r->difference < 0 && fabs(r->difference) > r->reach;
	return (counts && turned) || fabs(seen - r->difference) > MOST_SPEED;
}

/* What the change of a pass's logarithm makes of its row. Where it and the pass's own mean have
 * no change in common, most passes changed, and are no reference: the mean stays. */
static void
take_over(const struct tally_compare *c, struct tally_compare_row *row, const struct tally_means *r)
{
	double base = row->mean[TALLY_SIDE_BASE], change = r->difference;
	double low = base * expm1(change - r->reach), high = base * expm1(change + r->reach);
	if (!(r->se > 0) || !(base > 0) || !(row->mean[TALLY_SIDE_NEW] > 0))
		return;
	const double level = 1 - c->settings.confidence;
	bool mean_changed = row->p < level;
	/* Whole runs know what the machine does to them; two single runs do not. */
	if (!row->runs && contradicts(row, r)) {
		row->low = MIN(row->low, low);
		row->high = MAX(row->high, high);
		row->difference = base * expm1(change); /* which may leave a limit open */
		row->p = 1;
		return;
	}
	if (low > row->high || high < row->low)
		return;
	row->against_others = true;
	row->difference = base * expm1(change);
	row->low = low;
	row->high = high;
	row->se = base * r->se;
	row->df = r->df;
	row->p = r->p;
	row->uneven = mean_changed && row->p >= level;
}

/* ---- frames ---- */

static double
ratio_of(const struct tally_compare_row *row)
{
	return row->mean[TALLY_SIDE_NEW] / row->mean[TALLY_SIDE_BASE];
}

/* `own`: the change of the frame by those of its passes. The frame time adds by how much it
 * changed more than the GPU's part of it. */
static void
doubt_frames(const struct tally_compare *c, const struct group *g, double own)
{
	TALLY_EACH (struct tally_compare_row, row, c->rows) {
		if (!row->subject->frame || !row->is_time || row->pace || row->runs ||
		    !row->tested || row->subject->slot != g->slot)
			continue;
		const struct tally_compare_row *gpu = row->subject->gpu;
		row->doubted = true;
		row->typical = own + (gpu ? ratio_of(row) / ratio_of(gpu) - 1 : 0);
	}
}

/* ---- judging ---- */

/* Each run's typical frames, less what all passes of that run have in common, are one value; of
 * few runs each part's. The frame's change is the sum of its passes'. */
static void
judge(const struct tally_compare *c, struct group *g)
{
	guint n = g->members->len;
	struct member *m = (struct member *)(void *)g->members->data;
	g_autofree double *values = g_new(double, n);
	double sum = 0, speed = 0, frame = 0;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		for (uint32_t run = 0; run < g->runs[side]; run++) {
			for (guint i = 0; i < n; i++)
				values[i] = m[i].runs[side][run] - m[i].level;
			take_out_common(g, values);
			for (guint i = 0; i < n; i++)
				m[i].runs[side][run] = values[i];
		}
	}
	for (guint i = 0; i < n; i++) {
		struct tally_means_side sides[TALLY_N_SIDES] = {
			{ .values = m[i].runs[0], .n = g->runs[0] },
			{ .values = m[i].runs[1], .n = g->runs[1] },
		};
		struct tally_means r;
		tally_means_compare(&sides[0], &sides[1], c->settings.confidence, &r);
		double weight = exp(m[i].level), own = change_of(m[i].runs, g->runs);
		m[i].row->doubted = !g->by_runs;
		m[i].row->typical = expm1(own);
		frame += weight * m[i].row->typical;
		speed += weight * (m[i].shift - own);
		sum += weight;
		take_over(c, m[i].row, &r);
	}
	if (!g->by_runs && fabs(speed / sum) <= MOST_SPEED)
		doubt_frames(c, g, frame / sum);
}

void
tally_compare_judge_common(struct tally_compare *c)
{
	g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(struct member));
	g_array_set_clear_func(members, clear_member);
	for (uint32_t place = 0; place < 2 * c->n_slots; place++) {
		struct group g = { .members = members, .slot = place / 2, .by_runs = place % 2 };
		gather(&g, c);
		if (members->len >= LEAST_PASSES)
			judge(c, &g);
		g_array_set_size(members, 0);
	}
}
