/* SPDX-License-Identifier: MIT */
#include "cli/answer/cause.h"

#include "cli/answer/cause_rules.h"
#include "cli/answer/parts.h"
#include "cli/shared/each.h"

#include <string.h>

/* The thresholds of docs/verdicts.md: of what the frame lost. */
#define EXPLAINS 0.5
#define NEARLY_ALL 0.9
#define DISK_FAULTS 10

static const char *const names[TALLY_N_CAUSES] = {
	[TALLY_CAUSE_UNKNOWN] = "unknown", [TALLY_CAUSE_PASS] = "pass",
	[TALLY_CAUSE_GPU] = "gpu",         [TALLY_CAUSE_CPU] = "cpu",
	[TALLY_CAUSE_WAIT] = "wait",       [TALLY_CAUSE_NOT_GPU] = "not-gpu",
	[TALLY_CAUSE_OWN] = "passtally",   [TALLY_CAUSE_FAULTS] = "faults",
	[TALLY_CAUSE_DISK] = "disk",
};

const char *
tally_cause_name(const struct tally_answer_hitch *h)
{
	return h->cause == TALLY_CAUSE_EVENT ? tally_event_group_names[h->event.group]
					     : names[h->cause];
}

static bool
explains(const struct tally_hitch *h, enum tally_hitch_time what)
{
	return h->known[what] &&
	       (double)h->growth_ns[what] >= EXPLAINS * (double)h->excess_ns;
}

static bool
is_same(const struct tally_hitch *h, enum tally_hitch_time what)
{
	return h->known[what] &&
	       (double)h->growth_ns[what] <= SAME * (double)h->excess_ns;
}

static uint64_t
growth_of(const struct tally_hitch_part *p)
{
	return p->ns - MIN(p->ns, p->around_ns);
}

static bool
is_together(const char *name)
{
	return strcmp(name, TALLY_DRAWN_TOGETHER) == 0;
}

/* Adds up the parts, and returns the one that grew most, or NULL. *unsure_ns: of the growth, what
 * may be the CPU's. */
static const struct tally_hitch_part *
add_parts(const struct tally_hitch *h, struct tally_answer_hitch *out, uint64_t *unsure_ns)
{
	const struct tally_hitch_part *grew = NULL;
	uint64_t most = 0;
	guint n_first = 0, n_here = 0;
	const char *first = NULL;
	TALLY_EACH_OF (const struct tally_hitch_part, p, h->parts) {
		uint64_t growth = growth_of(p);
		out->ns += p->ns;
		out->around_ns += p->around_ns;
		out->around_draws += p->around_draws;
		out->growth_ns += growth;
		*unsure_ns += p->may_wait ? growth : 0;
		grew = growth > most ? p : grew;
		most = MAX(most, growth);
		n_first += p->first;
		n_here += p->ns || p->draws;
		if (p->first && !first)
			first = ((const struct tally_part *)p->what)->name;
	}
	if (n_first < n_here)
		out->first = first;
	return grew;
}

static void
take_pass(struct tally_answer_hitch *out, const struct tally_hitch_part *p)
{
	out->pass = ((const struct tally_part *)p->what)->name;
	out->ns = p->ns;
	out->around_ns = p->around_ns;
	out->draws = p->draws;
	out->around_draws = p->around_draws;
	out->growth_ns = p->ns - p->around_ns;
}

/* The sums stay those of all. */
static void
take_some(struct tally_answer_hitch *out, const struct tally_hitch_part *p)
{
	out->pass = ((const struct tally_part *)p->what)->name;
	out->some = true;
	out->seldom = p->around_ns == 0;
}

/* Of passes that are drawn together, the one that drew most more. */
static void
name_drew(const struct tally_hitch *h, struct tally_answer_hitch *out)
{
	uint64_t most = 0;
	TALLY_EACH_OF (const struct tally_hitch_part, p, h->parts) {
		if (p->ns || p->draws <= p->around_draws + most)
			continue;
		most = p->draws - p->around_draws;
		out->drew = ((const struct tally_part *)p->what)->name;
		out->draws = p->draws;
		out->around_draws = p->around_draws;
	}
}

/* Page faults: those that waited for a disk, if there were some; else those of new memory. */
static void
take_faults(const struct tally_hitch *h, struct tally_answer_hitch *out)
{
	int64_t disk = h->growth_ns[TALLY_HITCH_DISK_FAULTS];
	out->disk = disk >= DISK_FAULTS;
	out->read = (uint64_t)MAX(h->growth_ns[TALLY_HITCH_DISK_BYTES], 0);
	out->faults = (uint64_t)MAX(out->disk ? disk : h->growth_ns[TALLY_HITCH_FAULTS], 0);
}

/* The thread worked for so much longer. */
static enum tally_cause
of_work(struct tally_answer_hitch *out, uint64_t work_ns)
{
	out->growth_ns = work_ns;
	return !out->disk && (double)out->faults * FAULT_NS >= EXPLAINS * (double)work_ns
		       ? TALLY_CAUSE_FAULTS
		       : TALLY_CAUSE_CPU;
}

/* Whether the frame would be a hitch if it were longer by this much. */
static bool
is_hitch_by(const struct tally_answer_hitch *h, uint64_t ns)
{
	uint64_t around_ns = h->frame_ns - h->excess_ns;
	return tally_hitch_is_one(around_ns + ns, around_ns);
}

static enum tally_cause
of_thread(const struct tally_hitch *h, struct tally_answer_hitch *out)
{
	uint64_t work_ns = (uint64_t)MAX(h->growth_ns[TALLY_HITCH_WORK], 0);
	if (explains(h, TALLY_HITCH_WORK)) {
		out->driver = h->known[TALLY_HITCH_WAIT] && !is_same(h, TALLY_HITCH_WAIT);
		out->both = out->driver;
		return of_work(out, work_ns);
	}
	if (!h->timed)
		return TALLY_CAUSE_UNKNOWN;
	if (!h->known[TALLY_HITCH_WORK])
		return TALLY_CAUSE_NOT_GPU;
	out->driver = explains(h, TALLY_HITCH_WAIT);
	if (!out->driver && (out->disk || is_read(out)))
		return out->disk ? TALLY_CAUSE_FAULTS : TALLY_CAUSE_DISK;
	if (!out->driver && (double)work_ns >= PART * (double)h->excess_ns &&
	    is_hitch_by(out, work_ns))
		out->part_ns = work_ns;
	if (!is_same(h, TALLY_HITCH_WORK) || out->part_ns)
		return TALLY_CAUSE_UNKNOWN; /* until it is known how long it had no CPU */
	out->waits = tally_event_wait(&h->events, h->around_event_ns);
	return TALLY_CAUSE_WAIT;
}

/* The thread worked for a part of it. */
static void
share_part(struct tally_answer_hitch *h, uint64_t ready_ns, uint64_t own_ns)
{
	const double lost = (double)h->excess_ns;
	if ((double)(h->part_ns + own_ns) >= (1 - SAME) * lost) {
		h->ready_ns = own_ns;
		h->cause = of_work(h, h->part_ns);
	} else if ((double)MAX(h->part_ns, ready_ns) <= SAME * lost) {
		h->cause = TALLY_CAUSE_WAIT;
	} else if ((double)MAX(h->growth_ns, ready_ns) <= SAME * lost) {
		/* Less than half, it had a CPU, and no pass grew: it slept for the rest. */
		h->both = true;
		h->cause = TALLY_CAUSE_WAIT;
	}
}

/* It had no CPU for as much: in calls, too, which are by the clock, or beside them. */
static void
doubt_wait(struct tally_answer_hitch *h, uint64_t own_ns)
{
	if (h->cause == TALLY_CAUSE_EVENT)
		h->ready_ns = MAX(h->ready_ns, own_ns);
	else
		h->both = false;
}

void
tally_cause_ready(struct tally_answer_hitch *h, uint64_t ready_ns, double usual_ns, bool sure)
{
	const double lost = (double)h->excess_ns;
	const uint64_t more_ns = (uint64_t)MAX((double)ready_ns - usual_ns, 0);
	const uint64_t own_ns = MIN(sure ? ready_ns : more_ns, h->rest_ns);
	if ((double)MIN(more_ns, h->rest_ns) >= EXPLAINS * lost)
		h->ready_ns = MIN(ready_ns, h->rest_ns);
	h->ready_sure = sure && !h->thread;
	if (h->cause == TALLY_CAUSE_OWN && h->ready_ns)
		h->cause = TALLY_CAUSE_WAIT; /* another program had the CPU */
	if (h->cause == TALLY_CAUSE_CPU)
		h->both |= (double)h->slept_ns > SAME * lost;
	if ((double)own_ns > SAME * lost)
		doubt_wait(h, own_ns);
	if (h->cause == TALLY_CAUSE_UNKNOWN && h->part_ns)
		share_part(h, ready_ns, own_ns);
}

/* Passes explain it, or the GPU was waited for, while calls elsewhere may explain it, too. */
static bool
is_of_driver(const struct tally_answer_hitch *h, bool had_no_cpu)
{
	return h->cause == TALLY_CAUSE_PASS || h->cause == TALLY_CAUSE_GPU ||
	       (h->cause == TALLY_CAUSE_WAIT && h->behind_ns && had_no_cpu) ||
	       (h->cause == TALLY_CAUSE_UNKNOWN && h->by_gpu && h->event.elsewhere);
}

enum tally_driver_did
tally_cause_driver_did(double drew, double had_no_cpu)
{
	if (drew >= EXPLAINS)
		return TALLY_DRIVER_DREW;
	if (drew <= SAME && had_no_cpu >= EXPLAINS)
		return TALLY_DRIVER_HAD_NO_CPU;
	return drew <= SAME && had_no_cpu <= SAME ? TALLY_DRIVER_WAITED : TALLY_DRIVER_UNKNOWN;
}

void
tally_cause_driver(struct tally_answer_hitch *h, double drew_ns, double no_cpu_ns)
{
	const double lost = (double)h->excess_ns;
	enum tally_driver_did did = tally_cause_driver_did(drew_ns / lost, no_cpu_ns / lost);
	if ((h->together || h->drew) && did == TALLY_DRIVER_DREW) {
		h->cause = TALLY_CAUSE_PASS;
		h->or_wait = false;
	}
	bool waited = did != TALLY_DRIVER_UNKNOWN;
	if (did == TALLY_DRIVER_DREW || !is_of_driver(h, no_cpu_ns >= EXPLAINS * lost))
		return;
	if (has_more_draws(h) && !(waited && (double)h->slept_ns >= EXPLAINS * lost))
		return;
	h->starved = !waited;
	h->cause = waited ? TALLY_CAUSE_WAIT : TALLY_CAUSE_UNKNOWN;
	if (did == TALLY_DRIVER_HAD_NO_CPU) {
		h->pass = NULL;
		h->ready_ns = (uint64_t)MIN(no_cpu_ns, (double)h->idle_ns);
		h->ready_sure = (double)MAX(h->growth_ns, h->behind_ns) >= (1 - SAME) * lost;
		h->behind_ns = 0;
	}
}

void
tally_cause_caller(struct tally_answer_hitch *h)
{
	if (h->cause == TALLY_CAUSE_CPU && h->pass && !has_more_draws(h))
		h->cause = TALLY_CAUSE_UNKNOWN;
}

/* Whether what happened in calls explains the frame: on its own thread, or on another for which it
 * waited meanwhile. */
static bool
is_event(const struct tally_hitch *h, struct tally_answer_hitch *out)
{
	const struct tally_answer_event e = out->calls;
	const double lost = (double)h->excess_ns;
	if (!e.group || (double)e.ns < EXPLAINS * lost)
		return false;
	out->event = e;
	if ((double)e.growth_ns < (e.elsewhere ? NEARLY_ALL : EXPLAINS) * lost)
		return false;
	/* In a driver's wait it waits for the GPU or the screen, not for a thread; nor does it for
	 * one that goes on, or has long ended. */
	return !e.elsewhere || (!out->disk && !is_read(out) && is_same(h, TALLY_HITCH_WORK) &&
				!explains(h, TALLY_HITCH_WAIT) && !h->goes_on[e.group]);
}

/* Whether calls of the thread itself are not all of it, and it did not work for the rest. */
static bool
is_part(const struct tally_hitch *h, const struct tally_answer_hitch *out)
{
	double rest_ns = (double)h->excess_ns - (double)out->event.ns;
	double work_ns = (double)h->growth_ns[TALLY_HITCH_WORK] - (double)out->event.ns;
	return !out->event.elsewhere && h->known[TALLY_HITCH_WORK] &&
	       rest_ns > SAME * (double)h->excess_ns && work_ns <= rest_ns / 2;
}

/* Whether it is all that there is to say: no other grew by a quarter as much. */
static bool
grew_alone(const struct tally_hitch *h, const struct tally_hitch_part *grew)
{
	TALLY_EACH_OF (const struct tally_hitch_part, p, h->parts)
		if (p != grew && growth_of(p) >= growth_of(grew) / 4)
			return false;
	return true;
}

/* Whether each pass that matters grew by at least a quarter as much as all, in proportion. */
static bool
grew_alike(const struct tally_hitch *h, const struct tally_answer_hitch *all)
{
	double least = (double)all->growth_ns / (double)MAX(all->around_ns, 1) / 4;
	TALLY_EACH_OF (const struct tally_hitch_part, p, h->parts)
		if (p->around_ns >= all->around_ns / 20 &&
		    (double)growth_of(p) < least * (double)p->around_ns)
			return false;
	return all->around_ns > 0;
}

/* passtally's time is by the clock. It waits where reading lavapipe's queries does; another program
 * seldom has the CPU just then, and process lines tell. For a GPU that worked longer the program
 * would have waited, too. */
static bool
is_own(const struct tally_hitch *h, const struct tally_answer_hitch *out)
{
	double own_ns = (double)h->growth_ns[TALLY_HITCH_OWN];
	return explains(h, TALLY_HITCH_OWN) &&
	       (explains(h, TALLY_HITCH_WORK) || !h->known[TALLY_HITCH_WORK] ||
		(!out->by_gpu && own_ns >= (1 - SAME) * (double)h->excess_ns));
}

/* Of a pass whose time may be the CPU's: whether the thread slept or worked in it. If it waited for
 * the GPU, that would be in a driver's call, or after twice the draws. */
static bool
is_of_thread(const struct tally_hitch *h, const struct tally_answer_hitch *out)
{
	return h->known[TALLY_HITCH_WORK] && h->known[TALLY_HITCH_WAIT] &&
	       !explains(h, TALLY_HITCH_WAIT) &&
	       out->draws < 2 * MAX(out->around_draws, 1);
}

/* Passes that are drawn together may be drawn in any call: that the thread slept is no
 * wait. */
static enum tally_cause
of_thread_in_pass(const struct tally_hitch *h, struct tally_answer_hitch *out)
{
	enum tally_cause cause = of_thread(h, out);
	out->together = out->or_wait = cause == TALLY_CAUSE_WAIT && is_no_pass(out->pass);
	return out->together ? TALLY_CAUSE_UNKNOWN : cause;
}

/* Passes explain the frame, and no calls do: one alone, where the others grew by less than half as
 * much; all of them; or some, of which the largest is named. */
static enum tally_cause
of_passes(const struct tally_hitch *h, bool alone, bool unsure, struct tally_answer_hitch *out)
{
	if (alone && unsure && is_of_thread(h, out))
		return of_thread_in_pass(h, out);
	out->or_wait = unsure;
	/* What is not sure is a wait by itself, unless the driver waited so long. */
	if (!alone)
		return unsure && h->known[TALLY_HITCH_WAIT] && !explains(h, TALLY_HITCH_WAIT)
			       ? TALLY_CAUSE_UNKNOWN
			       : TALLY_CAUSE_GPU;
	if ((double)out->growth_ns >= EXPLAINS * (double)h->excess_ns)
		return TALLY_CAUSE_PASS;
	out->or_wait = is_same(h, TALLY_HITCH_WORK);
	return TALLY_CAUSE_UNKNOWN;
}

/* Calls in which the thread may have slept until passes had ended. */
static bool
may_wait_for_passes(const struct tally_answer_event *e)
{
	return !e->elsewhere &&
	       (e->group == TALLY_EVENT_UPLOADS || e->group == TALLY_EVENT_MAPS ||
		e->group == TALLY_EVENT_READBACKS);
}

/* Names the pass that grew most; `out` has the sums of all. Returns whether it is the only one. */
static bool
name_pass(const struct tally_hitch *h, const struct tally_hitch_part *grew,
	  struct tally_answer_hitch *out)
{
	bool alone = out->growth_ns - growth_of(grew) < growth_of(grew) / 2;
	out->some = !alone && !grew_alike(h, out);
	if (alone)
		take_pass(out, grew);
	if (alone && is_together(out->pass))
		name_drew(h, out);
	if (out->some)
		take_some(out, grew);
	return alone;
}

/* Passes explain the frame; calls do, too, if `event`. `unsure`: what of it may be the CPU's is no
 * small part. */
static enum tally_cause
of_longer_passes(const struct tally_hitch *h, bool event, bool unsure,
		 const struct tally_hitch_part *grew, struct tally_answer_hitch *out)
{
	const struct tally_answer_hitch all = *out;
	bool alone = name_pass(h, grew, out);
	bool works = explains(h, TALLY_HITCH_WORK);
	if (works && unsure)
		return of_thread(h, out);
	if (works && !has_more_draws(out))
		return event ? TALLY_CAUSE_EVENT : TALLY_CAUSE_UNKNOWN;
	if (event && (works || !may_wait_for_passes(&out->event)))
		return TALLY_CAUSE_UNKNOWN; /* both did it */
	enum tally_cause cause = of_passes(h, alone, unsure, out);
	if (cause != TALLY_CAUSE_PASS || grew_alone(h, grew))
		return cause;
	bool or_wait = out->or_wait;
	*out = all;
	take_some(out, grew);
	out->or_wait = or_wait;
	return TALLY_CAUSE_GPU;
}

/* Passes that grew, but may not explain the frame; `out` has the sums of all. */
static void
note_grown(const struct tally_hitch *h, const struct tally_hitch_part *grew, uint64_t unsure_ns,
	   struct tally_answer_hitch *out)
{
	const double lost = (double)h->excess_ns, grown = (double)out->growth_ns;
	out->grew_sure = grown - (double)unsure_ns >= SAME * lost;
	if (grown <= (1 - SAME) * lost && !is_same(h, TALLY_HITCH_WORK))
		out->work_ns = (uint64_t)MAX(h->growth_ns[TALLY_HITCH_WORK], 0);
	if (!grew || grown < MENTIONED * lost)
		return;
	out->grew = ((const struct tally_part *)grew->what)->name;
	out->grew_with = out->growth_ns - growth_of(grew) >= growth_of(grew) / 2;
	out->grew_from_ns = out->grew_with ? out->around_ns : grew->around_ns;
	out->grew_to_ns = out->grew_with ? out->ns : grew->ns;
}

static enum tally_cause
decide(const struct tally_hitch *h, bool opengl, struct tally_answer_hitch *out)
{
	uint64_t unsure_ns = 0;
	const struct tally_hitch_part *grew = add_parts(h, out, &unsure_ns);
	out->by_gpu = grew && (double)out->growth_ns >= EXPLAINS * (double)h->excess_ns;
	note_grown(h, grew, opengl ? unsure_ns : 0, out);
	take_faults(h, out);
	if (is_own(h, out))
		return TALLY_CAUSE_OWN;
	bool event = is_event(h, out);
	bool unsure = opengl && (double)unsure_ns >= SAME * (double)h->excess_ns;
	if (event && (!out->by_gpu || unsure)) {
		out->both = is_part(h, out);
		return TALLY_CAUSE_EVENT;
	}
	return out->by_gpu ? of_longer_passes(h, event, unsure, grew, out)
			   : of_thread(h, out);
}

/* So much longer than around it the thread neither worked nor was in a driver's wait. */
static uint64_t
slept_longer(const struct tally_hitch *h)
{
	return (uint64_t)MAX((int64_t)h->excess_ns - MAX(h->growth_ns[TALLY_HITCH_WORK], 0) -
				     MAX(h->growth_ns[TALLY_HITCH_WAIT], 0),
			     0);
}

struct tally_answer_hitch
tally_cause_find(const struct tally_hitch *h, bool opengl)
{
	struct tally_answer_hitch out = {
		.frame = h->frame,
		.start_ns = h->start_ns,
		.frame_ns = h->frame_ns,
		.excess_ns = h->excess_ns,
		.rest_ns = h->rest_ns,
		.idle_ns = h->idle_ns,
		.slept_ns = slept_longer(h),
		.behind_ns = h->behind_ns,
		.draws = h->draws,
		.timed = h->timed,
		.known_work = h->known[TALLY_HITCH_WORK],
		.calls = tally_event_find(&h->events, h->around_event_ns, h->start_ns, h->frame_ns),
		.made = h->made,
		.over = tally_event_over(&h->events),
		.allocated = h->allocated,
	};
	out.cause = decide(h, opengl, &out);
	return out;
}
