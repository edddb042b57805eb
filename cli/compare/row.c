/* SPDX-License-Identifier: MIT */
#include "cli/compare/row.h"

#include <math.h>

const char *const tally_verdict_names[TALLY_N_VERDICTS] = {
	[TALLY_VERDICT_ONE_SIDE] = "one-side", [TALLY_VERDICT_FEW] = "too-few",
	[TALLY_VERDICT_EQUAL] = "equal",       [TALLY_VERDICT_UNSEEN] = "cannot-tell",
	[TALLY_VERDICT_SAME] = "same",         [TALLY_VERDICT_LESS] = "less",
	[TALLY_VERDICT_MORE] = "more",
};

bool
tally_compare_relative(const struct tally_compare_row *row, double value, double *out)
{
	double base = fabs(row->mean[TALLY_SIDE_BASE]);
	if (!(base > 0))
		return false;
	*out = value / base;
	return isfinite(*out);
}

double
tally_row_seen(const struct tally_compare_row *row)
{
	return row->mean[TALLY_SIDE_NEW] - row->mean[TALLY_SIDE_BASE];
}

bool
tally_row_changed(const struct tally_compare_row *row)
{
	return row->verdict == TALLY_VERDICT_LESS || row->verdict == TALLY_VERDICT_MORE;
}

void
tally_compare_test(const struct tally_compare *c, struct tally_compare_row *row,
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

double
tally_compare_frame_time(const struct tally_compare_row *row)
{
	const struct tally_compare_subject *frame = row->subject->whole;
	return frame && frame->gpu ? frame->gpu->mean[TALLY_SIDE_BASE] : 0;
}
