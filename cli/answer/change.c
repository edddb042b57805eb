/* SPDX-License-Identifier: MIT */
#include "cli/answer/change.h"

#include "cli/shared/sort.h"

#include <glib.h>
#include <math.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST 20 /* blocks on each side, or */
#define LEAST_SHARE 0.05 /* of all */
#define RATIO 1.15
#define AGREE 0.9 /* of the pairs, or so of the nearer half of each side and */
#define AGREE_ALL 0.7 /* of all, as a side may begin or end with another stretch */
#define STEP 0.5 /* of the change lies between the blocks next to it */
#define NEXT_TO 8 /* so many blocks */

struct blocks {
	const double *means;
	uint32_t least; /* of a side */
};

/* Where the blocks divide best (Pettitt 1979): the largest sum of signs between the sides.
 * 0: nowhere that is sure at one in 10 000. */
static uint32_t
divide(const struct blocks *b, uint32_t from, uint32_t to)
{
	double n = (double)(to - from), u = 0, most = 0;
	uint32_t best = 0;
	for (uint32_t t = from; t + b->least < to; t++) {
		for (uint32_t k = from; k < to; k++)
			u += (b->means[k] > b->means[t]) - (b->means[k] < b->means[t]);
		if (t + 1 >= from + b->least && fabs(u) > most) {
			most = fabs(u);
			best = t + 1;
		}
	}
	double p = 2 * exp(-6 * most * most / (n * n * n + n * n));
	return p < 1e-4 ? best : 0;
}

/* Of each block and the next one, as frames in flight may be long and short in turn. */
static double *
sums_of_two(const double *means, uint32_t n)
{
	double *sums = g_new(double, n);
	for (uint32_t i = 0; i + 1 < n; i++)
		sums[i] = means[i] + means[i + 1];
	return sums;
}

static double
level_of(const struct blocks *b, uint32_t from, uint32_t to)
{
	g_autofree double *sums = sums_of_two(b->means + from, to - from);
	return tally_median(sums, to - from - 1) / 2;
}

/* How many pairs of frames before and after `at` agree on which are slower; 0: hardly any
 * are. */
static double
agreement_in(const struct blocks *b, uint32_t from, uint32_t at, uint32_t to)
{
	uint32_t n = at - from - 1, m = to - at - 1;
	g_autofree double *before = sums_of_two(b->means + from, n + 1);
	g_autofree double *after = sums_of_two(b->means + at, m + 1);
	double x = tally_median(before, n), y = tally_median(after, m), agree = 0;
	if (MAX(x, y) < RATIO * MIN(x, y))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < m; k++)
			agree += y > x ? after[k] > before[i] : after[k] < before[i];
	return agree / n / m;
}

static double
agreement(const struct blocks *b, uint32_t from, uint32_t at, uint32_t to)
{
	double all = agreement_in(b, from, at, to);
	if (all >= AGREE || all < AGREE_ALL)
		return all;
	return agreement_in(b, at - MAX(b->least, (at - from) / 2), at,
			    at + MAX(b->least, (to - at) / 2));
}

/* Where the blocks before lie furthest on their side of the middle, and those after on theirs, each
 * by no more than the change: the test's own place is too early or too late where a side is not
 * level. */
static uint32_t
place(const struct blocks *b, uint32_t from, uint32_t at, uint32_t to)
{
	double x = level_of(b, from, at), y = level_of(b, at, to), right = 0, most = -INFINITY;
	for (uint32_t i = from; i + b->least < to; i++) {
		double side = (x + y) / 2 - b->means[i];
		right += (y > x ? 1 : -1) * CLAMP(side, -fabs(y - x), fabs(y - x));
		if (right <= most || i + 1 < from + b->least)
			continue;
		most = right;
		at = i + 1;
	}
	return at;
}

/* Adds where the blocks divide, in order. */
static void
divide_all(const struct blocks *b, uint32_t from, uint32_t to, GArray *at)
{
	uint32_t here = to - from >= 2 * b->least ? divide(b, from, to) : 0;
	if (!here || at->len + 1 >= TALLY_CHANGE_MOST)
		return;
	divide_all(b, from, here, at);
	if (at->len + 1 >= TALLY_CHANGE_MOST)
		return;
	g_array_append_val(at, here);
	divide_all(b, here, to, at);
}

/* Removes the least sure division, until all are sure: its sides are one then. */
static void
keep_changes(const struct blocks *b, uint32_t n, GArray *at)
{
	double least = 0;
	while (at->len && least < AGREE) {
		guint worst = 0;
		least = 1;
		for (guint i = 0; i < at->len; i++) {
			uint32_t from = i ? g_array_index(at, uint32_t, i - 1) : 0;
			uint32_t to = i + 1 < at->len ? g_array_index(at, uint32_t, i + 1) : n;
			double agree = agreement(b, from, g_array_index(at, uint32_t, i), to);
			worst = agree < least ? i : worst;
			least = MIN(agree, least);
		}
		if (least < AGREE)
			g_array_remove_index(at, worst);
	}
}

static struct tally_change
change_at(const struct blocks *b, uint32_t from, uint32_t at, uint32_t to)
{
	uint32_t next = MIN(MIN(at - from, to - at), NEXT_TO);
	struct tally_change c = {
		.before_ns = level_of(b, from, at),
		.after_ns = level_of(b, at, to),
	};
	double step = level_of(b, at, at + next) - level_of(b, at - next, at);
	c.gradual = step / (c.after_ns - c.before_ns) < STEP;
	return c;
}

/* Steps of a slope are one change: where each is gradual, or there are three that way and
 * none is most of it. */
static unsigned
join_slopes(struct tally_change *c, unsigned n)
{
	unsigned made = 0;
	for (unsigned i = 0, end; i < n; i = end) {
		bool up = c[i].after_ns > c[i].before_ns, gradual = true;
		double most = 0;
		for (end = i; end < n && (c[end].after_ns > c[end].before_ns) == up; end++) {
			gradual &= c[end].gradual;
			most = MAX(most, fabs(c[end].after_ns - c[end].before_ns));
		}
		double all = fabs(c[end - 1].after_ns - c[i].before_ns);
		if (!(end - i >= 3 && most <= STEP * all) && !(gradual && end - i > 1)) {
			c[made++] = c[i];
			end = i + 1;
			continue;
		}
		c[made] = c[i];
		c[made].until = c[end - 1].until;
		c[made++].after_ns = c[end - 1].after_ns;
	}
	return made;
}

unsigned
tally_change_find(const struct tally_course *frames, uint64_t n,
		  struct tally_change out[TALLY_CHANGE_MOST])
{
	g_autofree double *means = g_new(double, frames->room);
	g_autofree uint32_t *slots = g_new(uint32_t, frames->room);
	uint32_t m = 0;
	for (uint32_t i = 0; frames->slots && i < frames->room && i * frames->block < n;
	     i++) {
		const struct tally_course_slot *s = &frames->slots[i];
		if (s->n == 0)
			continue;
		slots[m] = i;
		means[m++] = (double)s->sum / s->n;
	}
	const struct blocks b = { means, MAX(LEAST, (uint32_t)(LEAST_SHARE * m)) };
	g_autoptr(GArray) at = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	divide_all(&b, 0, m, at);
	keep_changes(&b, m, at);
	for (guint i = 0; i < at->len; i++) {
		uint32_t from = i ? g_array_index(at, uint32_t, i - 1) : 0;
		uint32_t to = i + 1 < at->len ? g_array_index(at, uint32_t, i + 1) : m;
		uint32_t *here = &g_array_index(at, uint32_t, i);
		*here = place(&b, from, *here, to);
		out[i] = change_at(&b, from, *here, to);
		out[i].at = out[i].until = slots[*here] * frames->block;
	}
	return join_slopes(out, at->len);
}
