/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

#include "cli/log/identity.h"
#include "cli/report/columns.h"
#include "cli/shared/out.h"
#include "json/log_numbers.h"

#include <string.h>

enum validity { MEASURED, ESTIMATED, DERIVED, ABSENT, N_VALIDITIES };
static const char *const validity_words[N_VALIDITIES] = { "measured", "estimated", "derived",
							  "absent" };

/* The kind of value in a row: a number field, a counter or a metric. */
enum what { NUMBER, COUNTER, METRIC, N_WHATS };

/* The cells of a key, formatted once: a table has a row for each value, and most cells
 * repeat. */
struct key_cells {
	GString *key; /* "KEY," */
	GString *rest[N_VALIDITIES]; /* ",UNIT,SOURCE,VALIDITY," */
};

struct csv_device {
	const char *api; /* NULL: the log does not describe the device */
	/* maps a key (by pointer: the reader interns them) to struct key_cells */
	GHashTable *keys[N_WHATS];
};

struct csv {
	struct tally_out out;
	bool no_counters;
	struct tally_export_names names;
	GHashTable *devices; /* maps a number to struct csv_device */
	GString *frame; /* the cells "device,api,frame,set," of the current frame */
	GString *head; /* the cells before the key: what the rows describe */
	GString *flags; /* the cells after them and the end of the line */
	char *tags; /* the cell of the run's tags, "" without any */
	struct csv_device *device; /* device of the current frame */
	uint32_t number; /* number of that device */
};

static void
free_cells(gpointer v)
{
	struct key_cells *cells = v;
	g_string_free(cells->key, TRUE);
	for (unsigned i = 0; i < N_VALIDITIES; i++)
		g_string_free(cells->rest[i], TRUE);
	g_free(cells);
}

static void
forget_keys(struct csv_device *d)
{
	for (unsigned i = 0; i < N_WHATS; i++)
		g_hash_table_remove_all(d->keys[i]);
}

static void
free_device(gpointer v)
{
	struct csv_device *d = v;
	for (unsigned i = 0; i < N_WHATS; i++)
		g_hash_table_destroy(d->keys[i]);
	g_free(d);
}

static struct csv_device *
need_device(struct csv *e, uint32_t number)
{
	struct csv_device *d = g_hash_table_lookup(e->devices, GUINT_TO_POINTER(number));
	if (d)
		return d;
	d = g_new0(struct csv_device, 1);
	for (unsigned i = 0; i < N_WHATS; i++)
		d->keys[i] = g_hash_table_new_full(NULL, NULL, NULL, free_cells);
	g_hash_table_insert(e->devices, GUINT_TO_POINTER(number), d);
	return d;
}

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

static struct key_cells *
make_cells(const char *key, const char *unit, const char *source)
{
	struct key_cells *cells = g_new0(struct key_cells, 1);
	cells->key = g_string_new(NULL);
	add_cell(cells->key, key);
	for (unsigned i = 0; i < N_VALIDITIES; i++) {
		cells->rest[i] = g_string_new(",");
		add_cell(cells->rest[i], unit);
		add_cell(cells->rest[i], source);
		add_cell(cells->rest[i], validity_words[i]);
	}
	return cells;
}

static const struct key_cells *
add_cells(struct csv *e, enum what what, const char *key, const char *unit)
{
	const struct tally_export_key *says = what == NUMBER ? NULL
							     : tally_export_names_key(
								       &e->names, e->number, key);
	const char *source = what == METRIC ? "metric" : says ? says->source : NULL;
	struct key_cells *cells = make_cells(key, says ? says->unit : unit, source);
	g_hash_table_insert(e->device->keys[what], (gpointer)key, cells);
	return cells;
}

static const struct key_cells *
find_cells(struct csv *e, enum what what, const char *key, const char *unit)
{
	const struct key_cells *cells = g_hash_table_lookup(e->device->keys[what], key);
	return cells ? cells : add_cells(e, what, key, unit);
}

static void
put_row(struct csv *e, const struct key_cells *cells, const struct tally_value *v,
	enum validity validity)
{
	tally_out_bytes(&e->out, e->head->str, e->head->len);
	tally_out_bytes(&e->out, cells->key->str, cells->key->len);
	if (v)
		tally_json_put_value(&e->out.w, *v);
	tally_out_bytes(&e->out, cells->rest[validity]->str, cells->rest[validity]->len);
	tally_out_bytes(&e->out, e->flags->str, e->flags->len);
}

static void
put_number(void *to, const char *name, const char *unit, bool known, struct tally_value value)
{
	struct csv *e = to;
	put_row(e, find_cells(e, NUMBER, name, unit), known ? &value : NULL,
		known ? MEASURED : ABSENT);
}

static void
put_values(struct csv *e, const struct tally_keyed_value *values, uint32_t n, enum what what)
{
	for (uint32_t i = 0; i < n && !e->no_counters; i++) {
		enum validity validity = values[i].estimated ? ESTIMATED
					 : what == METRIC    ? DERIVED
							     : MEASURED;
		put_row(e, find_cells(e, what, values[i].key, NULL), &values[i].value, validity);
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

/* From here on rows describe the frame. */
static void
begin_frame(struct csv *e, const char *what)
{
	g_string_truncate(e->head, 0);
	g_string_append_len(e->head, e->frame->str, (gssize)e->frame->len);
	add_cell(e->head, what);
	g_string_append(e->head, ",,,,,,,,,");
}

/* From here on rows describe the pass, or its command at index `place`. */
static void
begin_pass(struct csv *e, const struct tally_pass_record *p,
	   const struct tally_workload_record *workload, uint32_t place)
{
	char lane[48];
	GString *head = e->head;
	g_string_truncate(head, 0);
	g_string_append_len(head, e->frame->str, (gssize)e->frame->len);
	add_cell(head, workload ? "workload" : "pass");
	add_number(head, p->index);
	char id[TALLY_JSON_ID_CHARS]; /* in quotes */
	tally_json_put_id_at(id, p->id);
	g_string_append_len(head, id + 1, 16);
	g_string_append_c(head, ',');
	add_number(head, p->segment);
	add_cell(head, tally_pass_kind_name(p->kind));
	add_cell(head, tally_export_names_find(&e->names, e->number, p));
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
	put_values(e, p->counters, p->n_counters, COUNTER);
	put_values(e, p->metrics, p->n_metrics, METRIC);
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		begin_pass(e, p, w, i);
		set_flags(e, w->flags);
		tally_workload_numbers(w, put_number, e);
		put_values(e, w->counters, w->n_counters, COUNTER);
	}
}

static void
put_frame(struct csv *e, const struct tally_frame_record *f)
{
	e->number = f->device;
	e->device = need_device(e, f->device);
	g_string_truncate(e->frame, 0);
	add_number(e->frame, f->device);
	add_cell(e->frame, e->device->api);
	add_number(e->frame, f->frame);
	add_cell(e->frame, f->set);
	begin_frame(e, "frame");
	set_flags(e, f->flags);
	tally_frame_numbers(f, put_number, e);
	put_values(e, f->metrics, f->n_metrics, METRIC);
	for (uint32_t i = 0; i < f->n_passes; i++)
		put_pass(e, &f->passes[i]);
	begin_frame(e, "unattributed");
	set_flags(e, f->flags);
	tally_unattributed_numbers(f, put_number, e);
	put_values(e, f->unattributed, f->n_unattributed, COUNTER);
}

/* ---- the format ---- */

static struct tally_export *
begin(FILE *out, const struct tally_export_options *options)
{
	struct csv *e = g_new0(struct csv, 1);
	tally_out_init(&e->out, out);
	e->no_counters = options->no_counters;
	tally_export_names_init(&e->names);
	e->devices = g_hash_table_new_full(NULL, NULL, NULL, free_device);
	e->frame = g_string_new(NULL);
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
	if (line->type == TALLY_LINE_DEVICE) {
		struct csv_device *d = need_device(e, line->device.device);
		d->api = tally_api_name(line->device.api);
		forget_keys(d);
	}
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
	g_hash_table_destroy(e->devices);
	g_string_free(e->frame, TRUE);
	g_string_free(e->head, TRUE);
	g_string_free(e->flags, TRUE);
	g_free(e->tags);
	g_free(e);
}

const struct tally_export_format tally_export_csv = {
	.name = "csv", .begin = begin, .line = line, .end = end
};
