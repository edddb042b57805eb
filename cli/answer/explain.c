/* SPDX-License-Identifier: MIT */
#include "cli/answer/explain.h"

#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define CLOCK_MOVED 0.95 /* the lower clock is at most so much of the higher one */
#define OTHER_DRAWS 0.25 /* or vertices, fragments, width */
#define HALF 0.5 /* of a change is explained, and by a second cause: */
#define SECOND 0.25 /* so much; by both so much too much at most */
#define AHEAD 2 /* times the frame is the GPU's time */
#define LOOKED_IN 40 /* frames of a change, or a block, for what they slept in: */
#define SEEN 2 /* of them at least, and */
#define MOSTLY (2.0 / 3) /* of the time that they were found asleep */
#define MORE 1.25 /* times as much alternates, of the thread's than of a pass */
#define MEMORY_GREW 16e6 /* bytes */
#define MEMORY_SHARE 0.05

/* The number of the frame `at` of those added, where a block begins. */
static uint64_t
number_at(const struct tally_over_run *r, uint64_t at)
{
	return r->numbers[at / r->block];
}

static double
median_in(const struct tally_course *c, struct tally_range range)
{
	double ns = tally_course_median(c, range.from, range.to);
	return isnan(ns) ? 0 : ns;
}

/* Two stretches of a run that are compared. */
struct sides {
	const struct tally_over_run *r;
	struct tally_range before, after;
	double lost_ns; /* by how much the frames are longer after it */
};

/* By how much the median of a course is another; NAN: not known. */
static double
change_of(const struct sides *s, int course)
{
	const struct tally_course *c = &s->r->courses[course];
	return tally_course_median(c, s->after.from, s->after.to) -
	       tally_course_median(c, s->before.from, s->before.to);
}

/* What passes had to do: from the courses that begin at `from` and `to`. */
static void
set_work(const struct sides *s, struct tally_answer_change *c, const struct tally_course *from,
	 const struct tally_course *to, int first, int end)
{
	for (int i = first; i < end; i++) {
		c->work[i][0] = median_in(&from[i], s->before);
		c->work[i][1] = median_in(&to[i], s->after);
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
unsure_change(const struct sides *s, const struct tally_part *part)
{
	struct tally_answer_change c;
	set_work(s, &c, part->work, part->work, 0, TALLY_WORK_PLACE);
	if (!s->r->parts->opengl || !s->r->courses[TALLY_COURSE_REST].slots ||
	    has_other_work(&c, TALLY_WORK_PLACE))
		return 0;
	return median_in(&part->unsure, s->after) - median_in(&part->unsure, s->before);
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

/* What has its place on the other side at another size, with as many draws; or itself. Where a pass
 * before it is not in all frames its place is a mean. */
static struct tally_part *
find_resized(const struct one_sided *of, const GArray *others)
{
	struct tally_part *found = of->part;
	double nearest = 1;
	TALLY_EACH_OF (const struct one_sided, q, others) {
		double apart = fabs(q->place - of->place);
		if (apart >= nearest || !tally_parts_are_as_many(q->draws, of->draws) ||
		    !tally_parts_differ_in_size(q->part->name, of->part->name))
			continue;
		nearest = apart;
		found = q->part;
	}
	return found;
}

/* Sets what each part was before and becomes after a change. */
static void
pair_parts(const struct sides *s)
{
	const GPtrArray *top = s->r->parts->all[TALLY_PART_TOP];
	g_autoptr(GArray) gone = find_one_sided(top, s->before, s->after);
	g_autoptr(GArray) new = find_one_sided(top, s->after, s->before);
	TALLY_EACH (struct tally_part, part, s->r->parts->owned)
		part->was = part->becomes = part;
	TALLY_EACH_OF (const struct one_sided, one, gone)
		one->part->becomes = find_resized(one, new);
	TALLY_EACH_OF (const struct one_sided, one, new)
		one->part->was = find_resized(one, gone);
}

static struct tally_answer_time
time_of_part(const struct sides *s, struct tally_part *part)
{
	double from = (double)tally_part_median(part->was, s->before);
	return (struct tally_answer_time){ part->name, from,
					   (double)tally_part_median(part, s->after), NULL };
}

/* The part that changed most in the direction in which the frames did; *others_ns: how much the
 * others did in either, as a pass may take the place of another. */
static struct tally_part *
most_changed(const struct sides *s, int level, double *change_ns, double *others_ns)
{
	struct tally_part *most = NULL;
	double sign = s->lost_ns > 0 ? 1 : -1;
	*change_ns = *others_ns = 0;
	TALLY_EACH (struct tally_part, part, s->r->parts->all[level]) {
		if (part->becomes != part)
			continue; /* it is with that one */
		struct tally_answer_time t = time_of_part(s, part);
		double change = sign * (t.after_ns - t.before_ns);
		double unsure = sign * unsure_change(s, part);
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
static const char or_gpu[] = "other waits, or the GPU", all_passes[] = "GPU";

/* A time of threads that changed by `least` of `change_ns` at least, the most of those from `first`
 * to `last`. */
static struct tally_answer_time
find_time(const struct sides *s, int first, int last, double change_ns, double least)
{
	struct tally_answer_time found = { 0 };
	for (int i = first; i <= last; i++) {
		double part = change_of(s, i) / change_ns;
		if (!(part >= least))
			continue;
		least = part;
		found.what = thread_names[i];
		found.before_ns = median_in(&s->r->courses[i], s->before);
		found.after_ns = median_in(&s->r->courses[i], s->after);
	}
	return found;
}

/* Names another time in its place. */
static void
name_time(struct tally_answer_change *c, struct tally_answer_time t)
{
	c->what = t.what;
	c->what_before_ns = t.before_ns;
	c->what_after_ns = t.after_ns;
	memset(c->work, 0, sizeof(c->work));
	c->is_pass = c->starved = false;
	c->no_cpu = t.what == thread_names[TALLY_COURSE_READY] ||
		    t.what == thread_names[TALLY_COURSE_NO_CPU];
	c->within.what = NULL;
	c->waits_ns = t.what == thread_names[TALLY_COURSE_WORK] ? 0 : c->after_ns - c->before_ns;
}

/* Whether a time of threads explains it; then it is what is named. */
static bool
take_time(const struct sides *s, int i, double change_ns, struct tally_answer_change *c)
{
	struct tally_answer_time t = find_time(s, i, i, change_ns, HALF);
	if (t.what)
		name_time(c, t);
	return t.what;
}

/* By the thread that ends frames. */
static void
explain_by_thread(const struct sides *s, struct tally_answer_change *c)
{
	int i = TALLY_COURSE_WORK;
	while (i <= TALLY_COURSE_REST && !take_time(s, i, s->lost_ns, c))
		i++;
	if (i != TALLY_COURSE_REST || take_time(s, TALLY_COURSE_READY, s->lost_ns, c))
		return;
	/* What is not sure of it, too. */
	if (change_of(s, TALLY_COURSE_GPU) / s->lost_ns >= HALF)
		c->what = or_gpu;
}

/* Parts of the stretches next to the change: what came later or went before is another change. Of
 * the blocks that passes have, one may reach over the change: at least three, where there are. */
static struct sides
next_to(const struct sides *s)
{
	struct sides near = *s;
	uint64_t before = s->before.to - s->before.from, after = s->after.to - s->after.from;
	uint64_t block = s->r->courses[TALLY_COURSE_DRAWS].block;
	near.before.from = s->before.to - CLAMP(3 * block, (before + 2) / 3, before);
	near.after.to = s->after.from + CLAMP(3 * block, (after + 2) / 3, after);
	return near;
}

/* By all passes together, also those that most frames do not have; work that came later, or went
 * before, is none of it. */
static void
explain_by_gpu(const struct sides *s, struct tally_answer_change *c)
{
	const struct tally_course *work = &s->r->courses[TALLY_COURSE_DRAWS];
	const struct sides near = next_to(s);
	c->what = all_passes;
	c->what_before_ns = median_in(&s->r->courses[TALLY_COURSE_GPU], s->before);
	c->what_after_ns = median_in(&s->r->courses[TALLY_COURSE_GPU], s->after);
	set_work(&near, c, work, work, 0, TALLY_WORK_WIDTH);
}

/* How much the GPU's time changed in that direction, NAN if that is not known; *sure_ns: without
 * what may be the CPU's. */
static double
gpu_change(const struct sides *s, double *sure_ns)
{
	struct tally_answer_change all = { 0 };
	double sign = s->lost_ns > 0 ? 1 : -1, change = sign * change_of(s, TALLY_COURSE_GPU);
	explain_by_gpu(s, &all);
	bool known = s->r->parts->opengl && s->r->courses[TALLY_COURSE_REST].slots &&
		     !has_other_work(&all, TALLY_WORK_WIDTH);
	*sure_ns = isnan(change) ? 0 : change;
	*sure_ns -= known && !isnan(change) ? sign * change_of(s, TALLY_COURSE_UNSURE) : 0;
	return change;
}

/* Of passes that are drawn together, the one whose draws changed most. */
static void
name_drew(const struct sides *s, struct tally_answer_change *c)
{
	double most = 0;
	TALLY_EACH (const struct tally_part, part, s->r->parts->all[TALLY_PART_FINE]) {
		double from = median_in(&part->work[TALLY_WORK_DRAWS], s->before);
		double to = median_in(&part->work[TALLY_WORK_DRAWS], s->after);
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

/* Sets the work of a pass. */
static void
set_pass_work(const struct sides *s, const struct tally_part *part, struct tally_answer_change *c)
{
	set_work(s, c, part->was->work, part->work, 0, TALLY_WORK_PLACE);
	if (part == s->r->parts->together)
		name_drew(s, c);
}

static void
take_pass(const struct sides *s, struct tally_part *to, struct tally_answer_change *c)
{
	name_time(c, time_of_part(s, to));
	c->waits_ns = 0;
	c->draws = tally_part_draws(to);
	c->is_pass = true;
	c->seldom = is_in(to, s->before) && is_in(to, s->after);
	set_pass_work(s, to, c);
}

/* What explains most of a change, if that is at least half of it. */
static void
explain_change(const struct sides *s, struct tally_answer_change *c)
{
	double lost = fabs(s->lost_ns), change, others, sure, gpu = gpu_change(s, &sure);
	struct tally_part *part;
	pair_parts(s);
	for (int level = TALLY_PART_TOP; level < TALLY_N_PART_LEVELS; level++) {
		part = most_changed(s, level, &change, &others);
		if (!part || !is_of_pass(lost, change, others, gpu, sure))
			continue;
		take_pass(s, part, c);
		return;
	}
	if (sure < lost / 2) {
		explain_by_thread(s, c);
		return;
	}
	explain_by_gpu(s, c);
	if (!part)
		return;
	c->drew = part->name;
	if (change >= gpu / 2 && others < change / 2)
		c->within = time_of_part(s, part);
	set_work(s, c, part->was->work, part->work, TALLY_WORK_WIDTH, TALLY_WORK_PLACE);
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

/* The pass that is named, or NULL. */
static struct tally_part *
named_part(const struct sides *s, const struct tally_answer_change *c)
{
	TALLY_EACH (struct tally_part, part, s->r->parts->owned)
		if (part->name == c->what)
			return part;
	return NULL;
}

/* How much what is named changed: a pass, all passes or a time of the thread; NAN: it is not of
 * frames. */
static double
named_change(const struct sides *s, const struct tally_answer_change *c)
{
	struct tally_part *part = named_part(s, c);
	if (part)
		return (double)tally_part_median(part, s->after) -
		       (double)tally_part_median(part, s->before);
	if (thread_course(c))
		return change_of(s, thread_course(c));
	return c->what == all_passes ? change_of(s, TALLY_COURSE_GPU) : (double)NAN;
}

/* Whether a driver that draws on the CPU may have had none, or waited, for what is named. That a
 * pass is new or gone is the program's. */
static bool
is_of_driver(const struct sides *s, const struct tally_answer_change *c)
{
	if (c->is_pass && MIN(c->what_before_ns, c->what_after_ns) <= 0)
		return false;
	return (c->is_pass || c->what == all_passes || c->what == or_gpu) &&
	       s->r->driver.ns[TALLY_DREW] > 0 && !has_other_work(c, TALLY_WORK_PLACE);
}

/* A wait in what is named. */
static const char *
wait_text(const struct tally_answer_change *c)
{
	const char *pass = c->is_pass ? c->what : "all passes";
	return c->what == or_gpu ? thread_names[TALLY_COURSE_REST]
				 : g_intern_string(tally_phrase("a wait in %s", pass));
}

/* A pass that takes longer without more draws has more of the CPU, too; else other programs have
 * it, surely where the driver's threads wait for one, or it waits. */
static void
check_driver(const struct sides *s, struct tally_answer_change *c)
{
	double change_ns = c->what_after_ns - c->what_before_ns;
	double had_none = s->r->driver.has_ready ? change_of(s, TALLY_COURSE_NO_CPU) : (double)NAN;
	enum tally_driver_did did = tally_cause_driver_did(
		change_of(s, TALLY_COURSE_DREW) / change_ns, had_none / change_ns);
	/* On few CPUs it has none while the program's own thread works. */
	if (did != TALLY_DRIVER_DREW && take_time(s, TALLY_COURSE_WORK, s->lost_ns, c))
		return;
	c->starved = did == TALLY_DRIVER_UNKNOWN && c->what != or_gpu;
	if (did == TALLY_DRIVER_HAD_NO_CPU)
		take_time(s, TALLY_COURSE_NO_CPU, change_ns, c);
	/* Other threads may draw for it, by no name of its own. */
	double others = change_of(s, TALLY_COURSE_OTHERS) / change_ns;
	if (did != TALLY_DRIVER_WAITED || (c->what == or_gpu && others >= HALF))
		return;
	name_time(c, (struct tally_answer_time){ wait_text(c), c->what_before_ns, c->what_after_ns,
						 NULL });
}

/* How long the thread waited of a frame beyond the GPU's time, for which it may have waited. */
static double
idle_in(const struct tally_course *courses, struct tally_range range)
{
	double waits = median_in(&courses[TALLY_COURSE_WAIT], range) +
		       median_in(&courses[TALLY_COURSE_REST], range);
	return fmax(waits - median_in(&courses[TALLY_COURSE_GPU], range), 0);
}

/* What changed most with the frames besides what is named. */
static struct tally_answer_time
find_second(const struct sides *s, const struct tally_answer_change *c, bool gpu)
{
	const int work = TALLY_COURSE_WORK;
	double change, others;
	struct tally_answer_time t = find_time(s, work, work, s->lost_ns, SECOND);
	if (t.what && t.what != c->what)
		return t;
	struct tally_part *part = most_changed(s, TALLY_PART_TOP, &change, &others);
	if (!gpu && part && change >= SECOND * fabs(s->lost_ns))
		return time_of_part(s, part);
	t.what = thread_names[TALLY_COURSE_REST];
	t.before_ns = idle_in(s->r->courses, s->before);
	t.after_ns = idle_in(s->r->courses, s->after);
	return t;
}

/* Beside what is named: what explains a quarter more, if that is not the same time. */
static void
add_second(const struct sides *s, struct tally_answer_change *c)
{
	const bool gpu = c->is_pass || c->what == all_passes;
	if (!gpu && !thread_course(c))
		return;
	struct tally_answer_time also = find_second(s, c, gpu);
	double first = (c->what_after_ns - c->what_before_ns) / s->lost_ns;
	double second = (also.after_ns - also.before_ns) / s->lost_ns;
	if (also.what != c->what && second >= SECOND && first + second <= 1 + SECOND)
		c->also = also;
	if (c->also.what == thread_names[TALLY_COURSE_REST])
		c->waits_ns = also.after_ns - also.before_ns;
	if (!gpu || c->also.what)
		c->calls = find_time(s, TALLY_COURSE_CALLS + TALLY_EVENT_SHADERS,
				     TALLY_COURSE_CLOCK - 1, s->lost_ns, SECOND);
}

/* In what frames slept, if that is most of it and was seen; NULL: not known. *ns: how long. */
static const char *
most_slept_in(const struct tally_over_run *r, struct tally_range in, double *ns)
{
	double all = 0, of_most = 0;
	int most = 0;
	for (int i = 0; i < TALLY_RUN_PLACES; i++) {
		double sum = tally_course_sum(&r->places[i].ns, in.from, in.to);
		most = sum > of_most ? i : most;
		of_most = MAX(sum, of_most);
		all += sum;
	}
	*ns = median_in(&r->places[most].ns, in);
	bool seen = tally_course_count(&r->places[most].ns, in.from, in.to) >= SEEN;
	return seen && of_most >= MOSTLY * all ? r->places[most].in : NULL;
}

/* In what the frames at the beginning of a change slept, if for half of what waits grew by, but no
 * longer than these frames idled more, and longer than those before it idled; or NULL. */
static const char *
find_place(const struct sides *s, double grew_ns)
{
	const struct tally_over_run *r = s->r;
	const struct tally_range in = { .from = s->after.from,
					.to = s->after.from + MAX(LOOKED_IN, r->block) };
	double ns, idle_ns = idle_in(r->courses, s->before);
	double idle_more_ns = idle_in(r->courses, in) - idle_ns;
	const char *place = most_slept_in(r, in, &ns);
	return ns >= HALF * grew_ns && ns <= (1 + HALF) * idle_more_ns && ns >= 2 * idle_ns
		       ? place
		       : NULL;
}

/* Where other waits are. */
static void
name_place(const struct sides *s, struct tally_answer_change *c)
{
	const char *rest = thread_names[TALLY_COURSE_REST];
	if (c->what == rest || c->what == or_gpu)
		c->in = find_place(s, c->what_after_ns - c->what_before_ns);
	else if (c->also.what == rest)
		c->also.in = find_place(s, c->also.after_ns - c->also.before_ns);
	c->what = c->in ? rest : c->what;
}

/* How many draws most frames have of a pass. */
static double
draws_in(const struct tally_part *part, struct tally_range range)
{
	const struct tally_course *draws = &part->work[TALLY_WORK_DRAWS];
	uint64_t frames = tally_course_count(draws, range.from, range.to);
	return 2 * frames >= range.to - range.from ? median_in(draws, range) : 0;
}

/* Of draws, dispatches and copies of all passes, sets those that changed most. */
static void
name_calls(const struct sides *s, struct tally_answer_change *c)
{
	static const char *const words[] = { "draws", "dispatches", "copies", "calls" };
	double n[G_N_ELEMENTS(words)][2] = { { 0 } };
	unsigned most = 0;
	memcpy(n[0], c->work[TALLY_WORK_DRAWS], sizeof(n[0])); /* of all passes */
	TALLY_EACH (const struct tally_part, part, s->r->parts->all[TALLY_PART_FINE]) {
		unsigned i = 0;
		while (strcmp(words[i], tally_part_draws(part)) != 0)
			i++;
		for (int side = 0; side < 2; side++) {
			double draws = draws_in(part, side ? s->after : s->before);
			n[0][side] -= draws;
			n[i][side] += draws;
		}
	}
	for (unsigned i = 1; i < G_N_ELEMENTS(words); i++)
		most = fabs(n[i][1] - n[i][0]) > fabs(n[most][1] - n[most][0]) ? i : most;
	c->draws = words[most];
	memcpy(c->work[TALLY_WORK_DRAWS], n[most], sizeof(n[most]));
}

/* Whether the GPU's clock went along with a change. */
static void
look_at_clock(const struct sides *s, struct tally_answer_change *c)
{
	const struct tally_course *clock = &s->r->courses[TALLY_COURSE_CLOCK];
	const struct tally_course *held = &s->r->courses[TALLY_COURSE_HELD];
	double from = median_in(clock, s->before), to = median_in(clock, s->after);
	double slower = s->lost_ns > 0 ? to / from : from / to;
	if (from <= 0 || to <= 0 || slower > CLOCK_MOVED)
		return;
	c->clock_before = from;
	c->clock_after = to;
	c->held = median_in(held, s->before) <= 0 && median_in(held, s->after) > 0;
}

/* A pass that is new or gone, or whose work changed, was so from one frame on: the frames' times
 * may show it later, or another program made them longer before. */
static void
take_frame(const struct sides *s, struct tally_answer_change *c)
{
	const struct tally_part *part = c->is_pass ? named_part(s, c) : NULL;
	const uint64_t first = number_at(s->r, (s->before.from + s->before.to) / 2);
	const uint64_t last = number_at(s->r, (s->after.from + s->after.to) / 2);
	uint64_t frame = 0;
	const bool one_sided = MIN(c->what_before_ns, c->what_after_ns) <= 0;
	if (!part || c->until > c->frame || (one_sided && c->seldom))
		return;
	if (c->what_after_ns <= 0)
		frame = part->last + 1;
	else if (one_sided || part->was != part)
		frame = part->first;
	else if (has_other_work(c, TALLY_WORK_PLACE))
		frame = part->since;
	if (frame <= first || frame >= last)
		return;
	c->about = false;
	c->frame = c->until = frame;
}

/* By the whole stretches, or, where what is named did not change next to the change by half as much
 * as there or as the frames, by what is next to it. */
static void
explain(const struct sides *whole, struct tally_answer_change *c)
{
	const struct tally_answer_change blank = *c;
	const struct sides near = next_to(whole), *s = whole;
	explain_change(s, c);
	double change = named_change(&near, c);
	if (change / change_of(&near, TALLY_COURSE_FRAME) < HALF &&
	    change / (c->what_after_ns - c->what_before_ns) < HALF) {
		*c = blank;
		s = &near;
		explain_change(s, c);
	}
	if (is_of_driver(s, c))
		check_driver(s, c);
	if (!c->starved)
		add_second(s, c);
	name_place(s, c);
	take_frame(whole, c);
	if (c->what == all_passes)
		name_calls(s, c);
	look_at_clock(s, c);
}

/* A time of the thread that alternates by more than what was found. */
static void
take_beats(const struct tally_over_run *r, const struct tally_beats *beats, int course,
	   double least_ns, struct tally_alternating *found)
{
	struct tally_alternating a = { .what = thread_names[course] };
	if (tally_beats_find(beats, r->n, r->parts->last, least_ns, &a) &&
	    a.ns - a.else_ns > MORE * (found->ns - found->else_ns))
		*found = a;
}

struct tally_alternating
tally_explain_alternating(const struct tally_over_run *r, double least_ns)
{
	const struct tally_range all = { .from = 0, .to = r->n };
	struct tally_alternating found = tally_parts_alternating(r->parts, least_ns);
	double ns;
	take_beats(r, &r->work, TALLY_COURSE_WORK, least_ns, &found);
	take_beats(r, &r->rest, TALLY_COURSE_REST, least_ns, &found);
	const char *in = most_slept_in(r, all, &ns);
	if (found.what == thread_names[TALLY_COURSE_REST] && ns >= HALF * found.ns &&
	    ns <= (1 + HALF) * found.ns)
		found.in = in;
	return found;
}

/* In the longest part up to the run's end each quarter of which has more than the one before, by a
 * tenth of its whole growth. */
static struct tally_answer_growth
find_growth(const struct tally_over_run *r, const struct tally_course *c)
{
	enum { PARTS = 8, MOST = 5 }; /* of the run, and that it may begin after */
	const double end = tally_course_median(c, 3 * r->n / 4, r->n);
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
			.end = end,
		};
	}
	return (struct tally_answer_growth){ .end = end };
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
tally_explain_run(const struct tally_over_run *r, struct tally_answer_device *d)
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
		const struct sides sides = { r, range, after, c->after_ns - c->before_ns };
		explain(&sides, c);
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
