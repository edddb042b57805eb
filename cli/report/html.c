/* SPDX-License-Identifier: MIT */
#include "cli/report/html.h"

#include "cli/report/formats.h"
#include "cli/report/html_parts.h"
#include "cli/shared/each.h"
#include "cli/shared/result.h"
#include "cli/shared/text.h"
#include "cli/shared/workers.h"
#include "passtally_version.h"

#include <string.h>

/* Limit for the bytes of compressed numbers; base64 turns three into four. With the page
 * itself this stays below 25 MB. */
enum { MOST_NUMBERS = 17500000 };

struct page {
	struct tally_out *out;
	struct tally_html_pack pack;
	uint64_t warmup;
	unsigned devices_left; /* number of devices that share the remainder of MOST_NUMBERS */
};

/* Numbers and strings of JSON */

/* Writes null if there is no text; characters that are not printable are escaped as in
 * tables. */
static void
text(struct tally_out *o, const char *key, const char *s)
{
	g_autofree char *printable = s ? tally_text_escape(s) : NULL;
	tally_out_text_or_null(o, key, printable);
}

static void
texts(struct tally_out *o, const char *key, const GPtrArray *list)
{
	tally_out_array(o, key);
	TALLY_EACH (const char, item, list)
		text(o, NULL, item);
	tally_out_end_array(o);
}

/* Writes a number above 2^53 as text: the page's numbers are doubles. */
static void
digits(struct tally_out *o, const char *key, uint64_t v)
{
	char text[24];
	g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT, v);
	tally_out_text(o, key, text);
}

/* Writes n, sum, mean, sd, min, p50, p90, p99, max, bits: 1 = estimated, 2 = quantiles
 * accurate to 0.1 % only. */
static void
stats(struct tally_out *o, const struct tally_html_summary *s, bool estimated)
{
	tally_out_u64(o, NULL, s->n);
	if (s->n == 0)
		return;
	tally_out_f64(o, NULL, s->total);
	tally_out_f64(o, NULL, s->mean);
	tally_out_f64(o, NULL, s->sd);
	tally_out_value(o, NULL, s->min);
	for (size_t i = 0; i < G_N_ELEMENTS(s->quantiles); i++)
		tally_out_value(o, NULL, s->quantiles[i]);
	tally_out_value(o, NULL, s->max);
	tally_out_u64(o, NULL, (estimated ? 1 : 0) | (s->exact ? 0 : 2));
}

static void
named_stats(struct tally_out *o, const char *key, struct tally_stats *s)
{
	const struct tally_html_summary summary = tally_html_summarize(s);
	tally_out_array(o, key);
	stats(o, &summary, false);
	tally_out_end_array(o);
}

/* One device */

static void
put_group(struct page *p, const struct tally_device_summary *d, struct tally_group *g,
	  const int *gpu_column, const int *columns)
{
	struct tally_out *o = p->out;
	struct tally_html_group *own = g->watched;
	double all = tally_int192_f64(&d->gpu_total);
	tally_out_object(o, NULL);
	tally_out_id(o, "id", g->id);
	text(o, "name", g->name);
	text(o, "label", g->label);
	tally_out_text(o, "kind", tally_pass_kind_name(g->kind));
	tally_out_u64(o, "frames", g->frames);
	g_autofree char *queue = tally_queue_text(g);
	text(o, "queue", queue);
	if (g->outside)
		tally_out_bool(o, "outside", true);
	if (own->n_series && own->series[0].summary.n && all > 0)
		tally_out_f64(o, "share", own->series[0].summary.total / all);
	tally_out_flags(o, "flags", g->flags);
	tally_out_array(o, "series");
	for (uint32_t i = 0; i < own->n_series; i++) {
		const struct tally_html_summary *s = &own->series[i].summary;
		if (s->n == 0)
			continue;
		tally_out_array(o, NULL);
		tally_out_u64(o, NULL, i);
		tally_out_i64(o, NULL, i == TALLY_SERIES_GPU ? gpu_column[0] : columns[i - 1]);
		stats(o, s, i < g->n_series && g->series[i].estimated);
		tally_out_end_array(o);
	}
	tally_out_end_array(o);
	tally_out_end_object(o);
}

/* The number of bytes that this device may still use. */
static size_t
left_for_device(const struct page *p)
{
	size_t left = p->pack.blob->len < MOST_NUMBERS ? MOST_NUMBERS - p->pack.blob->len : 0;
	return left / MAX(p->devices_left, 1);
}

static void
put_groups(struct page *p, struct tally_html_device *own,
	   const struct tally_device_summary *d)
{
	g_autoptr(GArray) gpu = g_array_new(FALSE, FALSE, sizeof(int));
	g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(int));
	uint64_t gpu_block, block;
	tally_html_pack_series(&p->pack, own, true, left_for_device(p) / 2, &gpu_block, gpu);
	tally_html_pack_series(&p->pack, own, false, left_for_device(p), &block, others);
	tally_out_u64(p->out, "gpu_block", gpu_block);
	tally_out_u64(p->out, "block", block);
	tally_out_array(p->out, "groups");
	guint at_gpu = 0, at = 0;
	TALLY_EACH (struct tally_group, g, own->groups) {
		const struct tally_html_group *values = g->watched;
		put_group(p, d, g, (const int *)gpu->data + at_gpu,
			  (const int *)others->data + at);
		at_gpu += MIN(values->n_series, 1);
		at += values->n_series ? values->n_series - 1 : 0;
	}
	tally_out_end_array(p->out);
}

static void
put_kinds(struct tally_out *o, const struct tally_html_device *own)
{
	tally_out_array(o, "kinds");
	TALLY_EACH_OF (const struct tally_html_kind, k, own->kinds) {
		char queue[32];
		g_snprintf(queue, sizeof(queue), "%d.%d", k->queue_family, k->queue_index);
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
	char *words = g_strdup_printf("median %.0f MHz, %.0f to %.0f MHz", clock.median_mhz,
				      clock.low_mhz, clock.high_mhz);
	text(o, "gpu_clock", words);
	g_free(words);
}

static void
put_described(struct tally_out *o, const struct tally_aggregate *a,
	      struct tally_device_summary *d)
{
	tally_out_u64(o, "device", d->device);
	if (d->described)
		text(o, "api", tally_api_name(d->api));
	text(o, "name", d->name);
	text(o, "driver", d->driver);
	text(o, "driver_version", d->driver_version);
	text(o, "pci", d->pci);
	if (tally_aggregate_surface(d)) {
		tally_out_u64(o, "width", tally_aggregate_surface(d)->width);
		tally_out_u64(o, "height", tally_aggregate_surface(d)->height);
	}
	put_clock(o, d);
	text(o, "serialized_by", d->serialized_by);
	texts(o, "off", d->off);
	if (tally_aggregate_is_beneath(a, d->device))
		tally_out_i64(o, "beneath", d->beneath);
	tally_out_u64(o, "frames", d->frames);
	tally_out_u64(o, "partial", d->partial);
	tally_out_u64(o, "warmed_up", d->warmed_up);
	tally_out_u64(o, "warmed_up_ns", d->warmed_up_ns);
	tally_out_u64(o, "dropped", d->dropped_passes);
	tally_out_flags(o, "flags", d->flags);
	if (d->coverable > 0)
		tally_out_f64(o, "coverage", d->covered / d->coverable);
	if (d->has_unattributed)
		tally_out_f64(o, "unattributed_ns", tally_int192_f64(&d->unattributed));
	named_stats(o, "cpu", &d->cpu);
	named_stats(o, "gpu", &d->gpu);
	named_stats(o, "overhead", &d->overhead);
}

/* What is made on two threads: the passes of frames, and the summaries of all series. */
struct made {
	struct tally_html_pack *pack;
	struct tally_html_device *own;
	GPtrArray *series; /* elements: struct tally_html_series * */
	size_t most;
	uint64_t step;
	int bars;
};

static void
make(void *user, unsigned worker, unsigned piece)
{
	struct made *m = user;
	(void)worker;
	if (piece == 0)
		m->bars = tally_html_pack_bars(m->pack, m->own, m->most, &m->step);
	else
		tally_html_summarize_series(g_ptr_array_index(m->series, piece - 1),
					    &m->own->spill);
}

/* Writes the columns of a device's frames. */
static void
put_kept(struct page *p, struct tally_html_device *own,
	 const struct tally_device_summary *d)
{
	struct tally_out *o = p->out;
	g_autoptr(GPtrArray) series = g_ptr_array_new();
	tally_out_u64(o, "rows", own->rows);
	digits(o, "base_ns", own->base_ns);
	tally_out_array(o, "columns");
	for (size_t i = 0; i < TALLY_HTML_N_FRAME_COLUMNS; i++)
		tally_out_i64(o, NULL, tally_html_pack_column(&p->pack, &own->frames[i],
						     &own->spill));
	tally_out_end_array(o);
	TALLY_EACH (const struct tally_group, g, own->groups) {
		struct tally_html_group *values = g->watched;
		for (uint32_t k = 0; k < values->n_series; k++)
			g_ptr_array_add(series, &values->series[k]);
	}
	struct made made = { &p->pack, own, series, left_for_device(p) / 2, 0, 0 };
	tally_workers_run(1 + series->len, make, &made);
	tally_out_i64(o, "bars", made.bars);
	tally_out_u64(o, "bar_step", made.step);
	put_kinds(o, own);
	put_groups(p, own, d);
	p->devices_left--;
}

static void
put_device(struct page *p, const struct tally_html_log *log, struct tally_device_summary *d)
{
	struct tally_html_device *own = tally_html_log_device(log, d->device);
	tally_out_object(p->out, NULL);
	put_described(p->out, &log->aggregate, d);
	if (own)
		put_kept(p, own, d);
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
		text(o, NULL, n->source);
		text(o, NULL, n->message);
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
	const struct tally_key *k = i < TALLY_N_FIXED_SERIES
					    ? NULL
					    : &g_array_index(a->keys, struct tally_key,
							     i - TALLY_N_FIXED_SERIES);
	tally_out_object(o, NULL);
	text(o, "key", tally_series_name(a, i));
	text(o, "unit", tally_series_unit(a, i));
	if (k && k->described) {
		text(o, "name", k->name);
		text(o, "text", k->text);
		text(o, "source", k->source);
		text(o, "kind", k->kind);
		text(o, "scope", k->scope);
	}
	if (k && k->metric)
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
	text(o, "reason", a->end_reason);
	tally_out_u64(o, "frames", a->end_frames);
	tally_out_u64(o, "dropped", a->end_frames_dropped);
	tally_out_end_object(o);
}

static void
put_log(struct page *p, const struct tally_html_log *log)
{
	struct tally_out *o = p->out;
	const struct tally_aggregate *a = &log->aggregate;
	g_autofree char *file = g_path_get_basename(a->path);
	tally_out_object(o, NULL);
	text(o, "file", strcmp(a->path, "-") ? file : "standard input");
	text(o, "program", a->program);
	text(o, "version", a->version);
	tally_log_identity_put(o, &a->identity);
	g_autofree char *machine = tally_log_identity_machine(&a->identity);
	text(o, "machine", machine);
	tally_out_i64(o, "pid", a->header.pid);
	tally_out_u64(o, "started_ms", a->header.started_unix_ns / 1000000);
	if (log->argv)
		texts(o, "argv", log->argv);
	texts(o, "options", log->options);
	put_end(o, a);
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

/* The page */

static void
put_logs(struct page *p, const struct tally_html_log *logs, unsigned n)
{
	struct tally_out *o = p->out;
	for (unsigned i = 0; i < n; i++)
		p->devices_left += logs[i].devices->len;
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
	if (n == 2) {
		const char *const paths[2] = { logs[0].aggregate.path, logs[1].aggregate.path };
		tally_html_verdict_put(o, paths, p->warmup);
	}
	tally_out_break(o, "\n");
	tally_out_array(o, "columns");
	TALLY_EACH_OF (const struct tally_html_packed, c, p->pack.columns) {
		tally_out_array(o, NULL);
		tally_out_u64(o, NULL, c->offset);
		tally_out_u64(o, NULL, c->length);
		tally_out_u64(o, NULL, c->kind);
		tally_out_end_array(o);
	}
	tally_out_end_array(o);
	tally_out_end_object(o);
}

static void
put_base64(struct tally_out *o, const GByteArray *blob)
{
	enum { STEP = 3 << 12 }; /* a multiple of three bytes, so that no base64 group is cut */
	for (guint at = 0; at < blob->len; at += STEP) {
		char *letters = g_base64_encode(blob->data + at, MIN(STEP, blob->len - at));
		tally_out_put(o, letters);
		g_free(letters);
	}
}

static void
write_page(FILE *file, const struct tally_html_log *logs, unsigned n, uint64_t warmup)
{
	struct tally_out out;
	struct page p = { .out = &out, .warmup = warmup };
	const char *mark = strstr(tally_html_page, TALLY_HTML_MARK);
	tally_out_init(&out, file);
	tally_html_pack_init(&p.pack);
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
	tally_html_pack_finish(&p.pack);
}

/* Whether all numbers of the page could be read back when it was written. */
static bool
is_whole(const struct tally_html_log *logs, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		TALLY_EACH (const struct tally_html_device, d, logs[i].devices)
			if (d->spill.unreadable)
				return false;
	return true;
}

int
tally_report_html(const char *path, const char *const *logs, unsigned n_logs, uint64_t warmup)
{
	if (n_logs > 2)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "report",
				  "--html takes one log, or two to compare");
	struct tally_html_log read[2] = { 0 };
	struct tally_result target = { 0 };
	mode_t mode = 0666;
	for (unsigned i = 0; i < n_logs; i++)
		mode &= tally_result_mode(logs[i]);
	int status = tally_result_open(&target, "report", path, mode, false,
				       "name the page first: passtally report --html OUT LOG");
	for (unsigned i = 0; i < n_logs && status == TALLY_EXIT_OK; i++)
		status = tally_html_log_read(&read[i], logs[i], warmup);
	if (status == TALLY_EXIT_OK) {
		write_page(target.file, read, n_logs, warmup);
		if (!is_whole(read, n_logs)) {
			tally_cli_complain("report", "the temporary file in %s cannot be read",
					   g_get_tmp_dir());
			status = TALLY_EXIT_FAILED;
		}
	}
	if (!tally_result_close(&target, status == TALLY_EXIT_OK) && status == TALLY_EXIT_OK)
		status = TALLY_EXIT_FAILED;
	for (unsigned i = 0; i < n_logs; i++)
		tally_html_log_finish(&read[i]);
	return status;
}
