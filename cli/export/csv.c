/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

#include "cli/log/identity.h"
#include "cli/report/columns.h"
#include "cli/shared/out.h"
#include "json/log_numbers.h"

#include <string.h>

struct csv {
	struct tally_out out;
	bool no_counters;
	struct tally_export_names names;
	GHashTable *apis; /* maps the number of a device to its API's name */
	const struct tally_frame_record *frame; /* the rows are of this one */
	GString *head; /* the cells before the key: what the rows describe */
	GString *flags; /* the cells after them and the end of the line */
	char *tags; /* the cell of the run's tags, "" without any */
};

/* Writes a cell and the comma after it. */
static void
add_cell(GString *to, const char *text)
{
	if (text) {
		g_autofree char *cell = tally_out_cell_text(text);
		g_string_append(to, cell);
	}
	g_string_append_c(to, ',');
}

static void
add_number(GString *to, uint64_t v)
{
	char digits[TALLY_U64_CHARS];
	g_string_append_len(to, digits, tally_number_put_u64(digits, v) - digits);
	g_string_append_c(to, ',');
}

/* ---- rows ---- */

static void
put_cell(struct csv *e, const char *text)
{
	if (text)
		tally_out_cell(&e->out, text);
	tally_out_char(&e->out, ',');
}

/* `v` NULL: absent; `validity` with its comma. */
static void
put_row(struct csv *e, const char *key, const struct tally_value *v, const char *unit,
	const char *source, const char *validity)
{
	tally_out_bytes(&e->out, e->head->str, e->head->len);
	put_cell(e, key);
	if (v)
		tally_json_put_value(&e->out.w, *v);
	tally_out_char(&e->out, ',');
	put_cell(e, unit);
	put_cell(e, source);
	tally_out_put(&e->out, validity);
	tally_out_bytes(&e->out, e->flags->str, e->flags->len);
}

static void
put_number(void *to, const char *name, const char *unit, bool known, struct tally_value value)
{
	put_row(to, name, known ? &value : NULL, unit, NULL, known ? "measured," : "absent,");
}

static void
put_values(struct csv *e, const struct tally_keyed_value *values, uint32_t n, bool metrics)
{
	for (uint32_t i = 0; i < n && !e->no_counters; i++) {
		const struct tally_keyed_value *v = &values[i];
		const struct tally_export_key *says = tally_export_names_key(
			&e->names, e->frame->device, v->key);
		put_row(e, v->key, &v->value, says ? says->unit : NULL,
			metrics ? "metric" : says ? says->source : NULL,
			v->estimated ? "estimated," : metrics ? "derived," : "measured,");
	}
}

static void
set_flags(struct csv *e, uint64_t flags)
{
	g_string_truncate(e->flags, 0);
	if (flags) {
		g_autofree char *text = tally_flags_text(flags, " ");
		g_string_append(e->flags, text);
	}
	g_string_append_c(e->flags, ',');
	g_string_append(e->flags, e->tags);
	g_string_append_c(e->flags, '\n');
}

static void
begin_rows(struct csv *e, const char *what)
{
	const struct tally_frame_record *f = e->frame;
	g_string_truncate(e->head, 0);
	add_number(e->head, f->device);
	add_cell(e->head, g_hash_table_lookup(e->apis, GUINT_TO_POINTER(f->device)));
	add_number(e->head, f->frame);
	add_cell(e->head, f->set);
	add_cell(e->head, what);
}

/* From here on rows describe the frame. */
static void
begin_frame(struct csv *e, const char *what)
{
	begin_rows(e, what);
	g_string_append(e->head, ",,,,,,,,,");
}

/* From here on rows describe the pass, or its command at index `place`. */
static void
begin_pass(struct csv *e, const struct tally_pass_record *p,
	   const struct tally_workload_record *workload, uint32_t place)
{
	char lane[48];
	GString *head = e->head;
	begin_rows(e, workload ? "workload" : "pass");
	add_number(head, p->index);
	char id[TALLY_JSON_ID_CHARS]; /* in quotes */
	tally_json_put_id_at(id, p->id);
	g_string_append_len(head, id + 1, 16);
	g_string_append_c(head, ',');
	add_number(head, p->segment);
	add_cell(head, tally_pass_kind_name(p->kind));
	add_cell(head, tally_export_names_find(&e->names, e->frame->device, p));
	add_cell(head, p->label);
	tally_export_lane_name(p, lane, sizeof(lane));
	add_cell(head, lane);
	if (workload)
		add_number(head, place);
	else
		g_string_append_c(head, ',');
	add_cell(head, workload ? workload->command : NULL);
}

static void
put_pass(struct csv *e, const struct tally_pass_record *p)
{
	begin_pass(e, p, NULL, 0);
	set_flags(e, p->flags);
	tally_pass_numbers(p, put_number, e);
	put_values(e, p->counters, p->n_counters, false);
	put_values(e, p->metrics, p->n_metrics, true);
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		begin_pass(e, p, w, i);
		set_flags(e, w->flags);
		tally_workload_numbers(w, put_number, e);
		put_values(e, w->counters, w->n_counters, false);
	}
}

static void
put_frame(struct csv *e, const struct tally_frame_record *f)
{
	e->frame = f;
	begin_frame(e, "frame");
	set_flags(e, f->flags);
	tally_frame_numbers(f, put_number, e);
	put_values(e, f->metrics, f->n_metrics, true);
	for (uint32_t i = 0; i < f->n_passes; i++)
		put_pass(e, &f->passes[i]);
	begin_frame(e, "unattributed");
	set_flags(e, f->flags);
	tally_unattributed_numbers(f, put_number, e);
	put_values(e, f->unattributed, f->n_unattributed, false);
}

/* ---- the format ---- */

static struct tally_export *
begin(FILE *out, const struct tally_export_options *options)
{
	struct csv *e = g_new0(struct csv, 1);
	tally_out_init(&e->out, out);
	e->no_counters = options->no_counters;
	tally_export_names_init(&e->names);
	e->apis = g_hash_table_new(NULL, NULL);
	e->head = g_string_new(NULL);
	e->flags = g_string_new(NULL);
	e->tags = g_strdup("");
	tally_out_put(&e->out,
		      "device,api,frame,set,what,pass,id,segment,kind,name,label,ran_on,"
		      "workload,command,key,value,unit,source,validity,flags,tags\n");
	return (struct tally_export *)e;
}

static void
set_tags(struct csv *e, const struct tally_header_record *header)
{
	struct tally_log_identity identity;
	tally_log_identity_init(&identity);
	tally_log_identity_read(&identity, header);
	g_autofree char *tags = tally_log_identity_tags(&identity, ";");
	if (tags) {
		g_free(e->tags);
		e->tags = tally_out_cell_text(tags);
	}
	tally_log_identity_finish(&identity);
}

static void
line(struct tally_export *export, const struct tally_log_line *line)
{
	struct csv *e = (struct csv *)export;
	tally_export_names_read(&e->names, line);
	if (line->type == TALLY_LINE_HEADER)
		set_tags(e, &line->header);
	if (line->type == TALLY_LINE_DEVICE)
		g_hash_table_insert(e->apis, GUINT_TO_POINTER(line->device.device),
				    (gpointer)tally_api_name(line->device.api));
	if (line->type == TALLY_LINE_FRAME)
		put_frame(e, &line->frame);
}

static void
end(struct tally_export *export, struct tally_export_left *left)
{
	(void)left; /* a table can show everything, so nothing is left out */
	struct csv *e = (struct csv *)export;
	tally_out_flush(&e->out);
	tally_export_names_finish(&e->names);
	g_hash_table_destroy(e->apis);
	g_string_free(e->head, TRUE);
	g_string_free(e->flags, TRUE);
	g_free(e->tags);
	g_free(e);
}

const struct tally_export_format tally_export_csv = {
	.name = "csv", .begin = begin, .line = line, .end = end
};
