/* SPDX-License-Identifier: MIT */
#include "cli/top/window.h"

#include <math.h>
#include <string.h>

#define FINE_IN_COARSE (TALLY_TOP_SLICES / TALLY_TOP_COARSE)

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
	tally_top_recent_finish(&((struct tally_top_device *)p)->recent);
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
		memset(&p->series[p->n_series], 0, (series + 1 - p->n_series) * sizeof(*p->series));
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
add_value(void *user, struct tally_group *g, uint32_t series, struct tally_value v)
{
	struct tally_top_window *w = user;
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
	for (guint i = 0; i < w->devices->len; i++) {
		struct tally_top_device *d = g_ptr_array_index(w->devices, i);
		if (d->device == number)
			return d;
	}
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

static void
add_frame(void *user, const struct tally_frame_record *frame, const GPtrArray *groups)
{
	struct tally_top_window *w = user;
	uint64_t number = slice_number(w);
	struct tally_top_device *d = need_device(w, frame->device);
	w->frames++;
	d->frames++;
	d->last = MAX(d->last, number);
	d->last_ns = MAX(d->last_ns, frame->start_ns);
	for (guint i = 0; i < groups->len; i++) {
		struct tally_top_pass *p = need_pass(w, g_ptr_array_index(groups, i));
		if (!p)
			continue;
		p->last = MAX(p->last, number);
		add_coarse(p->seen, number, 1);
	}
	/* A frame cut short by the end of the run has no meaningful length. */
	if (!(frame->flags & TALLY_FLAG(PARTIAL)))
		add_fine(d->cpu, number, (double)frame->cpu_ns);
	tally_top_recent_add(&d->recent, frame, oldest_ns(w));
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
	*w = (struct tally_top_window){ .seconds = seconds };
	w->slice_ns = MAX((uint64_t)(seconds * 1e9 / TALLY_TOP_SLICES), 1);
	w->passes = g_ptr_array_new_with_free_func(free_pass);
	w->devices = g_ptr_array_new_with_free_func(free_device);
	w->series_in_use = g_array_new(FALSE, TRUE, sizeof(bool));
	w->watch = (struct tally_aggregate_watch){
		.user = w,
		.line = note_time,
		.value = add_value,
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
		all.largest = all.n ? MAX(all.largest, (double)s->largest) : (double)s->largest;
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
tally_top_sum_coarse(const struct tally_top_window *w, const struct tally_top_slice *slices)
{
	return sum_up(slices, TALLY_TOP_COARSE, w->now / FINE_IN_COARSE + 1);
}

struct tally_top_figures
tally_top_sum_series(const struct tally_top_window *w, const struct tally_top_pass *p,
		     uint32_t series)
{
	return tally_top_sum_coarse(w, series < p->n_series ? p->series[series] : NULL);
}

struct tally_answer *
tally_top_window_answer(const struct tally_top_window *w, const struct tally_top_device *d)
{
	return tally_top_recent_answer(&d->recent, &w->log, oldest_ns(w));
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

struct tally_top_device *
tally_top_newest_device(const struct tally_top_window *w)
{
	struct tally_top_device *newest = NULL;
	for (guint i = 0; i < w->devices->len; i++) {
		struct tally_top_device *d = g_ptr_array_index(w->devices, i);
		if (tally_aggregate_is_beneath(&w->log, d->device))
			continue;
		if (!newest || d->last_ns > newest->last_ns)
			newest = d;
	}
	return newest;
}

bool
tally_top_series_in_use(const struct tally_top_window *w, uint32_t series)
{
	return series < w->series_in_use->len && g_array_index(w->series_in_use, bool, series);
}
