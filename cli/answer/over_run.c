/* SPDX-License-Identifier: MIT */
#include "cli/answer/over_run.h"

#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define CLOCK_MOVED 0.95 /* the lower clock is at most so much of the higher one */
#define OTHER_DRAWS 0.25
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
tally_over_run_add(struct tally_over_run *r, const struct tally_frame_record *f, uint64_t live)
{
	uint64_t wait_ns = f->has_wait ? MIN(f->wait_ns, f->cpu_ns) : 0;
	/* That passtally waits for lavapipe now and then is not the program's. */
	uint64_t own_ns = 2 * f->overhead_ns > f->cpu_ns ? MIN(f->overhead_ns, f->cpu_ns) : 0;
	tally_course_add(&r->courses[TALLY_COURSE_FRAME], r->n, (double)(f->cpu_ns - own_ns));
	for (; r->block < r->courses[TALLY_COURSE_FRAME].block; r->block *= 2)
		for (unsigned i = 0; i < TALLY_COURSE_ROOM / 2; i++)
			r->numbers[i] = r->numbers[2 * i];
	if (r->n % r->block == 0)
		r->numbers[r->n / r->block] = f->frame;
	if (f->has_gpu)
		tally_course_add(&r->courses[TALLY_COURSE_GPU], r->n, (double)f->gpu_ns);
	uint64_t work_ns = MIN(f->thread_ns, f->cpu_ns - wait_ns);
	if (f->has_thread)
		tally_course_add(&r->courses[TALLY_COURSE_WORK], r->n, (double)work_ns);
	if (f->has_wait)
		tally_course_add(&r->courses[TALLY_COURSE_WAIT], r->n, (double)wait_ns);
	if (f->has_thread && f->has_wait)
		tally_course_add(&r->courses[TALLY_COURSE_REST], r->n,
				 (double)(f->cpu_ns - wait_ns - work_ns));
	for (uint32_t i = 0; i < f->n_metrics; i++)
		for (int k = TALLY_COURSE_CLOCK; k <= TALLY_COURSE_MEMORY; k++)
			if (strcmp(f->metrics[i].key, metric_of[k]) == 0)
				tally_course_add(&r->courses[k], r->n,
						 tally_value_f64(f->metrics[i].value));
	r->allocated = live ? live : r->allocated;
	if (r->allocated)
		tally_course_add(&r->courses[TALLY_COURSE_ALLOCATED], r->n,
				 (double)r->allocated);
	r->n++;
}

void
tally_over_run_add_process(struct tally_over_run *r, const struct tally_process_record *p,
			   uint64_t drew_ns)
{
	if (r->n > 0 && p->resident_bytes)
		tally_course_add(&r->courses[TALLY_COURSE_RESIDENT], r->n - 1,
				 (double)p->resident_bytes);
	if (r->n > 0 && p->period_ns)
		tally_course_add(&r->courses[TALLY_COURSE_READY], r->n - 1,
				 (double)p->ready_ns / (double)p->period_ns);
	r->drew |= drew_ns > 0;
	if (r->drew && p->period_ns)
		tally_course_add(&r->courses[TALLY_COURSE_DREW], r->n ? r->n - 1 : 0,
				 (double)drew_ns / (double)p->period_ns);
}

static double
median_in(const struct tally_course *c, struct tally_range range)
{
	double ns = tally_course_median(c, range.from, range.to);
	return isnan(ns) ? 0 : ns;
}

/* Of an OpenGL pass without other draws, what the thread's work and waits may explain: the part of
 * its time before the program began the next pass. */
static double
unsure_change(const struct tally_over_run *r, const struct tally_part *part,
	      struct tally_range before, struct tally_range after)
{
	double from = median_in(&part->draws, before), to = median_in(&part->draws, after);
	if (!r->opengl || !r->courses[TALLY_COURSE_REST].slots ||
	    fabs(to - from) > OTHER_DRAWS * from)
		return 0;
	return median_in(&part->unsure, after) - median_in(&part->unsure, before);
}

/* The part that changed most in the direction in which the frames did. */
static const struct tally_part *
most_changed(const struct tally_over_run *r, struct tally_range before,
	     struct tally_range after, double sign, double *change_ns, double *sum_ns)
{
	const struct tally_part *most = NULL;
	*change_ns = *sum_ns = 0;
	TALLY_EACH (struct tally_part, part, r->parts->all[TALLY_PART_TOP]) {
		double change = sign * ((double)tally_part_median(part, after) -
					(double)tally_part_median(part, before));
		change -= MAX(sign * unsure_change(r, part, before, after), 0);
		*sum_ns += MAX(change, 0);
		if (change > *change_ns) {
			*change_ns = change;
			most = part;
		}
	}
	return most;
}

/* Whether the thread that ends frames waited for a CPU. */
static void
look_for_cpu(const struct tally_over_run *r, struct tally_range before,
	     struct tally_range after, double change_ns, struct tally_answer_change *c)
{
	double from = c->before_ns * median_in(&r->courses[TALLY_COURSE_READY], before);
	double to = c->after_ns * median_in(&r->courses[TALLY_COURSE_READY], after);
	if ((to - from) / change_ns < 0.5)
		return;
	c->what = "waits for a CPU";
	c->what_before_ns = from;
	c->what_after_ns = to;
}

static const char *const thread_names[] = {
	[TALLY_COURSE_WORK] = "CPU",
	[TALLY_COURSE_WAIT] = "waits",
	[TALLY_COURSE_REST] = "other waits",
};

/* By the thread that ends frames. */
static void
explain_by_thread(const struct tally_over_run *r, struct tally_range before,
		  struct tally_range after, double change_ns, struct tally_answer_change *c)
{
	/* What is not sure of it, too. */
	double gpu_ns = median_in(&r->courses[TALLY_COURSE_GPU], after) -
			median_in(&r->courses[TALLY_COURSE_GPU], before);
	for (int i = TALLY_COURSE_WORK; i <= TALLY_COURSE_REST; i++) {
		double from = median_in(&r->courses[i], before);
		double to = median_in(&r->courses[i], after);
		if (!r->courses[i].slots || (to - from) / change_ns < 0.5)
			continue;
		c->what = thread_names[i];
		c->what_before_ns = from;
		c->what_after_ns = to;
		if (i == TALLY_COURSE_REST && gpu_ns / change_ns >= 0.5)
			c->what = "other waits, or the GPU";
		if (i == TALLY_COURSE_REST)
			look_for_cpu(r, before, after, change_ns, c);
		return;
	}
}

/* By all passes together. */
static void
explain_by_gpu(const struct tally_over_run *r, struct tally_range before,
	       struct tally_range after, struct tally_answer_change *c)
{
	c->what = "GPU";
	TALLY_EACH (struct tally_part, p, r->parts->all[TALLY_PART_TOP]) {
		uint64_t from = tally_part_median(p, before), to = tally_part_median(p, after);
		c->what_before_ns += (double)from;
		c->what_after_ns += (double)to;
		/* One that most frames do not have draws nothing in them. */
		c->draws_before += from ? median_in(&p->draws, before) : 0;
		c->draws_after += to ? median_in(&p->draws, after) : 0;
	}
}

/* Of passes that are drawn together, the one whose draws changed most. */
static void
name_drew(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	  struct tally_answer_change *c)
{
	double most = 0;
	TALLY_EACH (const struct tally_part, part, r->parts->all[TALLY_PART_FINE]) {
		double from = median_in(&part->draws, before);
		double to = median_in(&part->draws, after);
		if (part->name[0] == '(' || part->time.slots || fabs(to - from) <= most)
			continue;
		most = fabs(to - from);
		c->drew = part->name;
		c->draws_before = from;
		c->draws_after = to;
	}
}

/* What explains most of a change, if that is at least half of it. */
static void
explain_change(const struct tally_over_run *r, struct tally_range before,
	       struct tally_range after, struct tally_answer_change *c)
{
	double lost = fabs(c->after_ns - c->before_ns),
	       sign = c->after_ns > c->before_ns ? 1 : -1;
	double change, sum;
	const struct tally_part *part = most_changed(r, before, after, sign, &change,
						     &sum);
	if (part && change >= lost / 2 && sum - change < change / 2) {
		c->what = part->name;
		c->is_pass = true;
		c->what_before_ns = (double)tally_part_median((struct tally_part *)part,
							      before);
		c->what_after_ns = (double)tally_part_median((struct tally_part *)part,
							     after);
		c->draws_before = median_in(&part->draws, before);
		c->draws_after = median_in(&part->draws, after);
		if (part == r->parts->together)
			name_drew(r, before, after, c);
		return;
	}
	if (sum < lost / 2)
		explain_by_thread(r, before, after, sign * lost, c);
	else
		explain_by_gpu(r, before, after, c);
}

/* A part of a stretch next to the change: what came later or went before is another change. */
static struct tally_range
next_to(struct tally_range stretch, bool before)
{
	uint64_t n = (stretch.to - stretch.from + 2) / 3;
	return (struct tally_range){
		.from = before ? stretch.to - n : stretch.from,
		.to = before ? stretch.to : stretch.from + n,
	};
}

/* What a pass or a time of the thread was in a range; all passes, and what is not of frames: 0. */
static double
named_in(const struct tally_over_run *r, const struct tally_answer_change *c,
	 struct tally_range range)
{
	TALLY_EACH (struct tally_part, part, r->parts->all[TALLY_PART_TOP])
		if (part->name == c->what)
			return (double)tally_part_median(part, range);
	for (int i = TALLY_COURSE_WORK; i <= TALLY_COURSE_REST; i++)
		if (thread_names[i] == c->what)
			return median_in(&r->courses[i], range);
	return 0;
}

/* Where a driver draws on the CPU, a pass that takes longer without more draws has more of it,
 * too: else other programs have it. */
static void
check_driver(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	     struct tally_answer_change *c)
{
	double from = c->before_ns * median_in(&r->courses[TALLY_COURSE_DREW], before);
	double to = c->after_ns * median_in(&r->courses[TALLY_COURSE_DREW], after);
	double draws = fabs(c->draws_after - c->draws_before);
	bool gpu = c->is_pass || (c->what && strcmp(c->what, "GPU") == 0);
	if (r->drew && gpu && draws <= OTHER_DRAWS * c->draws_before &&
	    (to - from) / (c->what_after_ns - c->what_before_ns) < 0.5)
		c->what = NULL;
}

/* What is named must have changed next to the change, too, by half as much or as the frames
 * there: else it was at another frame. */
static void
check_change(const struct tally_over_run *r, struct tally_range before, struct tally_range after,
	     struct tally_answer_change *c)
{
	double from = named_in(r, c, before), to = named_in(r, c, after);
	double lost = median_in(&r->courses[TALLY_COURSE_FRAME], after) -
		      median_in(&r->courses[TALLY_COURSE_FRAME], before);
	double all = c->what_after_ns - c->what_before_ns;
	if ((from > 0 || to > 0) && (to - from) / lost < 0.5 && (to - from) / all < 0.5)
		c->what = NULL;
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

/* Each quarter of the run has more than the one before, by a tenth of the whole growth. */
static void
conclude_memory(const struct tally_course *c, uint64_t frames, double *from, double *to)
{
	double at[4];
	for (unsigned i = 0; i < 4; i++)
		at[i] = tally_course_median(c, i * frames / 4, (i + 1) * frames / 4);
	double growth = at[3] - at[0];
	for (unsigned i = 1; i < 4; i++)
		if (!(at[i] - at[i - 1] >= growth / 10))
			return;
	if (growth < MEMORY_GREW || growth < MEMORY_SHARE * at[0])
		return;
	*from = at[0];
	*to = at[3];
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
			.about = found[i].gradual || r->courses[TALLY_COURSE_FRAME].block > 1,
			.gradual = found[i].gradual,
			.before_ns = found[i].before_ns,
			.after_ns = found[i].after_ns,
		};
		explain_change(r, range, after, c);
		check_change(r, next_to(range, true), next_to(after, false), c);
		check_driver(r, range, after, c);
		look_at_clock(r, range, after, c);
	}
	const struct tally_course *gauge = &r->courses[TALLY_COURSE_MEMORY];
	const struct tally_course *calls = &r->courses[TALLY_COURSE_ALLOCATED];
	conclude_memory(gauge->slots ? gauge : calls, d->frames, &d->memory_from,
			&d->memory_to);
	conclude_memory(&r->courses[TALLY_COURSE_RESIDENT], d->frames, &d->resident_from,
			&d->resident_to);
	d->range_frame = number_at(r, d->range.from);
	d->range_ns = n ? median_in(&r->courses[TALLY_COURSE_FRAME], d->range) : d->median_ns;
}
