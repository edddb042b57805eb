/* SPDX-License-Identifier: MIT */
#include "cli/report/html.h"

#include "cli/compare/join.h"
#include "cli/log/device_summary.h"
#include "cli/log/series.h"
#include "cli/report/html_log.h"
#include "cli/report/json.h"
#include "cli/report/page_place.h"
#include "cli/report/table.h"
#include "cli/report/why.h"
#include "cli/shared/each.h"
#include "cli/shared/embedded.h"
#include "cli/shared/result.h"
#include "layer/config/config.h"
#include "layer/config/options.h"
#include "passtally_version.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

/* The numbers of a page: columns, one after the other, each a zlib stream of its own, so that a
 * browser unpacks (DecompressionStream) only those it shows. Numbers are as in memory,
 * little-endian. */

struct packed {
	guint offset, length;
};

struct pack {
	GByteArray *blob, *column; /* the one that is made */
	GArray *columns; /* elements: struct packed */
};

static void
put(struct pack *pack, const void *bytes, size_t n)
{
	g_byte_array_append(pack->column, bytes, (guint)n);
}

/* Packs what was put since the last column. */
static int
end_column(struct pack *pack)
{
	struct packed p = { .offset = pack->blob->len };
	uLongf length = compressBound(pack->column->len);
	g_byte_array_set_size(pack->blob, p.offset + (guint)length);
	int status = compress2(pack->blob->data + p.offset, &length, pack->column->data,
			       pack->column->len, Z_BEST_SPEED);
	if (status != Z_OK)
		g_error("out of memory"); /* ends the program, as g_new() does */
	p.length = (guint)length;
	g_byte_array_set_size(pack->blob, p.offset + p.length);
	g_byte_array_set_size(pack->column, 0);
	g_array_append_val(pack->columns, p);
	return (int)pack->columns->len - 1;
}

/* These return the column's number; -1: it is empty. */

/* A double for each row. */
static int
pack_frames(struct pack *pack, const struct tally_html_frames *frames,
		       enum tally_html_frame_column column)
{
	bool any = false;
	TALLY_EACH_OF (const struct tally_html_frame, f, frames->rows) {
		any |= !isnan(f->columns[column]);
		put(pack, &f->columns[column], sizeof(double));
	}
	if (any)
		return end_column(pack);
	g_byte_array_set_size(pack->column, 0);
	return -1;
}

/* How many bytes of passes each row has (32 bits), then those of each. */
static int
pack_passes(struct pack *pack, const struct tally_html_frames *frames)
{
	TALLY_EACH_OF (const struct tally_html_frame, f, frames->rows)
		put(pack, &f->n_bytes, sizeof(f->n_bytes));
	TALLY_EACH_OF (const struct tally_html_frame, g, frames->rows)
		put(pack, g->passes, g->n_bytes);
	return end_column(pack);
}

/* How many rows each point lies after the one before (32 bits), then the value of each (32 bits);
 * the last one ends the series. */
static int
pack_series(struct pack *pack, const struct tally_html_series *s)
{
	const struct tally_html_point end = { s->end, NAN };
	uint32_t before = 0;
	if (!s->n)
		return -1;
	for (uint32_t i = 0; i <= s->n; i++) {
		uint32_t row = i < s->n ? s->points[i].row : end.row;
		uint32_t skipped = row - before;
		put(pack, &skipped, sizeof(skipped));
		before = row;
	}
	for (uint32_t i = 0; i <= s->n; i++)
		put(pack, i < s->n ? &s->points[i].value : &end.value, sizeof(float));
	return end_column(pack);
}

struct page {
	struct tally_out *out;
	struct pack pack;
	uint64_t warmup;
	struct tally_compare *compared; /* NULL: there is one log, or they are not compared */
};

/* Numbers of JSON */

/* Writes a number above 2^53 as text: the page's numbers are doubles. */
static void
digits(struct tally_out *o, const char *key, uint64_t v)
{
	char text[24];
	g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT, v);
	tally_out_text(o, key, text);
}

/* One device */

static void
put_target(struct tally_out *o, const struct tally_target_size *t)
{
	if (t->width == 0)
		return;
	tally_out_object(o, "target");
	tally_out_u64(o, "width", t->width);
	tally_out_u64(o, "height", t->height);
	tally_out_u64(o, "layers", MAX(t->layers, 1));
	tally_out_u64(o, "samples", MAX(t->samples, 1));
	tally_out_text(o, "formats", t->formats);
	if (t->load)
		tally_out_text(o, "load", tally_load_op_name(t->load));
	if (t->store)
		tally_out_text(o, "store", tally_store_op_name(t->store));
	tally_out_end_object(o);
}

static void
put_group(struct page *p, const struct tally_html_log *log, struct tally_group *g)
{
	struct tally_out *o = p->out;
	const struct tally_html_group *own = g->watched;
	tally_out_object(o, NULL);
	tally_json_put_row(o, &log->aggregate, g);
	put_target(o, &tally_as_pass(g)->size);
	if (g->outside)
		tally_out_bool(o, "outside", true);
	if (tally_table_is_nothing(g))
		tally_out_bool(o, "nothing", true);
	g_autofree char *why = tally_why_text(&log->aggregate, g);
	tally_out_text(o, "why", why);
	g_autofree char *over_run = tally_why_over_run_text(log->answer, g);
	tally_out_text(o, "over_run", over_run);
	tally_out_array(o, "series");
	for (uint32_t i = 0; i < own->n_series; i++) {
		if (g->series[i].stats.moments.n == 0)
			continue;
		tally_out_array(o, NULL);
		tally_out_u64(o, NULL, i);
		tally_out_i64(o, NULL, pack_series(&p->pack, &own->series[i]));
		tally_html_series_finish(&own->series[i]);
		tally_out_end_array(o);
	}
	tally_out_end_array(o);
	tally_out_end_object(o);
}

static void
put_kinds(struct tally_out *o, const struct tally_html_device *own)
{
	tally_out_array(o, "kinds");
	TALLY_EACH_OF (const struct tally_html_kind, k, own->kinds) {
		char queue[32];
		g_snprintf(queue, sizeof(queue), "%d.%d", k->queue_family,
			   k->queue_index);
		tally_out_array(o, NULL);
		tally_out_text_or_null(o, NULL, k->queue_family >= 0 ? queue : NULL);
		tally_out_i64(o, NULL, k->context);
		tally_out_flags(o, NULL, k->flags);
		tally_out_u64(o, NULL, k->has_start);
		tally_out_u64(o, NULL, k->has_gpu);
		tally_out_u64(o, NULL, k->has_cpu);
		tally_out_end_array(o);
	}
	tally_out_end_array(o);
}

/* In words: the same that `report` prints. */
static void
put_clock(struct tally_out *o, struct tally_device_summary *d)
{
	struct tally_clock_range clock;
	if (!tally_aggregate_clock(d, &clock))
		return;
	g_autofree char *words = g_strdup_printf("median %.0f MHz, %.0f to %.0f MHz",
						 clock.median_mhz, clock.low_mhz, clock.high_mhz);
	tally_out_text(o, "clock", words);
}

/* [its name, its column] */
static void
put_picture(struct page *p, const char *file)
{
	g_autofree char *bytes = NULL;
	gsize n;
	if (!g_file_get_contents(file, &bytes, &n, NULL))
		return;
	const char *target = strrchr(file, '-') + 1;
	g_autofree char *kind = g_strndup(target, strcspn(target, "."));
	tally_out_array(p->out, NULL);
	tally_out_text(p->out, NULL, kind);
	put(&p->pack, bytes, n);
	tally_out_i64(p->out, NULL, end_column(&p->pack));
	tally_out_end_array(p->out);
}

/* [pass, pictures...] each, of the last frame of the device that has some, in its order. */
static void
put_pictures(struct page *p, const struct tally_aggregate *a, uint32_t device)
{
	const struct tally_pictured_pass *last = NULL;
	TALLY_EACH_OF (const struct tally_pictured_pass, any, a->pictured)
		last = any->device == device ? any : last;
	if (!last)
		return;
	tally_out_u64(p->out, "pictured", last->frame);
	tally_out_array(p->out, "pictures");
	TALLY_EACH_OF (const struct tally_pictured_pass, pass, a->pictured) {
		const struct tally_group *g = tally_aggregate_find_pass(a, device, pass->id);
		const struct tally_html_group *own = g ? g->watched : NULL;
		if (pass->device != device || pass->frame != last->frame || !own)
			continue;
		g_autoptr(GPtrArray) files = tally_picture_files(a->path, pass->number);
		tally_out_array(p->out, NULL);
		tally_out_u64(p->out, NULL, own->place);
		TALLY_EACH (const char, file, files)
			put_picture(p, file);
		tally_out_end_array(p->out);
	}
	tally_out_end_array(p->out);
}

/* Writes the columns of a device's frames. */
static void
put_kept(struct page *p, const struct tally_html_log *log,
	 const struct tally_html_device *own)
{
	struct tally_out *o = p->out;
	tally_out_u64(o, "rows", own->frames.rows->len);
	tally_out_u64(o, "all_rows", own->frames.n);
	tally_out_u64(o, "step", own->frames.step);
	digits(o, "base_ns", own->base_ns);
	tally_out_array(o, "columns");
	/* Where each frame has its own row, samples are its own times. */
	unsigned n = own->frames.step > 1 ? TALLY_HTML_N_FRAME_COLUMNS
					  : TALLY_HTML_SAMPLE_CPU;
	for (unsigned i = 0; i < n; i++)
		tally_out_i64(o, NULL, pack_frames(&p->pack, &own->frames, i));
	tally_out_end_array(o);
	tally_out_i64(o, "bars", pack_passes(&p->pack, &own->frames));
	put_kinds(o, own);
	put_pictures(p, &log->aggregate, own->device);
	tally_out_u64(o, "block", own->block);
	tally_out_array(o, "groups");
	TALLY_EACH (struct tally_group, g, own->groups)
		put_group(p, log, g);
	tally_out_end_array(o);
}

static void
put_device(struct page *p, const struct tally_html_log *log,
	   struct tally_device_summary *d)
{
	struct tally_html_device *own = tally_html_log_device(log, d->device);
	tally_out_object(p->out, NULL);
	tally_json_put_device(p->out, &log->aggregate, d);
	put_clock(p->out, d);
	if (own)
		put_kept(p, log, own);
	else
		tally_out_u64(p->out, "rows", 0);
	tally_out_end_object(p->out);
}

/* One log */

static void
put_notes(struct tally_out *o, const struct tally_html_log *log)
{
	tally_out_array(o, "notes");
	TALLY_EACH_OF (const struct tally_note_record, n, log->notes) {
		tally_out_array(o, NULL);
		tally_out_text(o, NULL, tally_level_name(n->level));
		tally_out_text_or_null(o, NULL, n->source);
		tally_out_text_or_null(o, NULL, n->message);
		if (n->has_time)
			digits(o, NULL, n->time_ns);
		tally_out_end_array(o);
	}
	tally_out_end_array(o);
	tally_out_u64(o, "notes_left_out", log->notes_left_out);
}

static void
put_series(struct tally_out *o, const struct tally_html_log *log, uint32_t i)
{
	const struct tally_aggregate *a = &log->aggregate;
	const struct tally_key *k = tally_series_key(a, i);
	tally_out_object(o, NULL);
	tally_out_text(o, "key", k->key);
	tally_out_text(o, "unit", k->unit);
	if (k->described) {
		tally_out_text(o, "name", k->name);
		tally_out_text(o, "text", k->text);
		tally_out_text(o, "source", k->source);
		tally_out_text(o, "kind", k->kind);
		tally_out_text(o, "scope", k->scope);
	}
	if (k->metric)
		tally_out_bool(o, "metric", true);
	tally_out_end_object(o);
}

static void
put_end(struct tally_out *o, const struct tally_aggregate *a)
{
	if (a->truncated)
		tally_out_bool(o, "truncated", true);
	if (!a->has_end)
		return;
	tally_out_object(o, "end");
	tally_out_text(o, "reason", a->end_reason);
	tally_out_u64(o, "frames", a->end_frames);
	tally_out_u64(o, "dropped", a->end_frames_dropped);
	tally_out_end_object(o);
}

/* What `report --by pipeline` says: the log is read a second time. */
static void
put_pipelines(struct page *p, const struct tally_aggregate *of)
{
	struct tally_aggregate a = { 0 };
	if (tally_aggregate_read_watched(&a, NULL, of->path, &tally_by_pipeline, of->warmup, NULL,
					 false) == TALLY_EXIT_OK)
		tally_json_put_rows(p->out, &a, a.groups, "pipelines", false);
	tally_aggregate_finish(&a);
}

/* Whether an option has its default value. The log's path never has, and the page shows the
 * log's name anyway; the control socket's depends on the user. */
static bool
is_default(const struct tally_config *defaults, const char *key, const char *value)
{
	if (strcmp(key, "log") == 0 ||
	    (strcmp(key, "control") == 0 && g_str_has_suffix(value, "/%e-%p.sock")))
		return true;
	const struct tally_option *option = tally_option_find(key, strlen(key));
	if (!option)
		return false;
	size_t size = tally_option_get(option, defaults, NULL, 0) + 1;
	g_autofree char *text = g_malloc(size);
	tally_option_get(option, defaults, text, size);
	return strcmp(text, value) == 0;
}

/* Key and value of each that is not the default. */
static void
put_options(struct tally_out *o, const GPtrArray *options)
{
	struct tally_config defaults;
	tally_config_init(&defaults);
	tally_out_array(o, "options");
	TALLY_EACH (const char, option, options) {
		g_autofree char *key = g_strndup(option, strcspn(option, "="));
		const char *value = option + strlen(key) + 1;
		if (is_default(&defaults, key, value))
			continue;
		tally_out_text(o, NULL, key);
		tally_out_text(o, NULL, value);
	}
	tally_out_end_array(o);
	tally_config_finish(&defaults);
}

static void
put_log(struct page *p, const struct tally_html_log *log)
{
	struct tally_out *o = p->out;
	const struct tally_aggregate *a = &log->aggregate;
	g_autofree char *file = g_path_get_basename(a->path);
	tally_out_object(o, NULL);
	tally_out_text(o, "file", strcmp(a->path, "-") ? file : "standard input");
	tally_out_text(o, "program", a->program);
	tally_out_text(o, "version", a->version);
	tally_log_identity_put(o, &a->identity);
	g_autofree char *machine = tally_log_identity_machine(&a->identity);
	tally_out_text(o, "machine", machine);
	tally_out_i64(o, "pid", a->header.pid);
	tally_out_u64(o, "started_ms", a->header.started_unix_ns / 1000000);
	if (a->identity.argv)
		tally_out_texts(o, "argv", a->identity.argv);
	put_options(o, a->identity.options);
	put_end(o, a);
	if (log->has_pipelines && strcmp(a->path, "-") != 0)
		put_pipelines(p, a);
	tally_answer_put_json(o, "answers", log->answer);
	put_notes(o, log);
	tally_out_array(o, "series");
	for (uint32_t i = 0; i < tally_n_series(a); i++)
		put_series(o, log, i);
	tally_out_end_array(o);
	tally_out_array(o, "devices");
	TALLY_EACH (struct tally_device_summary, d, a->devices) {
		tally_out_break(o, "\n");
		put_device(p, log, d);
	}
	tally_out_end_array(o);
	tally_out_end_object(o);
}

/* Reads both logs as `passtally compare` does by its defaults, which leaves as many
 * frames out at the start of each. False where they cannot be read a second time, or
 * have nothing to compare. */
static bool
read_to_compare(struct tally_compare *c, const struct tally_html_log logs[2],
		const struct tally_compare_filter *filter)
{
	bool good = true;
	tally_compare_init(c);
	c->settings.confidence = TALLY_COMPARE_CONFIDENCE;
	for (unsigned side = 0; good && side < TALLY_N_SIDES; side++) {
		const char *path = logs[side].aggregate.path;
		struct tally_compare_log *log = NULL;
		good = strcmp(path, "-") != 0 &&
		       tally_compare_log_read(&log, path, filter) == TALLY_EXIT_OK;
		if (log)
			g_ptr_array_add(c->logs[side], log);
	}
	return good && tally_compare_join(c) == TALLY_EXIT_OK;
}

/* What `compare --json` prints, or why the logs are not compared, so that the page and
 * the command never differ. */
static void
put_verdict(struct tally_out *o, struct tally_compare *c)
{
	tally_compare_find_unlike(c);
	g_autofree char *why = tally_compare_refusal(c);
	tally_out_object(o, "verdict");
	if (why) {
		tally_out_text(o, "refused", why);
	} else {
		tally_compare_judge(c);
		tally_compare_conclude(c);
		tally_compare_put_json(o, c);
	}
	tally_out_end_object(o);
}

/* The page */

static void
put_logs(struct page *p, const struct tally_html_log *logs, unsigned n)
{
	struct tally_out *o = p->out;
	tally_out_object(o, NULL);
	tally_out_text(o, "schema", "passtally-html/1");
	tally_out_text(o, "version", PASSTALLY_VERSION);
	if (p->warmup != TALLY_WARMUP_AUTO)
		tally_out_u64(o, "warmup", p->warmup);
	tally_out_flags(o, "flags", (UINT64_C(1) << TALLY_N_FLAGS) - 1);
	tally_out_array(o, "logs");
	for (unsigned i = 0; i < n; i++)
		put_log(p, &logs[i]);
	tally_out_end_array(o);
	if (p->compared)
		put_verdict(o, p->compared);
	tally_out_break(o, "\n");
	tally_out_array(o, "columns");
	TALLY_EACH_OF (const struct packed, c, p->pack.columns) {
		tally_out_array(o, NULL);
		tally_out_u64(o, NULL, c->offset);
		tally_out_u64(o, NULL, c->length);
		tally_out_end_array(o);
	}
	tally_out_end_array(o);
	tally_out_end_object(o);
}

static void
put_base64(struct tally_out *o, const GByteArray *blob)
{
	enum {
		STEP = 3 << 12
	}; /* a multiple of three bytes, so that no base64 group is cut */
	for (guint at = 0; at < blob->len; at += STEP) {
		char *letters = g_base64_encode(blob->data + at,
						MIN(STEP, blob->len - at));
		tally_out_put(o, letters);
		g_free(letters);
	}
}

static void
write_page(FILE *file, const struct tally_html_log *logs, unsigned n, uint64_t warmup,
	   struct tally_compare *compared)
{
	struct tally_out out;
	struct page p = {
		.out = &out,
		.pack = { g_byte_array_new(), g_byte_array_new(),
			  g_array_new(FALSE, FALSE, sizeof(struct packed)) },
		.warmup = warmup,
		.compared = compared,
	};
	const char *mark = strstr(tally_html_page, TALLY_HTML_MARK);
	tally_out_init(&out, file);
	tally_out_bytes(&out, tally_html_page, (size_t)(mark - tally_html_page));
	tally_out_put(&out, "<script type=\"application/json\" id=\"meta\">");
	out.in_page = true;
	put_logs(&p, logs, n);
	out.in_page = false;
	tally_out_put(&out, "</script>\n<script type=\"text/plain\" id=\"numbers\">");
	put_base64(&out, p.pack.blob);
	tally_out_put(&out, "</script>");
	tally_out_put(&out, mark + strlen(TALLY_HTML_MARK));
	tally_out_flush(&out);
	g_byte_array_unref(p.pack.blob);
	g_byte_array_unref(p.pack.column);
	g_array_unref(p.pack.columns);
}

/* The page of two logs: each is read again where the comparison leaves out other
 * frames at its start, so that all numbers of the page are of the same frames. */
static int
write_compared(FILE *file, struct tally_html_log logs[2], uint64_t warmup)
{
	const struct tally_compare_filter filter = { .warmup = warmup, .device = -1 };
	struct tally_compare c;
	int status = TALLY_EXIT_OK;
	bool compared = read_to_compare(&c, logs, &filter);
	for (unsigned i = 0; compared && i < TALLY_N_SIDES && status == TALLY_EXIT_OK; i++) {
		const struct tally_compare_log *log = c.logs[i]->pdata[0];
		if (log->aggregate.warmup == logs[i].aggregate.warmup)
			continue;
		tally_html_log_finish(&logs[i]);
		status = tally_html_log_read(&logs[i], NULL, log->aggregate.path,
					     log->aggregate.warmup, TALLY_N_SIDES);
	}
	if (status == TALLY_EXIT_OK)
		write_page(file, logs, TALLY_N_SIDES, warmup, compared ? &c : NULL);
	tally_compare_finish(&c);
	return status;
}

static int
read_and_write(FILE *file, const char *const *logs, unsigned n, uint64_t warmup)
{
	struct tally_html_log read[2] = { 0 };
	int status = TALLY_EXIT_OK;
	for (unsigned i = 0; i < n && status == TALLY_EXIT_OK; i++)
		status = tally_html_log_read(&read[i], "report", logs[i], warmup, n);
	if (status == TALLY_EXIT_OK && n == 2)
		status = write_compared(file, read, warmup);
	else if (status == TALLY_EXIT_OK)
		write_page(file, read, n, warmup, NULL);
	for (unsigned i = 0; i < n; i++)
		tally_html_log_finish(&read[i]);
	return status;
}

int
tally_report_html(const char *path, const char *const *logs, unsigned n_logs,
		  uint64_t warmup)
{
	if (n_logs > 2)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "report",
				  "--html takes one log, or two to compare");
	struct tally_result target = { 0 };
	mode_t mode = 0666;
	for (unsigned i = 0; i < n_logs; i++)
		mode &= tally_result_mode(logs[i]);
	int status = tally_result_open(
		&target, "report", path, mode, false,
		"name the page first: passtally report --html OUT LOG");
	if (status == TALLY_EXIT_OK)
		status = read_and_write(target.file, logs, n_logs, warmup);
	if (!tally_result_close(&target, status == TALLY_EXIT_OK) &&
	    status == TALLY_EXIT_OK)
		status = TALLY_EXIT_FAILED;
	return status;
}
