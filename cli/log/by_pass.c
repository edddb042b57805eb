/* SPDX-License-Identifier: MIT */
#include "cli/log/device_summary.h"
#include "cli/log/rows.h"

static void
add(struct tally_aggregate *a, struct tally_device_summary *d, const struct tally_frame_record *f)
{
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		struct tally_pass_row *row = tally_pass_row(a, f->device, p);
		struct tally_group *g = &row->group;
		if (p->surface >= 0) {
			row->several_surfaces |= row->surface && row->surface != p->surface + 1;
			row->surface = p->surface + 1;
		}
		tally_device_summary_add_queue(a, d, g, p);
		tally_group_add_pass(a, g, p, i);
	}
	tally_aggregate_add_outside(a, f);
}

const struct tally_grouping tally_by_pass = {
	.word = "pass",
	.columns = "per_frame_ns,p50_ns,p99_ns,share,n,draws",
	.passes = true,
	.row_bytes = sizeof(struct tally_pass_row),
	.add = add,
};
