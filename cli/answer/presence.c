/* SPDX-License-Identifier: MIT */
#include "cli/answer/presence.h"

#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST 20 /* frames on either side, and */
#define LEAST_SHARE 0.05 /* of all */
#define NEARLY 0.9 /* all frames of its side */
#define LEAST_TIME 0.03 /* of a frame */
#define OTHER_WORK 0.25 /* of what it was, and */
#define STEPS 1.9 /* times what it varies by, as half of a block may be beyond the step */

/* The frames that were added, by their numbers in the log. */
struct span {
	uint64_t first, last, least; /* least: of a side */
	double share; /* so much of the numbers have a frame */
};

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Something that frames have, by their numbers. */
struct seen {
	uint64_t frames, first, last;
	bool before; /* one that was left out has it */
};

/* Whether nearly all frames on one side of *frame have it, and none on the other. */
static bool
begins_or_ends(struct seen of, const struct span *all, uint64_t *frame, bool *begins)
{
	*begins = of.first >= all->first + all->least && !of.before;
	uint64_t from = *begins ? of.first : all->first;
	uint64_t to = *begins ? all->last + 1 : of.last + 1;
	*frame = *begins ? of.first : of.last + 1;
	return (*begins || of.last + all->least <= all->last) && to - from >= all->least &&
	       (double)of.frames >= NEARLY * all->share * (double)(to - from);
}

static bool
is_new_or_gone(struct tally_part *part, const struct span *all, struct tally_answer_change *c)
{
	const struct tally_range whole = { .whole = true };
	const struct seen of = { part->frames, part->first, part->last, part->skipped };
	bool new;
	if (!begins_or_ends(of, all, &c->frame, &new))
		return false;
	*(new ? &c->what_after_ns : &c->what_before_ns) = (double)tally_part_median(part, whole);
	return true;
}

/* Whether a part that is in nearly all frames takes longer for more work, or less time for less,
 * from a frame on. */
static bool
steps_with_work(struct tally_part *part, const struct span *all, uint64_t frames,
	       struct tally_answer_change *c)
{
	const struct tally_range before = { .to = part->since_at };
	const struct tally_range after = { .from = part->since_at, .to = frames };
	bool steps = false;
	if (part->since < all->first + all->least || part->since + all->least > all->last + 1 ||
	    (double)part->frames < NEARLY * (double)frames)
		return false;
	*c = (struct tally_answer_change){ .frame = part->since, .draws = tally_part_draws(part) };
	c->what_before_ns = (double)tally_part_median(part, before);
	c->what_after_ns = (double)tally_part_median(part, after);
	for (int i = 0; i < TALLY_WORK_PLACE; i++) {
		const struct tally_course *work = &part->work[i];
		double from = tally_course_median(work, before.from, before.to);
		double to = tally_course_median(work, after.from, after.to);
		double varies = fmax(tally_course_spread(work, before.from, before.to),
				     tally_course_spread(work, after.from, after.to));
		c->work[i][0] = isnan(from) ? 0 : from;
		c->work[i][1] = isnan(to) ? 0 : to;
		steps |= fabs(to - from) > fmax(OTHER_WORK * from, STEPS * varies) &&
			 (to - from) * (c->what_after_ns - c->what_before_ns) > 0;
	}
	return steps && c->what_before_ns > 0;
}

static double
grew(const struct tally_answer_change *c)
{
	return fabs(c->what_after_ns - c->what_before_ns);
}

/* Whether a change that is about there names it. */
static bool
is_told(const struct tally_answer_device *d, const struct tally_answer_change *of, uint64_t near)
{
	bool told = false;
	for (unsigned i = 0; i < d->n_changes; i++) {
		const struct tally_answer_change *c = &d->changes[i];
		const char *names[] = { c->what, c->within.what, c->also.what };
		for (unsigned k = 0; k < G_N_ELEMENTS(names); k++)
			told |= distance(c->frame, of->frame) <= near && names[k] &&
				g_str_has_prefix(of->what, names[k]);
	}
	return told;
}

/* Whether another size takes its place. */
static bool
is_resized(const GArray *all, const struct tally_answer_change *of)
{
	TALLY_EACH_OF (const struct tally_answer_change, c, all)
		if (distance(c->frame, of->frame) <= 1 && strcmp(c->what, of->what) != 0 &&
		    tally_parts_differ_in_size(c->what, of->what))
			return true;
	return false;
}

static GArray *
find_all(const struct tally_parts *parts, const struct span *all)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct tally_answer_change));
	TALLY_EACH (struct tally_part, part, parts->all[TALLY_PART_FINE]) {
		struct tally_answer_change c = { 0 };
		if (part->name[0] == '(' || (!is_new_or_gone(part, all, &c) &&
					     !steps_with_work(part, all, parts->n, &c)))
			continue;
		c.what = part->name;
		c.is_pass = true;
		g_array_append_val(found, c);
	}
	return found;
}

/* Of calls that begin or end, those that take most time; shorter ones than a pass must be about
 * where the speed changes. */
static void
find_calls(const struct tally_event_total *calls, const struct span *all,
	   struct tally_answer_device *d)
{
	for (int i = TALLY_EVENT_SHADERS; i < TALLY_N_EVENT_GROUPS; i++) {
		const struct tally_event_total *t = &calls[i];
		const struct seen of = { t->frames, t->first, t->last, false };
		struct tally_answer_event e = tally_event_mean(t, (enum tally_event_group)i);
		bool begins, told = (double)e.ns >= LEAST_TIME * d->range_ns;
		uint64_t frame;
		if (!t->frames || !begins_or_ends(of, all, &frame, &begins))
			continue;
		for (unsigned k = 0; k < d->n_changes; k++)
			told |= distance(d->changes[k].frame, frame) <= all->least;
		if (!told || e.ns <= d->calls_began.ns)
			continue;
		d->calls_began = e;
		d->calls_frame = frame;
		d->calls_ended = !begins;
	}
}

void
tally_presence_find(const struct tally_over_run *r,
		    const struct tally_event_total calls[TALLY_N_EVENT_GROUPS],
		    struct tally_answer_device *d)
{
	const struct tally_parts *parts = r->parts;
	const uint64_t first = r->numbers[0], numbers = parts->last - first + 1;
	const struct span all = { first, parts->last,
				  MAX(LEAST, (uint64_t)(LEAST_SHARE * (double)numbers)),
				  (double)parts->n / (double)numbers };
	g_autoptr(GArray) found = find_all(parts, &all);
	TALLY_EACH_OF (const struct tally_answer_change, c, found)
		if (grew(c) > fmax(grew(&d->began), LEAST_TIME * d->range_ns) &&
		    !is_told(d, c, all.least) && !is_resized(found, c))
			d->began = *c;
	TALLY_EACH_OF (const struct tally_answer_change, c, found)
		d->n_more_began += c->what != d->began.what &&
				   distance(c->frame, d->began.frame) <= 1;
	find_calls(calls, &all, d);
}
