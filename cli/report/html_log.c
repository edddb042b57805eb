/* SPDX-License-Identifier: MIT */
#include "cli/report/html_parts.h"

#include "cli/shared/each.h"
#include "layer/config/config.h"

#include <math.h>
#include <string.h>

enum { MOST_NOTES = 2000 };

struct tally_html_device *
tally_html_log_device(const struct tally_html_log *log, uint32_t device)
{
	TALLY_EACH (struct tally_html_device, d, log->devices)
		if (d->device == device)
			return d;
	return NULL;
}

static struct tally_html_device *
need_device(struct tally_html_log *log, uint32_t number)
{
	struct tally_html_device *d = tally_html_log_device(log, number);
	if (d)
		return d;
	d = g_new0(struct tally_html_device, 1);
	d->device = number;
	d->groups = g_ptr_array_new();
	d->kinds = g_array_new(FALSE, FALSE, sizeof(struct tally_html_kind));
	tally_html_spill_init(&d->spill);
	g_ptr_array_add(log->devices, d);
	return d;
}

static void
free_device(gpointer p)
{
	struct tally_html_device *d = p;
	for (size_t i = 0; i < TALLY_HTML_N_FRAME_COLUMNS; i++)
		tally_html_column_finish(&d->frames[i]);
	TALLY_EACH (struct tally_group, g, d->groups) {
		struct tally_html_group *own = g->watched;
		for (uint32_t k = 0; k < own->n_series; k++) {
			tally_html_column_finish(&own->series[k].column);
			tally_html_bytes_finish(&own->series[k].exact);
		}
		g_free(own->waiting);
		g_free(own->there);
		g_free(own->series);
		g_free(own);
		g->watched = NULL;
	}
	g_ptr_array_unref(d->groups);
	g_array_unref(d->kinds);
	tally_html_bytes_finish(&d->bars);
	tally_html_bytes_finish(&d->bar_lengths);
	tally_html_spill_finish(&d->spill);
	g_free(d);
}

/* Lines */

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
	g_autofree char *text = g_malloc(tally_option_get(option, defaults, NULL, 0) + 1);
	tally_option_get(option, defaults, text, tally_option_get(option, defaults, NULL, 0) + 1);
	return strcmp(text, value) == 0;
}

static void
take_header(struct tally_html_log *log, const struct tally_header_record *h)
{
	struct tally_config defaults;
	tally_config_init(&defaults);
	for (uint32_t i = 0; i < h->n_options; i++) {
		if (is_default(&defaults, h->options[i].key, h->options[i].value))
			continue;
		g_ptr_array_add(log->options, g_strdup(h->options[i].key));
		g_ptr_array_add(log->options, g_strdup(h->options[i].value));
	}
	tally_config_finish(&defaults);
	if (!h->has_argv || log->argv)
		return;
	log->argv = tally_arguments_mask(h->argv, h->n_argv);
}

static void
take_note(struct tally_html_log *log, const struct tally_note_record *r)
{
	if (log->notes->len >= MOST_NOTES) {
		log->notes_left_out++;
		return;
	}
	const struct tally_note_record note = { .level = r->level,
						.source = g_intern_string(r->source),
						.message = g_intern_string(r->message),
						.has_time = r->has_time,
						.time_ns = r->time_ns };
	g_array_append_val(log->notes, note);
}

static void
take_line(void *user, const struct tally_log_line *line)
{
	struct tally_html_log *log = user;
	if (line->type == TALLY_LINE_HEADER)
		take_header(log, &line->header);
	else if (line->type == TALLY_LINE_NOTE)
		take_note(log, &line->note);
}

/* Values */

static struct tally_html_group *
need_group(struct tally_html_device *d, struct tally_group *g)
{
	if (g->watched)
		return g->watched;
	struct tally_html_group *own = g_new0(struct tally_html_group, 1);
	own->place = d->groups->len;
	own->device = d;
	g->watched = own;
	g_ptr_array_add(d->groups, g);
	return own;
}

static void
add_exact(struct tally_html_series *s, struct tally_html_spill *spill, struct tally_value v)
{
	if (!s->exact.data)
		tally_html_column_copy(&s->column, spill, &s->exact);
	tally_html_put_value(&s->exact, spill, v);
}

/* Takes the values collected of a series if all are the one before, as most often. */
static bool
take_repeats(struct tally_html_group *own, uint32_t k)
{
	struct tally_html_series *s = &own->series[k];
	uint32_t n = own->n_waiting;
	uint64_t differ = 0;
	if (s->exact.data || !s->column.plain || own->there[k] != (UINT32_C(1) << n) - 1 ||
	    own->rows[0] != s->column.run_end || own->rows[n - 1] - own->rows[0] != n - 1)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct tally_value *v = &own->waiting[i * own->n_series + k];
		differ |= (v->u64 ^ s->column.last) | (v->storage ^ TALLY_STORAGE_U64);
	}
	return !differ && tally_html_column_repeat(&s->column, n);
}

/* Passes the values collected so far to their series. */
static void
take_waiting(struct tally_html_group *own)
{
	for (uint32_t k = 0; k < own->n_series; k++) {
		struct tally_html_series *s = &own->series[k];
		uint32_t left = own->n_waiting && take_repeats(own, k) ? 0 : own->there[k];
		for (; left; left &= left - 1) {
			unsigned i = (unsigned)__builtin_ctz(left);
			struct tally_value v = own->waiting[i * own->n_series + k];
			if (s->exact.data || v.storage != TALLY_STORAGE_U64)
				add_exact(s, &own->device->spill, v);
			tally_html_column_add(&s->column, &own->device->spill, own->rows[i], v);
		}
		own->there[k] = 0;
	}
	own->n_waiting = 0;
}

static void
make_series(struct tally_html_group *own, uint32_t n)
{
	take_waiting(own);
	own->waiting = g_renew(struct tally_value, own->waiting, TALLY_HTML_WAITING * n);
	own->there = g_renew(uint32_t, own->there, n);
	own->series = g_renew(struct tally_html_series, own->series, n);
	for (; own->n_series < n; own->n_series++) {
		own->there[own->n_series] = 0;
		own->series[own->n_series] = (struct tally_html_series){ 0 };
	}
}

/* The values of a group in the frame being read. */
static void
take_values(const struct tally_html_log *log, struct tally_html_device *d, struct tally_group *g)
{
	struct tally_html_group *own = need_group(d, g);
	if (own->n_series < g->n_series)
		make_series(own, g->n_series);
	struct tally_value *to = own->waiting + own->n_waiting * own->n_series;
	for (uint32_t i = 0; i < g->n_series; i++)
		own->there[i] |= (uint32_t)tally_group_value(&log->aggregate, g, i, &to[i])
				 << own->n_waiting;
	own->rows[own->n_waiting++] = d->rows;
	if (own->n_waiting == TALLY_HTML_WAITING)
		take_waiting(own);
}

static uint64_t
need_kind(struct tally_html_device *d, const struct tally_pass_record *p)
{
	struct tally_html_kind want = {
		.queue_family = p->queue_family,
		.queue_index = p->queue_index,
		.context = p->context,
		.flags = p->flags,
		.has_start = p->has_gpu_start && p->has_gpu,
		.has_gpu = p->has_gpu,
		.has_cpu = p->has_cpu_start,
	};
	TALLY_EACH_OF (const struct tally_html_kind, k, d->kinds)
		if (k->queue_family == want.queue_family && k->queue_index == want.queue_index &&
		    k->context == want.context && k->flags == want.flags &&
		    k->has_start == want.has_start && k->has_gpu == want.has_gpu &&
		    k->has_cpu == want.has_cpu)
			return (uint64_t)(k - &g_array_index(d->kinds, struct tally_html_kind, 0));
	g_array_append_val(d->kinds, want);
	return d->kinds->len - 1;
}

/* Groups, kinds and starts are stored as differences: most are small. */
static void
take_passes(const struct tally_html_log *log, struct tally_html_device *d,
	    const struct tally_frame_record *f)
{
	uint64_t before = tally_html_bytes_length(&d->bars);
	tally_html_put_unsigned(&d->bars, &d->spill, f->n_passes);
	uint64_t end = f->start_ns, cpu = f->start_ns;
	int64_t index = -1;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		const struct tally_group *g = tally_aggregate_find_pass(&log->aggregate, f->device,
									p->id, i);
		const struct tally_html_group *own = g ? g->watched : NULL;
		int64_t now = own ? (int64_t)own->place : index;
		tally_html_put_signed(&d->bars, &d->spill, now - index - 1);
		index = now;
		tally_html_put_unsigned(&d->bars, &d->spill, need_kind(d, p));
		if (p->has_gpu_start && p->has_gpu) {
			tally_html_put_signed(&d->bars, &d->spill,
					      (int64_t)(p->gpu_start_ns - end));
			end = p->gpu_start_ns + p->gpu_ns;
		}
		if (p->has_gpu)
			tally_html_put_unsigned(&d->bars, &d->spill, p->gpu_ns);
		if (p->has_cpu_start) {
			tally_html_put_signed(&d->bars, &d->spill,
					      (int64_t)(p->cpu_start_ns - cpu));
			cpu = p->cpu_start_ns;
		}
	}
	tally_html_put_unsigned(&d->bar_lengths, &d->spill,
				tally_html_bytes_length(&d->bars) - before);
}

static void
put(struct tally_html_device *d, enum tally_html_frame_column c, uint64_t v)
{
	tally_html_column_add(&d->frames[c], &d->spill, d->rows, tally_u64(v));
}

static void
take_frame(void *user, const struct tally_frame_record *f, const GPtrArray *groups)
{
	struct tally_html_log *log = user;
	struct tally_html_device *d = need_device(log, f->device);
	TALLY_EACH (struct tally_group, g, groups)
		take_values(log, d, g);
	if (!d->any)
		d->base_ns = f->start_ns;
	d->any = true;
	put(d, TALLY_HTML_FRAME, f->frame);
	tally_html_column_add(&d->frames[TALLY_HTML_START], &d->spill, d->rows,
			      (struct tally_value){ .storage = TALLY_STORAGE_I64,
						    .i64 = (int64_t)(f->start_ns - d->base_ns) });
	put(d, TALLY_HTML_CPU, f->cpu_ns);
	if (f->has_gpu) {
		put(d, TALLY_HTML_GPU, f->gpu_ns);
		put(d, TALLY_HTML_ENVELOPE, f->envelope_ns);
	}
	if (f->has_coverage)
		tally_html_column_add(&d->frames[TALLY_HTML_COVERAGE], &d->spill, d->rows,
				      tally_f64(f->coverage));
	if (f->has_unattributed_gpu)
		put(d, TALLY_HTML_UNATTRIBUTED, f->unattributed_gpu_ns);
	put(d, TALLY_HTML_OVERHEAD, f->overhead_ns);
	put(d, TALLY_HTML_DROPPED, f->dropped_passes);
	if (f->flags)
		put(d, TALLY_HTML_FLAGS, f->flags);
	take_passes(log, d, f);
	d->rows++;
	tally_answer_add_frame(log->answer, f);
}

static void
skip_frame(void *user, const struct tally_frame_record *f)
{
	struct tally_html_log *log = user;
	tally_answer_skip_frame(log->answer, f);
}

struct tally_html_summary
tally_html_summarize(struct tally_stats *values)
{
	static const double quantiles[] = { 0.5, 0.9, 0.99 };
	const struct tally_moments *m = &values->moments;
	struct tally_html_summary s = { .n = m->n };
	if (m->n == 0)
		return s;
	s.total = tally_moments_total(m);
	s.mean = tally_moments_mean(m);
	s.sd = m->n > 1 ? tally_moments_sd_sample(m) : (double)NAN;
	s.min = m->min;
	s.max = m->max;
	for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++)
		s.quantiles[i] = tally_stats_quantile(values, quantiles[i]);
	s.exact = tally_stats_exact(values);
	return s;
}

void
tally_html_summarize_series(struct tally_html_series *s, struct tally_html_spill *spill)
{
	struct tally_stats stats;
	tally_stats_init(&stats, TALLY_STATS_KEEP_PASS);
	tally_stats_expect(&stats, s->column.n);
	if (s->exact.data) {
		struct tally_html_cursor k;
		struct tally_value v;
		tally_html_cursor_begin(&k, &s->exact, spill);
		while (tally_html_take_value(&k, &v))
			tally_stats_add(&stats, v);
	} else {
		tally_html_column_count(&s->column, spill, &stats);
	}
	s->summary = tally_html_summarize(&stats);
	tally_stats_finish(&stats);
	tally_html_bytes_finish(&s->exact);
}

static void
close_columns(struct tally_html_device *d)
{
	for (size_t i = 0; i < TALLY_HTML_N_FRAME_COLUMNS; i++)
		tally_html_column_close(&d->frames[i], &d->spill);
	TALLY_EACH (const struct tally_group, g, d->groups) {
		struct tally_html_group *own = g->watched;
		take_waiting(own);
		for (uint32_t k = 0; k < own->n_series; k++)
			tally_html_column_close(&own->series[k].column, &d->spill);
	}
}

int
tally_html_log_read(struct tally_html_log *log, const char *path, uint64_t warmup)
{
	*log = (struct tally_html_log){ 0 };
	log->devices = g_ptr_array_new_with_free_func(free_device);
	log->notes = g_array_new(FALSE, FALSE, sizeof(struct tally_note_record));
	log->options = g_ptr_array_new_with_free_func(g_free);
	log->watch = (struct tally_aggregate_watch){
		.user = log,
		.line = take_line,
		.takes_values = true,
		.frame = take_frame,
		.skipped = skip_frame,
	};
	log->answer = tally_answer_create(&log->aggregate);
	int status = tally_aggregate_read_watched(&log->aggregate, "report", path, TALLY_BY_PASS,
						  warmup, &log->watch, false);
	tally_answer_conclude(log->answer);
	TALLY_EACH (struct tally_html_device, d, log->devices)
		close_columns(d);
	return status;
}

void
tally_html_log_finish(struct tally_html_log *log)
{
	if (!log->devices)
		return;
	/* Freed before the aggregate, which frees the groups that these refer to. */
	g_ptr_array_unref(log->devices);
	tally_answer_destroy(log->answer);
	tally_aggregate_finish(&log->aggregate);
	g_array_unref(log->notes);
	g_ptr_array_unref(log->options);
	if (log->argv)
		g_ptr_array_unref(log->argv);
	*log = (struct tally_html_log){ 0 };
}
