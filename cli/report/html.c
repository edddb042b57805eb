#include "cli/report/html.h"

#include "cli/report/formats.h"
#include "cli/report/html_pack.h"
#include "cli/report/html_text.h"
#include "cli/shared/text.h"
#include "passtally_version.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes of compressed numbers; base64 makes four of three. With the page itself under 25 MB. */
enum { MOST_NUMBERS = 17500000 };

struct page {
	FILE *json;
	struct tally_html_pack pack;
	uint64_t warmup;
	unsigned devices_left; /* that share what is left of MOST_NUMBERS */
};

/* Numbers and words of JSON */

static void
text(FILE *out, const char *s)
{
	if (!s) {
		fputs("null", out);
		return;
	}
	char *printable = tally_text_escape(s);
	tally_text_print_json(out, printable);
	g_free(printable);
}

static void
member(FILE *out, const char *name, const char *s)
{
	fprintf(out, ",\"%s\":", name);
	text(out, s);
}

static void
texts(FILE *out, const char *name, const GPtrArray *list)
{
	fprintf(out, ",\"%s\":[", name);
	for (guint i = 0; i < list->len; i++) {
		fputs(i ? "," : "", out);
		text(out, g_ptr_array_index(list, i));
	}
	putc(']', out);
}

static void
number(FILE *out, double v)
{
	tally_json_print_value(out, tally_f64(v));
}

/* n, sum, mean, sd, min, p50, p90, p99, max, bits: 1 estimated, 2 quantiles true to 0.1 % only. */
static void
stats(FILE *out, struct tally_stats *s, bool estimated)
{
	uint64_t n = s->moments.n;
	fprintf(out, "%" G_GUINT64_FORMAT, n);
	if (n == 0)
		return;
	putc(',', out);
	number(out, tally_moments_total(&s->moments));
	putc(',', out);
	number(out, tally_moments_mean(&s->moments));
	putc(',', out);
	if (n > 1)
		number(out, tally_moments_sd_sample(&s->moments));
	else
		fputs("null", out);
	putc(',', out);
	tally_json_print_value(out, s->moments.min);
	static const int quantiles[] = { 50, 90, 99 };
	for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++) {
		putc(',', out);
		tally_json_print_value(out, tally_stats_quantile(s, quantiles[i] / 100.0));
	}
	putc(',', out);
	tally_json_print_value(out, s->moments.max);
	fprintf(out, ",%d", (estimated ? 1 : 0) | (tally_stats_exact(s) ? 0 : 2));
}

static void
named_stats(FILE *out, const char *name, struct tally_stats *s)
{
	fprintf(out, ",\"%s\":[", name);
	stats(out, s, false);
	putc(']', out);
}

/* A device */

static void
put_group(struct page *p, const struct tally_device_summary *d, struct tally_group *g,
	  const int *gpu_column, const int *columns)
{
	FILE *out = p->json;
	struct tally_html_group *own = g->watched;
	double all = tally_wide_f64(&d->gpu_total);
	fprintf(out, "{\"id\":\"%016" G_GINT64_MODIFIER "x\"", g->id);
	member(out, "name", g->name);
	member(out, "label", g->label);
	fprintf(out, ",\"kind\":\"%s\",\"frames\":%" G_GUINT64_FORMAT,
		tally_pass_kind_name(g->kind), g->frames);
	char *queue = tally_queue_text(g);
	member(out, "queue", queue);
	g_free(queue);
	if (g->outside)
		fputs(",\"outside\":true", out);
	if (own->n_series && own->series[0].stats.moments.n && all > 0) {
		fputs(",\"share\":", out);
		number(out, tally_moments_total(&own->series[0].stats.moments) / all);
	}
	fputs(",\"flags\":", out);
	tally_json_print_flags(out, g->flags);
	fputs(",\"series\":[", out);
	const char *sep = "";
	for (uint32_t i = 0; i < own->n_series; i++) {
		struct tally_stats *s = &own->series[i].stats;
		if (s->moments.n == 0)
			continue;
		int column = i == TALLY_SERIES_GPU ? gpu_column[0] : columns[i - 1];
		fprintf(out, "%s[%u,%d,", sep, i, column);
		stats(out, s, i < g->n_series && g->series[i].estimated);
		putc(']', out);
		sep = ",";
	}
	fputs("]}", out);
}

/* Bytes that this device may still take. */
static size_t
left_for_device(const struct page *p)
{
	size_t left = p->pack.blob->len < MOST_NUMBERS ? MOST_NUMBERS - p->pack.blob->len : 0;
	return left / MAX(p->devices_left, 1);
}

static void
put_groups(struct page *p, const struct tally_html_device *own,
	   const struct tally_device_summary *d)
{
	GArray *gpu = g_array_new(FALSE, FALSE, sizeof(int));
	GArray *others = g_array_new(FALSE, FALSE, sizeof(int));
	uint64_t gpu_block, block;
	tally_html_pack_series(&p->pack, own, true, left_for_device(p) / 2, &gpu_block, gpu);
	tally_html_pack_series(&p->pack, own, false, left_for_device(p), &block, others);
	fprintf(p->json,
		",\"gpu_block\":%" G_GUINT64_FORMAT ",\"block\":%" G_GUINT64_FORMAT ",\"groups\":[",
		gpu_block, block);
	guint at_gpu = 0, at = 0;
	for (guint i = 0; i < own->groups->len; i++) {
		struct tally_group *g = g_ptr_array_index(own->groups, i);
		const struct tally_html_group *values = g->watched;
		fputs(i ? "," : "", p->json);
		put_group(p, d, g, (const int *)gpu->data + at_gpu, (const int *)others->data + at);
		at_gpu += MIN(values->n_series, 1);
		at += values->n_series ? values->n_series - 1 : 0;
	}
	putc(']', p->json);
	g_array_unref(gpu);
	g_array_unref(others);
}

static void
put_kinds(FILE *out, const struct tally_html_device *own)
{
	fputs(",\"kinds\":[", out);
	for (guint i = 0; i < own->kinds->len; i++) {
		const struct tally_html_kind *k = &g_array_index(own->kinds, struct tally_html_kind,
								 i);
		fprintf(out, "%s[", i ? "," : "");
		if (k->queue_family >= 0)
			fprintf(out, "\"%d.%d\"", k->queue_family, k->queue_index);
		else
			fputs("null", out);
		fprintf(out, ",%" G_GINT64_FORMAT ",", k->context);
		tally_json_print_flags(out, k->flags);
		fprintf(out, ",%d,%d]", k->has_start, k->has_gpu);
	}
	putc(']', out);
}

static void
put_described(FILE *out, const struct tally_aggregate *a, struct tally_device_summary *d)
{
	fprintf(out, "{\"device\":%u", d->device);
	if (d->described)
		member(out, "api", tally_api_name(d->api));
	member(out, "name", d->name);
	member(out, "driver", d->driver);
	member(out, "driver_version", d->driver_version);
	member(out, "serialized_by", d->serialized_by);
	texts(out, "off", d->off);
	if (tally_aggregate_is_beneath(a, d->device))
		fprintf(out, ",\"beneath\":%" G_GINT64_FORMAT, d->beneath);
	fprintf(out,
		",\"frames\":%" G_GUINT64_FORMAT ",\"partial\":%" G_GUINT64_FORMAT
		",\"warmed_up\":%" G_GUINT64_FORMAT ",\"dropped\":%" G_GUINT64_FORMAT,
		d->frames, d->partial, d->warmed_up, d->dropped_passes);
	fputs(",\"flags\":", out);
	tally_json_print_flags(out, d->flags);
	if (d->coverable > 0) {
		fputs(",\"coverage\":", out);
		number(out, d->covered / d->coverable);
	}
	if (d->has_unattributed) {
		fputs(",\"unattributed_ns\":", out);
		number(out, tally_wide_f64(&d->unattributed));
	}
	named_stats(out, "cpu", &d->cpu);
	named_stats(out, "gpu", &d->gpu);
	named_stats(out, "overhead", &d->overhead);
}

static void
put_device(struct page *p, const struct tally_html_log *log, struct tally_device_summary *d)
{
	FILE *out = p->json;
	put_described(out, &log->aggregate, d);
	const struct tally_html_device *own = NULL;
	for (guint i = 0; i < log->devices->len; i++) {
		const struct tally_html_device *candidate = g_ptr_array_index(log->devices, i);
		if (candidate->device == d->device)
			own = candidate;
	}
	if (own) {
		fprintf(out,
			",\"rows\":%" G_GUINT64_FORMAT ",\"base_ns\":\"%" G_GUINT64_FORMAT "\"",
			own->rows, own->base_ns);
		fputs(",\"columns\":[", out);
		for (size_t i = 0; i < TALLY_HTML_N_FRAME_COLUMNS; i++)
			fprintf(out, "%s%d", i ? "," : "",
				tally_html_pack_column(&p->pack, &own->frames[i]));
		putc(']', out);
		uint64_t step;
		int bars = tally_html_pack_bars(&p->pack, own, left_for_device(p) / 2, &step);
		fprintf(out, ",\"bars\":%d,\"bar_step\":%" G_GUINT64_FORMAT, bars, step);
		put_kinds(out, own);
		put_groups(p, own, d);
		p->devices_left--;
	} else {
		fputs(",\"rows\":0", out);
	}
	putc('}', out);
}

/* A log */

static void
put_notes(FILE *out, const struct tally_html_log *log)
{
	fputs(",\"notes\":[", out);
	for (guint i = 0; i < log->notes->len; i++) {
		const struct tally_html_note *n = g_ptr_array_index(log->notes, i);
		fprintf(out, "%s[\"%s\",", i ? "," : "", tally_level_name(n->level));
		text(out, n->source);
		putc(',', out);
		text(out, n->message);
		if (n->has_time)
			fprintf(out, ",\"%" G_GUINT64_FORMAT "\"", n->time_ns);
		putc(']', out);
	}
	fprintf(out, "],\"notes_left_out\":%" G_GUINT64_FORMAT, log->notes_left_out);
}

static void
put_series(FILE *out, const struct tally_html_log *log)
{
	const struct tally_aggregate *a = &log->aggregate;
	fputs(",\"series\":[", out);
	for (uint32_t i = 0; i < tally_n_series(a); i++) {
		const char *key = tally_series_name(a, i);
		const struct tally_html_meaning *m = i < TALLY_N_FIXED_SERIES
							     ? NULL
							     : g_hash_table_lookup(log->meanings,
										   key);
		bool metric =
			i >= TALLY_N_FIXED_SERIES &&
			g_array_index(a->keys, struct tally_key, i - TALLY_N_FIXED_SERIES).metric;
		fputs(i ? ",{\"key\":" : "{\"key\":", out);
		text(out, key);
		member(out, "unit", tally_series_unit(a, i));
		if (m) {
			member(out, "name", m->name);
			member(out, "text", m->text);
			member(out, "source", m->source);
			member(out, "kind", m->kind);
			member(out, "scope", m->scope);
		}
		fputs(metric ? ",\"metric\":true}" : "}", out);
	}
	putc(']', out);
}

static void
put_log(struct page *p, const struct tally_html_log *log)
{
	FILE *out = p->json;
	const struct tally_aggregate *a = &log->aggregate;
	char *file = g_path_get_basename(a->path);
	fputs("{\"file\":", out);
	text(out, strcmp(a->path, "-") ? file : "standard input");
	g_free(file);
	member(out, "program", a->program);
	member(out, "version", a->version);
	fprintf(out, ",\"pid\":%" G_GINT64_FORMAT ",\"started_ms\":%" G_GUINT64_FORMAT,
		a->header.pid, a->header.started_unix_ns / 1000000);
	if (log->argv)
		texts(out, "argv", log->argv);
	texts(out, "options", log->options);
	if (a->truncated)
		fputs(",\"truncated\":true", out);
	if (a->has_end) {
		fputs(",\"end\":{\"reason\":", out);
		text(out, a->end_reason);
		fprintf(out, ",\"frames\":%" G_GUINT64_FORMAT ",\"dropped\":%" G_GUINT64_FORMAT "}",
			a->end_frames, a->end_frames_dropped);
	}
	put_notes(out, log);
	put_series(out, log);
	fputs(",\"devices\":[", out);
	for (guint i = 0; i < a->devices->len; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_device(p, log, g_ptr_array_index(a->devices, i));
	}
	fputs("]}", out);
}

/* The file */

/* JSON inside a page: no character that could end the element it is in. */
static void
append_guarded(GString *to, const char *json, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (json[i] == '<' || json[i] == '>' || json[i] == '&')
			g_string_append_printf(to, "\\u%04x", (unsigned)json[i]);
		else
			g_string_append_c(to, json[i]);
	}
}

static GString *
build(struct page *p, const char *json, size_t len)
{
	const char *mark = strstr(tally_html_page, TALLY_HTML_MARK);
	size_t before = (size_t)(mark - tally_html_page);
	GString *out = g_string_sized_new(tally_html_page_len + len + p->pack.blob->len * 4 / 3);
	g_string_append_len(out, tally_html_page, (gssize)before);
	g_string_append(out, "<script type=\"application/json\" id=\"meta\">");
	append_guarded(out, json, len);
	g_string_append(out, "</script>\n<script type=\"text/plain\" id=\"numbers\">");
	char *base64 = g_base64_encode(p->pack.blob->data, p->pack.blob->len);
	g_string_append(out, base64);
	g_free(base64);
	g_string_append(out, "</script>");
	g_string_append(out, mark + strlen(TALLY_HTML_MARK));
	return out;
}

/* `report --html a.jsonl b.jsonl` means well, and would cost a log. */
static bool
would_harm(const char *path)
{
	static const char start[] = "{\"type\":\"header\"";
	static const char zstd[] = "\x28\xb5\x2f\xfd";
	char bytes[sizeof(start) - 1];
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	FILE *file = fopen(path, "rb");
	if (!file)
		return false;
	bool harm = fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) &&
		    (memcmp(bytes, start, sizeof(bytes)) == 0 ||
		     memcmp(bytes, zstd, sizeof(zstd) - 1) == 0);
	fclose(file);
	if (harm)
		tally_cli_complain("report",
				   "--html %s: that is a log; name the page first: passtally "
				   "report --html OUT LOG",
				   path);
	return harm;
}

static int
write_page(const char *path, const GString *page)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	if (strcmp(path, "-") == 0) {
		fwrite(page->str, 1, page->len, stdout);
		return TALLY_EXIT_OK;
	}
	if (there && !S_ISREG(st.st_mode)) { /* /dev/null, a pipe: nothing to put in its place */
		FILE *file = fopen(path, "wb");
		bool good = file && fwrite(page->str, 1, page->len, file) == page->len;
		good = file && fclose(file) == 0 && good;
		if (!good)
			tally_cli_complain("report", "%s: %s", path, g_strerror(errno));
		return good ? TALLY_EXIT_OK : TALLY_EXIT_FAILED;
	}
	GError *error = NULL;
	if (g_file_set_contents_full(path, page->str, (gssize)page->len,
				     G_FILE_SET_CONTENTS_CONSISTENT, 0666, &error))
		return TALLY_EXIT_OK;
	tally_cli_complain("report", "%s", error->message);
	g_error_free(error);
	return TALLY_EXIT_FAILED;
}

static int
put_logs(struct page *p, struct tally_html_log *logs, const char *const *paths, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int status = tally_html_log_read(&logs[i], paths[i], p->warmup);
		if (status != TALLY_EXIT_OK)
			return status;
		p->devices_left += logs[i].devices->len;
	}
	fprintf(p->json,
		"{\"schema\":\"passtally-html/1\",\"version\":\"%s\",\"warmup\":%" G_GUINT64_FORMAT
		",\"flags\":",
		PASSTALLY_VERSION, p->warmup);
	tally_json_print_flags(p->json, (UINT64_C(1) << TALLY_N_FLAGS) - 1);
	fputs(",\"logs\":[", p->json);
	for (unsigned i = 0; i < n; i++) {
		fputs(i ? "," : "", p->json);
		put_log(p, &logs[i]);
	}
	fputs("],\n\"columns\":[", p->json);
	for (guint i = 0; i < p->pack.columns->len; i++) {
		const struct tally_html_packed *c = &g_array_index(p->pack.columns,
								   struct tally_html_packed, i);
		fprintf(p->json, "%s[%u,%u,%d]", i ? "," : "", c->offset, c->length, (int)c->kind);
	}
	fputs("]}", p->json);
	return TALLY_EXIT_OK;
}

int
tally_report_html(const char *path, const char *const *logs, unsigned n_logs, uint64_t warmup)
{
	if (n_logs > 2) {
		tally_cli_complain("report", "--html takes one log, or two to compare");
		return TALLY_EXIT_USAGE;
	}
	if (would_harm(path))
		return TALLY_EXIT_USAGE;
	char *json = NULL;
	size_t len = 0;
	struct page p = { .json = open_memstream(&json, &len), .warmup = warmup };
	if (!p.json) {
		tally_cli_complain("report", "%s", g_strerror(errno));
		return TALLY_EXIT_FAILED;
	}
	tally_html_pack_init(&p.pack);
	struct tally_html_log read[2] = { 0 };
	int status = put_logs(&p, read, logs, n_logs);
	if (fclose(p.json) != 0 && status == TALLY_EXIT_OK) {
		tally_cli_complain("report", "%s", g_strerror(errno));
		status = TALLY_EXIT_FAILED;
	}
	if (status == TALLY_EXIT_OK) {
		GString *page = build(&p, json, len);
		status = write_page(path, page);
		g_string_free(page, TRUE);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(read); i++)
		tally_html_log_finish(&read[i]);
	tally_html_pack_finish(&p.pack);
	free(json);
	return status;
}
