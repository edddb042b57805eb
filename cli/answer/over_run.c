/* SPDX-License-Identifier: MIT */
#include "cli/answer/over_run.h"

#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define CLOCK_MOVED 0.95 /* the lower clock is at most so much of the higher one */
#define OTHER_DRAWS 0.25 /* or vertices, fragments, width */
#define SECOND 0.25 /* a second cause explains so much, and both so much too much at most */
#define AHEAD 2 /* times the frame is the GPU's time */
#define MEMORY_GREW 16e6 /* bytes */
#define MEMORY_SHARE 0.05

/* Metrics of frames (data/metrics/gauge.txt). */
static const char *const metric_of[TALLY_N_COURSES] = {
	[TALLY_COURSE_CLOCK] = "gpu_clock",
	[TALLY_COURSE_HELD] = "gpu_throttled",
	[TALLY_COURSE_MEMORY] = "gpu_process_memory",
};

void
tally_over_run_init(struct tally_over_run *r, const struct tally_parts *parts)
{
	*r = (struct tally_over_run){ .parts = parts, .block = 1 };
	for (int i = 0; i < TALLY_N_COURSES; i++)
		r->courses[i].room = TALLY_COURSE_ROOM;
	/* Their medians are of neighbouring frames together, as those of passes: frames may
	 * alternate. */
	for (int i = TALLY_COURSE_GPU; i < TALLY_COURSE_CLOCK; i++)
		r->courses[i].room = TALLY_PART_ROOM;
}

void
tally_over_run_finish(struct tally_over_run *r)
{
	for (int i = 0; i < TALLY_N_COURSES; i++)
		tally_course_finish(&r->courses[i]);
}

/* The number of the frame `at` of those added, where a block begins. */
static uint64_t
number_at(const struct tally_over_run *r, uint64_t at)
{
	return r->numbers[at / r->block];
}

void
tally_over_run_add(struct tally_over_run *r, const struct tally_frame_record *f, uint64_t unsure_ns,
		   const struct tally_frame_events *events)
{
	const uint64_t live = events->sums[TALLY_EVENT_MEMORY].live;
	uint64_t wait_ns = f->has_wait ? MIN(f->wait_ns, f->cpu_ns) : 0;
	/* That passtally waits for lavapipe now and then is not the program's. */
	uint64_t own_ns = 2 * f->overhead_ns > f->cpu_ns ? MIN(f->overhead_ns, f->cpu_ns) : 0;
	tally_course_add(&r->courses[TALLY_COURSE_FRAME], r->n, (double)(f->cpu_ns - own_ns));
	for (; r->block < r->courses[TALLY_COURSE_FRAME].block; r->block *= 2)
		for (unsigned i = 0; i < TALLY_COURSE_ROOM / 2; i++) {
			r->numbers[i] = r->numbers[2 * i];
			r->starts_ns[i] = r->starts_ns[2 * i];
		}
	if (r->n % r->block == 0) {
		r->numbers[r->n / r->block] = f->frame;
		r->starts_ns[r->n / r->block] = f->start_ns;
	}
	r->end_ns = f->start_ns + f->cpu_ns;
	if (f->has_gpu) {
		tally_course_add(&r->courses[TALLY_COURSE_GPU], r->n, (double)f->gpu_ns);
		tally_course_add(&r->courses[TALLY_COURSE_UNSURE], r->n, (double)unsure_ns);
	}
	for (int i = 0; i <= TALLY_WORK_FRAGMENTS; i++)
		if (i == TALLY_WORK_DRAWS || r->parts->work[i])
			tally_course_add(&r->courses[TALLY_COURSE_DRAWS + i], r->n,
					 (double)r->parts->work[i]);
	uint64_t work_ns = MIN(f->thread_ns, f->cpu_ns - wait_ns);
	if (f->has_thread)
		tally_course_add(&r->courses[TALLY_COURSE_WORK], r->n, (double)work_ns);
	if (f->has_wait)
		tally_course_add(&r->courses[TALLY_COURSE_WAIT], r->n, (double)wait_ns);
	if (f->has_thread && f->has_wait)
		tally_course_add(&r->courses[TALLY_COURSE_REST], r->n,
				 (double)(f->cpu_ns - wait_ns - work_ns));
	struct tally_event_record calls[TALLY_N_EVENT_GROUPS];
	tally_frame_events_sum(events, calls);
	for (int i = TALLY_EVENT_SHADERS; i < TALLY_N_EVENT_GROUPS; i++)
		tally_course_add(&r->courses[TALLY_COURSE_CALLS + i], r->n,
				 (double)calls[i].own_ns);
	for (uint32_t i = 0; i < f->n_metrics; i++)
		for (int k = TALLY_COURSE_CLOCK; k <= TALLY_COURSE_MEMORY; k++)
			if (strcmp(f->metrics[i].key, metric_of[k]) == 0)
				tally_course_add(&r->courses[k], r->n,
						 tally_value_f64(f->metrics[i].value));
	r->allocated = live ? live : r->allocated;
	if (r->allocated)
		tally_course_add(&r->courses[TALLY_COURSE_ALLOCATED], r->n,
				 (double)r->allocated);
	r->since.frames++;
	r->since.frames_ns += f->cpu_ns;
	r->n++;
}

/* What the process lines since the last one with a frame say of a frame: the medians of frame times
 * and of shares of the time may be of different frames. */
static void
add_of_frame(struct tally_over_run *r)
{
	double frame_ns = (double)r->since.frames_ns / (double)r->since.frames;
	double part = frame_ns / (double)r->since.period_ns;
	for (int i = TALLY_COURSE_READY; i <= TALLY_COURSE_NO_CPU; i++)
		tally_course_add(&r->courses[i], r->n - (r->since.frames + 1) / 2,
				 r->since.ns[i - TALLY_COURSE_READY] * part);
}

void
tally_over_run_add_process(struct tally_over_run *r, const struct tally_process_record *p,
			   struct tally_driver_load driver)
{
	if (r->n > 0 && p->resident_bytes)
		tally_course_add(&r->courses[TALLY_COURSE_RESIDENT], r->n - 1,
				 (double)p->resident_bytes);
	r->driver.ns[TALLY_DREW] += driver.ns[TALLY_DREW];
	r->driver.ns[TALLY_HAD_NO_CPU] += driver.ns[TALLY_HAD_NO_CPU];
	r->driver.others_ns += driver.others_ns;
	r->driver.has_ready |= driver.has_ready;
	r->since.period_ns += p->period_ns;
	r->since.ns[0] += (double)p->ready_ns;
	r->since.ns[1] += driver.ns[TALLY_DREW];
	r->since.ns[2] += driver.ns[TALLY_HAD_NO_CPU];
	if (r->since.frames && r->since.period_ns)
		add_of_frame(r);
	/* Lines before the first frame are of the loading. */
	if (r->since.frames || !r->n)
		memset(&r->since, 0, sizeof(r->since));
}

static double
median_in(const struct tally_course *c, struct tally_range range)
{
	double ns = tally_course_median(c, range.from, range.to);
	return isnan(ns) ? 0 : ns;
}

/* By how much the median is another; NAN: not known. */
static double
change_of(const struct tally_course *c, struct tally_range before, struct tally_range after)
{
	return tally_course_median(c, after.from, after.to) -
	       tally_course_median(c, before.from, before.to);
}

/* What passes had to do: from the courses that begin at `from` and `to`. */
static void
set_work(struct tally_answer_change *c, const struct tally_course *from,
	 struct tally_range before, const struct tally_course *to, struct tally_range after,
	 int first, int end)
{
	for (int i = first; i < end; i++) {
		c->work[i][0] = median_in(&from[i], before);
		c->work[i][1] = median_in(&to[i], after);
	}
}

/* Whether passes had other work: by a quarter, the first `n` of enum tally_work. */
static bool
has_other_work(const struct tally_answer_change *c, int n)
{
	bool other = false;
	for (int i = 0; i < n; i++) {
		const double *w = c->work[i];
		other |= fabs(w[1] - w[0]) > OTHER_DRAWS * w[0] &&
			 (i == TALLY_WORK_DRAWS || (w[0] > 0 && w[1] > 0));
	}
	return other;
}

/* Of an OpenGL pass without other work, what the thread's work and waits may explain: the part of
 * its time before the program began the next pass. */
static double
unsure_change(const struct tally_over_run *r, const struct tally_part *part,
	      struct tally_range before, struct tally_range after)
{
	struct tally_answer_change c;
	set_work(&c, part->work, before, part->work, after, 0, TALLY_WORK_PLACE);
	if (!r->opengl || !r->courses[TALLY_COURSE_REST].slots ||
	    has_other_work(&c, TALLY_WORK_PLACE))
		return 0;
	return median_in(&part->unsure, after) - median_in(&part->unsure, before);
}

/* A part that only one of two ranges has. */
struct one_sided {
	struct tally_part *part;
	double place, draws;
};

static GArray *
find_one_sided(const GPtrArray *parts, struct tally_range has, struct tally_range lacks)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct one_sided));
	TALLY_EACH (struct tally_part, part, parts) {
		const struct one_sided one = {
			.part = part,
			.place = median_in(&part->work[TALLY_WORK_PLACE], has),
			.draws = median_in(&part->work[TALLY_WORK_DRAWS], has),
		};
		if (tally_part_median(part, has) && !tally_part_median(part, lacks))
			g_array_append_val(found, one);
	}
	return found;
}

/* What has its place on the other side at another size, with as many draws; or itself. */
static struct tally_part *
find_resized(const struct one_sided *of, const GArray *others)
{
	TALLY_EACH_OF (const struct one_sided, q, others)
		if (fabs(q->place - of->place) <= 0 &&
		    tally_parts_are_as_many(q->draws, of->draws) &&
		    tally_parts_differ_in_size(q->part->name, of->part->name))
			return q->part;
	return of->part;
}

/* Sets what each part was before and becomes after a change. */
static void
pair_parts(const struct tally_over_run *r, struct tally_range before, struct tally_range after)
{
	const GPtrArray *all = r->parts->owned, *top = r->parts->all[TALLY_PART_TOP];
	g_autoptr(GArray) gone = find_one_sided(all, before, after);
	g_autoptr(GArray) new = find_one_sided(all, after, before);
	g_autoptr(GArray) top_gone = find_one_sided(top, before, after);
	g_autoptr(GArray) top_new = find_one_sided(top, after, before);
	TALLY_EACH (struct tally_part, part, all)
		part->was = part->becomes = part;
	TALLY_EACH_OF (const struct one_sided, one, gone)
		one->part->becomes = find_resized(one, top_new);
	TALLY_EACH_OF (const struct one_sided, one, new)
		one->part->was = find_resized(one, top_gone);
}

/* The part that changed most in the direction in which the frames did; *others_ns: how much the
 * others did in either, as a pass may take the place of another. */
static struct tally_part *
most_changed(const struct tally_over_run *r, int level, struct tally_range before,
	     struct tally_range after, double sign, double *change_ns, double *others_ns)
{
	struct tally_part *most = NULL;
	*change_ns = *others_ns = 0;
	TALLY_EACH (struct tally_part, part, r->parts->all[level]) {
		if (part->becomes != part)
			continue; /* it is with that one */
		double change = sign * ((double)tally_part_median(part, after) -
					(double)tally_part_median(part->was, before));
		double unsure = sign * unsure_change(r, part, before, after);
		change -= unsure * change > 0 ? unsure : 0;
		*others_ns += fabs(change);
		if (change > *change_ns) {
			*change_ns = change;
			most = part;
		}
	}
	*others_ns -= *change_ns;
	return most;
}

static const char *const thread_names[] = {
	[TALLY_COURSE_WORK] = "CPU",
	[TALLY_COURSE_WAIT] = "waits",
	[TALLY_COURSE_REST] = "other waits",
	[TALLY_COURSE_CALLS + TALLY_EVENT_SHADERS] = "shaders made",
	[TALLY_COURSE_CALLS + TALLY_EVENT_UPLOADS] = "uploads",
	[TALLY_COURSE_CALLS + TALLY_EVENT_READBACKS] = "read-backs",
	[TALLY_COURSE_CALLS + TALLY_EVENT_MAPS] = "mapping",
	[TALLY_COURSE_CALLS + TALLY_EVENT_ALLOCATIONS] = "allocations",
	[TALLY_COURSE_READY] = "waits for a CPU",
	[TALLY_COURSE_NO_CPU] = "the driver's waits for a CPU",
};

/* A time of threads that changed with the frames, by `least` of it at least and the most of those
 * from `first` to `last`. */
static struct tally_answer_time
find_time(const struct tally_over_run *r, int first, int last, struct tally_range before,
	  struct tally_range after, double change_ns, double least)
{
	struct tally_answer_time found = { 0 };
	for (int i = first; i <= last; i++) {
		double part = change_of(&r->courses[i], before, after) / change_ns;
		if (!(part >= least))
			continue;
		least = part;
		found.what = thread_names[i];
		found.before_ns = median_in(&r->courses[i], before);
		found.after_ns = median_in(&r->courses[i], after);
	}
	return found;
}

/* Whether a time of threads explains it; then it is what is named. */
static bool
take_time(const struct tally_over_run *r, int i, struct tally_range before,
	  struct tally_range after, double change_ns, struct tally_answer_change *c)
{
	struct tally_answer_time t = find_time(r, i, i, before, after, change_ns, 0.5);
	if (!t.what)
		return false;
	c->what = t.what;
	c->what_before_ns = t.before_ns;
	c->what_after_ns = t.after_ns;
	memset(c->work, 0, sizeof(c->work));
	c->is_pass = c->starved = false;
	c->within.what = NULL;
	c->waits_ns = i == TALLY_COURSE_WORK ? 0 : c->after_ns - c->before_ns;
	return true;
}

static const char or_gpu[] = "other waits, or the GPU";

/* By the thread that ends frames. */
static void
explain_by_thread(const struct tally_over_run *r, struct tally_range before,
		  struct tally_range after, double change_ns, struct tally_answer_change *c)
{
	/* What is not sure of it, too. */
	double gpu_ns = change_of(&r->courses[TALLY_COURSE_GPU], before, after);
	for (int i = TALLY_COURSE_WORK; i <= TALLY_COURSE_REST; i++) {
		if (!take_time(r, i, before, after, change_ns, c))
			continue;
		if (i == TALLY_COURSE_REST && gpu_ns / change_ns >= 0.5)
			c->what = or_gpu;
		if (i == TALLY_COURSE_REST)
			take_time(r, TALLY_COURSE_READY, before, after, change_ns, c);
		return;
	}
}

static const char all_passes[] = "GPU";

/* By all passes together, also those that most frames do not have. */
static void
explain_by_gpu(const struct tally_over_run *r, struct tally_range before,
	       struct tally_range after, struct tally_answer_change *c)
{
	c->what = all_passes;
	c->what_before_ns = median_in(&r->courses[TALLY_COURSE_GPU], before);
	c->what_after_ns = median_in(&r->courses[TALLY_COURSE_GPU], after);
	const struct tally_course *work = &r->courses[TALLY_COURSE_DRAWS];
	set_work(c, work, before, work, after, 0, TALLY_WORK_WIDTH);
}

static bool
knows_gpu(const struct tally_over_run *r, struct tally_range range)
{
	return tally_course_count(&r->courses[TALLY_COURSE_GPU], range.from, range.to) > 0;
}

/* How much the GPU's time changed in that direction, NAN if that is not known; *sure_ns: without
 * what may be the CPU's. */
static double
gpu_change(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	   double sign, double *sure_ns)
{
	struct tally_answer_change all = { 0 };
	*sure_ns = 0;
	if (!knows_gpu(r, before) || !knows_gpu(r, after))
		return NAN;
	explain_by_gpu(r, before, after, &all);
	double change = sign * (all.what_after_ns - all.what_before_ns);
	double unsure = change_of(&r->courses[TALLY_COURSE_UNSURE], before, after);
	bool known = r->opengl && r->courses[TALLY_COURSE_REST].slots &&
		     !has_other_work(&all, TALLY_WORK_WIDTH);
	*sure_ns = change - (known ? sign * unsure : 0);
	return change;
}

/* Of passes that are drawn together, the one whose draws changed most. */
static void
name_drew(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	  struct tally_answer_change *c)
{
	double most = 0;
	TALLY_EACH (const struct tally_part, part, r->parts->all[TALLY_PART_FINE]) {
		double from = median_in(&part->work[TALLY_WORK_DRAWS], before);
		double to = median_in(&part->work[TALLY_WORK_DRAWS], after);
		if (part->name[0] == '(' || part->time.slots || fabs(to - from) <= most)
			continue;
		most = fabs(to - from);
		c->drew = part->name;
		c->draws = tally_part_draws(part);
		c->work[TALLY_WORK_DRAWS][0] = from;
		c->work[TALLY_WORK_DRAWS][1] = to;
	}
}

/* Whether a pass explains it alone. One that takes the place of another, or of several that few
 * frames have, changed by more than the GPU's time did. */
static bool
is_of_pass(double lost, double change, double others, double gpu, double sure)
{
	return change >= lost / 2 && others < change / 2 &&
	       (isnan(gpu) || (gpu >= lost / 2 && fabs(sure - change) < change / 2));
}

/* Whether more than a few frames have it: of its blocks one may reach over a change. */
static bool
is_in(const struct tally_part *part, struct tally_range range)
{
	const struct tally_course *draws = &part->work[TALLY_WORK_DRAWS];
	return 8 * tally_course_count(draws, range.from, range.to) >= range.to - range.from;
}

/* Whether most of the time was of passes that are gone, and is of new ones. */
static bool
are_others(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	   const struct tally_answer_change *c)
{
	double gone = 0, new = 0;
	TALLY_EACH (struct tally_part, part, r->parts->all[TALLY_PART_TOP]) {
		double from = (double)tally_part_median(part, before);
		double to = (double)tally_part_median(part, after);
		gone += to > 0 || part->becomes != part ? 0 : from;
		new += from > 0 || part->was != part ? 0 : to;
	}
	return gone >= c->what_before_ns / 2 && new >= c->what_after_ns / 2;
}

static struct tally_answer_time
time_of_part(struct tally_part *part, struct tally_range before, struct tally_range after)
{
	return (struct tally_answer_time){ part->name, (double)tally_part_median(part->was, before),
					   (double)tally_part_median(part, after) };
}

static void
take_pass(const struct tally_over_run *r, struct tally_range before, struct tally_part *to,
	  struct tally_range after, struct tally_answer_change *c)
{
	struct tally_part *from = to->was;
	c->what = to->name;
	c->draws = tally_part_draws(to);
	c->is_pass = true;
	c->what_before_ns = (double)tally_part_median(from, before);
	c->what_after_ns = (double)tally_part_median(to, after);
	set_work(c, from->work, before, to->work, after, 0, TALLY_WORK_PLACE);
	c->seldom = is_in(to, before) && is_in(to, after);
	if (to == r->parts->together)
		name_drew(r, before, after, c);
}

/* What explains most of a change, if that is at least half of it. */
static void
explain_change(const struct tally_over_run *r, struct tally_range before,
	       struct tally_range after, struct tally_answer_change *c)
{
	double lost = fabs(c->after_ns - c->before_ns),
	       sign = c->after_ns > c->before_ns ? 1 : -1;
	double change, others, sure;
	double gpu = gpu_change(r, before, after, sign, &sure);
	struct tally_part *part;
	pair_parts(r, before, after);
	for (int level = TALLY_PART_TOP; level < TALLY_N_PART_LEVELS; level++) {
		part = most_changed(r, level, before, after, sign, &change, &others);
		if (!part || !is_of_pass(lost, change, others, gpu, sure))
			continue;
		take_pass(r, before, part, after, c);
		return;
	}
	if (sure < lost / 2)
		explain_by_thread(r, before, after, sign * lost, c);
	else
		explain_by_gpu(r, before, after, c);
	if (c->what != all_passes)
		return;
	c->others = are_others(r, before, after, c);
	c->drew = part ? part->name : NULL;
	if (change >= fabs(c->what_after_ns - c->what_before_ns) / 2 && others < change / 2)
		c->within = time_of_part(part, before, after);
	if (part)
		set_work(c, part->was->work, before, part->work, after, TALLY_WORK_WIDTH,
			 TALLY_WORK_PLACE);
}

/* A part of a stretch next to the change: what came later or went before is another change. Of the
 * blocks that passes have, one may reach over the change: at least three, where there are. */
static struct tally_range
next_to(const struct tally_over_run *r, struct tally_range stretch, bool before)
{
	uint64_t n = (stretch.to - stretch.from + 2) / 3, block = 1;
	while (block * TALLY_PART_ROOM < r->n)
		block *= 2;
	n = MAX(n, MIN(3 * block, stretch.to - stretch.from));
	return (struct tally_range){
		.from = before ? stretch.to - n : stretch.from,
		.to = before ? stretch.to : stretch.from + n,
	};
}

/* Which time of the thread that ends frames is named; 0: none. */
static int
thread_course(const struct tally_answer_change *c)
{
	for (int i = TALLY_COURSE_WORK; i <= TALLY_COURSE_REST; i++)
		if (thread_names[i] == c->what)
			return i;
	return 0;
}

/* What a pass, all passes or a time of the thread was in a range; NAN: it is not of frames. */
static double
named_in(const struct tally_over_run *r, const struct tally_answer_change *c,
	 struct tally_range range)
{
	TALLY_EACH (struct tally_part, part, r->parts->owned)
		if (part->name == c->what)
			return (double)tally_part_median(part, range);
	if (thread_course(c))
		return median_in(&r->courses[thread_course(c)], range);
	if (c->what == all_passes)
		return median_in(&r->courses[TALLY_COURSE_GPU], range);
	return NAN;
}

/* A wait in what is named. */
static void
take_wait(struct tally_answer_change *c)
{
	const char *pass = c->is_pass ? c->what : "all passes";
	c->what = g_intern_string(tally_phrase("a wait in %s", pass));
	memset(c->work, 0, sizeof(c->work));
	c->is_pass = false;
	c->within.what = NULL;
	c->waits_ns = c->after_ns - c->before_ns;
}

/* Where a driver draws on the CPU, a pass that takes longer without more draws has more of it,
 * too; else other programs have it, surely where its threads wait for one, or it waits. */
static void
check_driver(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	     struct tally_answer_change *c)
{
	const struct tally_course *drew = &r->courses[TALLY_COURSE_DREW], *no_cpu = drew + 1;
	double change_ns = c->what_after_ns - c->what_before_ns;
	double had_none = r->driver.has_ready ? change_of(no_cpu, before, after) : (double)NAN;
	bool either = c->what == or_gpu, gpu = c->is_pass || c->what == all_passes || either;
	if (!gpu || r->driver.ns[TALLY_DREW] <= 0 || has_other_work(c, TALLY_WORK_PLACE))
		return;
	enum tally_driver_did did =
		tally_cause_driver_did(change_of(drew, before, after) / change_ns,
				       had_none / change_ns);
	/* On few CPUs it has none while the program's own thread works. */
	if (did != TALLY_DRIVER_DREW &&
	    take_time(r, TALLY_COURSE_WORK, before, after, c->after_ns - c->before_ns, c))
		return;
	c->starved = did == TALLY_DRIVER_UNKNOWN && !either;
	if (did == TALLY_DRIVER_HAD_NO_CPU)
		take_time(r, TALLY_COURSE_NO_CPU, before, after, change_ns, c);
	if (did == TALLY_DRIVER_WAITED && either)
		c->what = thread_names[TALLY_COURSE_REST];
	else if (did == TALLY_DRIVER_WAITED)
		take_wait(c);
}

/* Whether what is named changed next to the change, too, by half as much or as the frames
 * there: else it was at another frame. */
static bool
is_there(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	 const struct tally_answer_change *c)
{
	double change = named_in(r, c, after) - named_in(r, c, before);
	double lost = change_of(&r->courses[TALLY_COURSE_FRAME], before, after);
	double all = c->what_after_ns - c->what_before_ns;
	return !(change / lost < 0.5 && change / all < 0.5);
}

/* Whether the thread waited more than the GPU's time explains, by a second cause. */
static bool
idles(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
      double change_ns)
{
	double gpu = change_of(&r->courses[TALLY_COURSE_GPU], before, after) / change_ns;
	double waits = change_of(&r->courses[TALLY_COURSE_WAIT], before, after) +
		       change_of(&r->courses[TALLY_COURSE_REST], before, after);
	return waits / change_ns - (gpu > 0 ? gpu : 0) >= SECOND;
}

static struct tally_answer_time
find_second(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	    const struct tally_answer_change *c, bool gpu)
{
	const int work = TALLY_COURSE_WORK, rest = TALLY_COURSE_REST;
	const double lost = c->after_ns - c->before_ns, sign = lost > 0 ? 1 : -1;
	double change, others;
	struct tally_answer_time t = find_time(r, work, work, before, after, lost, SECOND);
	if (t.what && t.what != c->what)
		return t;
	struct tally_part *part = most_changed(r, TALLY_PART_TOP, before, after, sign, &change,
					       &others);
	if (!gpu && part && change >= SECOND * fabs(lost))
		return time_of_part(part, before, after);
	return find_time(r, rest, rest, before, after, lost,
			 idles(r, before, after, lost) ? SECOND : INFINITY);
}

/* Beside what is named: what explains a quarter more, if that is not the same time. */
static void
add_second(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	   struct tally_answer_change *c)
{
	const double lost = c->after_ns - c->before_ns;
	const bool gpu = c->is_pass || c->what == all_passes;
	if ((!gpu && !thread_course(c)) || c->starved)
		return;
	struct tally_answer_time also = find_second(r, before, after, c, gpu);
	double both = c->what_after_ns - c->what_before_ns + also.after_ns - also.before_ns;
	if (also.what != c->what && both / lost <= 1 + SECOND)
		c->also = also;
	if (c->also.what == thread_names[TALLY_COURSE_REST])
		c->waits_ns = also.after_ns - also.before_ns;
	if (!gpu || c->also.what)
		c->calls = find_time(r, TALLY_COURSE_CALLS + TALLY_EVENT_SHADERS,
				     TALLY_COURSE_CLOCK - 1, before, after, lost, SECOND);
}

/* Whether the GPU's clock went along with a change. */
static void
look_at_clock(const struct tally_over_run *r, struct tally_range before,
	      struct tally_range after, struct tally_answer_change *c)
{
	double from = median_in(&r->courses[TALLY_COURSE_CLOCK], before);
	double to = median_in(&r->courses[TALLY_COURSE_CLOCK], after);
	bool slower = c->after_ns > c->before_ns;
	if (from <= 0 || to <= 0 || (slower ? to > CLOCK_MOVED * from : from > CLOCK_MOVED * to))
		return;
	c->clock_before = from;
	c->clock_after = to;
	c->held = median_in(&r->courses[TALLY_COURSE_HELD], before) <= 0 &&
		  median_in(&r->courses[TALLY_COURSE_HELD], after) > 0;
}

/* By the whole stretches, or, where that was at another frame, by what is next to the change. */
static void
explain(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	struct tally_answer_change *c)
{
	const struct tally_answer_change blank = *c;
	struct tally_range to = next_to(r, before, true), from = next_to(r, after, false);
	explain_change(r, before, after, c);
	if (!is_there(r, to, from, c)) {
		*c = blank;
		before = to;
		after = from;
		explain_change(r, before, after, c);
	}
	check_driver(r, before, after, c);
	add_second(r, before, after, c);
	look_at_clock(r, before, after, c);
}

/* In the longest part up to the run's end each quarter of which has more than the one before, by a
 * tenth of its whole growth. */
static struct tally_answer_growth
find_growth(const struct tally_over_run *r, const struct tally_course *c)
{
	enum { PARTS = 8, MOST = 5 }; /* of the run, and that it may begin after */
	for (uint64_t part = 0; part <= MOST; part++) {
		double from = (double)(part * r->n / PARTS), quarter = ((double)r->n - from) / 4;
		double at[4], grew = INFINITY;
		for (unsigned i = 0; i < 4; i++) {
			at[i] = tally_course_median(c, (uint64_t)(from + i * quarter),
						    (uint64_t)(from + (i + 1) * quarter));
			grew = i && !(at[i] - at[i - 1] >= grew) ? at[i] - at[i - 1] : grew;
		}
		double growth = at[3] - at[0];
		if (!(grew >= growth / 10) || growth < MAX(MEMORY_GREW, MEMORY_SHARE * at[0]))
			continue;
		/* Where the line through the last quarters has what it had at first. */
		double rise = (at[3] - at[1]) / (2 * quarter);
		double begin = from + 1.5 * quarter - (at[1] - at[0]) / rise;
		return (struct tally_answer_growth){
			.frame = part ? number_at(r, (uint64_t)fmax(begin, from)) : 0,
			.from = at[0],
			.to = at[3],
		};
	}
	return (struct tally_answer_growth){ 0 };
}

/* The program ran ahead of the GPU, for a while: that is no speed. */
static bool
is_ahead(const struct tally_over_run *r, struct tally_range range)
{
	return median_in(&r->courses[TALLY_COURSE_GPU], range) >
	       AHEAD * median_in(&r->courses[TALLY_COURSE_FRAME], range);
}

/* The stretch before change `i`; that after the last one for i == n. */
static struct tally_range
stretch(const struct tally_change *changes, unsigned n, unsigned i, uint64_t frames)
{
	return (struct tally_range){
		.whole = n == 0,
		.from = i ? changes[i - 1].until : 0,
		.to = i < n ? changes[i].at : frames,
	};
}

/* When the frame `at` of those added began, or the last one ended. */
static uint64_t
start_of(const struct tally_over_run *r, uint64_t at)
{
	return at < r->n ? r->starts_ns[at / r->block] : r->end_ns;
}

void
tally_over_run_conclude(const struct tally_over_run *r, struct tally_answer_device *d)
{
	struct tally_change found[TALLY_CHANGE_MOST];
	unsigned n = tally_change_find(&r->courses[TALLY_COURSE_FRAME], d->frames, found);
	for (unsigned i = 0; i <= n; i++) {
		struct tally_range range = stretch(found, n, i, d->frames);
		if (range.to - range.from > d->range.to - d->range.from)
			d->range = range;
		if (i == n)
			break;
		struct tally_range after = stretch(found, n, i + 1, d->frames);
		if (is_ahead(r, range) || is_ahead(r, after))
			continue;
		struct tally_answer_change *c = &d->changes[d->n_changes++];
		*c = (struct tally_answer_change){
			.frame = number_at(r, found[i].at),
			.until = number_at(r, found[i].until),
			.about = r->courses[TALLY_COURSE_FRAME].block > 1,
			.before_ns = found[i].before_ns,
			.after_ns = found[i].after_ns,
		};
		explain(r, range, after, c);
		if (!c->what || c->starved)
			c->waits_ns = c->after_ns - c->before_ns;
		c->begin_ns[0] = start_of(r, range.from);
		c->end_ns[0] = start_of(r, range.to);
		c->begin_ns[1] = start_of(r, after.from);
		c->end_ns[1] = start_of(r, after.to);
	}
	const struct tally_course *gauge = &r->courses[TALLY_COURSE_MEMORY];
	const struct tally_course *calls = &r->courses[TALLY_COURSE_ALLOCATED];
	d->memory = find_growth(r, gauge->slots ? gauge : calls);
	d->resident = find_growth(r, &r->courses[TALLY_COURSE_RESIDENT]);
	d->range_frame = number_at(r, d->range.from);
	d->range_ns = n ? median_in(&r->courses[TALLY_COURSE_FRAME], d->range) : d->median_ns;
}
