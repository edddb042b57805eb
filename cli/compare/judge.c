/* SPDX-License-Identifier: MIT */
#include "cli/compare/common.h"
#include "cli/compare/join.h"
#include "cli/compare/row.h"
#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

/* Of the frame's limit, the part that a pass has to exceed with one run a side. */
#define SHARE 2
/* Of the limit, the part that its typical frame has to exceed. */
#define TYPICAL 0.8

/* A pass that changed by less than this part of the frame says little beside a time that changed by
 * so many times as much. */
#define LEAST 0.01
#define FAR 10

const char *const tally_conclusion_names[TALLY_N_CONCLUSIONS] = {
	[TALLY_CONCLUSION_SAME] = "same",
	[TALLY_CONCLUSION_FASTER] = "faster",
	[TALLY_CONCLUSION_SLOWER] = "slower",
	[TALLY_CONCLUSION_MIXED] = "mixed",
	[TALLY_CONCLUSION_LESS] = "less",
	[TALLY_CONCLUSION_MORE] = "more",
	[TALLY_CONCLUSION_NO_REGRESSION] = "no-regression",
	[TALLY_CONCLUSION_INCONCLUSIVE] = "inconclusive",
	[TALLY_CONCLUSION_REGRESSION] = "regression",
};

/* Of each run its mean, or of its parts. */
static void
gather_values(const GPtrArray *values, bool runs, struct tally_evidence *e)
{
	const struct tally_compare_values *first = values->len ? values->pdata[0] : NULL;
	const uint32_t parts = runs ? 1 : TALLY_COMPARE_PARTS;
	double total = 0;
	e->constant = first;
	TALLY_EACH (const struct tally_compare_values, v, values) {
		const struct tally_moments *m = &v->moments;
		total += tally_moments_total(m);
		e->frames += m->n;
		e->constant &= tally_value_compare(m->min, m->max) == 0 &&
			       tally_value_compare(m->min, first->moments.min) == 0;
		for (uint32_t part = 0; part < parts && v->moments.n >= parts; part++) {
			uint32_t points;
			g_autofree double *of = tally_compare_values_part(v, part, parts, &points);
			double mean = runs ? tally_moments_mean(m) : tally_mean(of, points);
			g_array_append_val(e->values, mean);
		}
	}
	e->mean = total / (double)e->frames;
	e->constant_at = first ? tally_value_f64(first->moments.min) : 0;
}

static double
total_of(const struct tally_compare_row *row, unsigned side)
{
	double total = 0;
	TALLY_EACH (const struct tally_compare_values, v, row->values[side])
		total += tally_moments_total(&v->moments);
	return total;
}

/* Whether passes that both sides have were measured on one of them only, and amount to more
 * than what counts as the same: the frame's sums then differ by what was not measured. */
static bool
is_partial(const struct tally_compare *c, const struct tally_compare_row *sum)
{
	double lone[TALLY_N_SIDES] = { 0 };
	if (!sum->subject->frame || !sum->worse || sum->ratio)
		return false;
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		const struct tally_compare_subject *s = row->subject;
		if (s->slot != sum->subject->slot || !s->frames[0] || !s->frames[1] ||
		    strcmp(row->key, sum->key) != 0 || g_strcmp0(row->unit, sum->unit) != 0)
			continue;
		for (unsigned side = 0; side < TALLY_N_SIDES; side++)
			lone[side] += row->values[!side]->len ? 0 : total_of(row, side);
	}
	return lone[0] > TALLY_COMPARE_SAME * total_of(sum, 0) ||
	       lone[1] > TALLY_COMPARE_SAME * total_of(sum, 1);
}

/* Whether the values of the sides, of parts of runs or of whole runs, differ in their means. */
static void
test(const struct tally_compare *c, struct tally_compare_row *row,
     const struct tally_means_side sides[TALLY_N_SIDES])
{
	struct tally_means r;
	tally_means_compare(&sides[0], &sides[1], c->settings.confidence, &r);
	for (unsigned i = 0; i < TALLY_N_SIDES && row->runs; i++)
		row->mean[i] = tally_mean(sides[i].values, sides[i].n);
	/* The mean over frames is more accurate than that of parts: points are floats, and omit
	 * the last incomplete one. */
	row->difference = row->mean[1] - row->mean[0];
	row->tested = true;
	row->se = r.se;
	row->df = r.df;
	row->low = row->difference - r.reach;
	row->high = row->difference + r.reach;
	row->p = r.p;
}

static enum tally_verdict
judge_sides(const struct tally_compare *c, struct tally_compare_row *row,
	    const struct tally_evidence sides[TALLY_N_SIDES])
{
	struct tally_means_side of[TALLY_N_SIDES];
	for (unsigned i = 0; i < TALLY_N_SIDES; i++)
		of[i] = (struct tally_means_side){
			(const double *)(const void *)sides[i].values->data, sides[i].values->len,
			sides[i].least_se
		};
	const uint64_t least = MIN(row->n[0], row->n[1]);
	const bool equal = sides[0].constant && sides[1].constant &&
			   sides[0].constant_at == sides[1].constant_at;
	if (!least || is_partial(c, row))
		return TALLY_VERDICT_ONE_SIDE;
	if (row->pace && !row->runs && (equal || row->pace == TALLY_PACE_P99) &&
	    least < tally_pace_least(c))
		return TALLY_VERDICT_FEW;
	if (equal)
		return TALLY_VERDICT_EQUAL;
	if (MIN(of[0].n, of[1].n) < TALLY_COMPARE_LEAST_RUNS ||
	    (!row->runs && least < TALLY_COMPARE_LEAST))
		return TALLY_VERDICT_FEW;
	test(c, row, of);
	return row->verdict;
}

static void
judge_row(struct tally_compare *c, struct tally_compare_row *row)
{
	struct tally_evidence sides[TALLY_N_SIDES] = { 0 };
	row->runs = MIN(row->values[0]->len, row->values[1]->len) >= TALLY_COMPARE_LEAST_RUNS;
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		sides[i].values = g_array_new(FALSE, FALSE, sizeof(double));
		if (row->pace)
			tally_pace_gather(row, (enum tally_side)i, &sides[i]);
		else
			gather_values(row->values[i], row->runs, &sides[i]);
		TALLY_EACH (const struct tally_compare_values, v, row->values[i])
			row->estimated |= v->estimated && !row->pace;
		row->n[i] = sides[i].frames;
		row->mean[i] = row->n[i] ? sides[i].mean : 0;
	}
	row->verdict = judge_sides(c, row, sides);
	c->n_few += row->verdict == TALLY_VERDICT_FEW && row->worse && c->settings.has_fail_above;
	for (unsigned i = 0; i < TALLY_N_SIDES; i++)
		g_array_unref(sides[i].values);
}

/* Rows with a gate are one family, so that counters without a gate do not reduce their
 * power. */
static void
correct(struct tally_compare *c, bool gated)
{
	g_autofree double *p = g_new(double, MAX(c->rows->len, 1));
	uint32_t n = 0;
	TALLY_EACH (const struct tally_compare_row, row, c->rows)
		if (row->tested && (row->worse != 0) == gated)
			p[n++] = row->p;
	tally_holm_adjust(p, n);
	c->n_tested += n;
	n = 0;
	TALLY_EACH (struct tally_compare_row, row, c->rows)
		if (row->tested && (row->worse != 0) == gated)
			row->p_holm = p[n++];
}

/* One run a side shows how these two runs differ, not what other runs would. A time then fails
 * only by more than chance explains if the mean of a run is no surer than that of one of its
 * parts: a machine that is busy now and not then is so between runs, too. A pass fails only by
 * a change that counts for the frame, and by one that its typical frame shows, too. */
static bool
needs_more_runs(const struct tally_compare *c, const struct tally_compare_row *row)
{
	double limit = c->settings.fail_above;
	if (row->runs || !row->is_time || row->pace)
		return false;
	double mean = (row->mean[1] - row->mean[0]) / row->mean[0];
	double reach = row->high - row->difference;
	if (!row->against_others && fabs(row->difference) <= reach * sqrt(TALLY_COMPARE_PARTS))
		return true;
	if (row->doubted && MIN(row->typical, mean) <= limit * TYPICAL)
		return true;
	double frame = tally_compare_frame_time(row);
	double change = MIN(fabs(row->difference), fabs(row->typical) * row->mean[0]);
	return !row->subject->frame && row->doubted && change <= limit * frame / SHARE;
}

/* Whether chance does not explain the change. Of whole runs, which know what chance does, a gate
 * asks for no more than the value's own interval: the limit already keeps small changes out. */
static bool
is_certain(const struct tally_compare *c, const struct tally_compare_row *row)
{
	return tally_row_changed(row) ||
	       (row->runs && row->is_time && row->p < 1 - c->settings.confidence);
}

/* Decides for a value with a gate whether it fails, or could. */
static void
judge_limit(struct tally_compare *c, struct tally_compare_row *row)
{
	double relative;
	/* A change from zero to something exceeds any percentage. */
	double worse = row->difference * row->worse;
	bool above = tally_compare_relative(row, worse, &relative)
			     ? relative > c->settings.fail_above
			     : worse > 0;
	bool doubtful = needs_more_runs(c, row);
	row->fails = above && is_certain(c, row) && !doubtful;
	if (row->fails)
		row->verdict = row->difference < 0 ? TALLY_VERDICT_LESS : TALLY_VERDICT_MORE;
	double far = row->worse > 0 ? row->high : -row->low;
	row->blind = !row->fails && (!tally_row_changed(row) || doubtful) &&
		     tally_compare_relative(row, far, &relative) &&
		     relative > c->settings.fail_above;
	c->n_failed += row->fails;
	c->n_blind += row->blind;
}

/* Whether other programs may have made it. */
static bool
is_lost(const struct tally_compare *c, const struct tally_compare_row *row)
{
	return !row->runs && (row->is_time || row->pace) &&
	       c->had_no_cpu > (row->against_others ? TALLY_COMPARE_LOST : TALLY_COMPARE_BUSY);
}

static void
conclude(struct tally_compare *c, struct tally_compare_row *row)
{
	double low, high;
	/* No time can decrease by more than all of it, nor a number of hitches. */
	if (row->is_time || row->pace)
		row->low = MAX(row->low, -row->mean[TALLY_SIDE_BASE]);
	bool same = !row->uneven && tally_compare_relative(row, row->low, &low) &&
		    tally_compare_relative(row, row->high, &high) && low >= -TALLY_COMPARE_SAME &&
		    high <= TALLY_COMPARE_SAME;
	bool changed = !is_lost(c, row) && row->p_holm < 1 - c->settings.confidence &&
		       row->difference != 0;
	row->verdict = !changed              ? (same ? TALLY_VERDICT_SAME : TALLY_VERDICT_UNSEEN)
		       : row->difference < 0 ? TALLY_VERDICT_LESS
					     : TALLY_VERDICT_MORE;
	if (row->worse && c->settings.has_fail_above)
		judge_limit(c, row);
	/* A time that changed for certain, but by less than counts. */
	if (same && row->is_time && !row->fails)
		row->verdict = TALLY_VERDICT_SAME;
}

void
tally_compare_judge(struct tally_compare *c)
{
	TALLY_EACH (struct tally_compare_row, row, c->rows)
		judge_row(c, row);
	tally_compare_judge_common(c);
	correct(c, true);
	correct(c, false);
	TALLY_EACH (struct tally_compare_row, row, c->rows)
		if (row->tested)
			conclude(c, row);
}

bool
tally_compare_decides(const struct tally_compare *c, const struct tally_compare_row *row)
{
	return row->worse || (!c->has_gates && !c->settings.has_fail_above);
}

/* Without a gate, more is neither worse nor better. */
static int
sign_of(const struct tally_compare_row *row)
{
	return row->worse ? row->worse : 1;
}

/* A value that is not known leaves the conclusion open if its estimate is above the limit, or
 * if its interval includes more than the limit of the whole frame: a pass of 0.1 % of a frame,
 * known to within a half, is not a reason to repeat a run. */
static bool
is_open(const struct tally_compare *c, const struct tally_compare_row *row)
{
	double limit = tally_compare_limit(c);
	bool both_sides = row->subject->frames[0] && row->subject->frames[1];
	if (row->verdict == TALLY_VERDICT_FEW ||
	    (row->verdict == TALLY_VERDICT_ONE_SIDE && both_sides))
		return true;
	bool blind = c->settings.has_fail_above ? row->blind : row->verdict == TALLY_VERDICT_UNSEEN;
	double low, high, estimate, frame = tally_compare_frame_time(row);
	/* Few hitches could always be a few more; an increase has to be seen. */
	if (row->pace == TALLY_PACE_HITCHES && row->verdict == TALLY_VERDICT_UNSEEN) {
		double worse = row->difference * row->worse;
		return tally_compare_relative(row, worse, &estimate) ? estimate > limit : worse > 0;
	}
	if (!blind || row->pace || !tally_compare_relative(row, row->low * sign_of(row), &low) ||
	    !tally_compare_relative(row, row->high * sign_of(row), &high) ||
	    !tally_compare_relative(row, row->difference * sign_of(row), &estimate))
		return blind;
	if (estimate > limit || !(frame > 0) || !row->is_time)
		return true;
	double far = MAX(row->high, c->settings.has_fail_above ? 0 : -row->low);
	return far > limit * frame;
}

/* Whether a pass changed by less than a hundredth of the frame, and another time by `most_ns`, far
 * more. */
static bool
is_beneath(const struct tally_compare_row *row, double most_ns)
{
	double seen = fabs(tally_row_seen(row));
	return row->is_time && !row->subject->frame && FAR * seen < most_ns &&
	       seen < LEAST * tally_compare_frame_time(row);
}

/* Which values leave it open; returns the largest change of a time that is, or may be. */
static double
find_open(struct tally_compare *c)
{
	double most_ns = 0;
	TALLY_EACH (struct tally_compare_row, row, c->rows) {
		row->open = tally_compare_decides(c, row) && is_open(c, row);
		c->n_open += row->open;
		if (row->is_time && row->tested && (row->open || tally_row_changed(row)))
			most_ns = MAX(most_ns, fabs(tally_row_seen(row)));
	}
	return most_ns;
}

void
tally_compare_conclude(struct tally_compare *c)
{
	uint32_t less = 0, more = 0, judged = 0;
	const double most_ns = find_open(c);
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		if (!tally_compare_decides(c, row))
			continue;
		judged += row->tested || row->verdict == TALLY_VERDICT_EQUAL;
		if (!tally_row_changed(row) || is_beneath(row, most_ns))
			continue;
		bool rose = (row->verdict == TALLY_VERDICT_MORE) == (sign_of(row) > 0);
		more += rose;
		less += !rose;
	}
	if (c->n_failed)
		c->conclusion = TALLY_CONCLUSION_REGRESSION;
	else if (c->settings.has_fail_above)
		c->conclusion = c->n_open || !judged ? TALLY_CONCLUSION_INCONCLUSIVE
						     : TALLY_CONCLUSION_NO_REGRESSION;
	else if (more || less)
		c->conclusion = more && less ? TALLY_CONCLUSION_MIXED
				: c->has_gates
					? (more ? TALLY_CONCLUSION_SLOWER : TALLY_CONCLUSION_FASTER)
				: more ? TALLY_CONCLUSION_MORE
				       : TALLY_CONCLUSION_LESS;
	else
		c->conclusion = c->n_open || !judged ? TALLY_CONCLUSION_INCONCLUSIVE
						     : TALLY_CONCLUSION_SAME;
}
