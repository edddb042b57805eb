/* SPDX-License-Identifier: MIT */
#include "cli/answer/over_run.h"

#include <string.h>

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
	for (int i = 0; i < TALLY_RUN_PLACES; i++)
		r->places[i].ns.room = TALLY_COURSE_ROOM;
	tally_beats_init(&r->work);
	tally_beats_init(&r->rest);
}

void
tally_over_run_finish(struct tally_over_run *r)
{
	for (int i = 0; i < TALLY_N_COURSES; i++)
		tally_course_finish(&r->courses[i]);
	for (int i = 0; i < TALLY_RUN_PLACES; i++)
		tally_course_finish(&r->places[i].ns);
	tally_beats_finish(&r->work);
	tally_beats_finish(&r->rest);
}

static void
add_calls(struct tally_over_run *r, const struct tally_frame_events *events)
{
	struct tally_event_record sums[TALLY_N_EVENT_GROUPS];
	const uint64_t live = events->sums[TALLY_EVENT_MEMORY].live;
	tally_frame_events_sum(events, sums);
	for (int i = TALLY_EVENT_SHADERS; i < TALLY_N_EVENT_GROUPS; i++)
		tally_course_add(&r->courses[TALLY_COURSE_CALLS + i], r->n, (double)sums[i].own_ns);
	r->allocated = live ? live : r->allocated;
	if (r->allocated)
		tally_course_add(&r->courses[TALLY_COURSE_ALLOCATED], r->n, (double)r->allocated);
}

static void
add_gauges(struct tally_over_run *r, const struct tally_frame_record *f)
{
	for (uint32_t i = 0; i < f->n_metrics; i++)
		for (int k = TALLY_COURSE_CLOCK; k <= TALLY_COURSE_MEMORY; k++)
			if (strcmp(f->metrics[i].key, metric_of[k]) == 0)
				tally_course_add(&r->courses[k], r->n,
						 tally_value_f64(f->metrics[i].value));
}

static void
add_place(struct tally_over_run *r, const struct tally_asleep_record *a)
{
	struct tally_asleep_record own = *a;
	own.other_in = NULL; /* that differs from frame to frame */
	const char *in = g_intern_string(tally_asleep_text(&own));
	int i = 0;
	while (i < TALLY_RUN_PLACES && r->places[i].in && r->places[i].in != in)
		i++;
	if (i == TALLY_RUN_PLACES)
		return;
	r->places[i].in = in;
	tally_course_add(&r->places[i].ns, r->n, (double)a->ns);
}

/* What the thread that ended the frame did, `wait_ns` of it in calls in which drivers wait. */
static void
add_thread(struct tally_over_run *r, const struct tally_frame_record *f, uint64_t wait_ns)
{
	const uint64_t work_ns = MIN(f->thread_ns, f->cpu_ns - wait_ns);
	const uint64_t rest_ns = f->cpu_ns - wait_ns - work_ns;
	if (f->has_thread) {
		tally_course_add(&r->courses[TALLY_COURSE_WORK], r->n, (double)work_ns);
		tally_beats_add(&r->work, f->frame, work_ns, work_ns);
	}
	if (f->has_wait)
		tally_course_add(&r->courses[TALLY_COURSE_WAIT], r->n, (double)wait_ns);
	if (f->has_thread && f->has_wait) {
		tally_course_add(&r->courses[TALLY_COURSE_REST], r->n, (double)rest_ns);
		/* A limiter sleeps what is not worked. */
		tally_beats_add(&r->rest, f->frame, rest_ns, rest_ns + work_ns);
	}
}

void
tally_over_run_add(struct tally_over_run *r, const struct tally_frame_record *f, uint64_t unsure_ns,
		   const struct tally_frame_events *events,
		   const struct tally_asleep_record asleep[TALLY_HITCH_PLACES])
{
	uint64_t wait_ns = f->has_wait ? MIN(f->wait_ns, f->cpu_ns) : 0;
	/* That passtally waits (--snapshot exact) is not the program's. */
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
	add_thread(r, f, wait_ns);
	add_calls(r, events);
	add_gauges(r, f);
	for (int i = 0; i < TALLY_HITCH_PLACES && asleep[i].in; i++)
		add_place(r, &asleep[i]);
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
	for (int i = TALLY_COURSE_READY; i <= TALLY_COURSE_OTHERS; i++)
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
	r->since.ns[3] += driver.others_ns;
	if (r->since.frames && r->since.period_ns)
		add_of_frame(r);
	/* Lines before the first frame are of the loading. */
	if (r->since.frames || !r->n)
		memset(&r->since, 0, sizeof(r->since));
}
