/* SPDX-License-Identifier: MIT */
#include "cli/compare/series.h"

#include "cli/log/device_summary.h"
#include "cli/log/grouping.h"
#include "cli/log/series.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* What is known of a series. */
struct selected {
	enum { NOT_ASKED = 0, WANTED, UNWANTED } wanted;
	/* Totals of the frame being read: */
	double sum;
	uint32_t n; /* number of passes that gave a value */
	bool estimated, touched;
};

bool
tally_compare_wants(const struct tally_compare_filter *filter, const char *key)
{
	if (!filter->patterns || !filter->patterns->len)
		return true;
	TALLY_EACH (const char, pattern, filter->patterns)
		if (g_pattern_match_simple(pattern, key))
			return true;
	return false;
}

/* Values */

void
tally_compare_values_add(struct tally_compare_values *s, struct tally_value v)
{
	uint64_t before = s->moments.n;
	tally_moments_add(&s->moments, v);
	if (s->moments.n == before)
		return; /* the value is not finite */
	s->origin = before ? s->origin : tally_value_f64(v);
	s->points.room = TALLY_COMPARE_POINTS;
	tally_course_add(&s->points, before, tally_value_f64(v) - s->origin);
}

double *
tally_compare_values_part(const struct tally_compare_values *s, uint32_t part, uint32_t parts,
			  uint32_t *n)
{
	const uint64_t block = MAX(s->points.block, 1), whole = s->moments.n / block;
	uint32_t from = (uint32_t)(part * whole / parts);
	*n = (uint32_t)((part + 1) * whole / parts) - from;
	double *out = g_new(double, MAX(*n, 1));
	for (uint32_t i = 0; i < *n; i++)
		out[i] = s->origin + (double)s->points.slots[from + i].sum / (double)block;
	return out;
}

static void
free_values(gpointer p)
{
	struct tally_compare_values *values = p;
	if (values)
		tally_course_finish(&values->points);
	g_free(values);
}

static void
add_value(struct tally_compare_source *s, uint32_t series, struct tally_value v, bool estimated)
{
	if (series >= s->values->len)
		g_ptr_array_set_size(s->values, (gint)series + 1);
	if (!s->values->pdata[series])
		s->values->pdata[series] = g_new0(struct tally_compare_values, 1);
	struct tally_compare_values *values = s->values->pdata[series];
	tally_compare_values_add(values, v);
	values->estimated |= estimated;
}

/* Reading */

static struct tally_compare_source *
new_source(struct tally_compare_log *log, const struct tally_group *group, uint32_t device)
{
	struct tally_compare_source *s = g_new0(struct tally_compare_source, 1);
	s->group = group;
	s->values = g_ptr_array_new_with_free_func(free_values);
	s->device = device;
	g_ptr_array_add(log->sources, s);
	return s;
}

static void
free_source(gpointer p)
{
	struct tally_compare_source *s = p;
	g_ptr_array_unref(s->values);
	tally_course_finish(&s->cpu.points);
	if (s->frame_ns)
		g_array_unref(s->frame_ns);
	g_free(s);
}

/* The arguments as typed; NULL: the log does not have them. */
static char *
join_arguments(const GPtrArray *argv)
{
	GString *words = g_string_new(NULL);
	for (guint i = 1; argv && i < argv->len; i++) {
		g_autofree char *word = tally_text_word(argv->pdata[i]);
		g_string_append_printf(words, "%s%s", i > 1 ? " " : "", word);
	}
	return g_string_free(words, !argv);
}

/* NULL: the filter does not select it. */
static struct selected *
find_selected(struct tally_compare_log *log, uint32_t series)
{
	if (series >= log->selected->len)
		g_array_set_size(log->selected, MAX(series + 1, tally_n_series(&log->aggregate)));
	struct selected *selected = &g_array_index(log->selected, struct selected, series);
	if (selected->wanted == NOT_ASKED) {
		const char *key = tally_series_key(&log->aggregate, series)->key;
		selected->wanted = tally_compare_wants(log->filter, key) ? WANTED : UNWANTED;
	}
	return selected->wanted == WANTED ? selected : NULL;
}

static struct tally_compare_source *
need_source(struct tally_compare_log *log, struct tally_group *g)
{
	if (!g->watched)
		g->watched = new_source(log, g, g->device);
	return g->watched;
}

static void
take_value(struct tally_compare_log *log, struct tally_group *g, uint32_t series,
	   struct tally_value v)
{
	struct selected *selected = find_selected(log, series);
	if (!selected)
		return;
	struct tally_compare_source *source = need_source(log, g);
	add_value(source, series, v, g->series[series].estimated);
	selected->sum += tally_value_f64(v);
	selected->n += !g->outside;
	selected->estimated |= g->series[series].estimated;
	selected->touched = true;
}

static struct tally_compare_source *
need_frames(struct tally_compare_log *log, uint32_t device)
{
	TALLY_EACH (struct tally_compare_source, s, log->sources)
		if (!s->group && s->device == device)
			return s;
	return new_source(log, NULL, device);
}

static void
add_frame_metrics(struct tally_compare_log *log, struct tally_compare_source *frames,
		  const struct tally_frame_record *f)
{
	const struct tally_aggregate *a = &log->aggregate;
	const uint32_t n = f->n_metrics ? tally_n_series(a) : 0;
	for (uint32_t i = TALLY_N_FIXED_SERIES; i < n; i++) {
		for (uint32_t k = 0; k < f->n_metrics; k++) {
			const struct tally_keyed_value *m = &f->metrics[k];
			if (strcmp(tally_series_key(a, i)->key, m->key) == 0 &&
			    find_selected(log, i))
				add_value(frames, i, m->value, m->estimated);
		}
	}
}

/* If every pass of the frame has a counter that can be summed, the frame gets the sum. */
static void
add_frame_totals(struct tally_compare_log *log, struct tally_compare_source *frames,
		 uint32_t n_passes)
{
	const struct tally_aggregate *a = &log->aggregate;
	for (uint32_t i = TALLY_SERIES_GPU + 1; i < log->selected->len; i++) {
		const struct selected *total = &g_array_index(log->selected, struct selected, i);
		if (!total->touched || total->n != n_passes ||
		    tally_series_key(a, i)->join != TALLY_JOIN_SUM)
			continue;
		add_value(frames, i, tally_f64(total->sum), total->estimated);
	}
}

static void
add_frame_gpu(struct tally_compare_log *log, struct tally_compare_source *frames,
	      const struct tally_frame_record *f)
{
	if (f->has_gpu && find_selected(log, TALLY_SERIES_GPU))
		add_value(frames, TALLY_SERIES_GPU, tally_u64(f->gpu_ns), false);
}

static void
take_frame(void *user, const struct tally_frame_record *f, const GPtrArray *groups)
{
	struct tally_compare_log *log = user;
	uint32_t n_passes = 0;
	struct tally_value v;
	TALLY_EACH (struct tally_group, g, groups)
		for (uint32_t i = 0; i < g->n_series; i++)
			if (tally_group_value(&log->aggregate, g, i, &v))
				take_value(log, g, i, v);
	TALLY_EACH (struct tally_group, g, groups) {
		need_source(log, g)->frames++;
		n_passes += !g->outside;
	}
	if (!(f->flags & (TALLY_FLAG(PARTIAL) | TALLY_FLAG(PICTURED)))) {
		struct tally_compare_source *frames = need_frames(log, f->device);
		frames->frames++;
		tally_compare_values_add(&frames->cpu, tally_u64(f->cpu_ns));
		if (log->filter->frame_times) {
			if (!frames->frame_ns)
				frames->frame_ns = g_array_new(FALSE, FALSE, sizeof(uint64_t));
			g_array_append_val(frames->frame_ns, f->cpu_ns);
		}
		add_frame_gpu(log, frames, f);
		add_frame_totals(log, frames, n_passes);
		add_frame_metrics(log, frames, f);
	}
	TALLY_EACH_OF (struct selected, selected, log->selected)
		*selected = (struct selected){ .wanted = selected->wanted };
}

/* Devices */

static int
choose_devices(struct tally_compare_log *log, int64_t device)
{
	const struct tally_aggregate *a = &log->aggregate;
	TALLY_EACH (struct tally_device_summary, d, a->devices)
		if (d->frames &&
		    (device >= 0 ? d->device == device : !tally_aggregate_is_beneath(a, d->device)))
			g_ptr_array_add(log->devices, d);
	if (log->devices->len)
		return TALLY_EXIT_OK;
	if (device >= 0 && !tally_aggregate_device(a, (uint32_t)device))
		return TALLY_FAIL(TALLY_EXIT_USAGE, "compare",
				  "--device %" G_GINT64_FORMAT ": %s has no such device", device,
				  a->path);
	return TALLY_FAIL(TALLY_EXIT_BAD_LOG, "compare", "%s has no whole frame to compare%s",
			  a->path, a->warmup ? " after its warm-up" : "");
}

uint32_t
tally_compare_log_device(const struct tally_compare_log *log, uint32_t slot)
{
	return ((const struct tally_device_summary *)log->devices->pdata[slot])->device;
}

uint64_t
tally_compare_log_frames(const struct tally_compare_log *log, uint64_t *warmup)
{
	uint64_t frames = 0;
	*warmup = 0;
	TALLY_EACH (const struct tally_device_summary, d, log->devices) {
		frames += d->frames;
		*warmup += d->warmed_up;
	}
	return frames;
}

const struct tally_answer_change *
tally_compare_log_change(const struct tally_compare_log *log)
{
	const struct tally_answer_change *most = NULL;
	double most_size = 0;
	TALLY_EACH (const struct tally_device_summary, device, log->devices) {
		const struct tally_answer_device *d = tally_answer_find(log->answer,
									device->device);
		for (unsigned k = 0; d && k < d->n_changes; k++) {
			const struct tally_answer_change *change = &d->changes[k];
			double size = fabs(log2(change->after_ns / change->before_ns));
			most = size > most_size ? change : most;
			most_size = MAX(size, most_size);
		}
	}
	return most;
}

int
tally_compare_log_read(struct tally_compare_log **out, const char *path,
		       const struct tally_compare_filter *filter)
{
	struct tally_compare_log *log = g_new0(struct tally_compare_log, 1);
	*out = log;
	log->sources = g_ptr_array_new_with_free_func(free_source);
	log->devices = g_ptr_array_new();
	log->filter = filter;
	log->selected = g_array_new(FALSE, TRUE, sizeof(struct selected));
	log->answer = tally_answer_create(&log->aggregate);
	log->watch = (struct tally_aggregate_watch){
		.user = log,
		.takes_values = true,
		.frame = take_frame,
		.then = tally_answer_watch(log->answer),
	};
	int status = tally_aggregate_read_watched(&log->aggregate, filter->again ? NULL : "compare",
						  path, &tally_by_pass, filter->warmup, &log->watch,
						  false);
	tally_answer_conclude(log->answer);
	if (status != TALLY_EXIT_OK)
		return status;
	g_ptr_array_sort(log->aggregate.identity.options, tally_order_text);
	log->arguments = join_arguments(log->aggregate.identity.argv);
	return choose_devices(log, filter->device);
}

void
tally_compare_log_destroy(struct tally_compare_log *log)
{
	if (!log)
		return;
	g_array_unref(log->selected);
	g_ptr_array_unref(log->sources);
	g_ptr_array_unref(log->devices);
	g_free(log->arguments);
	tally_answer_destroy(log->answer);
	tally_aggregate_finish(&log->aggregate);
	g_free(log);
}
