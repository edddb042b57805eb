/* SPDX-License-Identifier: MIT */
#include "cli/report/json.h"

#include "cli/log/device_summary.h"
#include "cli/log/series.h"
#include "cli/report/columns.h"
#include "cli/shared/each.h"

#include "json/log_numbers.h"

static void
put_stats(struct tally_out *o, const char *key, struct tally_stats *s, const char *unit,
	  bool estimated)
{
	static const struct {
		const char *key;
		double q;
	} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 } };
	tally_out_object(o, key);
	tally_out_u64(o, "n", s->moments.n);
	tally_out_text(o, "unit", unit);
	if (s->moments.n) {
		if (s->moments.storage == TALLY_STORAGE_F64)
			tally_out_f64(o, "sum", tally_moments_total(&s->moments));
		else
			tally_out_wide(o, "sum", &s->moments.sum);
		tally_out_f64(o, "mean", tally_moments_mean(&s->moments));
		tally_out_f64(o, "sd_population", tally_moments_sd_population(&s->moments));
		if (s->moments.n > 1)
			tally_out_f64(o, "sd", tally_moments_sd_sample(&s->moments));
		tally_out_value(o, "min", s->moments.min);
		tally_out_value(o, "max", s->moments.max);
		for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++)
			tally_out_value(o, quantiles[i].key,
					tally_stats_quantile(s, quantiles[i].q));
		if (!tally_stats_exact(s))
			tally_out_bool(o, "quantiles_exact", false);
	}
	if (estimated)
		tally_out_bool(o, "estimated", true);
	tally_out_end_object(o);
}

/* The properties that distinguish one GPU from another, and the surface that most frames
 * presented. */
static void
put_hardware(struct tally_out *o, const struct tally_device_summary *d)
{
	const struct tally_surface *surface = tally_aggregate_surface(d);
	if (d->vendor_id)
		tally_out_u64(o, "vendor_id", d->vendor_id);
	if (d->has_device_id)
		tally_out_u64(o, "device_id", d->device_id);
	if (d->driver_id)
		tally_out_u64(o, "driver_id", d->driver_id);
	tally_out_text(o, "pci", d->pci);
	tally_out_text(o, "uuid", d->uuid);
	if (surface) {
		tally_out_u64(o, "width", surface->width);
		tally_out_u64(o, "height", surface->height);
	}
}

void
tally_json_put_device(struct tally_out *o, const struct tally_aggregate *a,
		      struct tally_device_summary *d)
{
	tally_out_u64(o, "device", d->device);
	tally_out_text(o, "api", d->described ? tally_api_name(d->api) : NULL);
	tally_out_text(o, "name", d->name);
	tally_out_text(o, "driver", d->driver);
	tally_out_text(o, "driver_version", d->driver_version);
	put_hardware(o, d);
	if (d->beneath >= 0)
		tally_out_i64(o, "beneath", d->beneath);
	tally_out_bool(o, "shown", !tally_aggregate_is_beneath(a, d->device));
	tally_out_text(o, "serialized_by", d->serialized_by);
	tally_out_u64(o, "frames", d->frames);
	tally_out_u64(o, "partial_frames", d->partial);
	tally_out_u64(o, "warmup_frames", d->warmed_up);
	tally_out_u64(o, "warmup_ns", d->warmed_up_ns);
	tally_out_u64(o, "dropped_passes", d->dropped_passes);
	put_stats(o, "cpu_ns", &d->cpu, "ns", false);
	put_stats(o, "gpu_ns", &d->gpu, "ns", false);
	put_stats(o, "overhead_ns", &d->overhead, "ns", false);
	if (d->clock.moments.n)
		put_stats(o, "gpu_clock", &d->clock, "MHz", true);
	if (d->coverable > 0)
		tally_out_f64(o, "coverage", d->covered / d->coverable);
	if (d->has_unattributed)
		tally_out_wide(o, "unattributed_ns", &d->unattributed);
	tally_out_texts(o, "sources_off", d->off);
	tally_out_flags(o, "flags", d->flags);
}

static void
put_share(struct tally_out *o, const struct tally_aggregate *a, const struct tally_group *g)
{
	double share = tally_group_share(a, g);
	if (share >= 0)
		tally_out_f64(o, "share", share);
}

/* Writes the keys of the values that are estimates; nothing if there are none. */
static void
put_estimated(struct tally_out *o, const struct tally_aggregate *a, const struct tally_group *g)
{
	bool any = false;
	for (uint32_t i = TALLY_SERIES_DRAWS; i < g->n_series; i++) {
		if (!g->series[i].estimated || g->series[i].stats.moments.n == 0)
			continue;
		if (!any)
			tally_out_array(o, "estimated");
		any = true;
		tally_out_text(o, NULL, tally_series_key(a, i)->key);
	}
	if (any)
		tally_out_end_array(o);
}

static void
put_number(void *to, const char *name, const char *unit, bool known, struct tally_value value)
{
	(void)unit;
	if (known)
		tally_out_value(to, name, value);
}

static void
put_frame_row(struct tally_out *o, const struct tally_aggregate *a, const struct tally_group *g)
{
	const struct tally_frame_record *r = &tally_as_frame(g)->record;
	tally_out_u64(o, "device", g->device);
	tally_out_u64(o, "frame", r->frame);
	tally_out_u64(o, "passes", r->n_passes);
	tally_frame_numbers(r, put_number, o);
	if (r->has_unattributed_gpu)
		tally_out_u64(o, "unattributed_ns", r->unattributed_gpu_ns);
	put_share(o, a, g);
	tally_out_object(o, "values");
	for (uint32_t i = TALLY_SERIES_DRAWS; i < g->n_series; i++)
		if (g->series[i].stats.moments.n) /* n is 1, so min is the value */
			tally_out_value(o, tally_series_key(a, i)->key,
					g->series[i].stats.moments.min);
	tally_out_end_object(o);
	put_estimated(o, a, g);
	tally_out_flags(o, "flags", g->flags);
}

static void
put_workload(struct tally_out *o, const struct tally_workload_row *w)
{
	tally_out_text(o, "groups", w->groups);
	tally_out_text(o, "pass", w->pass->name);
	tally_out_text(o, "command", w->command);
	tally_out_text(o, "pipeline", w->pipeline);
	if (w->number)
		tally_out_u64(o, "number", w->number);
}

static gboolean
put_id(gpointer id, gpointer unused, gpointer o)
{
	(void)unused;
	tally_out_id(o, NULL, *(const uint64_t *)id);
	return FALSE;
}

void
tally_json_put_row(struct tally_out *o, const struct tally_aggregate *a,
		   const struct tally_group *g)
{
	const struct tally_pass_row *pass = tally_as_pass(g);
	const struct tally_label_row *label = tally_as_label(g);
	const struct tally_workload_row *workload = tally_as_workload(g);
	bool rollup = tally_is_rollup(g);
	tally_out_u64(o, "device", g->device);
	if (!g->outside && !rollup && (!label || label->n_ids == 1))
		tally_out_id(o, "id", g->id);
	tally_out_text(o, "name", g->name);
	tally_out_text(o, "label", g->label);
	tally_out_text(o, "groups", pass ? pass->groups : NULL);
	if (!rollup)
		tally_out_text(o, "kind",
			       g->outside ? "outside" : tally_pass_kind_name(g->kind));
	const char *queue = tally_queue_text(g);
	tally_out_text(o, "queue", *queue ? queue : NULL);
	if (workload)
		put_workload(o, workload);
	if (tally_as_pipeline(g)) {
		tally_out_array(o, "passes");
		g_tree_foreach(tally_as_pipeline(g)->passes, put_id, o);
		tally_out_end_array(o);
	}
	if (label)
		tally_out_u64(o, "ids", g->outside ? 1 : label->n_ids);
	tally_out_u64(o, "frames", g->frames);
	put_share(o, a, g);
	double frame_ns = tally_group_frame_ns(a, g);
	if (frame_ns >= 0)
		tally_out_f64(o, "per_frame_ns", frame_ns);
	if (!g->outside && g->frames)
		tally_out_f64(o, "order", g->index_sum / (double)g->frames);
	tally_out_object(o, "values");
	for (uint32_t i = 0; i < g->n_series; i++) {
		const struct tally_key *k = tally_series_key(a, i);
		struct tally_series *s = &g->series[i];
		if (s->stats.moments.n)
			put_stats(o, k->key, &s->stats, k->unit, s->estimated);
	}
	tally_out_end_object(o);
	tally_out_flags(o, "flags", g->flags);
}

/* The rows, or the roll-ups among them: nothing counts twice in either array. */
void
tally_json_put_rows(struct tally_out *o, const struct tally_aggregate *a, const GPtrArray *rows,
		    const char *key, bool rollups)
{
	tally_out_array(o, key);
	TALLY_EACH (const struct tally_group, g, rows) {
		if (tally_is_rollup(g) != rollups)
			continue;
		tally_out_break(o, "\n");
		tally_out_object(o, NULL);
		if (a->by->frames)
			put_frame_row(o, a, g);
		else
			tally_json_put_row(o, a, g);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

void
tally_json_print_report(struct tally_out *o, const struct tally_aggregate *a,
			const struct tally_answer *answer, const GPtrArray *rows)
{
	tally_out_object(o, NULL);
	tally_out_text(o, "log", a->path);
	tally_out_text(o, "program", a->program);
	tally_log_identity_put(o, &a->identity);
	tally_out_bool(o, "truncated", a->truncated);
	if (a->skips_bad)
		tally_out_u64(o, "skipped_lines", a->skipped.n);
	if (a->has_end) {
		tally_out_text(o, "end_reason", a->end_reason);
		tally_out_u64(o, "frames_dropped", a->end_frames_dropped);
	}
	tally_answer_put_json(o, "answers", answer);
	tally_out_array(o, "devices");
	for (guint i = 0; i < a->devices->len; i++) {
		tally_out_break(o, "\n");
		tally_out_object(o, NULL);
		tally_json_put_device(o, a, g_ptr_array_index(a->devices, i));
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
	tally_json_put_rows(o, a, rows, "rows", false);
	if (a->by == &tally_by_label)
		tally_json_put_rows(o, a, rows, "rollups", true);
	tally_out_texts(o, "notes", a->notes);
	tally_out_end_object(o);
}
