/* SPDX-License-Identifier: MIT */
#include "cli/top/window.h"

#include "cli/answer/asleep.h"
#include "cli/log/device_summary.h"
#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

/* A frame or process line. What its pointers lead to follows in the same block of memory; keys of
 * counters belong to the log's reader. */
struct stored_line {
	struct tally_log_line line;
	uint64_t at_ns; /* it belongs to the window as long as this does */
	uint64_t place; /* of a frame: its number among those of its device, from 0 */
	size_t n_bytes;
	char data[];
};

/* The slice that a point in time belongs to: counted from the clock's zero, so that a chart
 * moves by whole slices. */
static uint64_t
slice_at(const struct tally_top_window *w, uint64_t ns)
{
	return ns / w->slice_ns;
}

static uint64_t
first_slice(const struct tally_top_window *w)
{
	uint64_t now = slice_at(w, w->now_ns);
	return now >= TALLY_TOP_SLICES ? now - TALLY_TOP_SLICES + 1 : 0;
}

static struct stored_line *
oldest(struct tally_top_window *w)
{
	return g_queue_peek_head(&w->stored);
}

static void
drop_oldest(struct tally_top_window *w)
{
	struct stored_line *l = g_queue_pop_head(&w->stored);
	w->n_bytes -= l->n_bytes;
	g_free(l);
}

/* ---- copies of lines ---- */

static const void *
copy(char **at, const void *from, size_t n)
{
	char *to = *at;
	if (n)
		memcpy(to, from, n);
	*at += n;
	return to;
}

#define COPY(at, list, n) copy(at, list, (n) * sizeof(*(list)))

static struct stored_line *
create(const struct tally_log_line *line, uint64_t at_ns, size_t n_bytes)
{
	n_bytes += sizeof(struct stored_line);
	struct stored_line *stored = g_malloc(n_bytes);
	stored->line = *line;
	stored->at_ns = at_ns;
	stored->n_bytes = n_bytes;
	return stored;
}

static struct stored_line *
copy_frame(const struct tally_log_line *line)
{
	const struct tally_frame_record *from = &line->frame;
	size_t n = from->n_passes * sizeof(from->passes[0]) +
		   from->n_calls * sizeof(from->calls[0]) +
		   from->n_asleep * sizeof(from->asleep[0]) +
		   from->n_events * sizeof(from->events[0]) +
		   (from->n_unattributed + from->n_metrics) * sizeof(from->metrics[0]);
	for (uint32_t i = 0; i < from->n_passes; i++)
		n += (from->passes[i].n_counters + from->passes[i].n_metrics) *
		     sizeof(from->metrics[0]);
	struct stored_line *stored = create(line, from->start_ns, n);
	struct tally_frame_record *f = &stored->line.frame;
	char *at = stored->data;
	f->set = NULL;
	f->events = COPY(&at, f->events, f->n_events);
	f->unattributed = COPY(&at, f->unattributed, f->n_unattributed);
	f->metrics = COPY(&at, f->metrics, f->n_metrics);
	struct tally_event_call_record *calls = (void *)at;
	f->calls = COPY(&at, f->calls, f->n_calls);
	for (uint32_t i = 0; i < f->n_calls; i++) {
		calls[i].call = g_intern_string(calls[i].call);
		calls[i].thread = g_intern_string(calls[i].thread);
	}
	struct tally_asleep_record *asleep = (void *)at;
	f->asleep = COPY(&at, f->asleep, f->n_asleep);
	for (uint32_t i = 0; i < f->n_asleep; i++)
		tally_asleep_intern(&asleep[i]);
	struct tally_pass_record *p = (void *)at;
	f->passes = COPY(&at, f->passes, f->n_passes);
	for (uint32_t i = 0; i < f->n_passes; i++, p++) {
		p->counters = COPY(&at, p->counters, p->n_counters);
		p->metrics = COPY(&at, p->metrics, p->n_metrics);
		p->label = NULL; /* the name of its row is known */
		p->workloads = NULL;
		p->pipelines = NULL;
		p->n_workloads = p->n_pipelines = 0;
	}
	return stored;
}

static struct stored_line *
copy_process(const struct tally_log_line *line)
{
	const struct tally_process_record *from = &line->process;
	struct stored_line *stored = create(line, from->time_ns,
					    from->n_threads * sizeof(from->threads[0]));
	char *at = stored->data;
	struct tally_thread_record *threads = (void *)at;
	stored->line.process.threads = COPY(&at, from->threads, from->n_threads);
	for (uint32_t i = 0; i < from->n_threads; i++)
		threads[i].name = g_intern_string(threads[i].name);
	return stored;
}

static struct tally_top_device *
need_device(struct tally_top_window *w, uint32_t number)
{
	TALLY_EACH_OF (struct tally_top_device, d, w->devices)
		if (d->device == number)
			return d;
	const struct tally_top_device d = { .device = number };
	g_array_append_val(w->devices, d);
	return &g_array_index(w->devices, struct tally_top_device, w->devices->len - 1);
}

static void
add_line(void *user, const struct tally_log_line *line)
{
	struct tally_top_window *w = user;
	const struct tally_frame_record *f = &line->frame;
	if (line->type != TALLY_LINE_FRAME && line->type != TALLY_LINE_PROCESS)
		return;
	bool frame = line->type == TALLY_LINE_FRAME;
	struct stored_line *stored = frame ? copy_frame(line) : copy_process(line);
	w->n_bytes += stored->n_bytes;
	g_queue_push_tail(&w->stored, stored);
	if (!frame)
		return;
	tally_warmup_add(w->warmup, line);
	struct tally_top_device *d = need_device(w, f->device);
	stored->place = d->frames++;
	d->last_ns = MAX(d->last_ns, f->start_ns);
	w->first_ns = w->frames++ ? MIN(w->first_ns, f->start_ns) : f->start_ns;
	w->now_ns = MAX(w->now_ns, f->start_ns);
	while (slice_at(w, oldest(w)->at_ns) < first_slice(w))
		drop_oldest(w);
	for (; w->stored.length > 1 && w->n_bytes > TALLY_TOP_MOST_BYTES; drop_oldest(w))
		w->cut_ns = oldest(w)->at_ns;
	w->cut = w->cut_ns && slice_at(w, w->cut_ns) >= first_slice(w);
}

void
tally_top_window_init(struct tally_top_window *w, const char *path, double seconds)
{
	*w = (struct tally_top_window){ 0 };
	w->slice_ns = MAX((uint64_t)(seconds * 1e9 / TALLY_TOP_SLICES), 1);
	w->devices = g_array_new(FALSE, FALSE, sizeof(struct tally_top_device));
	w->warmup = tally_warmup_create();
	w->watch = (struct tally_aggregate_watch){
		.user = w, .takes_values = true, .line = add_line
	};
	tally_aggregate_begin(&w->log, path, &w->watch);
}

void
tally_top_window_finish(struct tally_top_window *w)
{
	if (!w->devices)
		return;
	g_queue_clear_full(&w->stored, g_free);
	g_array_unref(w->devices);
	tally_warmup_destroy(w->warmup);
	tally_aggregate_finish(&w->log);
	*w = (struct tally_top_window){ 0 };
}

/* ---- the summary ---- */

static void
add(struct tally_top_course *course, uint64_t slice, double v)
{
	course->n[slice]++;
	course->sums[slice] += v;
}

static void
sum_frame(void *user, const struct tally_frame_record *f, const GPtrArray *groups)
{
	struct tally_top_sums *sums = user;
	uint64_t slice = slice_at(sums->w, f->start_ns) - first_slice(sums->w);
	if (f->device != sums->device)
		return;
	/* A frame cut short by the end of the run, or pictured, has no meaningful length. */
	if (!(f->flags & (TALLY_FLAG(PARTIAL) | TALLY_FLAG(PICTURED))))
		add(&sums->cpu, slice, (double)f->cpu_ns);
	if (f->has_gpu)
		add(&sums->gpu, slice, (double)f->gpu_ns);
	TALLY_EACH (struct tally_group, g, groups) {
		struct tally_top_course *course = g_hash_table_lookup(sums->passes, g);
		struct tally_value v;
		if (!course) {
			course = g_new0(struct tally_top_course, 1);
			g_hash_table_insert(sums->passes, g, course);
		}
		if (tally_group_value(&sums->w->log, g, TALLY_SERIES_GPU, &v))
			add(course, slice, tally_value_f64(v));
	}
}

struct tally_top_sums *
tally_top_sums_create(struct tally_top_window *w, const struct tally_top_device *d)
{
	struct tally_top_sums *sums = g_new0(struct tally_top_sums, 1);
	uint64_t first = first_slice(w), from = slice_at(w, w->first_ns);
	sums->w = w;
	sums->device = d ? d->device : 0;
	sums->passes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	/* If the log is shorter than the window, its slices fill the whole chart. */
	sums->first_slice = from > first ? (unsigned)(from - first) : 0;
	sums->answer = tally_answer_create(&w->log);
	const struct tally_aggregate_watch watch = {
		.user = sums,
		.frame = sum_frame,
		.then = tally_answer_watch(sums->answer),
	};
	tally_aggregate_forget_frames(&w->log);
	w->log.watch = &watch;
	for (const GList *l = w->stored.head; l; l = l->next) {
		const struct stored_line *s = l->data;
		const struct tally_frame_record *f = &s->line.frame;
		if (slice_at(w, s->at_ns) < first)
			continue;
		if (s->line.type == TALLY_LINE_FRAME &&
		    s->place < tally_warmup_frames(w->warmup, f))
			tally_answer_skip_frame(sums->answer, f);
		else
			tally_aggregate_add(&w->log, &s->line);
	}
	w->log.watch = &w->watch;
	tally_answer_conclude(sums->answer);
	return sums;
}

void
tally_top_sums_destroy(struct tally_top_sums *sums)
{
	tally_answer_destroy(sums->answer);
	g_hash_table_destroy(sums->passes);
	g_free(sums);
}

void
tally_top_steps(const struct tally_top_sums *sums, const struct tally_top_course *course,
		double *steps, unsigned n)
{
	unsigned span = TALLY_TOP_SLICES - sums->first_slice;
	double last = NAN;
	for (unsigned i = 0; i < n; i++) {
		unsigned from = sums->first_slice + span * i / n;
		unsigned to = MAX(sums->first_slice + span * (i + 1) / n, from + 1);
		uint64_t values = 0, frames = 0;
		double sum = 0;
		for (; from < to; from++) {
			frames += sums->cpu.n[from];
			values += course->n[from];
			sum += course->sums[from];
		}
		if (values)
			last = sum / (double)values;
		else if (frames)
			last = NAN;
		steps[i] = last;
	}
}

const struct tally_top_device *
tally_top_shown_device(const struct tally_top_window *w, int64_t number)
{
	const struct tally_top_device *newest = NULL;
	TALLY_EACH_OF (const struct tally_top_device, d, w->devices) {
		if (d->device == number)
			return d;
		if (!tally_aggregate_is_beneath(&w->log, d->device) &&
		    (!newest || d->last_ns > newest->last_ns))
			newest = d;
	}
	return newest;
}
