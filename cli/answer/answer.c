/* SPDX-License-Identifier: MIT */
#include "cli/answer/asleep.h"
#include "cli/answer/bound.h"
#include "cli/answer/demand.h"
#include "cli/answer/explain.h"
#include "cli/answer/presence.h"
#include "cli/answer/windows.h"
#include "cli/log/device_summary.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define START_FRAMES 10 /* at least this many frames are the start */
#define ONCE_NS 1e5
#define ONCE_FACTOR 10
#define WINDOW_SHARE 0.05 /* a window has at least so many of the frames, */
#define WINDOWS_SHARE 0.9 /* and those that have, together */
#define ALTERNATING_SHARE 0.05 /* of the frame time, at least */
#define MOST_HITCHES 50000 /* whose causes are remembered */

struct tally_answer_state {
	struct tally_over_run run;
	GArray *found; /* elements: struct tally_answer_hitch, in order of time */
	struct tally_bound_input bound;
	struct tally_hitches hitches;
	struct tally_demand demand;
	struct tally_event_total calls[TALLY_N_EVENT_GROUPS], loaded[TALLY_N_EVENT_GROUPS];
	struct tally_event_total lately[TALLY_N_EVENT_GROUPS];
	struct tally_parts parts;
	struct tally_stats overhead;
	uint64_t seen; /* frames, with those left out */
	double start_overhead; /* of the frames of the start */
	uint64_t n_start;
	struct tally_windows windows;
	struct tally_part others; /* what hitches of a window know of the others */
};

static void
free_device(gpointer p)
{
	struct tally_answer_device *d = p;
	struct tally_answer_state *s = d->state;
	tally_bound_finish(&s->bound);
	tally_hitches_finish(&s->hitches);
	tally_parts_finish(&s->parts);
	tally_stats_finish(&s->overhead);
	tally_over_run_finish(&s->run);
	g_array_unref(s->found);
	for (unsigned i = 0; i < s->windows.n; i++) {
		g_array_unref(s->windows.all[i].passes);
		if (s->windows.all[i].answer)
			free_device(s->windows.all[i].answer);
	}
	g_free(s);
	TALLY_EACH_OF (struct tally_answer_sum, sum, d->sums)
		g_free(sum->what);
	g_array_unref(d->sums);
	g_free(d->passes);
	g_free(d);
}

static struct tally_answer_device *
find_device(const GPtrArray *devices, uint32_t number)
{
	TALLY_EACH (struct tally_answer_device, d, devices)
		if (d->device == number)
			return d;
	return NULL;
}

static void
take_hitch(void *user, const struct tally_hitch *h, const struct tally_hitch_seen *seen)
{
	struct tally_answer_state *s = user;
	if (s->found->len >= MOST_HITCHES)
		return;
	const struct tally_answer_hitch hitch = tally_cause_find(h, seen, s->parts.opengl);
	g_array_append_val(s->found, hitch);
}

static const char others_name[] = "(other windows)";

/* A lock that nobody is known to hold, or a device, may be the driver's, which waits for passes as
 * long as they take, or for passtally: `driver_ns`. Looks begin late: a sleep may have begun before
 * them; of that there can be `rest_ns` in all. */
static void
find_asleep(const struct tally_asleep_record *asleep, uint32_t n, uint64_t driver_ns,
	    uint64_t rest_ns, struct tally_asleep_record out[TALLY_HITCH_PLACES])
{
	for (uint32_t i = 0; i < n; i++) {
		struct tally_asleep_record a = asleep[i];
		a.ns = MAX(a.ns, MIN(a.asked_ns, rest_ns));
		if (tally_asleep_may_be_driver(&a))
			a.ns -= MIN(a.ns, driver_ns);
		bool most = a.ns > out[0].ns;
		if (a.ns <= out[1].ns)
			continue;
		tally_asleep_intern(&a);
		out[1] = most ? out[0] : a;
		out[0] = most ? a : out[0];
	}
}

static void
add_quiet(struct tally_answer *answer, const struct tally_process_record *p)
{
	answer->quiet_ns = p->time_ns - MIN(answer->last_ns, p->time_ns);
	memset(answer->quiet_asleep, 0, sizeof(answer->quiet_asleep));
	find_asleep(p->asleep, p->n_asleep, 0, 0, answer->quiet_asleep);
	for (uint32_t i = 0; i < p->n_threads; i++)
		if (p->threads[i].ends_frames)
			answer->quiet_work_ns += p->threads[i].cpu_ns;
}

static void
take_line(void *user, const struct tally_log_line *line)
{
	struct tally_answer *answer = user;
	if (line->type == TALLY_LINE_FRAME) {
		answer->last_ns = line->frame.start_ns + line->frame.cpu_ns;
		answer->quiet_ns = answer->quiet_work_ns = 0;
	}
	if (line->type != TALLY_LINE_PROCESS ||
	    tally_start_take(&answer->start, &line->process,
			     answer->log->header.process_start_ns))
		return;
	add_quiet(answer, &line->process);
	tally_loads_add(&answer->loads, &line->process);
	TALLY_EACH (struct tally_answer_device, d, answer->read) {
		const struct tally_windows *windows = &d->state->windows;
		struct tally_driver_load driver =
			tally_loads_driver(&line->process, answer->log,
					   tally_aggregate_device(answer->log, d->device));
		tally_over_run_add_process(&d->state->run, &line->process, driver);
		for (unsigned i = 0; i < windows->n; i++)
			if (windows->all[i].answer)
				tally_over_run_add_process(&windows->all[i].answer->state->run,
							   &line->process, driver);
	}
}

static struct tally_answer_device *
create_device(uint32_t number)
{
	struct tally_answer_device *d = g_new0(struct tally_answer_device, 1);
	d->device = number;
	struct tally_answer_state *s = d->state = g_new0(struct tally_answer_state, 1);
	tally_bound_init(&s->bound);
	tally_hitches_init(&s->hitches);
	s->hitches.found = take_hitch;
	s->hitches.user = s;
	tally_parts_init(&s->parts);
	tally_stats_init(&s->overhead, TALLY_STATS_KEEP_PASS);
	tally_over_run_init(&s->run, &s->parts);
	s->found = g_array_new(FALSE, FALSE, sizeof(struct tally_answer_hitch));
	d->sums = g_array_new(FALSE, FALSE, sizeof(struct tally_answer_sum));
	return d;
}

static struct tally_answer_device *
need_device(struct tally_answer *answer, uint32_t number)
{
	struct tally_answer_device *d = find_device(answer->read, number);
	if (d)
		return d;
	d = create_device(number);
	g_ptr_array_add(answer->read, d);
	return d;
}

static void
take_first(const struct tally_answer *answer, struct tally_answer_device *d,
	   const struct tally_frame_record *f)
{
	const struct tally_header_record *h = &answer->log->header;
	uint64_t end_ns = f->start_ns + f->cpu_ns;
	/* A capture that began later, or a black box, says nothing of the first frame, and
	 * the program waited once for it. */
	bool late = f->frame > 0 || answer->log->waits || h->process_start_ns == 0 ||
		    end_ns < h->process_start_ns;
	TALLY_EACH (const struct tally_answer_device, other, answer->read)
		late |= other->first_ns > 0;
	if (late)
		return;
	d->first_ns = end_ns - h->process_start_ns;
	d->first_own_ns = f->cpu_ns;
	d->start = &answer->start;
}

/* The frames of the start: those left out, and in any case the first few. */
static void
add_start(const struct tally_answer *answer, struct tally_answer_device *d,
	  const struct tally_frame_record *f, bool skipped)
{
	struct tally_answer_state *s = d->state;
	if (s->seen == 0)
		take_first(answer, d, f);
	if (s->seen == 0 || skipped) {
		struct tally_frame_events events = { 0 };
		struct tally_event_record sums[TALLY_N_EVENT_GROUPS];
		tally_frame_events_read(&events, f);
		tally_frame_events_sum(&events, sums);
		tally_event_totals_add(s->loaded, sums, f->frame, false);
	}
	if (s->seen++ >= START_FRAMES && !skipped)
		return;
	s->start_overhead += (double)f->overhead_ns;
	s->n_start++;
}

void
tally_answer_skip_frame(void *user, const struct tally_frame_record *f)
{
	struct tally_answer *answer = user;
	struct tally_answer_device *d = need_device(answer, f->device);
	d->skipped++;
	d->skipped_ns += f->cpu_ns;
	add_start(answer, d, f, true);
	tally_parts_skip(&d->state->parts, f);
}

static bool
is_opengl(const struct tally_answer *answer, uint32_t device)
{
	const struct tally_device_summary *s = tally_aggregate_device(answer->log,
								      device);
	return s && s->described && s->api != TALLY_API_VULKAN;
}

/* A frame as it counts: a device's, or all that happened between two presents of a window. */
struct counted {
	const struct tally_frame_record *f;
	const struct tally_frame_events *events;
	bool timed;
	uint64_t unsure_ns;
};

/* The entry of the frame, with its passes, and what is known of them. */
static struct tally_hitch_frame *
begin_frame(const struct tally_answer *answer, struct tally_answer_state *s,
	    const struct tally_frame_record *f, struct counted *c)
{
	struct tally_hitch_frame *h = tally_hitches_next(&s->hitches);
	s->parts.opengl = is_opengl(answer, f->device);
	c->timed = tally_parts_add(&s->parts, answer->log, f, h->parts, &c->unsure_ns) &&
		   f->has_gpu;
	return h;
}

/* How long after the frame's end its last pass ended on the GPU; *placed: whether it is known. */
static uint64_t
behind(const struct tally_frame_record *f, bool *placed)
{
	uint64_t end_ns = f->start_ns + f->cpu_ns, last_ns = end_ns;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		bool known = tally_pass_is_placed(p);
		*placed &= known || !p->has_gpu;
		if (known)
			last_ns = MAX(last_ns, p->gpu_start_ns + p->gpu_ns);
	}
	return last_ns - end_ns;
}

static void
add_to_hitches(struct tally_answer_state *s, struct tally_hitch_frame *h,
	       const struct counted *c)
{
	const struct tally_frame_record *f = c->f;
	uint64_t wait_ns = f->has_wait ? MIN(f->wait_ns, f->cpu_ns) : 0;
	h->frame = f->frame;
	h->start_ns = f->start_ns;
	h->timed = c->timed;
	h->placed = c->timed;
	h->behind_ns = c->timed ? behind(f, &h->placed) : 0;
	h->ns[TALLY_HITCH_FRAME] = f->cpu_ns;
	h->ns[TALLY_HITCH_WAIT] = wait_ns;
	/* A driver may spin while it waits: that is not the program's work. */
	h->ns[TALLY_HITCH_WORK] = MIN(f->thread_ns, f->cpu_ns - wait_ns);
	h->ns[TALLY_HITCH_KERNEL] = f->kernel_ns;
	h->ns[TALLY_HITCH_OWN] = f->overhead_ns;
	h->known[TALLY_HITCH_WORK] = h->known[TALLY_HITCH_KERNEL] = f->has_thread;
	h->known[TALLY_HITCH_WAIT] = f->has_wait;
	h->ns[TALLY_HITCH_IDLE] = f->cpu_ns - MIN(f->gpu_ns, f->cpu_ns);
	h->ns[TALLY_HITCH_UNSURE] = c->unsure_ns;
	h->known[TALLY_HITCH_OWN] = true;
	h->known[TALLY_HITCH_IDLE] = c->timed;
	h->known[TALLY_HITCH_UNSURE] = c->timed && s->parts.opengl;
	h->ns[TALLY_HITCH_FAULTS] = f->minor_faults;
	h->ns[TALLY_HITCH_DISK_FAULTS] = f->major_faults;
	h->ns[TALLY_HITCH_DISK_BYTES] = f->disk_bytes;
	for (int i = TALLY_HITCH_FAULTS; i < TALLY_N_HITCH_TIMES; i++)
		h->known[i] = f->has_thread || i >= TALLY_HITCH_EVENTS;
	for (int i = 0; i < TALLY_N_EVENTS; i++)
		h->ns[TALLY_HITCH_EVENTS + i] = c->events->sums[i].ns;
	h->events = *c->events;
	/* An OpenGL driver may wait for passes in any call. */
	uint64_t passes_ns = s->parts.opengl ? f->gpu_ns - MIN(c->unsure_ns, f->gpu_ns) : 0;
	find_asleep(f->asleep, f->n_asleep, passes_ns + f->overhead_ns,
		    f->cpu_ns - MIN(f->thread_ns + f->wait_ns, f->cpu_ns), h->asleep);
	tally_hitches_add(&s->hitches);
	/* What the GPU did, or the driver's threads, is no wait for an event. */
	if (c->timed && f->has_thread &&
	    tally_demand_waited(f->cpu_ns, f->gpu_ns + f->thread_ns + wait_ns, h->asleep)) {
		s->demand.n++;
		s->demand.ns += f->cpu_ns;
	}
}

/* `own`: what it may have been a hitch in. */
static void
add_frame(struct tally_answer_device *d, struct tally_hitch_frame *h, const struct counted *c,
	  const struct counted *own)
{
	struct tally_answer_state *s = d->state;
	const struct tally_frame_record *f = c->f;
	struct tally_event_record sums[TALLY_N_EVENT_GROUPS];
	d->frames++;
	add_to_hitches(s, h, own);
	tally_frame_events_sum(c->events, sums);
	tally_event_totals_add(s->calls, sums, f->frame, false);
	tally_event_totals_add(s->lately, sums, f->frame, true);
	tally_over_run_add(&s->run, f, c->unsure_ns, c->events, h->asleep);
	tally_bound_add(&s->bound, f, c->timed, s->parts.opengl ? c->unsure_ns : 0);
	tally_stats_add_u64(&s->overhead, f->overhead_ns);
}

/* Adds to the window all that happened since its last frame: the passes of this one, and of other
 * windows their time. */
static void
add_to_window(const struct tally_answer *answer, struct tally_answer_device *of,
	      const struct tally_frame_record *f, const struct counted *own)
{
	struct tally_windows *all = &of->state->windows;
	struct tally_window *w = tally_windows_find(all, f);
	if (all->n > 1)
		tally_windows_add(all, w, f, own->timed, own->unsure_ns);
	if (!w)
		return;
	if (w->begun && all->several) {
		w->answer = w->answer ? w->answer : create_device(f->device);
		struct tally_answer_state *s = w->answer->state;
		struct counted c;
		struct tally_frame_record mine = *f;
		mine.passes = (const struct tally_pass_record *)(void *)w->passes->data;
		mine.n_passes = w->passes->len;
		mine.has_unattributed_gpu &= w->alone;
		struct tally_hitch_frame *h = begin_frame(answer, s, &mine, &c);
		const struct tally_hitch_part others = { .what = &s->others,
							 .name = others_name,
							 .ns = w->others_ns };
		struct tally_frame_record whole = w->sum;
		g_array_append_val(h->parts, others);
		whole.frame = f->frame;
		whole.device = f->device;
		whole.cpu_ns = f->start_ns + f->cpu_ns - whole.start_ns;
		whole.passes = mine.passes;
		whole.n_passes = mine.n_passes;
		whole.metrics = f->metrics;
		whole.n_metrics = f->n_metrics;
		c = (struct counted){ &whole, &w->events, w->timed, w->unsure_ns };
		/* One thread for all windows: what their frames took is told of them. */
		add_frame(w->answer, h, &c, whole.has_thread ? own : &c);
		w->answer->width = f->width;
		w->answer->height = f->height;
	}
	tally_window_begin(w, f);
}

static void
take_frame(void *user, const struct tally_frame_record *f, const GPtrArray *groups)
{
	struct tally_answer *answer = user;
	(void)groups;
	if (f->flags & (TALLY_FLAG(PARTIAL) | TALLY_FLAG(PICTURED)))
		return;
	struct tally_answer_device *d = need_device(answer, f->device);
	struct tally_answer_state *s = d->state;
	s->hitches.from_start |= s->seen == 0 && f->frame == 0 && !answer->log->waits;
	add_start(answer, d, f, false);
	tally_loads_add_frame(&answer->loads, f->start_ns, f->cpu_ns);
	struct tally_frame_events events = { 0 };
	struct counted c = { .f = f, .events = &events };
	struct tally_hitch_frame *h = begin_frame(answer, s, f, &c);
	tally_frame_events_read(&events, f);
	for (unsigned i = 0; i < events.n_calls; i++)
		if (events.calls[i].kind == TALLY_EVENT_FIRST_DRAW)
			events.passes[i] = tally_parts_at(&s->parts, answer->log, f,
							  events.calls[i].start_ns);
	add_frame(d, h, &c, &c);
	add_to_window(answer, d, f, &c);
}

struct tally_answer *
tally_answer_create(const struct tally_aggregate *log)
{
	struct tally_answer *answer = g_new0(struct tally_answer, 1);
	answer->log = log;
	answer->watch = (struct tally_aggregate_watch){
		.user = answer,
		.line = take_line,
		.frame = take_frame,
		.skipped = tally_answer_skip_frame,
	};
	answer->read = g_ptr_array_new_with_free_func(free_device);
	answer->devices = g_ptr_array_new();
	tally_loads_init(&answer->loads);
	return answer;
}

void
tally_answer_destroy(struct tally_answer *answer)
{
	if (!answer)
		return;
	g_ptr_array_unref(answer->read);
	g_ptr_array_unref(answer->devices);
	tally_loads_finish(&answer->loads);
	g_free(answer);
}

const struct tally_aggregate_watch *
tally_answer_watch(struct tally_answer *answer)
{
	return &answer->watch;
}

static double
median_of(struct tally_stats *s)
{
	return s->moments.n ? tally_value_f64(tally_stats_quantile(s, 0.5)) : 0;
}

/* The frame rate of the slowest frames: the fraction `q` of all, at least one. */
static double
low_fps(struct tally_stats *s, uint64_t q)
{
	double ns = tally_stats_mean_of_largest(s, (s->moments.n + q - 1) / q);
	return ns > 0 ? 1e9 / ns : 0;
}

static void
conclude_speed(struct tally_answer_device *d)
{
	struct tally_stats *all = &d->state->bound.all;
	double total = tally_moments_total(&all->moments);
	d->seconds = total / 1e9;
	d->fps = total > 0 ? (double)d->frames / d->seconds : 0;
	if (tally_demand_decides(&d->state->demand, total))
		d->idle_ns = (double)d->state->demand.ns;
	d->median_ns = median_of(all);
	d->p99_ns = tally_value_f64(tally_stats_quantile(all, 0.99));
	d->low_1_fps = low_fps(all, 100);
	d->low_01_fps = low_fps(all, 1000);
	d->cost_ns = median_of(&d->state->overhead);
	double cost = tally_moments_total(&d->state->overhead.moments);
	d->mean_cost_ns = d->frames ? cost / (double)d->frames : 0;
	d->cost_share = total > 0 ? cost / total : 0;
	double each = d->mean_cost_ns;
	double once = d->state->start_overhead - each * (double)d->state->n_start;
	d->once_ns = once >= MAX(ONCE_NS, ONCE_FACTOR * each) ? once : 0;
}

/* Calls in at least half of the frames that take a twentieth of those, and such as take a fifth of
 * the start. */
static void
conclude_calls(struct tally_answer_device *d)
{
	for (int i = TALLY_EVENT_SHADERS; i < TALLY_N_EVENT_GROUPS; i++) {
		const enum tally_event_group group = (enum tally_event_group)i;
		const struct tally_event_total *t = &d->state->calls[i];
		struct tally_event_total loaded = d->state->loaded[i];
		loaded.frames = 1;
		if (5 * loaded.sum.ns >= MAX(d->first_ns, d->skipped_ns))
			d->loaded[i] = tally_event_mean(&loaded, group);
		if (2 * t->frames < d->frames || 20 * (double)t->sum.ns / 1e9 < d->seconds)
			continue;
		d->calls[i] = tally_event_mean(t, group);
		d->calls_in[i] = (double)t->frames / (double)d->frames;
	}
}

static void
take_largest(const struct tally_answer_device *d, struct tally_answer_pass *together)
{
	const struct tally_part *largest = tally_parts_largest_shared(
		&d->state->parts, d->range, &together->others);
	together->largest = largest ? largest->name : NULL;
}

static void
conclude_passes(struct tally_answer_device *d)
{
	const struct tally_course *gpu = &d->state->run.courses[TALLY_COURSE_GPU];
	g_autoptr(GPtrArray) typical = tally_parts_typical(&d->state->parts, d->range,
							   d->range.to - d->range.from,
							   &d->seldom_ns);
	d->range_gpu_ns = tally_course_median(gpu, d->range.from, d->range.to);
	d->n_passes = typical->len;
	d->passes = g_new0(struct tally_answer_pass, typical->len + 1);
	for (guint i = 0; i < typical->len; i++) {
		struct tally_part *part = g_ptr_array_index(typical, i);
		d->passes[i].name = part->name;
		d->passes[i].ns = (double)tally_part_median(part, d->range);
		d->passes[i].frames = part->frames;
		if (part == d->state->parts.together)
			take_largest(d, &d->passes[i]);
		d->typical_ns += d->passes[i].ns;
		if (part->vertices_unknown || part->listed)
			continue;
		d->passes[i].draws = (double)part->sums.draws / (double)part->frames;
		d->passes[i].vertices = (double)part->sums.vertices / (double)part->frames;
	}
	for (guint i = 0; i < d->n_passes && d->typical_ns > 0; i++)
		d->passes[i].share = d->passes[i].ns / d->typical_ns;
}

static int
compare_excess(gconstpointer a, gconstpointer b)
{
	const struct tally_answer_hitch *x = a, *y = b;
	if (x->was.excess_ns != y->was.excess_ns)
		return x->was.excess_ns > y->was.excess_ns ? -1 : 1;
	return (x->was.frame > y->was.frame) - (x->was.frame < y->was.frame);
}

static int
compare_sums(gconstpointer a, gconstpointer b)
{
	const struct tally_answer_sum *x = a, *y = b;
	return x->n != y->n ? (x->n > y->n ? -1 : 1) : strcmp(x->what, y->what);
}

static void
add_sum(struct tally_answer_device *d, const struct tally_answer_hitch *h)
{
	const char *what = tally_cause_short_text(h);
	TALLY_EACH_OF (struct tally_answer_sum, sum, d->sums) {
		if (strcmp(sum->what, what) != 0)
			continue;
		sum->n++;
		return;
	}
	const struct tally_answer_sum sum = { g_strdup(what), 1 };
	g_array_append_val(d->sums, sum);
}

/* The usual number of frames between hitches, if three of four distances are within a tenth of
 * it. */
static uint64_t
find_period(const GArray *found)
{
	enum { LEAST = 4 };
	guint n = found->len ? found->len - 1 : 0, near = 0;
	if (n + 1 < LEAST)
		return 0;
	g_autofree uint64_t *sorted = g_new(uint64_t, n);
	for (guint i = 0; i < n; i++)
		sorted[i] = g_array_index(found, struct tally_answer_hitch, i + 1).was.frame -
			    g_array_index(found, struct tally_answer_hitch, i).was.frame;
	qsort(sorted, n, sizeof(sorted[0]), tally_order_u64);
	uint64_t middle = sorted[n / 2];
	for (guint i = 0; i < n; i++)
		near += 10 * sorted[i] >= 9 * middle && 10 * sorted[i] <= 11 * middle;
	/* Next to each other they are one burst. */
	return middle >= LEAST && 4 * near >= 3 * n ? middle : 0;
}

/* Of a program that draws on demand a frame that waited for an event is none. */
static void
drop_waits_for_events(struct tally_answer_device *d)
{
	GArray *found = d->state->found;
	for (guint i = found->len; i-- > 0 && d->idle_ns > 0;) {
		const struct tally_hitch *h =
			&g_array_index(found, struct tally_answer_hitch, i).was;
		uint64_t busy_ns = h->ns[TALLY_HITCH_WORK] + h->ns[TALLY_HITCH_WAIT];
		if (!tally_demand_waited(h->frame_ns, busy_ns, h->asleep))
			continue;
		d->n_hitches--;
		d->hitch_ns -= h->excess_ns;
		g_array_remove_index(found, i);
	}
}

static void
conclude_hitches(const struct tally_answer *answer, struct tally_answer_device *d)
{
	struct tally_answer_state *s = d->state;
	tally_hitches_conclude(&s->hitches);
	d->n_hitches = s->hitches.count;
	d->hitch_ns = s->hitches.excess_ns;
	drop_waits_for_events(d);
	d->period = find_period(s->found);
	const struct tally_device_summary *device = tally_aggregate_device(answer->log, d->device);
	TALLY_EACH_OF (struct tally_answer_hitch, h, s->found) {
		if (device)
			tally_loads_explain(&answer->loads, answer->log, device, h);
		add_sum(d, h);
	}
	for (unsigned i = 0; device && i < d->n_changes; i++)
		tally_loads_explain_change(&answer->loads, answer->log, device, &d->changes[i]);
	d->busiest = tally_loads_busiest(&answer->loads, device ? device->name : NULL,
					 &d->busiest_share);
	g_array_sort(d->sums, compare_sums);
	g_array_sort(s->found, compare_excess);
	d->hitches = (const struct tally_answer_hitch *)(void *)s->found->data;
	d->n_listed = s->found->len;
}

/* Changes of it leave what the frames show. */
static void
take_present_mode(const struct tally_answer *answer, struct tally_answer_device *d)
{
	const struct tally_device_summary *s = tally_aggregate_device(answer->log, d->device);
	if (!s || s->waits_for_screen == s->waits_for_none)
		return;
	d->state->bound.unlimited = s->waits_for_none;
	d->state->bound.vsync = s->waits_for_screen ? s->present_mode : NULL;
}

static void
conclude(const struct tally_answer *answer, struct tally_answer_device *d)
{
	conclude_speed(d);
	conclude_calls(d);
	take_present_mode(answer, d);
	tally_explain_run(&d->state->run, d);
	const struct tally_range all = { .whole = true };
	tally_presence_find(&d->state->run, d->state->lately, d);
	d->bound = tally_bound_decide(&d->state->bound, d->n_changes ? d->range : all);
	d->bound.driver = d->state->run.driver;
	if (d->bound.doubt == TALLY_DOUBT_NO_GPU_TIMES &&
	    !tally_aggregate_has_pass(answer->log, d->device))
		d->bound.doubt = TALLY_DOUBT_NO_PASS;
	double mean_ns = d->seconds * 1e9 / (double)d->frames;
	/* Frames have their numbers in the log, where those of other windows are between them. */
	if (!d->n_windows)
		d->alternating = tally_explain_alternating(&d->state->run,
							   ALTERNATING_SHARE * mean_ns);
	conclude_passes(d);
	d->bound.some_gpu = d->typical_ns > 0;
	if (d->state->bound.n_timed && !d->n_windows) /* of windows it is that of all */
		d->mean_gpu_ns = d->state->bound.timed.gpu / (double)d->state->bound.n_timed;
	const struct tally_device_summary *s = tally_aggregate_device(answer->log, d->device);
	d->at_once = s && s->queues_at_once.several_ns && d->mean_gpu_ns > 0;
	conclude_hitches(answer, d);
}

/* The one with the most work on the GPU first. */
static gint
compare_work(gconstpointer a, gconstpointer b)
{
	const struct tally_answer_device *x = *(struct tally_answer_device *const *)a,
					 *y = *(struct tally_answer_device *const *)b;
	double work_x = x->typical_ns * (double)x->frames;
	double work_y = y->typical_ns * (double)y->frames;
	if (work_x != work_y)
		return work_x < work_y ? 1 : -1;
	return (x->frames < y->frames) - (x->frames > y->frames);
}

/* The windows of a device, where several had nearly all frames; NULL: it is one. A surface of a
 * pixel, which a toolkit swaps for its context, is none. */
static GPtrArray *
find_windows(const struct tally_answer_device *d)
{
	const struct tally_windows *all = &d->state->windows;
	g_autoptr(GPtrArray) windows = g_ptr_array_new();
	uint64_t frames = 0, hidden = 0;
	for (unsigned i = 0; i < all->n; i++) {
		struct tally_answer_device *w = all->all[i].answer;
		if (!w || (double)w->frames < WINDOW_SHARE * (double)d->frames)
			continue;
		bool seen = w->width != 1 || w->height != 1;
		frames += w->frames;
		hidden += seen ? 0 : w->frames;
		if (seen)
			g_ptr_array_add(windows, w);
	}
	if (windows->len < (hidden ? 1 : 2) || (double)frames < WINDOWS_SHARE * (double)d->frames)
		return NULL;
	return g_steal_pointer(&windows);
}

/* The answers of a device's windows instead of its own. */
static bool
take_windows(const struct tally_answer *answer, struct tally_answer_device *d)
{
	const struct tally_windows *all = &d->state->windows;
	g_autoptr(GPtrArray) windows = find_windows(d);
	if (!windows)
		return false;
	TALLY_EACH (struct tally_answer_device, w, windows) {
		w->n_windows = windows->len;
		w->unplaced = 2 * all->n_unplaced >= w->frames;
		w->skipped = d->skipped;
		w->skipped_ns = d->skipped_ns;
		w->first_ns = d->first_ns;
		w->first_own_ns = d->first_own_ns;
		memcpy(w->state->loaded, d->state->loaded, sizeof(d->state->loaded));
		w->start = d->start;
		conclude(answer, w);
	}
	g_ptr_array_sort(windows, compare_work);
	for (guint i = 0; i < windows->len; i++) {
		((struct tally_answer_device *)windows->pdata[i])->window =
			windows->len > 1 ? i + 1 : 0;
		g_ptr_array_add(answer->devices, windows->pdata[i]);
	}
	return true;
}

void
tally_answer_conclude(struct tally_answer *answer)
{
	TALLY_EACH (const struct tally_device_summary, of, answer->log->devices) {
		struct tally_answer_device *d = find_device(answer->read, of->device);
		if (!d || (d->frames && take_windows(answer, d)))
			continue;
		g_ptr_array_add(answer->devices, d);
		if (d->frames)
			conclude(answer, d);
	}
}

const struct tally_answer_device *
tally_answer_find(const struct tally_answer *answer, uint32_t device)
{
	const struct tally_answer_device *d = find_device(answer->devices, device);
	return d && d->frames ? d : NULL;
}
