/* SPDX-License-Identifier: MIT */
#include "cli/answer/cause.h"

#include "cli/answer/cause_rules.h"
#include "cli/answer/parts.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The thresholds of docs/verdicts.md: of what the frame lost. */
#define NEARLY_ALL 0.9

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
	return h->cause == TALLY_CAUSE_EVENT ? tally_event_group_names[h->calls.group]
					     : names[h->cause];
}

static bool
explains(const struct tally_answer_hitch *h, enum tally_hitch_time what)
{
	return h->was.known[what] && more_of(h, what) >= EXPLAINS;
}

static bool
is_same(const struct tally_answer_hitch *h, enum tally_hitch_time what)
{
	return h->was.known[what] && more_of(h, what) <= SAME;
}

static uint64_t
growth_of(const struct tally_hitch_part *p)
{
	return p->ns - MIN(p->ns, p->around_ns);
}

/* It has so many more draws that they explain its time, whatever the CPU did meanwhile. */
static bool
is_drawn(const struct tally_hitch_part *p)
{
	double draws = (double)p->draws / (double)MAX(p->around_draws, 1);
	return draws >= 2 && 4 * draws * (double)p->around_ns >= (double)p->ns;
}

static bool
is_seldom_copy(const struct tally_hitch_part *p)
{
	return p->ns && p->around_ns == 0 && strcmp(tally_part_draws(p->what), "copies") == 0;
}

/* Copies that few frames have are one part, if none is most of it: a program may copy, wait for
 * that, and copy again. */
static void
join_copies(GArray *parts)
{
	struct tally_hitch_part all = { .joined = true }, *most = NULL;
	TALLY_EACH_OF (struct tally_hitch_part, p, parts) {
		if (!is_seldom_copy(p))
			continue;
		all.ns += p->ns;
		all.draws += p->draws;
		all.first |= p->first;
		most = !most || p->ns > most->ns ? p : most;
	}
	if (!most || 2 * most->ns > all.ns)
		return;
	all.what = most->what;
	all.name = g_intern_string(tally_phrase("%" PRIu64 " copies", all.draws));
	all.no_draws = true;
	TALLY_EACH_OF (struct tally_hitch_part, p, parts)
		if (is_seldom_copy(p))
			*p = p == most ? all : (struct tally_hitch_part){ .what = p->what };
}

/* Adds up the parts, and returns the one that grew most, or NULL. *unsure_ns: of the growth, what
 * may be the CPU's. */
static const struct tally_hitch_part *
add_parts(const struct tally_hitch_seen *seen, bool opengl, struct tally_answer_hitch *out,
	  uint64_t *unsure_ns)
{
	const struct tally_hitch_part *grew = NULL;
	uint64_t most = 0;
	guint n_first = 0, n_here = 0;
	const char *first = NULL;
	TALLY_EACH_OF (const struct tally_hitch_part, p, seen->parts) {
		uint64_t growth = growth_of(p);
		out->of.ns += p->ns;
		out->of.around_ns += p->around_ns;
		out->of.around_draws += p->no_draws ? 0 : p->around_draws;
		out->growth_ns += growth;
		*unsure_ns += opengl && p->may_wait ? growth : 0;
		grew = growth > most ? p : grew;
		most = MAX(most, growth);
		n_first += p->first;
		n_here += p->ns || p->draws;
		if (p->first && !first)
			first = p->name;
	}
	if (n_first < n_here)
		out->first = first;
	return grew;
}

static void
take_pass(struct tally_answer_hitch *out, const struct tally_hitch_part *p)
{
	out->pass = p->name;
	out->of = *p;
	out->growth_ns = growth_of(p);
}

/* The sums stay those of all. Time outside passes may be that of any. */
static void
take_some(const struct tally_hitch_seen *seen, struct tally_answer_hitch *out,
	  const struct tally_hitch_part *p)
{
	const struct tally_hitch_part none = { 0 }, *most = &none;
	TALLY_EACH_OF (const struct tally_hitch_part, other, seen->parts)
		if (!is_no_pass(other->name) && growth_of(other) > growth_of(most))
			most = other;
	if (strcmp(p->name, TALLY_OUTSIDE_PASSES) == 0 && most->name)
		p = most;
	out->pass = p->name;
	out->some = true;
	out->seldom = p->around_ns == 0;
}

/* Of passes that are drawn together, the one that drew most more. */
static void
name_drew(const struct tally_hitch_seen *seen, struct tally_answer_hitch *out)
{
	uint64_t most = 0;
	TALLY_EACH_OF (const struct tally_hitch_part, p, seen->parts) {
		if (p->ns || p->draws <= p->around_draws + most)
			continue;
		most = p->draws - p->around_draws;
		out->drew = p->name;
		out->of.what = p->what;
		out->of.draws = p->draws;
		out->of.around_draws = p->around_draws;
	}
}

/* The thread worked. */
static enum tally_cause
of_work(struct tally_answer_hitch *h)
{
	h->growth_ns = tally_hitch_more(&h->was, TALLY_HITCH_WORK);
	const double least = EXPLAINS * (double)h->growth_ns;
	bool in_kernel = kernel_ns(h) >= least;
	double faults = faults_ns(h) * (in_kernel ? SLOW_FAULT_NS / FAULT_NS : 1);
	/* A driver takes memory for what it is to draw. */
	bool drew = h->pass && has_more_draws(h);
	return !drew && !has_disk_faults(h) && faults >= least ? TALLY_CAUSE_FAULTS
							       : TALLY_CAUSE_CPU;
}

/* Whether it read from a disk, and did not sleep elsewhere for a part of it. */
static bool
is_of_disk(const struct tally_answer_hitch *h)
{
	const struct tally_asleep_record *a = h->was.asleep;
	bool slept = a->in && share_of(h, a->ns) >= LOOKED;
	return is_read(h) && (!slept || tally_asleep_in_file(a));
}

static bool
has_worked(const struct tally_answer_hitch *h)
{
	double work = more_of(h, TALLY_HITCH_WORK);
	return work > SAME || (!h->driver && is_hitch(h, work));
}

static enum tally_cause
of_thread(struct tally_answer_hitch *h)
{
	if (explains(h, TALLY_HITCH_WORK))
		return of_work(h);
	if (!h->was.timed)
		return TALLY_CAUSE_UNKNOWN;
	if (!h->was.known[TALLY_HITCH_WORK])
		return TALLY_CAUSE_NOT_GPU;
	h->driver = explains(h, TALLY_HITCH_WAIT);
	if (!h->driver && has_disk_faults(h))
		return TALLY_CAUSE_FAULTS;
	if (!h->driver && is_of_disk(h))
		return TALLY_CAUSE_DISK;
	h->part = has_worked(h);
	if (h->part && !is_asleep(h))
		return TALLY_CAUSE_UNKNOWN; /* until it is known how long it had no CPU */
	return TALLY_CAUSE_WAIT;
}

/* The thread worked for a part of it: it had no CPU for the rest, or slept, if no pass grew. */
static void
share_part(struct tally_answer_hitch *h, uint64_t more_ns)
{
	double work = more_of(h, TALLY_HITCH_WORK);
	if (work + share_of(h, h->no_cpu_ns) >= 1 - SAME) {
		h->ready_ns = h->no_cpu_ns;
		h->cause = of_work(h);
	} else if (MIN(work, share_of(h, h->growth_ns)) <= SAME) {
		h->cause = TALLY_CAUSE_WAIT;
		h->ready_sure = false;
		if (share_of(h, more_ns) > SAME)
			h->ready_ns = h->no_cpu_ns;
	}
}

void
tally_cause_ready(struct tally_answer_hitch *h, uint64_t ready_ns, double usual_ns, bool sure)
{
	const uint64_t more_ns = (uint64_t)MAX((double)ready_ns - usual_ns, 0);
	uint64_t used_ns = h->was.ns[TALLY_HITCH_WORK] + h->was.ns[TALLY_HITCH_WAIT];
	uint64_t rest_ns = h->was.frame_ns - MIN(h->was.frame_ns, used_ns);
	h->no_cpu_ns = MIN(sure ? ready_ns : more_ns, rest_ns);
	if (share_of(h, MIN(more_ns, rest_ns)) >= EXPLAINS && !is_asleep(h))
		h->ready_ns = MIN(ready_ns, rest_ns);
	h->ready_sure = sure && !h->thread;
	if (h->cause == TALLY_CAUSE_OWN && h->ready_ns)
		h->cause = TALLY_CAUSE_WAIT; /* another program had the CPU */
	if (h->cause == TALLY_CAUSE_UNKNOWN && h->part && !h->driver)
		share_part(h, more_ns);
}

/* Passes explain it, while calls elsewhere may explain it, too. */
static bool
is_of_driver(const struct tally_answer_hitch *h)
{
	return h->cause == TALLY_CAUSE_PASS || h->cause == TALLY_CAUSE_GPU ||
	       (h->cause == TALLY_CAUSE_UNKNOWN && h->by_gpu &&
		(h->or_wait || (h->by_calls && h->calls.elsewhere)));
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

/* Passes that are drawn together took longer, or the thread waited. */
static void
decide_together(struct tally_answer_hitch *h, enum tally_driver_did did)
{
	bool together = h->cause == TALLY_CAUSE_UNKNOWN && h->or_wait && is_no_pass(h->pass);
	bool explains_it = together && share_of(h, h->growth_ns) >= EXPLAINS;
	if ((explains_it || h->drew) && did == TALLY_DRIVER_DREW) {
		h->cause = TALLY_CAUSE_PASS;
		h->or_wait = false;
	} else if (together && h->place) {
		h->cause = TALLY_CAUSE_WAIT;
	}
}

void
tally_cause_driver(struct tally_answer_hitch *h, double drew_ns, double no_cpu_ns)
{
	/* Passes may be a part of what the frame lost. */
	bool passes = h->cause == TALLY_CAUSE_PASS || h->cause == TALLY_CAUSE_GPU;
	const double of = passes ? MIN(share_of(h, h->growth_ns), 1) : 1;
	const double no_cpu = part_of(h, no_cpu_ns) / of;
	enum tally_driver_did did = tally_cause_driver_did(part_of(h, drew_ns) / of, no_cpu);
	decide_together(h, did);
	const double used = more_of(h, TALLY_HITCH_WORK) + more_of(h, TALLY_HITCH_WAIT);
	if (h->cause == TALLY_CAUSE_WAIT && h->driver && did == TALLY_DRIVER_HAD_NO_CPU)
		h->ready_ns = (uint64_t)MIN(no_cpu_ns, (double)h->was.ns[TALLY_HITCH_WAIT]);
	bool waited = did != TALLY_DRIVER_UNKNOWN;
	if (did == TALLY_DRIVER_DREW || !is_of_driver(h))
		return;
	if ((has_more_draws(h) && !(waited && used <= EXPLAINS)) || (!h->cause && !waited))
		return;
	h->starved = !waited;
	h->cause = waited ? TALLY_CAUSE_WAIT : TALLY_CAUSE_UNKNOWN;
	if (did == TALLY_DRIVER_HAD_NO_CPU) {
		double idle_ns = (double)(h->was.frame_ns -
					  MIN(h->was.frame_ns, h->was.ns[TALLY_HITCH_WORK]));
		h->pass = NULL;
		h->ready_ns = (uint64_t)MIN(no_cpu_ns, idle_ns);
		h->ready_sure = MAX(more_of(h, TALLY_HITCH_WAIT), share_of(h, h->growth_ns)) >=
				1 - SAME;
	}
}

/* Whether what happened in calls explains the frame: on its own thread, or on another for which it
 * waited meanwhile. */
static bool
is_event(const struct tally_hitch_seen *seen, struct tally_answer_hitch *h)
{
	const struct tally_answer_event *e = &h->calls;
	h->by_calls = e->group && share_of(h, e->ns) >= EXPLAINS;
	if (!h->by_calls || share_of(h, e->growth_ns) < (e->elsewhere ? NEARLY_ALL : EXPLAINS))
		return false;
	/* In a driver's wait it waits for the GPU or the screen, not for a thread; nor does it for
	 * one that goes on, or has long ended. */
	return !e->elsewhere ||
	       (!has_disk_faults(h) && !is_read(h) && is_same(h, TALLY_HITCH_WORK) &&
		!explains(h, TALLY_HITCH_WAIT) && !seen->goes_on[e->group]);
}

/* Whether it is all that there is to say: no other grew by a quarter as much. */
static bool
grew_alone(const struct tally_hitch_seen *seen, const struct tally_hitch_part *grew)
{
	TALLY_EACH_OF (const struct tally_hitch_part, p, seen->parts)
		if (p != grew && growth_of(p) >= growth_of(grew) / 4)
			return false;
	return true;
}

/* Whether each pass that matters grew by at least a quarter as much as all, in proportion. */
static bool
grew_alike(const struct tally_hitch_seen *seen, const struct tally_answer_hitch *all)
{
	double least = (double)all->growth_ns / (double)MAX(all->of.around_ns, 1) / 4;
	TALLY_EACH_OF (const struct tally_hitch_part, p, seen->parts)
		if (p->around_ns >= all->of.around_ns / 20 &&
		    (double)growth_of(p) < least * (double)p->around_ns)
			return false;
	return all->of.around_ns > 0;
}

/* passtally's time is by the clock: another program seldom has the CPU just then, and process
 * lines tell. For a GPU that worked longer the program would have waited, too. */
static bool
is_own(const struct tally_answer_hitch *h)
{
	return explains(h, TALLY_HITCH_OWN) &&
	       (explains(h, TALLY_HITCH_WORK) || !h->was.known[TALLY_HITCH_WORK] ||
		(!h->by_gpu && more_of(h, TALLY_HITCH_OWN) >= 1 - SAME));
}

/* Of a pass whose time may be the CPU's: whether the thread slept or worked in it. If it waited for
 * the GPU, that would be in a driver's call, or after twice the draws. */
static bool
is_of_thread(const struct tally_answer_hitch *h)
{
	return h->was.known[TALLY_HITCH_WORK] && h->was.known[TALLY_HITCH_WAIT] &&
	       !explains(h, TALLY_HITCH_WAIT) && h->of.draws < 2 * MAX(h->of.around_draws, 1);
}

/* Passes that are drawn together may be drawn in any call: that the thread slept is no
 * wait. */
static enum tally_cause
of_thread_in_pass(struct tally_answer_hitch *out)
{
	enum tally_cause cause = of_thread(out);
	out->or_wait = cause == TALLY_CAUSE_WAIT && is_no_pass(out->pass) && !is_asleep(out);
	return out->or_wait ? TALLY_CAUSE_UNKNOWN : cause;
}

/* Passes explain the frame, and no calls do: one alone, where the others grew by less than half as
 * much; all of them; or some, of which the largest is named. */
static enum tally_cause
of_passes(bool alone, bool unsure, struct tally_answer_hitch *out)
{
	if (alone && unsure && is_of_thread(out))
		return of_thread_in_pass(out);
	out->or_wait = unsure && !(alone && is_drawn(&out->of));
	/* What is not sure is a wait by itself, unless the driver waited so long. */
	if (!alone)
		return unsure && out->was.known[TALLY_HITCH_WAIT] &&
				       !explains(out, TALLY_HITCH_WAIT)
			       ? TALLY_CAUSE_UNKNOWN
			       : TALLY_CAUSE_GPU;
	return TALLY_CAUSE_PASS;
}

/* Calls in which the thread may have slept until passes had ended. */
static bool
may_wait_for_passes(const struct tally_answer_event *e)
{
	return !e->elsewhere && (e->group == TALLY_EVENT_UPLOADS || e->group == TALLY_EVENT_MAPS ||
				 e->group == TALLY_EVENT_READBACKS);
}

/* Names the pass that grew most; `out` has the sums of all. Returns whether it is the only one. */
static bool
name_pass(const struct tally_hitch_seen *seen, const struct tally_hitch_part *grew,
	  struct tally_answer_hitch *out)
{
	bool alone = out->growth_ns - growth_of(grew) < growth_of(grew) / 2;
	out->some = !alone && !grew_alike(seen, out);
	if (alone)
		take_pass(out, grew);
	if (alone && strcmp(out->pass, TALLY_DRAWN_TOGETHER) == 0)
		name_drew(seen, out);
	if (out->some)
		take_some(seen, out, grew);
	return alone;
}

/* Whether the thread's work and what passes grew by for sure are it together, not the same time. */
static bool
is_shared(const struct tally_answer_hitch *h)
{
	double work = more_of(h, TALLY_HITCH_WORK), passes = share_of(h, h->sure_ns);
	return h->was.known[TALLY_HITCH_WORK] && MIN(work, passes) > SAME &&
	       fabs(work + passes - 1) <= SAME;
}

/* Passes explain the frame; calls do, too, if `event`. `unsure`: what of it may be the CPU's is no
 * small part. */
static enum tally_cause
of_longer_passes(const struct tally_hitch_seen *seen, bool event, bool unsure,
		 const struct tally_hitch_part *grew, struct tally_answer_hitch *out)
{
	const struct tally_answer_hitch all = *out;
	bool alone = name_pass(seen, grew, out);
	bool works = explains(out, TALLY_HITCH_WORK);
	if (unsure && (works || is_asleep(out)))
		return of_thread(out);
	if (works && !has_more_draws(out) && (event || !is_shared(out)))
		return event ? TALLY_CAUSE_EVENT : TALLY_CAUSE_UNKNOWN;
	if (event && (works || !may_wait_for_passes(&out->calls)))
		return TALLY_CAUSE_UNKNOWN; /* both did it */
	enum tally_cause cause = of_passes(alone, unsure, out);
	if (cause != TALLY_CAUSE_PASS || grew_alone(seen, grew))
		return cause;
	bool or_wait = out->or_wait;
	*out = all;
	take_some(seen, out, grew);
	out->or_wait = or_wait;
	return TALLY_CAUSE_GPU;
}

/* Passes that grew, but may not explain the frame; `out` has the sums of all. */
static void
note_grown(const struct tally_hitch_part *grew, uint64_t unsure_ns, struct tally_answer_hitch *out)
{
	out->grown_ns = out->growth_ns;
	out->sure_ns = out->growth_ns - unsure_ns;
	if (!grew || share_of(out, out->growth_ns) < MENTIONED)
		return;
	out->grew = grew->name;
	out->grew_with = out->growth_ns - growth_of(grew) >= growth_of(grew) / 2;
	out->beside = out->grew_with ? out->of : *grew;
}

/* Of the passes whose time is not the CPU's, the one that grew by more than twice all others. */
static struct tally_hitch_part
find_sure(const struct tally_hitch_seen *seen, bool opengl)
{
	const struct tally_hitch_part none = { 0 }, *most = &none;
	uint64_t sum = 0;
	TALLY_EACH_OF (const struct tally_hitch_part, p, seen->parts) {
		if (opengl && p->may_wait && !is_drawn(p))
			continue;
		sum += growth_of(p);
		most = growth_of(p) > growth_of(most) ? p : most;
	}
	return sum - growth_of(most) < growth_of(most) / 2 ? *most : none;
}

/* In OpenGL a driver may wait for other work than draws in the call, which has no time of its own
 * then: the pass in which the thread was for most of what the frame lost. */
static const char *
find_place(const struct tally_hitch_seen *seen, const struct tally_answer_hitch *h)
{
	const struct tally_asleep_record *a = h->was.asleep;
	a = a->in ? a : &h->was.limiter;
	if (a->in && !tally_asleep_may_be_driver(a))
		return NULL;
	TALLY_EACH_OF (const struct tally_hitch_part, p, seen->parts)
		if (p->no_draws &&
		    share_of(h, p->cpu_ns - MIN(p->cpu_ns, p->around_cpu_ns)) >= EXPLAINS)
			return p->name;
	return NULL;
}

static enum tally_cause
decide(const struct tally_hitch_seen *seen, bool opengl, struct tally_answer_hitch *out)
{
	uint64_t unsure_ns = 0;
	const struct tally_hitch_part *grew = add_parts(seen, opengl, out, &unsure_ns);
	note_grown(grew, unsure_ns, out);
	out->sure = find_sure(seen, opengl);
	out->by_gpu = share_of(out, out->growth_ns) >= EXPLAINS ||
		      (!explains(out, TALLY_HITCH_WORK) && is_shared(out));
	if (is_own(out))
		return TALLY_CAUSE_OWN;
	bool event = is_event(seen, out);
	bool unsure = share_of(out, unsure_ns) >= SAME;
	if (event && (!out->by_gpu || unsure))
		return TALLY_CAUSE_EVENT;
	return out->by_gpu ? of_longer_passes(seen, event, unsure, grew, out)
			   : of_thread(out);
}

struct tally_answer_hitch
tally_cause_find(const struct tally_hitch *h, const struct tally_hitch_seen *seen, bool opengl)
{
	struct tally_answer_hitch out = {
		.was = *h,
		.of.draws = h->draws,
		.calls = tally_event_find(seen->events, TALLY_EVENT_NONE,
					  &h->usual[TALLY_HITCH_EVENTS], h->start_ns, h->frame_ns),
		.over = tally_event_over(seen->events),
		.waits = tally_event_wait(seen->events, &h->usual[TALLY_HITCH_EVENTS]),
		.no_cpu_ns = UINT64_MAX,
	};
	out.more_calls = tally_event_find(seen->events, out.calls.group,
					  &h->usual[TALLY_HITCH_EVENTS], h->start_ns, h->frame_ns);
	join_copies(seen->parts);
	out.place = find_place(seen, &out);
	out.cause = decide(seen, opengl, &out);
	return out;
}
