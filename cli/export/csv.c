#include "cli/export/export.h"

#include "cli/report/columns.h"
#include "json/log_numbers.h"
#include "cli/shared/out.h"

#include <math.h>

struct csv {
	struct tally_out out;
	struct tally_export_names *names;
	GHashTable *apis; /* device -> enum tally_api + 1 */
};

/* What the rows of one thing have in common. */
struct row {
	const char *what; /* "frame", "pass", "workload", "unattributed" */
	const struct tally_frame_record *frame;
	const struct tally_pass_record *pass; /* or NULL */
	const struct tally_workload_record *workload; /* or NULL */
	uint32_t place; /* of the workload in its pass */
	const char *flags;
};

static void
put_field(struct csv *e, const char *text)
{
	tally_out_char(&e->out, ',');
	if (text)
		tally_out_cell(&e->out, text);
}

static void
put_place(struct csv *e, const struct row *r)
{
	const struct tally_pass_record *p = r->pass;
	char text[48];
	tally_out_char(&e->out, ',');
	if (!p) {
		tally_out_put(&e->out, ",,,,,,,,");
		return;
	}
	tally_json_put_u64(&e->out.w, p->index);
	g_snprintf(text, sizeof(text), "%016" G_GINT64_MODIFIER "x", p->id);
	put_field(e, text);
	tally_out_char(&e->out, ',');
	tally_json_put_u64(&e->out.w, p->segment);
	put_field(e, tally_pass_kind_name(p->kind));
	put_field(e, tally_export_names_find(e->names, r->frame->device, p));
	put_field(e, p->label);
	tally_export_lane_name(p, text, sizeof(text));
	put_field(e, text);
	tally_out_char(&e->out, ',');
	if (r->workload)
		tally_json_put_u64(&e->out.w, r->place);
	put_field(e, r->workload ? r->workload->command : NULL);
}

/* `v` NULL: the value is absent. */
static void
put_row(struct csv *e, const struct row *r, const char *key, const struct tally_value *v,
	const char *unit, const char *source, const char *validity)
{
	const gpointer api = g_hash_table_lookup(e->apis, GUINT_TO_POINTER(r->frame->device));
	tally_json_put_u64(&e->out.w, r->frame->device);
	put_field(e, api ? tally_api_name(GPOINTER_TO_UINT(api) - 1) : NULL);
	tally_out_char(&e->out, ',');
	tally_json_put_u64(&e->out.w, r->frame->frame);
	put_field(e, r->frame->set);
	put_field(e, r->what);
	put_place(e, r);
	put_field(e, key);
	tally_out_char(&e->out, ',');
	if (v)
		tally_json_put_value(&e->out.w, *v);
	put_field(e, unit);
	put_field(e, source);
	put_field(e, validity);
	put_field(e, r->flags);
	tally_out_char(&e->out, '\n');
}

/* Where the numbers of an object go. */
struct rows {
	struct csv *csv;
	const struct row *row;
};

static void
put_number(void *to, const char *name, const char *unit, bool known, struct tally_value value)
{
	const struct rows *rows = to;
	put_row(rows->csv, rows->row, name, known ? &value : NULL, unit, NULL,
		known ? "measured" : "absent");
}

static void
put_values(struct csv *e, const struct row *r, const struct tally_keyed_value *values, uint32_t n,
	   bool metrics)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct tally_export_key *says = tally_export_names_key(
			e->names, r->frame->device, values[i].key);
		if (!isfinite(tally_value_f64(values[i].value)))
			continue;
		put_row(e, r, values[i].key, &values[i].value, says ? says->unit : NULL,
			metrics ? "metric" : (says ? says->source : NULL),
			values[i].estimated ? "estimated" : (metrics ? "derived" : "measured"));
	}
}

static void
put_workload(struct csv *e, struct row r, const struct tally_workload_record *w)
{
	char *flags = tally_flags_text(w->flags, " ");
	r.what = "workload";
	r.workload = w;
	r.flags = flags;
	tally_workload_numbers(w, put_number, &(struct rows){ e, &r });
	put_values(e, &r, w->counters, w->n_counters, false);
	g_free(flags);
}

static void
put_pass(struct csv *e, const struct tally_frame_record *f, const struct tally_pass_record *p)
{
	char *flags = tally_flags_text(p->flags, " ");
	struct row r = { .what = "pass", .frame = f, .pass = p, .flags = flags };
	tally_pass_numbers(p, put_number, &(struct rows){ e, &r });
	put_values(e, &r, p->counters, p->n_counters, false);
	put_values(e, &r, p->metrics, p->n_metrics, true);
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		r.place = i;
		put_workload(e, r, &p->workloads[i]);
	}
	g_free(flags);
}

static void
put_frame(struct csv *e, const struct tally_frame_record *f)
{
	char *flags = tally_flags_text(f->flags, " ");
	struct row r = { .what = "frame", .frame = f, .flags = flags };
	tally_frame_numbers(f, put_number, &(struct rows){ e, &r });
	put_values(e, &r, f->metrics, f->n_metrics, true);
	for (uint32_t i = 0; i < f->n_passes; i++)
		put_pass(e, f, &f->passes[i]);
	r.what = "unattributed";
	tally_unattributed_numbers(f, put_number, &(struct rows){ e, &r });
	put_values(e, &r, f->unattributed, f->n_unattributed, false);
	g_free(flags);
}

static struct tally_export *
begin(FILE *out)
{
	struct csv *e = g_new0(struct csv, 1);
	tally_out_init(&e->out, out);
	e->names = tally_export_names_create();
	e->apis = g_hash_table_new(NULL, NULL);
	tally_out_put(&e->out, "device,api,frame,set,what,pass,id,segment,kind,name,label,ran_on,"
			       "workload,command,key,value,unit,source,validity,flags\n");
	return (struct tally_export *)e;
}

static void
line(struct tally_export *export, const struct tally_log_line *line)
{
	struct csv *e = (struct csv *)export;
	if (line->type == TALLY_LINE_PASS_INFO)
		tally_export_names_add(e->names, &line->pass_info);
	if (line->type == TALLY_LINE_DEVICE) {
		tally_export_names_add_device(e->names, &line->device);
		g_hash_table_insert(e->apis, GUINT_TO_POINTER(line->device.device),
				    GUINT_TO_POINTER(line->device.api + 1u));
	}
	if (line->type == TALLY_LINE_FRAME)
		put_frame(e, &line->frame);
}

static void
end(struct tally_export *export, struct tally_export_left *left)
{
	(void)left; /* a table has room for all */
	struct csv *e = (struct csv *)export;
	tally_out_flush(&e->out);
	tally_export_names_destroy(e->names);
	g_hash_table_destroy(e->apis);
	g_free(e);
}

const struct tally_export_format tally_export_csv = {
	.name = "csv", .begin = begin, .line = line, .end = end
};
