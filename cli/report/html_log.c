/* SPDX-License-Identifier: MIT */
#include "cli/report/html_log.h"

#include "cli/log/grouping.h"
#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

enum { MOST_NOTES = 2000 };
/* Of all logs of a page: with them it has at most some 25 MB. */
enum { MOST_POINTS = 2 << 20, MOST_PASS_BYTES = 12 << 20 };
/* How many rows are added before the series are measured. */
enum { THIN_EVERY = 64 };

/* Series */

void
tally_html_series_finish(struct tally_html_series *s)
{
	g_free(s->points);
	*s = (struct tally_html_series){ 0 };
}

static bool
is_same(float a, float b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* From this row on it is this value. The row may be the last one: it has another value then. */
static void
step(struct tally_html_series *s, uint32_t row, float value)
{
	if (s->n && s->points[s->n - 1].row == row)
		s->n--;
	if (s->n ? is_same(s->points[s->n - 1].value, value) : isnan(value))
		return;
	if (s->n == s->room) {
		s->room = s->room < 1024 ? MAX(4, 2 * s->room) : s->room + 1024;
		s->points = g_renew(struct tally_html_point, s->points, s->room);
	}
	s->points[s->n++] = (struct tally_html_point){ row, value };
}

/* Makes points of all that was added: no more is added to this row. */
static void
series_flush(struct tally_html_series *s)
{
	if (!s->n_pending)
		return;
	if (s->row > s->end)
		step(s, s->end, NAN);
	step(s, s->row, (float)(s->pending / s->n_pending));
	s->end = s->row + 1;
	s->n_pending = 0;
	s->pending = 0;
}

/* `row` is at least that of the value before. A value no float can hold is left out. */
static void
series_add(struct tally_html_series *s, uint64_t row, double value)
{
	if (!(fabs(value) < 3e38))
		return;
	if (s->row != row)
		series_flush(s);
	s->row = (uint32_t)row;
	s->pending += value;
	s->n_pending++;
}

/* Makes one row of two: row / 2. It was flushed. */
static void
series_halve(struct tally_html_series *s)
{
	struct tally_html_series half = { 0 };
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t end = i + 1 < s->n ? s->points[i + 1].row : s->end;
		for (uint32_t row = s->points[i].row; row < end; row++)
			series_add(&half, row / 2, (double)s->points[i].value);
	}
	series_flush(&half);
	g_free(s->points);
	*s = half;
}

/* Frames */

static struct tally_html_frame *
row_at(const struct tally_html_frames *f, guint row)
{
	return &g_array_index(f->rows, struct tally_html_frame, row);
}

/* Makes one row of two: the slower frame, the first one if they are alike, and the first one's
 * samples. Takes the passes of both. */
static void
join(struct tally_html_frames *f, struct tally_html_frame *row, struct tally_html_frame next)
{
	bool slower = next.columns[TALLY_HTML_CPU] > row->columns[TALLY_HTML_CPU];
	const struct tally_html_frame dropped = slower ? *row : next;
	if (slower) {
		next.columns[TALLY_HTML_SAMPLE_CPU] = row->columns[TALLY_HTML_SAMPLE_CPU];
		next.columns[TALLY_HTML_SAMPLE_GPU] = row->columns[TALLY_HTML_SAMPLE_GPU];
		*row = next;
	}
	f->n_bytes -= dropped.n_bytes;
	g_free(dropped.passes);
}

static void
halve(struct tally_html_frames *f)
{
	guint n = f->rows->len;
	for (guint i = 0; i < n; i += 2) {
		struct tally_html_frame row = *row_at(f, i);
		if (i + 1 < n)
			join(f, &row, *row_at(f, i + 1));
		*row_at(f, i / 2) = row;
	}
	g_array_set_size(f->rows, (n + 1) / 2);
	f->step *= 2;
}

/* Adds the next frame, whose passes are copied. */
static void
frames_add(struct tally_html_frames *f, const struct tally_html_frame *frame)
{
	struct tally_html_frame copy = *frame;
	copy.passes = g_memdup2(frame->passes, frame->n_bytes);
	if (f->rows->len == TALLY_HTML_MOST_ROWS && f->n % f->step == 0)
		halve(f);
	f->n_bytes += frame->n_bytes;
	if (f->n++ % f->step == 0)
		g_array_append_val(f->rows, copy);
	else
		join(f, row_at(f, f->rows->len - 1), copy);
	while (f->n_bytes > f->most_bytes && f->rows->len > 1)
		halve(f);
}

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
	d->block = 1;
	d->groups = g_ptr_array_new();
	d->kinds = g_array_new(FALSE, FALSE, sizeof(struct tally_html_kind));
	d->passes = g_byte_array_new();
	d->frames.step = 1;
	d->frames.most_bytes = MOST_PASS_BYTES / log->share;
	d->frames.rows = g_array_new(FALSE, FALSE, sizeof(struct tally_html_frame));
	g_ptr_array_add(log->devices, d);
	return d;
}

static void
free_device(gpointer p)
{
	struct tally_html_device *d = p;
	TALLY_EACH (struct tally_group, g, d->groups) {
		struct tally_html_group *own = g->watched;
		for (uint32_t k = 0; k < own->n_series; k++)
			tally_html_series_finish(&own->series[k]);
		g_free(own->series);
		g_free(own);
		g->watched = NULL;
	}
	g_ptr_array_unref(d->groups);
	g_array_unref(d->kinds);
	g_byte_array_unref(d->passes);
	TALLY_EACH_OF (struct tally_html_frame, f, d->frames.rows)
		g_free(f->passes);
	g_array_unref(d->frames.rows);
	g_free(d);
}

/* Lines */

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
	if (line->type == TALLY_LINE_NOTE)
		take_note(log, &line->note);
	log->has_pipelines |= line->type == TALLY_LINE_PIPELINE;
}

/* Values */

static struct tally_html_group *
need_group(struct tally_html_device *d, struct tally_group *g)
{
	if (g->watched)
		return g->watched;
	struct tally_html_group *own = g_new0(struct tally_html_group, 1);
	own->place = d->groups->len;
	g->watched = own;
	g_ptr_array_add(d->groups, g);
	return own;
}

/* The values of a group in the frame being read. */
static void
take_values(const struct tally_html_log *log, struct tally_html_device *d,
	    struct tally_group *g)
{
	struct tally_html_group *own = need_group(d, g);
	if (own->n_series < g->n_series) {
		own->series = g_renew(struct tally_html_series, own->series, g->n_series);
		for (; own->n_series < g->n_series; own->n_series++)
			own->series[own->n_series] = (struct tally_html_series){ 0 };
	}
	struct tally_value v;
	for (uint32_t i = 0; i < g->n_series; i++)
		if (tally_group_value(&log->aggregate, g, i, &v))
			series_add(&own->series[i], d->frames.n / d->block,
				   tally_value_f64(v));
}

/* Makes points of all values, and halves the series while there are more than MOST_POINTS. */
static void
thin(const struct tally_html_log *log, struct tally_html_device *d)
{
	uint64_t most = MOST_POINTS / log->share, n_points, longest;
	for (bool halved = false;; halved = true) {
		n_points = longest = 0;
		TALLY_EACH (const struct tally_group, g, d->groups) {
			struct tally_html_group *own = g->watched;
			for (uint32_t k = 0; k < own->n_series; k++) {
				struct tally_html_series *s = &own->series[k];
				series_flush(s);
				if (halved)
					series_halve(s);
				n_points += s->n;
				longest = MAX(longest, s->end);
			}
		}
		bool room = longest <= TALLY_HTML_MOST_ROWS && n_points <= most;
		/* A row of twice the length begins here. */
		if (room || longest < 2 || d->frames.n % (2 * d->block))
			return;
		d->block *= 2;
	}
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
		if (k->queue_family == want.queue_family &&
		    k->queue_index == want.queue_index && k->context == want.context &&
		    k->flags == want.flags && k->has_start == want.has_start &&
		    k->has_gpu == want.has_gpu && k->has_cpu == want.has_cpu)
			return (uint64_t)(k - &g_array_index(d->kinds,
							     struct tally_html_kind, 0));
	g_array_append_val(d->kinds, want);
	return d->kinds->len - 1;
}

static void
put_unsigned(GByteArray *to, uint64_t v)
{
	guint8 bytes[10];
	guint n = 0;
	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (guint8)(v | 0x80);
	bytes[n++] = (guint8)v;
	g_byte_array_append(to, bytes, n);
}

static void
put_signed(GByteArray *to, int64_t v)
{
	put_unsigned(to, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

/* Groups, kinds and starts are stored as differences: most are small. */
static void
put_passes(const struct tally_html_log *log, struct tally_html_device *d,
	   const struct tally_frame_record *f)
{
	GByteArray *to = d->passes;
	uint64_t end = f->start_ns, cpu = f->start_ns;
	int64_t index = -1;
	g_byte_array_set_size(to, 0);
	put_unsigned(to, f->n_passes);
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		const struct tally_group *g = tally_aggregate_find_pass(&log->aggregate,
									f->device, p->id);
		const struct tally_html_group *own = g ? g->watched : NULL;
		int64_t now = own ? (int64_t)own->place : index;
		put_signed(to, now - index - 1);
		index = now;
		put_unsigned(to, need_kind(d, p));
		if (p->has_gpu_start && p->has_gpu) {
			put_signed(to, (int64_t)(p->gpu_start_ns - end));
			end = p->gpu_start_ns + p->gpu_ns;
		}
		if (p->has_gpu)
			put_unsigned(to, p->gpu_ns);
		if (p->has_cpu_start) {
			put_signed(to, (int64_t)(p->cpu_start_ns - cpu));
			cpu = p->cpu_start_ns;
		}
	}
}

static void
take_frame(void *user, const struct tally_frame_record *f, const GPtrArray *groups)
{
	struct tally_html_log *log = user;
	struct tally_html_device *d = need_device(log, f->device);
	if (d->frames.n == 0)
		d->base_ns = f->start_ns;
	if (d->frames.n % (THIN_EVERY * d->block) == 0)
		thin(log, d);
	TALLY_EACH (struct tally_group, g, groups)
		take_values(log, d, g);
	put_passes(log, d, f);
	/* Such a frame took long for being copied. */
	double cpu_ns = f->flags & TALLY_FLAG(PICTURED) ? NAN : (double)f->cpu_ns;
	const struct tally_html_frame frame = {
		.columns = {
			[TALLY_HTML_FRAME] = (double)f->frame,
			[TALLY_HTML_START] = (double)(int64_t)(f->start_ns - d->base_ns),
			[TALLY_HTML_CPU] = cpu_ns,
			[TALLY_HTML_GPU] = f->has_gpu ? (double)f->gpu_ns : NAN,
			[TALLY_HTML_ENVELOPE] = f->has_gpu ? (double)f->envelope_ns : NAN,
			[TALLY_HTML_COVERAGE] = f->has_coverage ? f->coverage : NAN,
			[TALLY_HTML_UNATTRIBUTED] =
				f->has_unattributed_gpu ? (double)f->unattributed_gpu_ns : NAN,
			[TALLY_HTML_OVERHEAD] = (double)f->overhead_ns,
			[TALLY_HTML_DROPPED] = (double)f->dropped_passes,
			[TALLY_HTML_FLAGS] = f->flags ? (double)f->flags : NAN,
			[TALLY_HTML_SAMPLE_CPU] = cpu_ns,
			[TALLY_HTML_SAMPLE_GPU] = f->has_gpu ? (double)f->gpu_ns : NAN,
		},
		.passes = d->passes->data,
		.n_bytes = d->passes->len,
	};
	frames_add(&d->frames, &frame);
}

int
tally_html_log_read(struct tally_html_log *log, const char *command, const char *path,
		    uint64_t warmup, unsigned share)
{
	*log = (struct tally_html_log){ .share = share };
	log->devices = g_ptr_array_new_with_free_func(free_device);
	log->notes = g_array_new(FALSE, FALSE, sizeof(struct tally_note_record));
	log->answer = tally_answer_create(&log->aggregate);
	log->watch = (struct tally_aggregate_watch){
		.user = log,
		.line = take_line,
		.frame = take_frame,
		.then = tally_answer_watch(log->answer),
	};
	int status = tally_aggregate_read_watched(&log->aggregate, command, path,
						  &tally_by_pass, warmup, &log->watch,
						  false);
	tally_answer_conclude(log->answer);
	TALLY_EACH (struct tally_html_device, d, log->devices)
		thin(log, d);
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
	*log = (struct tally_html_log){ 0 };
}
