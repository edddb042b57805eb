/* SPDX-License-Identifier: MIT */
#include "cli/log/series.h"

#include "cli/log/device_summary.h"
#include "cli/log/grouping.h"

#include "cli/shared/each.h"
#include "query/statistics/run_statistics.h"

double
tally_group_share(const struct tally_aggregate *a, const struct tally_group *g)
{
	const struct tally_device_summary *d = tally_aggregate_device(a, g->device);
	double all = d ? tally_int192_f64(&d->gpu_total) : 0;
	const struct tally_frame_row *frame = tally_as_frame(g);
	if (frame) /* a sum of frames has no series */
		return frame->record.has_gpu && all > 0 ? (double)frame->record.gpu_ns / all : -1;
	const struct tally_stats *gpu = &g->series[TALLY_SERIES_GPU].stats;
	return gpu->moments.n && all > 0 ? tally_moments_total(&gpu->moments) / all : -1;
}

uint64_t
tally_group_n_frames(const struct tally_aggregate *a, const struct tally_group *g)
{
	const struct tally_device_summary *d = tally_aggregate_device(a, g->device);
	return d ? d->frames + d->partial : 0;
}

double
tally_group_frame_ns(const struct tally_aggregate *a, const struct tally_group *g)
{
	const struct tally_moments *gpu = &g->series[TALLY_SERIES_GPU].stats.moments;
	uint64_t unknown = g->frames - gpu->n, frames = tally_group_n_frames(a, g);
	return gpu->n && frames > unknown ? tally_moments_total(gpu) / (double)(frames - unknown)
					  : -1;
}

uint32_t
tally_n_series(const struct tally_aggregate *a)
{
	return a->keys->len;
}

bool
tally_series_in_use(const struct tally_aggregate *a, uint32_t series)
{
	TALLY_EACH (const struct tally_group, g, a->groups) {
		if (series >= g->n_series || g->series[series].stats.moments.n == 0)
			continue;
		const struct tally_stats *s = &g->series[series].stats;
		if (tally_value_f64(s->moments.min) != 0 || tally_value_f64(s->moments.max) != 0)
			return true;
	}
	return false;
}

#define AS(type, grouping) \
	const struct tally_##type##_row *tally_as_##type(const struct tally_group *g) \
	{ \
		return g->by->add == (grouping).add ? (const void *)g : NULL; \
	}
AS(pass, tally_by_pass)
AS(label, tally_by_label)
AS(frame, tally_by_frame)
AS(workload, tally_by_workload)
AS(pipeline, tally_by_pipeline)

bool
tally_is_rollup(const struct tally_group *g)
{
	const struct tally_label_row *label = tally_as_label(g);
	return label && label->rollup;
}

struct tally_group *
tally_row_parent(const struct tally_group *g)
{
	const struct tally_label_row *label = tally_as_label(g);
	return label ? label->parent : NULL;
}

const char *
tally_name_of_pass(const struct tally_group *g)
{
	const struct tally_workload_row *w = tally_as_workload(g);
	return w ? w->pass->name : g->name;
}
