/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare.h"
#include "cli/compare/row.h"
#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

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

bool
tally_compare_decides(const struct tally_compare *c, const struct tally_compare_row *row)
{
	return row->worse || (!c->has_gates && !c->settings.has_fail_above);
}

/* Without a gate, more is neither worse nor better. */
static int
direction(const struct tally_compare_row *row)
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
	if (!blind || row->pace || !tally_compare_relative(row, row->low * direction(row), &low) ||
	    !tally_compare_relative(row, row->high * direction(row), &high) ||
	    !tally_compare_relative(row, row->difference * direction(row), &estimate))
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
		bool rose = (row->verdict == TALLY_VERDICT_MORE) == (direction(row) > 0);
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
