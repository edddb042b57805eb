/* SPDX-License-Identifier: MIT */
#include "cli/top/window.h"

#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

#define FINE_IN_COARSE (TALLY_TOP_SLICES / TALLY_TOP_COARSE)

struct kept_pass {
	uint64_t id, gpu_ns, gpu_start_ns, cpu_start_ns, flags;
	bool has_gpu, has_gpu_start, has_cpu_start;
};

/* The data kept of a pass, from which a pass is reconstructed. */
#define KEPT(p) \
	.id = (p)->id, .gpu_ns = (p)->gpu_ns, .gpu_start_ns = (p)->gpu_start_ns, \
	.cpu_start_ns = (p)->cpu_start_ns, .flags = (p)->flags, .has_gpu = (p)->has_gpu, \
	.has_gpu_start = (p)->has_gpu_start, .has_cpu_start = (p)->has_cpu_start

struct kept_frame {
	struct tally_frame_record record; /* only its numbers */
	struct kept_pass passes[]; /* record.n_passes of them */
};

static void
free_pass(gpointer p)
{
	struct tally_top_pass *pass = p;
	for (uint32_t i = 0; i < pass->n_series; i++)
		g_free(pass->series[i]);
	g_free(pass->series);
	pass->group->watched = NULL;
	g_free(pass);
}

static void
free_device(gpointer p)
{
	g_queue_clear_full(&((struct tally_top_device *)p)->recent, g_free);
	g_free(p);
}

/* Adding frames */

static void
add(struct tally_top_slice *slices, unsigned n, uint64_t number, double v)
{
	struct tally_top_slice *s = &slices[number % n];
	if (s->number > number)
		return; /* long before the newest slice */
	if (s->number != number)
		*s = (struct tally_top_slice){ .number = number, .largest = (float)v };
	s->n++;
	s->sum += v;
	s->largest = MAX(s->largest, (float)v);
}

static void
add_fine(struct tally_top_slice *slices, uint64_t number, double v)
{
	add(slices, TALLY_TOP_SLICES, number, v);
}

static void
add_coarse(struct tally_top_slice *slices, uint64_t number, double v)
{
	add(slices, TALLY_TOP_COARSE, number / FINE_IN_COARSE + 1, v);
}

/* The slice that the frame being read belongs to. */
static uint64_t
slice_number(const struct tally_top_window *w)
{
	return w->frame_ns / w->slice_ns + 1;
}

static bool
is_past(const struct tally_top_window *w, uint64_t number)
{
	return number + TALLY_TOP_SLICES <= w->now;
}

static void
let_go(struct tally_top_window *w)
{
	for (guint i = w->passes->len; i-- > 0;) {
		struct tally_top_pass *p = g_ptr_array_index(w->passes, i);
		if (!is_past(w, p->last))
			continue;
		for (uint32_t k = 0; k < p->n_series; k++)
			w->n_kept -= p->series[k] != NULL;
		g_ptr_array_remove_index_fast(w->passes, i);
	}
}

/* NULL: there are too many passes. */
static struct tally_top_pass *
need_pass(struct tally_top_window *w, struct tally_group *g)
{
	if (!g->watched && w->passes->len >= TALLY_TOP_MOST_PASSES) {
		w->left_out++;
		return NULL;
	}
	if (!g->watched) {
		struct tally_top_pass *p = g_new0(struct tally_top_pass, 1);
		p->group = g;
		g->watched = p;
		g_ptr_array_add(w->passes, p);
	}
	return g->watched;
}

static struct tally_top_slice *
need_series(struct tally_top_window *w, struct tally_top_pass *p, uint32_t series)
{
	if (series >= p->n_series) {
		p->series = g_renew(struct tally_top_slice *, p->series, series + 1);
		memset(&p->series[p->n_series], 0,
		       (series + 1 - p->n_series) * sizeof(*p->series));
		p->n_series = series + 1;
	}
	if (!p->series[series] && w->n_kept >= TALLY_TOP_MOST_SERIES) {
		w->left_out++;
		return NULL;
	}
	if (!p->series[series]) {
		p->series[series] = g_new0(struct tally_top_slice, TALLY_TOP_COARSE);
		w->n_kept++;
	}
	return p->series[series];
}

static void
add_value(struct tally_top_window *w, struct tally_group *g, uint32_t series,
	  struct tally_value v)
{
	double number = tally_value_f64(v);
	if (series >= w->series_in_use->len)
		g_array_set_size(w->series_in_use, series + 1);
	bool *used = &g_array_index(w->series_in_use, bool, series);
	*used |= number != 0;
	if (!isfinite(number))
		return;
	struct tally_top_pass *p = need_pass(w, g);
	if (!p)
		return;
	p->last = MAX(p->last, slice_number(w));
	if (series == TALLY_SERIES_GPU) {
		add_fine(p->gpu, slice_number(w), number);
		return;
	}
	struct tally_top_slice *slices = need_series(w, p, series);
	if (slices)
		add_coarse(slices, slice_number(w), number);
}

static struct tally_top_device *
need_device(struct tally_top_window *w, uint32_t number)
{
	TALLY_EACH (struct tally_top_device, known, w->devices)
		if (known->device == number)
			return known;
	struct tally_top_device *d = g_new0(struct tally_top_device, 1);
	d->device = number;
	g_ptr_array_add(w->devices, d);
	return d;
}

/* The start of the window. */
static uint64_t
oldest_ns(const struct tally_top_window *w)
{
	return w->now > TALLY_TOP_SLICES ? (w->now - TALLY_TOP_SLICES) * w->slice_ns : 0;
}

/* Keeps the frame, and drops those that are no longer in the window. */
static void
keep_frame(const struct tally_top_window *w, struct tally_top_device *d,
	   const struct tally_frame_record *f)
{
	struct kept_frame *kept = g_malloc(sizeof(*kept) +
					   (size_t)f->n_passes * sizeof(kept->passes[0]));
	kept->record = *f;
	kept->record.set = NULL;
	kept->record.passes = NULL;
	kept->record.unattributed = NULL;
	kept->record.n_unattributed = 0;
	kept->record.metrics = NULL;
	kept->record.n_metrics = 0;
	for (uint32_t i = 0; i < f->n_passes; i++)
		kept->passes[i] = (struct kept_pass){ KEPT(&f->passes[i]) };
	g_queue_push_tail(&d->recent, kept);
	d->n_times += f->n_passes;
	while ((kept = g_queue_peek_head(&d->recent)) &&
	       (kept->record.start_ns < oldest_ns(w) ||
		d->recent.length > TALLY_TOP_MOST_FRAMES ||
		d->n_times > TALLY_TOP_MOST_TIMES)) {
		d->n_times -= kept->record.n_passes;
		g_free(g_queue_pop_head(&d->recent));
	}
}

static void
add_frame(void *user, const struct tally_frame_record *frame, const GPtrArray *groups)
{
	struct tally_top_window *w = user;
	uint64_t number = slice_number(w);
	struct tally_value v;
	TALLY_EACH (struct tally_group, g, groups)
		for (uint32_t i = 0; i < g->n_series; i++)
			if (tally_group_value(&w->log, g, i, &v))
				add_value(w, g, i, v);
	struct tally_top_device *d = need_device(w, frame->device);
	w->frames++;
	d->frames++;
	d->last = MAX(d->last, number);
	d->last_ns = MAX(d->last_ns, frame->start_ns);
	TALLY_EACH (struct tally_group, group, groups) {
		struct tally_top_pass *p = need_pass(w, group);
		if (!p)
			continue;
		p->last = MAX(p->last, number);
		add_coarse(p->seen, number, 1);
	}
	/* A frame cut short by the end of the run has no meaningful length. */
	if (!(frame->flags & TALLY_FLAG(PARTIAL)))
		add_fine(d->cpu, number, (double)frame->cpu_ns);
	keep_frame(w, d, frame);
	if (frame->has_gpu)
		add_fine(d->gpu, number, (double)frame->gpu_ns);
	if (frame->has_gpu && frame->has_coverage) {
		add_coarse(d->covered, number, frame->coverage * (double)frame->gpu_ns);
		add_coarse(d->coverable, number, (double)frame->gpu_ns);
	}
}

static void
note_time(void *user, const struct tally_log_line *line)
{
	struct tally_top_window *w = user;
	if (line->type != TALLY_LINE_FRAME)
		return;
	w->frame_ns = line->frame.start_ns;
	if (!w->first_ns || w->frame_ns < w->first_ns)
		w->first_ns = w->frame_ns;
	uint64_t number = slice_number(w);
	if (number <= w->now)
		return;
	w->now = number;
	let_go(w);
}

void
tally_top_window_init(struct tally_top_window *w, const char *path, double seconds)
{
	*w = (struct tally_top_window){ 0 };
	w->slice_ns = MAX((uint64_t)(seconds * 1e9 / TALLY_TOP_SLICES), 1);
	w->passes = g_ptr_array_new_with_free_func(free_pass);
	w->devices = g_ptr_array_new_with_free_func(free_device);
	w->series_in_use = g_array_new(FALSE, TRUE, sizeof(bool));
	w->watch = (struct tally_aggregate_watch){
		.user = w,
		.line = note_time,
		.takes_values = true,
		.frame = add_frame,
	};
	tally_aggregate_begin(&w->log, path, &w->watch);
}

void
tally_top_window_finish(struct tally_top_window *w)
{
	if (!w->passes)
		return;
	g_ptr_array_unref(w->passes); /* freed before the groups that they refer to */
	g_ptr_array_unref(w->devices);
	g_array_unref(w->series_in_use);
	tally_aggregate_finish(&w->log);
	*w = (struct tally_top_window){ 0 };
}

void
tally_top_window_add(struct tally_top_window *w, const struct tally_log_line *line)
{
	tally_aggregate_add(&w->log, line);
}

/* Queries */

static struct tally_top_figures
sum_up(const struct tally_top_slice *slices, unsigned n, uint64_t now)
{
	struct tally_top_figures all = { 0 };
	for (unsigned i = 0; slices && i < n; i++) {
		const struct tally_top_slice *s = &slices[i];
		if (!s->number || s->number + n <= now)
			continue;
		all.largest = all.n ? MAX(all.largest, (double)s->largest)
				    : (double)s->largest;
		all.n += s->n;
		all.sum += s->sum;
	}
	return all;
}

struct tally_top_figures
tally_top_sum(const struct tally_top_window *w, const struct tally_top_slice *slices)
{
	return sum_up(slices, TALLY_TOP_SLICES, w->now);
}

struct tally_top_figures
tally_top_sum_coarse(const struct tally_top_window *w,
		     const struct tally_top_slice *slices)
{
	return sum_up(slices, TALLY_TOP_COARSE, w->now / FINE_IN_COARSE + 1);
}

struct tally_top_figures
tally_top_sum_series(const struct tally_top_window *w, const struct tally_top_pass *p,
		     uint32_t series)
{
	return tally_top_sum_coarse(w, series < p->n_series ? p->series[series] : NULL);
}

/* How many of the kept frames are loading: those of the log's start, if they are still kept. */
static size_t
loading(const struct tally_top_device *d)
{
	if (d->frames != d->recent.length)
		return 0;
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (const GList *l = d->recent.head; l && times->len < TALLY_WARMUP_FRAMES;
	     l = l->next) {
		const struct kept_frame *kept = l->data;
		g_array_append_val(times, kept->record.cpu_ns);
	}
	return tally_warmup_count((const uint64_t *)(void *)times->data, times->len);
}

struct tally_answer *
tally_top_window_answer(const struct tally_top_window *w,
			const struct tally_top_device *d)
{
	struct tally_answer *answer = tally_answer_create(&w->log);
	g_autoptr(GArray)
		passes = g_array_new(FALSE, TRUE, sizeof(struct tally_pass_record));
	size_t skip = loading(d);
	for (const GList *l = d->recent.head; l; l = l->next) {
		const struct kept_frame *kept = l->data;
		struct tally_frame_record f = kept->record;
		if (f.start_ns < oldest_ns(w))
			continue;
		g_array_set_size(passes, f.n_passes);
		for (uint32_t i = 0; i < f.n_passes; i++)
			g_array_index(
				passes, struct tally_pass_record,
				i) = (struct tally_pass_record){ KEPT(&kept->passes[i]) };
		f.passes = (const struct tally_pass_record *)(void *)passes->data;
		if (skip > 0)
			tally_answer_skip_frame(answer, &f);
		else
			tally_answer_add_frame(answer, &f);
		skip -= skip > 0;
	}
	tally_answer_conclude(answer);
	return answer;
}

/* The slice `number`, if it contains any values. */
static const struct tally_top_slice *
find_slice(const struct tally_top_slice *slices, uint64_t number)
{
	const struct tally_top_slice *s = &slices[number % TALLY_TOP_SLICES];
	return s->number == number && s->n ? s : NULL;
}

void
tally_top_steps(const struct tally_top_window *w, const struct tally_top_device *device,
		const struct tally_top_slice *slices, double *steps, unsigned n)
{
	uint64_t first = w->now >= TALLY_TOP_SLICES ? w->now - TALLY_TOP_SLICES + 1 : 1;
	/* If the log is shorter than the window, its slices fill the whole chart. */
	first = MAX(first, w->first_ns / w->slice_ns + 1);
	uint64_t span = w->now >= first ? w->now - first + 1 : 1;
	double last = NAN;
	for (unsigned i = 0; i < n; i++) {
		uint64_t from = first + span * i / n;
		uint64_t to = first + span * (i + 1) / n;
		uint64_t values = 0;
		double sum = 0;
		bool frames = false;
		for (uint64_t number = from; number < MAX(to, from + 1); number++) {
			const struct tally_top_slice *s = find_slice(slices, number);
			frames |= device && find_slice(device->cpu, number);
			values += s ? s->n : 0;
			sum += s ? s->sum : 0;
		}
		if (values)
			last = sum / (double)values;
		else if (frames || (device && from > device->last))
			last = NAN;
		steps[i] = last;
	}
}

static struct tally_top_device *
newest_device(const struct tally_top_window *w)
{
	struct tally_top_device *newest = NULL;
	TALLY_EACH (struct tally_top_device, d, w->devices)
		if (!tally_aggregate_is_beneath(&w->log, d->device) &&
		    (!newest || d->last_ns > newest->last_ns))
			newest = d;
	return newest;
}

const struct tally_top_device *
tally_top_shown_device(const struct tally_top_window *w, int64_t number)
{
	TALLY_EACH (const struct tally_top_device, d, w->devices)
		if (d->device == number)
			return d;
	return newest_device(w);
}

bool
tally_top_series_in_use(const struct tally_top_window *w, uint32_t series)
{
	return series < w->series_in_use->len &&
	       g_array_index(w->series_in_use, bool, series);
}
