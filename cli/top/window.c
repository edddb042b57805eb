/* SPDX-License-Identifier: MIT */
#include "cli/top/window.h"

#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

struct stored_group {
	struct tally_group *group;
	uint32_t n; /* values, by series; NAN: not known */
};

/* A frame's numbers and passes, without their lists. What the pointers lead to follows in the same
 * block of memory. */
struct stored_frame {
	struct tally_frame_record record;
	uint32_t n_groups;
	struct stored_group *groups;
	double *values; /* of the groups, one after the other */
	size_t n_bytes;
	struct tally_pass_record passes[];
};

/* A process line, for the answer: what worked while a frame waited. */
struct stored_process {
	struct tally_process_record record;
	struct tally_thread_record threads[];
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

static bool
is_past(const struct tally_top_window *w, const struct stored_frame *f)
{
	return slice_at(w, f->record.start_ns) < first_slice(w);
}

static void
drop_oldest(struct tally_top_window *w)
{
	struct stored_frame *f = g_queue_pop_head(&w->stored);
	w->n_bytes -= f->n_bytes;
	g_free(f);
}

/* The frame's own copies of its calls and events, from `at` on; their texts are interned. */
static void
copy_events(struct tally_frame_record *f, void *at)
{
	struct tally_event_call_record *calls = at;
	struct tally_event_record *events = (void *)&calls[f->n_calls];
	for (uint32_t i = 0; i < f->n_calls; i++) {
		calls[i] = f->calls[i];
		calls[i].call = g_intern_string(f->calls[i].call);
		calls[i].thread = g_intern_string(f->calls[i].thread);
	}
	for (uint32_t i = 0; i < f->n_events; i++)
		events[i] = f->events[i];
	f->calls = calls;
	f->events = events;
}

static struct stored_frame *
copy_frame(const struct tally_aggregate *log, const struct tally_frame_record *f,
	   const GPtrArray *groups)
{
	size_t n_values = 0;
	TALLY_EACH (const struct tally_group, g, groups)
		n_values += g->n_series;
	size_t n_bytes = sizeof(struct stored_frame) + n_values * sizeof(double) +
			 groups->len * sizeof(struct stored_group) +
			 f->n_passes * sizeof(f->passes[0]) + f->n_calls * sizeof(f->calls[0]) +
			 f->n_events * sizeof(f->events[0]);
	struct stored_frame *stored = g_malloc(n_bytes);
	*stored = (struct stored_frame){ *f, groups->len, NULL, NULL, n_bytes };
	stored->record.set = NULL;
	stored->record.passes = stored->passes;
	stored->record.unattributed = stored->record.metrics = NULL;
	stored->record.n_unattributed = stored->record.n_metrics = 0;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		struct tally_pass_record *p = &stored->passes[i];
		*p = f->passes[i];
		p->label = NULL;
		p->counters = p->metrics = NULL;
		p->workloads = NULL;
		p->pipelines = NULL;
		p->n_counters = p->n_metrics = p->n_workloads = p->n_pipelines = 0;
	}
	struct stored_group *out = stored->groups = (void *)&stored->passes[f->n_passes];
	double *value = stored->values = (void *)&out[groups->len];
	TALLY_EACH (struct tally_group, g, groups) {
		*out++ = (struct stored_group){ g, g->n_series };
		struct tally_value v;
		for (uint32_t i = 0; i < g->n_series; i++)
			*value++ = tally_group_value(log, g, i, &v) ? tally_value_f64(v)
								    : (double)NAN;
	}
	copy_events(&stored->record, value);
	return stored;
}

static void
note_series(struct tally_top_window *w, struct stored_frame *f)
{
	const double *value = f->values;
	for (uint32_t k = 0; k < f->n_groups; k++) {
		uint32_t n = f->groups[k].n;
		if (n > w->series_in_use->len)
			g_array_set_size(w->series_in_use, n);
		for (uint32_t i = 0; i < n; i++, value++)
			g_array_index(w->series_in_use, bool, i) |= *value != 0 && !isnan(*value);
	}
}

static void
add_line(void *user, const struct tally_log_line *line)
{
	struct tally_top_window *w = user;
	const struct tally_process_record *p = &line->process;
	if (line->type != TALLY_LINE_PROCESS)
		return;
	struct stored_process *stored =
		g_malloc(sizeof(*stored) + p->n_threads * sizeof(p->threads[0]));
	stored->record = *p;
	stored->record.threads = stored->threads;
	for (uint32_t i = 0; i < p->n_threads; i++) {
		stored->threads[i] = p->threads[i];
		stored->threads[i].name = g_intern_string(p->threads[i].name);
	}
	g_queue_push_tail(&w->processes, stored);
	const struct stored_frame *oldest = g_queue_peek_head(&w->stored);
	while (oldest && w->processes.length > 1 &&
	       (stored = g_queue_peek_head(&w->processes))->record.time_ns <
		       oldest->record.start_ns)
		g_free(g_queue_pop_head(&w->processes));
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
add_frame(void *user, const struct tally_frame_record *frame, const GPtrArray *groups)
{
	struct tally_top_window *w = user;
	struct tally_top_device *d = need_device(w, frame->device);
	d->frames++;
	d->last_ns = MAX(d->last_ns, frame->start_ns);
	w->first_ns = w->frames++ ? MIN(w->first_ns, frame->start_ns) : frame->start_ns;
	w->now_ns = MAX(w->now_ns, frame->start_ns);
	struct stored_frame *stored = copy_frame(&w->log, frame, groups);
	note_series(w, stored);
	w->n_bytes += stored->n_bytes;
	g_queue_push_tail(&w->stored, stored);
	while (is_past(w, g_queue_peek_head(&w->stored)))
		drop_oldest(w);
	for (; w->stored.length > 1 && w->n_bytes > TALLY_TOP_MOST_BYTES; drop_oldest(w))
		w->cut_ns = ((struct stored_frame *)g_queue_peek_head(&w->stored))->record.start_ns;
	w->cut = w->cut_ns && slice_at(w, w->cut_ns) >= first_slice(w);
}

void
tally_top_window_init(struct tally_top_window *w, const char *path, double seconds)
{
	*w = (struct tally_top_window){ 0 };
	w->slice_ns = MAX((uint64_t)(seconds * 1e9 / TALLY_TOP_SLICES), 1);
	w->devices = g_array_new(FALSE, FALSE, sizeof(struct tally_top_device));
	w->series_in_use = g_array_new(FALSE, TRUE, sizeof(bool));
	w->watch = (struct tally_aggregate_watch){
		.user = w,
		.takes_values = true,
		.line = add_line,
		.frame = add_frame,
	};
	tally_aggregate_begin(&w->log, path, &w->watch);
}

void
tally_top_window_finish(struct tally_top_window *w)
{
	if (!w->devices)
		return;
	g_queue_clear_full(&w->stored, g_free);
	g_queue_clear_full(&w->processes, g_free);
	g_array_unref(w->devices);
	g_array_unref(w->series_in_use);
	tally_aggregate_finish(&w->log);
	*w = (struct tally_top_window){ 0 };
}

/* Sums */

/* How many of the stored frames are loading: those of the log's start, if they are still there. */
static size_t
loading(const struct tally_top_window *w, const struct tally_top_device *d)
{
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (const GList *l = w->stored.head; l; l = l->next) {
		const struct stored_frame *stored = l->data;
		if (stored->record.device == d->device)
			g_array_append_val(times, stored->record.cpu_ns);
	}
	if (times->len != d->frames)
		return 0;
	return tally_warmup_count((const uint64_t *)(void *)times->data,
				  MIN(times->len, TALLY_WARMUP_FRAMES));
}

static void
add(struct tally_top_figures *f, double v)
{
	if (!isfinite(v))
		return;
	f->largest = f->n ? MAX(f->largest, v) : v;
	f->n++;
	f->sum += v;
}

static void
add_at(struct tally_top_course *course, unsigned slice, double v)
{
	add(&course->all, v);
	add(&course->slices[slice], v);
}

static struct tally_top_pass *
need_pass(struct tally_top_sums *sums, struct tally_group *g)
{
	struct tally_top_pass *p = g->watched;
	if (p)
		return p;
	p = g->watched = g_new(struct tally_top_pass, 1);
	*p = (struct tally_top_pass){ .group = g, .n_series = g->n_series };
	p->series = g_new0(struct tally_top_figures, g->n_series);
	g_ptr_array_add(sums->passes, p);
	return p;
}

static void
add_stored(struct tally_top_sums *sums, struct stored_frame *f, unsigned slice)
{
	/* A frame cut short by the end of the run, or pictured, has no meaningful length. */
	if (!(f->record.flags & (TALLY_FLAG(PARTIAL) | TALLY_FLAG(PICTURED))))
		add_at(&sums->cpu, slice, (double)f->record.cpu_ns);
	if (f->record.has_gpu)
		add_at(&sums->gpu, slice, (double)f->record.gpu_ns);
	const double *value = f->values;
	for (uint32_t k = 0; k < f->n_groups; k++) {
		const struct stored_group *of = &f->groups[k];
		struct tally_top_pass *p = need_pass(sums, of->group);
		p->frames++;
		for (uint32_t i = 0; i < of->n; i++)
			add(&p->series[i], value[i]);
		if (of->n > TALLY_SERIES_GPU)
			add_at(&p->gpu, slice, value[TALLY_SERIES_GPU]);
		value += of->n;
	}
}

static void
free_pass(gpointer p)
{
	struct tally_top_pass *pass = p;
	pass->group->watched = NULL;
	g_free(pass->series);
	g_free(pass);
}

struct tally_top_sums *
tally_top_sums_create(const struct tally_top_window *w, const struct tally_top_device *d)
{
	struct tally_top_sums *sums = g_new0(struct tally_top_sums, 1);
	uint64_t first = first_slice(w), from = slice_at(w, w->first_ns);
	sums->passes = g_ptr_array_new_with_free_func(free_pass);
	size_t skip = d ? loading(w, d) : 0;
	/* If the log is shorter than the window, its slices fill the whole chart. */
	sums->first_slice = from > first ? (unsigned)(from - first) : 0;
	for (GList *l = d ? w->stored.head : NULL; l; l = l->next) {
		struct stored_frame *f = l->data;
		sums->device = d->device;
		if (f->record.device != d->device || is_past(w, f))
			continue;
		if (skip > 0)
			skip--;
		else
			add_stored(sums, f, (unsigned)(slice_at(w, f->record.start_ns) - first));
	}
	return sums;
}

void
tally_top_sums_destroy(struct tally_top_sums *sums)
{
	g_ptr_array_unref(sums->passes);
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
			frames += sums->cpu.slices[from].n;
			values += course->slices[from].n;
			sum += course->slices[from].sum;
		}
		if (values)
			last = sum / (double)values;
		else if (frames)
			last = NAN;
		steps[i] = last;
	}
}

/* The answer */

struct tally_answer *
tally_top_window_answer(const struct tally_top_window *w, const struct tally_top_device *d)
{
	struct tally_answer *answer = tally_answer_create(&w->log);
	size_t skip = loading(w, d);
	for (const GList *l = w->processes.head; l; l = l->next) {
		const struct stored_process *stored = l->data;
		const struct tally_log_line line = { .type = TALLY_LINE_PROCESS,
						     .process = stored->record };
		tally_answer_add_line(answer, &line);
	}
	for (const GList *l = w->stored.head; l; l = l->next) {
		const struct stored_frame *stored = l->data;
		if (stored->record.device != d->device || is_past(w, stored))
			continue;
		if (skip > 0)
			tally_answer_skip_frame(answer, &stored->record);
		else
			tally_answer_add_frame(answer, &stored->record);
		skip -= skip > 0;
	}
	tally_answer_conclude(answer);
	return answer;
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
