/* SPDX-License-Identifier: MIT */
#include "cli/log/device_summary.h"
#include "cli/log/rows.h"

static struct tally_frame_row *
create_frame(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	struct tally_frame_row *row = (struct tally_frame_row *)tally_group_create(a, f->device,
										   NULL);
	row->group.flags = f->flags;
	g_autofree char *name = g_strdup_printf("%" G_GUINT64_FORMAT, f->frame);
	row->group.name = tally_row_text(a, name);
	row->record = *f;
	row->record.set = NULL;
	row->record.passes = NULL;
	row->record.unattributed = NULL;
	row->record.metrics = NULL;
	return row;
}

/* For a counter also the remainder that no pass has, and the metrics of the whole frame, which are
 * not those of its passes. */
static void
add_totals(struct tally_aggregate *a, struct tally_group *g, const struct tally_frame_record *f)
{
	if (!g->n_parts)
		tally_group_touch(a, g, 0);
	for (uint32_t i = 0; i < f->n_unattributed; i++) {
		const struct tally_keyed_value *v = &f->unattributed[i];
		uint32_t k = tally_aggregate_key(a, v->key, false);
		struct tally_series *s = tally_group_series(g, k);
		struct tally_joined *part = &g->parts[k];
		if (tally_series_key(a, k)->join != TALLY_JOIN_SUM ||
		    (part->n && part->n != g->n_parts))
			continue;
		part->value = part->n ? tally_join_values(part->value, v->value, TALLY_JOIN_SUM)
				      : v->value;
		part->n = g->n_parts;
		s->estimated |= v->estimated;
	}
	for (uint32_t i = 0; i < f->n_metrics; i++) {
		const struct tally_keyed_value *v = &f->metrics[i];
		uint32_t k = tally_aggregate_key(a, v->key, true);
		struct tally_series *s = tally_group_series(g, k);
		tally_stats_add(&s->stats, v->value);
		g->parts[k].n = 0;
		s->estimated |= v->estimated;
	}
}

/* The numbers of the passes that count alone begin here: not the frame's. */
static struct tally_frame_record
begin_passes(const struct tally_frame_row *row)
{
	struct tally_frame_record r = row->record;
	r.n_passes = 0;
	r.gpu_ns = 0;
	r.has_gpu = true;
	r.has_coverage = r.has_unattributed_gpu = false;
	return r;
}

static void
add(struct tally_aggregate *a, struct tally_device_summary *d, const struct tally_frame_record *f)
{
	struct tally_frame_row *row = create_frame(a, f);
	struct tally_frame_record own = begin_passes(row);
	struct tally_group *g = &row->group;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		struct tally_pass_record p = f->passes[i];
		tally_pass_row(a, f->device, &p);
		tally_device_summary_add_queue(a, d, g, &p);
		if (a->by->only && !g_hash_table_contains(a->by->only, &p.id))
			continue;
		own.n_passes++;
		own.has_gpu &= p.has_gpu;
		own.gpu_ns += p.has_gpu ? p.gpu_ns : 0;
		p.n_metrics = 0;
		tally_group_add_pass(a, g, &p, i);
	}
	if (a->by->only)
		row->record = own;
	else
		add_totals(a, g, f);
}

const struct tally_grouping tally_by_frame = {
	.word = "frame",
	.columns = "cpu_ns,gpu_ns,coverage,unattributed_ns,n,draws",
	.frames = true,
	.row_bytes = sizeof(struct tally_frame_row),
	.add = add,
};
