/* SPDX-License-Identifier: MIT */
#include "cli/answer/hitch.h"
#include "cli/compare/compare.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#include <math.h>

#define QUANTILE 0.99
#define PER 1000.0 /* frames over which hitches are counted */

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

/* Adds the frames of a run, and what they come to: the run, or each of its parts. Returns how many
 * of them are hitches, if these are counted. */
static uint64_t
add_run(const struct tally_compare_row *row, const GArray *run, GArray *values, GArray *frames)
{
	const guint len = run->len, at = frames->len, parts = row->runs ? 1 : TALLY_COMPARE_PARTS;
	const bool p99 = row->pace == TALLY_PACE_P99;
	g_autofree double *flags = g_new0(double, MAX(len, 1));
	uint64_t hitches = p99 ? 0 : find_hitches(run, flags);
	for (guint i = 0; i < len; i++) {
		double ns = (double)g_array_index(run, uint64_t, i);
		g_array_append_val(frames, ns);
	}
	const double *ns = &g_array_index(frames, double, at);
	for (guint part = 0; part < parts && len >= parts; part++) {
		guint from = part * len / parts, n = (part + 1) * len / parts - from;
		double value = p99 ? quantile_of(ns + from, n) : PER * tally_mean(flags + from, n);
		g_array_append_val(values, value);
	}
	return hitches;
}

void
tally_pace_gather(const struct tally_compare_row *row, enum tally_side side,
		  struct tally_evidence *e)
{
	g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(double));
	double hitches = 0;
	TALLY_EACH (const struct tally_compare_source, source, row->subject->sources[side])
		if (source && source->frame_ns)
			hitches += (double)add_run(row, source->frame_ns, e->values, frames);
	e->frames = frames->len;
	if (row->pace == TALLY_PACE_P99) {
		e->mean = frames->len ? quantile_of((const double *)(const void *)frames->data,
						    frames->len)
				      : 0;
		return;
	}
	e->mean = PER * hitches / frames->len;
	e->constant = hitches == 0;
	/* A count varies at least as much as one of independent events (Poisson). */
	e->least_se = PER * sqrt(MAX(hitches, 1)) / frames->len;
}

uint64_t
tally_pace_least(const struct tally_compare *c)
{
	return (uint64_t)ceil(log((1 - c->settings.confidence) / 2) / log(QUANTILE));
}
