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

double
tally_compare_limit(const struct tally_compare *c)
{
	return c->settings.has_fail_above ? c->settings.fail_above : TALLY_COMPARE_SAME;
}

double
tally_subject_share(const struct tally_compare_subject *s, unsigned side)
{
	uint64_t frames = s->whole ? s->whole->frames[side] : 0;
	return frames ? MIN(1, (double)s->frames[side] / (double)frames) : 0;
}

double
tally_compare_frame_time(const struct tally_compare_row *row)
{
	const struct tally_compare_subject *frame = row->subject->whole;
	return frame && frame->gpu ? frame->gpu->mean[TALLY_SIDE_BASE] : 0;
}
