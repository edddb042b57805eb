/* SPDX-License-Identifier: MIT */
#include "cli/answer/presence.h"

#include "cli/shared/each.h"

#include <stdlib.h>
#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST 20 /* frames on either side, and */
#define LEAST_SHARE 0.05 /* of all */
#define NEARLY 0.9 /* all frames of its side */
#define LEAST_TIME 0.03 /* of a frame */

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

/* Whether nearly all frames on one side of a frame, and none on the other, have a part. */
static bool
begins_or_ends(const struct tally_part *part, const struct span *all,
	       struct tally_presence *found)
{
	bool new = part->first >= all->first + all->least && !part->skipped;
	uint64_t from = new ? part->first : all->first, to = new ? all->last + 1 : part->last + 1;
	found->part = part;
	found->gone = !new;
	found->frame = new ? part->first : part->last + 1;
	return (new || part->last + all->least <= all->last) && to - from >= all->least &&
	       (double)part->frames >= NEARLY * all->share * (double)(to - from);
}

/* Whether a change that is about there names it. */
static bool
is_told(const struct tally_answer_device *d, const struct tally_presence *of, uint64_t near)
{
	bool told = false;
	for (unsigned i = 0; i < d->n_changes; i++) {
		const struct tally_answer_change *c = &d->changes[i];
		const char *names[] = { c->what, c->within.what, c->also.what, c->later.what };
		if (distance(c->frame, of->frame) > near)
			continue;
		told |= c->others;
		for (unsigned k = 0; k < G_N_ELEMENTS(names); k++)
			told |= names[k] && g_str_has_prefix(of->part->name, names[k]);
	}
	return told;
}

/* Whether another size takes its place. */
static bool
is_resized(const GArray *all, const struct tally_presence *of)
{
	TALLY_EACH_OF (const struct tally_presence, p, all)
		if (p->gone != of->gone && distance(p->frame, of->frame) <= 1 &&
		    tally_parts_differ_in_size(p->part->name, of->part->name))
			return true;
	return false;
}

void
tally_presence_find(const struct tally_parts *parts, uint64_t first,
		    struct tally_answer_device *d)
{
	const uint64_t numbers = parts->last - first + 1;
	const struct span all = { first, parts->last,
				  MAX(LEAST, (uint64_t)(LEAST_SHARE * (double)numbers)),
				  (double)parts->n / (double)numbers };
	const struct tally_range whole = { .whole = true };
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct tally_presence));
	struct tally_presence of = { .part = NULL };
	TALLY_EACH (struct tally_part, part, parts->all[TALLY_PART_FINE])
		if (part->name[0] != '(' && begins_or_ends(part, &all, &of)) {
			of.ns = (double)tally_part_median(part, whole);
			g_array_append_val(found, of);
		}
	TALLY_EACH_OF (const struct tally_presence, p, found)
		if (p->ns > MAX(d->presence.ns, LEAST_TIME * d->range_ns) &&
		    !is_told(d, p, all.least) && !is_resized(found, p))
			d->presence = *p;
	TALLY_EACH_OF (const struct tally_presence, p, found)
		d->presence.others += p->part != d->presence.part &&
				      distance(p->frame, d->presence.frame) <= 1;
}
