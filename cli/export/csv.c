/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

#include "cli/export/names.h"
#include "cli/log/device_summary.h"
#include "cli/report/columns.h"
#include "cli/shared/out.h"
#include "json/log_numbers.h"

#include <string.h>

struct csv {
	struct tally_out out;
	const struct tally_export_options *options;
	char *tags; /* the run's; NULL = none */
	/* What the rows describe: something of the frame, a pass of it or a command of the pass. */
	const struct tally_frame_record *frame;
	const char *api; /* of its device; NULL = not known */
	const char *what;
	const struct tally_pass_record *pass; /* NULL = none */
	const struct tally_workload_record *workload; /* NULL = none */
	uint64_t flags;
};

/* ---- rows ---- */

static void
put_cell(struct csv *e, const char *text)
{
	if (text)
		tally_out_cell(&e->out, text);
	tally_out_char(&e->out, ',');
}

static void
put_count(struct csv *e, uint64_t v)
{
	tally_json_put_u64(&e->out.w, v);
	tally_out_char(&e->out, ',');
}

static void
put_pass_cells(struct csv *e)
{
	const struct tally_pass_record *p = e->pass;
	const struct tally_workload_record *w = e->workload;
	if (!p) {
		tally_out_put(&e->out, ",,,,,,,,,");
		return;
	}
	char lane[48], id[TALLY_JSON_ID_CHARS]; /* in quotes */
	put_count(e, p->index);
	tally_json_put_id_at(id, p->id);
	tally_out_bytes(&e->out, id + 1, 16);
	tally_out_char(&e->out, ',');
	put_count(e, p->segment);
	put_cell(e, tally_pass_kind_name(p->kind));
	put_cell(e, tally_export_name(e->options, e->frame->device, p));
	put_cell(e, p->label);
	tally_export_lane_name(p, lane, sizeof(lane));
	put_cell(e, lane);
	if (w)
		put_count(e, (uint64_t)(w - p->workloads));
	else
		put_cell(e, NULL);
	put_cell(e, w ? w->command : NULL);
}

/* `v` NULL: absent. */
static void
put_row(struct csv *e, const char *key, const struct tally_value *v, const char *unit,
	const char *source, const char *validity)
{
	g_autofree char *flags = e->flags ? tally_flags_text(e->flags, " ") : NULL;
	put_count(e, e->frame->device);
	put_cell(e, e->api);
	put_count(e, e->frame->frame);
	put_cell(e, e->frame->set);
	put_cell(e, e->what);
	put_pass_cells(e);
	put_cell(e, key);
	if (v)
		tally_json_put_value(&e->out.w, *v);
	put_cell(e, NULL);
	put_cell(e, unit);
	put_cell(e, source);
	put_cell(e, validity);
	put_cell(e, flags);
	if (e->tags)
		tally_out_cell(&e->out, e->tags);
	tally_out_char(&e->out, '\n');
}

static void
put_number(void *to, const char *name, const char *unit, bool known,
	   struct tally_value value)
{
	put_row(to, name, known ? &value : NULL, unit, NULL,
		known ? "measured" : "absent");
}

static void
put_values(struct csv *e, const struct tally_keyed_value *values, uint32_t n,
	   bool metrics)
{
	for (uint32_t i = 0; i < n && !e->options->no_counters; i++) {
		const struct tally_keyed_value *v = &values[i];
		const struct tally_export_key *says = tally_export_key(
			e->options, e->frame->device, v->key);
		put_row(e, v->key, &v->value, says ? says->unit : NULL,
			metrics ? "metric"
			: says  ? says->source
				: NULL,
			v->estimated ? "estimated"
			: metrics    ? "derived"
				     : "measured");
	}
}

/* From here on rows describe this. */
static void
begin_rows(struct csv *e, const char *what, const struct tally_pass_record *pass,
	   const struct tally_workload_record *workload, uint64_t flags)
{
	e->what = what;
	e->pass = pass;
	e->workload = workload;
	e->flags = flags;
}

static void
put_pass(struct csv *e, const struct tally_pass_record *p)
{
	begin_rows(e, "pass", p, NULL, p->flags);
	tally_pass_numbers(p, put_number, e);
	put_values(e, p->counters, p->n_counters, false);
	put_values(e, p->metrics, p->n_metrics, true);
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		begin_rows(e, "workload", p, w, w->flags);
		tally_workload_numbers(w, put_number, e);
		put_values(e, w->counters, w->n_counters, false);
	}
}

static void
put_frame(struct tally_export *export, const struct tally_frame_record *f)
{
	struct csv *e = (struct csv *)export;
	const struct tally_device_summary *d =
		tally_aggregate_device(e->options->log, f->device);
	e->frame = f;
	e->api = d->described ? tally_api_name(d->api) : NULL;
	begin_rows(e, "frame", NULL, NULL, f->flags);
	tally_frame_numbers(f, put_number, e);
	put_values(e, f->metrics, f->n_metrics, true);
	for (uint32_t i = 0; i < f->n_passes; i++)
		put_pass(e, &f->passes[i]);
	begin_rows(e, "unattributed", NULL, NULL, f->flags);
	tally_unattributed_numbers(f, put_number, e);
	put_values(e, f->unattributed, f->n_unattributed, false);
}

/* ---- the format ---- */

static struct tally_export *
begin(FILE *out, const struct tally_export_options *options)
{
	struct csv *e = g_new0(struct csv, 1);
	tally_out_init(&e->out, out);
	e->options = options;
	tally_out_put(&e->out,
		      "device,api,frame,set,what,pass,id,segment,kind,name,label,ran_on,"
		      "workload,command,key,value,unit,source,validity,flags,tags\n");
	return (struct tally_export *)e;
}

static void
line(struct tally_export *export, const struct tally_log_line *line)
{
	struct csv *e = (struct csv *)export;
	if (line->type == TALLY_LINE_HEADER)
		e->tags = tally_log_identity_tags(&e->options->log->identity, ";");
}

static void
end(struct tally_export *export, struct tally_export_left *left)
{
	(void)left; /* a table can show everything, so nothing is left out */
	struct csv *e = (struct csv *)export;
	tally_out_flush(&e->out);
	g_free(e->tags);
	g_free(e);
}

const struct tally_export_format tally_export_csv = {
	.begin = begin, .line = line, .frame = put_frame, .end = end
};
