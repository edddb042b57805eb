/* SPDX-License-Identifier: MIT */
#include "cli/answer/change.h"

#include "cli/shared/sort.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST 20 /* blocks on each side, or */
#define LEAST_SHARE 0.05 /* of all */
#define RATIO 1.15
#define AGREE 0.9 /* of the pairs, or so of the nearer half of each side and */
#define AGREE_ALL 0.7 /* of all, as a side may begin or end with another stretch */
#define STEP 0.5 /* of the change lies between the blocks next to it */
#define NEXT_TO 8 /* so many blocks */
#define ROOM 32 /* changes, before the unsure ones are removed */

struct blocks {
	const double *means;
	uint32_t n, least; /* of a side */
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

/* The median of five, as single slow frames are hitches, of the sums of a block and the next
 * one, as frames in flight may be long and short in turn. n > 5. */
static double *
smooth(const double *means, uint32_t n)
{
	enum { OF = 5 };
	double *medians = g_new(double, n);
	for (uint32_t i = 0; i + 1 < n; i++) {
		double sums[OF];
		uint32_t from = MIN(i - MIN(i, OF / 2), n - 1 - OF);
		for (uint32_t k = 0; k < OF; k++)
			sums[k] = means[from + k] + means[from + k + 1];
		medians[i] = tally_median(sums, OF);
	}
	return medians;
}

static double
level_of(const struct blocks *b, uint32_t from, uint32_t to)
{
	g_autofree double *sums = smooth(b->means + from, to - from);
	return tally_median(sums, to - from - 1) / 2;
}

/* How many pairs of blocks before `at` and after `until` agree on which are slower; 0: hardly any
 * are. */
static double
agreement_in(const struct blocks *b, uint64_t from, uint64_t at, uint64_t until, uint64_t to)
{
	uint64_t n = at - from - 1, m = to - until - 1;
	g_autofree double *before = smooth(b->means + from, (uint32_t)n + 1);
	g_autofree double *after = smooth(b->means + until, (uint32_t)m + 1);
	double x = tally_median(before, (uint32_t)n), y = tally_median(after, (uint32_t)m);
	double agree = 0;
	if (MAX(x, y) < RATIO * MIN(x, y))
		return 0;
	for (uint64_t i = 0; i < n; i++)
		for (uint64_t k = 0; k < m; k++)
			agree += y > x ? after[k] > before[i] : after[k] < before[i];
	return agree / (double)n / (double)m;
}

/* The changes of a course, by block, in order. */
struct found {
	struct tally_change all[ROOM];
	unsigned n;
};

/* Where the stretch before a change begins, and where that after it ends. */
static uint64_t
begin_of(const struct found *f, unsigned i)
{
	return i ? f->all[i - 1].until : 0;
}

static uint64_t
end_of(const struct blocks *b, const struct found *f, unsigned i)
{
	return i + 1 < f->n ? f->all[i + 1].at : b->n;
}

static double
agreement(const struct blocks *b, const struct found *f, unsigned i)
{
	const struct tally_change *c = &f->all[i];
	uint64_t from = begin_of(f, i), to = end_of(b, f, i);
	double all = agreement_in(b, from, c->at, c->until, to);
	if (all >= AGREE || all < AGREE_ALL)
		return all;
	return agreement_in(b, c->at - MAX(b->least, (c->at - from) / 2), c->at, c->until,
			    c->until + MAX(b->least, (to - c->until) / 2));
}

/* Where the blocks before lie furthest on their side of the middle, and those after on theirs, each
 * by no more than the change: the test's own place is too early or too late where a side is not
 * level. The run's first and last stretch may be shorter than others. */
static uint64_t
place(const struct blocks *b, const struct found *f, unsigned at)
{
	const struct tally_change *c = &f->all[at];
	uint64_t from = begin_of(f, at), to = end_of(b, f, at), best = c->at;
	uint64_t first = from + (from ? b->least : NEXT_TO);
	uint64_t last = to - (to < b->n ? b->least : NEXT_TO);
	double x = c->before_ns, y = c->after_ns, right = 0, most = -INFINITY;
	for (uint64_t i = from; i < last; i++) {
		double side = (x + y) / 2 - b->means[i];
		right += (y > x ? 1 : -1) * CLAMP(side, -fabs(y - x), fabs(y - x));
		if (right <= most || i + 1 < first)
			continue;
		most = right;
		best = i + 1;
	}
	return best;
}

/* Where blocks that go up and down divide: a few of them, by as much as a change. */
static uint32_t
divide_some(const struct blocks *b, uint32_t from, uint32_t to)
{
	uint32_t n = 2 * b->least;
	for (uint32_t i = from; i + n <= to; i += b->least / 2) {
		uint32_t here = divide(b, i, i + n);
		if (here && agreement_in(b, i, here, here, i + n) >= AGREE)
			return here;
	}
	return 0;
}

/* Adds where the blocks divide, in order. */
static void
divide_all(const struct blocks *b, uint32_t from, uint32_t to, struct found *f)
{
	uint32_t here = to - from >= 2 * b->least ? divide(b, from, to) : 0;
	here = here ? here : divide_some(b, from, to);
	if (here)
		divide_all(b, from, here, f);
	if (!here || f->n == ROOM)
		return;
	f->all[f->n++] = (struct tally_change){ .at = here, .until = here };
	divide_all(b, here, to, f);
}

static void
measure(const struct blocks *b, struct found *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct tally_change *c = &f->all[i];
		uint32_t at = (uint32_t)c->at, until = (uint32_t)c->until;
		c->before_ns = level_of(b, (uint32_t)begin_of(f, i), at);
		c->after_ns = level_of(b, until, (uint32_t)end_of(b, f, i));
		double step = level_of(b, until, until + NEXT_TO) -
			      level_of(b, at - NEXT_TO, at);
		c->gradual = until > at || step / (c->after_ns - c->before_ns) < STEP;
	}
}

/* Steps of a slope are one change: where there are three that way and none is most of it, or, of
 * those that are sure, each is gradual. */
static void
join_slopes(const struct blocks *b, struct found *f, bool sure)
{
	unsigned made = 0;
	measure(b, f);
	for (unsigned i = 0, end; i < f->n; i = end) {
		struct tally_change *c = &f->all[i];
		bool up = c->after_ns > c->before_ns, gradual = sure;
		double most = 0;
		for (end = i; end < f->n; end++) {
			double step = f->all[end].after_ns - f->all[end].before_ns;
			if ((step > 0) != up)
				break;
			gradual &= f->all[end].gradual;
			most = MAX(most, fabs(step));
		}
		const struct tally_change *last = &f->all[end - 1];
		double all = fabs(last->after_ns - c->before_ns);
		if (end - i < 2 || !(gradual || (end - i > 2 && most <= STEP * all))) {
			f->all[made++] = *c;
			end = i + 1;
			continue;
		}
		c->until = last->until;
		c->after_ns = last->after_ns;
		f->all[made++] = *c;
	}
	f->n = made;
}

/* Removes the least sure change, until all are sure: its sides are one then. */
static void
keep_changes(const struct blocks *b, struct found *f)
{
	double least = 0;
	while (f->n && least < AGREE) {
		unsigned worst = 0;
		least = 1;
		for (unsigned i = 0; i < f->n; i++) {
			double agree = agreement(b, f, i);
			worst = agree < least ? i : worst;
			least = MIN(agree, least);
		}
		if (least >= AGREE)
			break;
		f->n--;
		memmove(&f->all[worst], &f->all[worst + 1],
			(f->n - worst) * sizeof(f->all[0]));
	}
}

unsigned
tally_change_find(const struct tally_course *frames, uint64_t n,
		  struct tally_change out[TALLY_CHANGE_MOST])
{
	g_autofree double *means = g_new(double, frames->room);
	g_autofree uint32_t *slots = g_new(uint32_t, frames->room);
	struct blocks b = { .means = means };
	struct found f = { .n = 0 };
	for (uint32_t i = 0; frames->slots && i < frames->room && i * frames->block < n;
	     i++) {
		const struct tally_course_slot *s = &frames->slots[i];
		if (s->n == 0)
			continue;
		slots[b.n] = i;
		means[b.n++] = (double)s->sum / s->n;
	}
	b.least = MAX(LEAST, (uint32_t)(LEAST_SHARE * b.n));
	divide_all(&b, 0, b.n, &f);
	join_slopes(&b, &f, false);
	keep_changes(&b, &f);
	for (unsigned i = 0; i < f.n; i++) {
		measure(&b, &f);
		if (f.all[i].until == f.all[i].at)
			f.all[i].at = f.all[i].until = place(&b, &f, i);
	}
	join_slopes(&b, &f, true);
	unsigned made = 0;
	for (unsigned i = 0; i < f.n && made < TALLY_CHANGE_MOST; i++) {
		struct tally_change c = f.all[i];
		c.at = slots[c.at] * frames->block;
		c.until = slots[c.until] * frames->block;
		/* Its place may be another than where it was sure. */
		if (fmax(c.before_ns, c.after_ns) >= RATIO * fmin(c.before_ns, c.after_ns))
			out[made++] = c;
	}
	return made;
}
