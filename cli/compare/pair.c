/* SPDX-License-Identifier: MIT */
#include "cli/compare/pair.h"

#include "cli/answer/parts.h"
#include "cli/compare/row.h"
#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

/* With more new passes it is another program. */
#define MOST 100
/* By so much the parts of the frames that have it may differ. */
#define OTHER_SHARE 0.1

static const struct tally_target_size *
size_of(const struct tally_compare_subject *s, unsigned side)
{
	return &tally_as_pass(s->first[side]->group)->size;
}

static double
place_of(const struct tally_compare_subject *s, unsigned side)
{
	const struct tally_group *g = s->first[side]->group;
	return g->index_sum / (double)g->frames;
}

static bool
is_lone(const struct tally_compare_subject *s, unsigned side)
{
	return !s->frame && !s->outside && s->frames[side] && !s->frames[!side];
}

/* The next pass in that direction (1 or -1) that both sides have; NULL: none. */
static const struct tally_compare_subject *
find_next(const struct tally_compare *c, const struct tally_compare_subject *s,
	  unsigned side, double direction)
{
	const struct tally_compare_subject *next = NULL;
	double least = INFINITY;
	TALLY_EACH (const struct tally_compare_subject, other, c->subjects) {
		if (other->frame || other->outside || other->slot != s->slot ||
		    !other->frames[0] || !other->frames[1])
			continue;
		double far = direction * (place_of(other, side) - place_of(s, side));
		next = far > 0 && far < least ? other : next;
		least = next == other ? far : least;
	}
	return next;
}

static double
mean_of(const struct tally_compare_source *s, uint32_t series)
{
	const struct tally_compare_values *v = series < s->values->len
						       ? s->values->pdata[series]
						       : NULL;
	return v ? tally_moments_mean(&v->moments) : 0;
}

/* Whether they make as many calls of each kind, and any. */
static bool
have_same_calls(const struct tally_compare_source *a,
		const struct tally_compare_source *b)
{
	bool any = false, same = true;
	for (uint32_t i = TALLY_SERIES_DRAWS; i <= TALLY_SERIES_DISPATCHES; i++) {
		same &= tally_parts_are_as_many(mean_of(a, i), mean_of(b, i));
		any |= mean_of(a, i) > 0;
	}
	return any && same;
}

/* The last debug group, in lower case. */
static char *
last_of(const char *label)
{
	const char *slash = strrchr(label, '/');
	return g_utf8_strdown(slash ? slash + 1 : label, -1);
}

/* Whether one may be the other's new name, as "bloom" and "Bloom pass", or a pass had none: what
 * takes the place of a pass often makes the same calls on the same target. */
static bool
resemble(const char *a, const char *b)
{
	if (!a || !b)
		return true;
	g_autofree char *x = last_of(a), *y = last_of(b);
	return *x && *y && (strstr(x, y) || strstr(y, x));
}

static bool
are_next_to_the_same(const struct tally_compare *c,
		     const struct tally_compare_subject *base,
		     const struct tally_compare_subject *fresh)
{
	const struct tally_compare_subject *before = find_next(c, base, TALLY_SIDE_BASE,
							       -1);
	const struct tally_compare_subject *after = find_next(c, base, TALLY_SIDE_BASE,
							      1);
	return (before || after) && before == find_next(c, fresh, TALLY_SIDE_NEW, -1) &&
	       after == find_next(c, fresh, TALLY_SIDE_NEW, 1);
}

/* Whether a pass of the base is one of the new side but for its label, or but for its size. */
static bool
is_same(const struct tally_compare *c, const struct tally_compare_subject *base,
	const struct tally_compare_subject *fresh)
{
	const struct tally_target_size *x = size_of(base, 0), *y = size_of(fresh, 1);
	bool sizes = x->width != y->width || x->height != y->height;
	bool labels = g_strcmp0(base->label, fresh->label) != 0;
	return sizes != labels && base->slot == fresh->slot &&
	       base->kind == fresh->kind && g_strcmp0(x->formats, y->formats) == 0 &&
	       x->samples == y->samples && x->layers == y->layers &&
	       fabs(tally_subject_share(base, 0) - tally_subject_share(fresh, 1)) <=
		       OTHER_SHARE &&
	       have_same_calls(base->first[0], fresh->first[1]) &&
	       resemble(base->label, fresh->label) &&
	       are_next_to_the_same(c, base, fresh);
}

/* The only pass of `side` that is the same as `s` of the other one; NULL: none, or several. */
static struct tally_compare_subject *
find_only(const struct tally_compare *c, struct tally_compare_subject *s, unsigned side)
{
	struct tally_compare_subject *found = NULL;
	guint n = 0;
	TALLY_EACH (struct tally_compare_subject, other, c->subjects) {
		const bool base = side == TALLY_SIDE_BASE;
		if (is_lone(other, side) &&
		    is_same(c, base ? other : s, base ? s : other)) {
			found = other;
			n++;
		}
	}
	return n == 1 ? found : NULL;
}

/* The base's pass becomes the base of the new side's. */
static void
join(struct tally_compare *c, struct tally_compare_subject *base,
     struct tally_compare_subject *fresh)
{
	const struct tally_target_size *x = size_of(base, 0), *y = size_of(fresh, 1);
	GPtrArray *none = fresh->sources[TALLY_SIDE_BASE];
	g_autofree char *name = fresh->name;
	fresh->name = strcmp(base->name, name) != 0
			      ? g_strdup_printf("%s -> %s", base->name, name)
			      : g_strdup_printf("%s %ux%u -> %ux%u", name, x->width,
						x->height, y->width, y->height);
	fresh->paired = true;
	fresh->base_id = base->id;
	fresh->frames[TALLY_SIDE_BASE] = base->frames[TALLY_SIDE_BASE];
	fresh->first[TALLY_SIDE_BASE] = base->first[TALLY_SIDE_BASE];
	fresh->sources[TALLY_SIDE_BASE] = base->sources[TALLY_SIDE_BASE];
	base->sources[TALLY_SIDE_BASE] = none;
	g_ptr_array_remove(c->subjects, base);
}

void
tally_compare_pair(struct tally_compare *c)
{
	g_autoptr(GPtrArray) lone = g_ptr_array_new();
	TALLY_EACH (struct tally_compare_subject, s, c->subjects)
		if (is_lone(s, TALLY_SIDE_NEW))
			g_ptr_array_add(lone, s);
	for (guint i = 0; i < lone->len && lone->len <= MOST; i++) {
		struct tally_compare_subject *fresh = lone->pdata[i];
		struct tally_compare_subject *base = find_only(c, fresh, TALLY_SIDE_BASE);
		if (base && find_only(c, base, TALLY_SIDE_NEW) == fresh)
			join(c, base, fresh);
	}
}
