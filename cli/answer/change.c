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
#define RATIO_SHORT 1.5 /* of a stretch that is short */
#define AGREE 0.9 /* of the pairs, or so of the nearer half of each side and */
#define AGREE_ALL 0.7 /* of all, as a side may begin or end with another stretch */
#define NEXT_TO 8 /* blocks, at least, before and after a slope */
#define SLOPE 16 /* blocks of it, and */
#define BEYOND 0.1 /* of a change: values further off count as that */
#define BETTER 0.9 /* at most so much is left of what a step leaves, and */
#define ABOUT 1.25 /* of what two, or those that were found, leave */
#define ROOM 32 /* changes, before the unsure ones are removed */

struct blocks {
	const double *means;
	uint32_t n, least; /* of a side */
	const uint32_t *slots; /* of the course, for each */
	uint64_t block, frames; /* of a slot, and of the run */
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

/* The frame that a block begins with. */
static uint64_t
frame_of(const struct blocks *b, uint64_t i)
{
	return i < b->n ? b->slots[i] * b->block : b->frames;
}

/* How many pairs of blocks before `at` and after `until` agree on which are slower; 0: they do not
 * differ by `ratio`. */
static double
agreement_in(const struct blocks *b, uint64_t from, uint64_t at, uint64_t until, uint64_t to,
	     double ratio)
{
	uint64_t n = at - from - 1, m = to - until - 1;
	g_autofree double *before = smooth(b->means + from, (uint32_t)n + 1);
	g_autofree double *after = smooth(b->means + until, (uint32_t)m + 1);
	double x = tally_median(before, (uint32_t)n), y = tally_median(after, (uint32_t)m);
	double agree = 0;
	if (MAX(x, y) < ratio * MIN(x, y))
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
	double all = agreement_in(b, from, c->at, c->until, to, RATIO);
	if (all >= AGREE || all < AGREE_ALL)
		return all;
	uint64_t near = MAX(b->least, (c->at - from) / 2),
		 more = MAX(b->least, (to - c->until) / 2);
	return agreement_in(b, c->at - MIN(near, c->at - from), c->at, c->until,
			    MIN(c->until + more, to), RATIO);
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

static void
measure(const struct blocks *b, struct found *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct tally_change *c = &f->all[i];
		uint32_t at = (uint32_t)c->at, until = (uint32_t)c->until;
		c->before_ns = level_of(b, (uint32_t)begin_of(f, i), at);
		c->after_ns = level_of(b, until, (uint32_t)end_of(b, f, i));
	}
}

static void
place_all(const struct blocks *b, struct found *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		measure(b, f);
		if (f->all[i].until == f->all[i].at)
			f->all[i].at = f->all[i].until = place(b, f, i);
	}
}

/* Where a few blocks divide, of which all are too many: by more, as a machine has noise. */
static uint32_t
divide_some(const struct blocks *b, uint32_t from, uint32_t to)
{
	uint32_t n = 2 * b->least;
	for (uint32_t i = from; i + n <= to; i += b->least / 2) {
		uint32_t here = divide(b, i, i + n);
		if (here && agreement_in(b, i, here, here, i + n, RATIO_SHORT) >= AGREE)
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

/* Sums of the blocks before one: of their values, numbers, and products of these. */
struct sums {
	double n, y, i, yy, iy, ii;
};

static double
mean_of(const struct sums *from, const struct sums *to)
{
	return (to->y - from->y) / (to->n - from->n);
}

/* The squares that are left of blocks around the line zero + slope * their number. */
static double
left_of(const struct sums *from, const struct sums *to, double zero, double slope)
{
	return to->yy - from->yy - 2 * zero * (to->y - from->y) - 2 * slope * (to->iy - from->iy) +
	       zero * zero * (to->n - from->n) + 2 * zero * slope * (to->i - from->i) +
	       slope * slope * (to->ii - from->ii);
}

/* The same around the levels between changes, and lines from one to the next. */
static double
left_by(const struct sums *s, uint64_t from, uint64_t to, const struct tally_change *c, unsigned n)
{
	double left = 0, level = 0;
	for (unsigned i = 0; i <= n; i++) {
		uint64_t at = i ? c[i - 1].at : from, x = i ? c[i - 1].until : from;
		uint64_t y = i < n ? c[i].at : to;
		double next = mean_of(&s[x], &s[y]);
		double slope = (next - level) / (double)(x - at + 1);
		left += left_of(&s[at], &s[x], level - slope * ((double)at - 1), slope) +
			left_of(&s[x], &s[y], next, 0);
		level = next;
	}
	return left;
}

/* The slope, or the two steps, of `least` to `most` blocks that fit best between levels of `side`;
 * *left: by it. */
static struct tally_change
fit(const struct sums *s, uint64_t from, uint64_t to, uint64_t side, uint64_t least, uint64_t most,
    bool steps, double *left)
{
	struct tally_change c = { 0 }, best = c;
	*left = INFINITY;
	for (c.at = from + side; c.at + least + side <= to; c.at++)
		for (c.until = c.at + least; c.until + side <= to && c.until - c.at <= most;
		     c.until++) {
			const struct tally_change two[] = { { .at = c.at, .until = c.at },
							    { .at = c.until, .until = c.until } };
			double this = left_by(s, from, to, steps ? two : &c, steps ? 2 : 1);
			best = this < *left ? c : best;
			*left = MIN(this, *left);
		}
	return best;
}

/* Whether changes `i` to `end`, in blocks `from` to `to`, are steps of one slope, which is set. */
static bool
is_slope(const struct blocks *b, const struct found *f, uint64_t from, uint64_t to, unsigned i,
	 unsigned end, struct tally_change *c)
{
	const struct tally_change *first = &f->all[i], *last = &f->all[end - 1];
	const uint64_t side = b->least / 2;
	g_autofree double *values = smooth(b->means + from, (uint32_t)(to + 1 - from));
	g_autofree struct sums *s = g_new0(struct sums, to + 1);
	double low = 2 * MIN(first->before_ns, last->after_ns), left, step, two, slope;
	double high = 2 * MAX(first->before_ns, last->after_ns), beyond = BEYOND * (high - low);
	for (uint64_t k = from; k < to; k++) {
		double y = CLAMP(values[k - from], low - beyond, high + beyond), x = (double)k;
		s[k + 1] = (struct sums){ s[k].n + 1,      s[k].y + y,      s[k].i + x,
					  s[k].yy + y * y, s[k].iy + x * y, s[k].ii + x * x };
	}
	left = left_by(s, from, to, first, end - i);
	fit(s, from, to, side, 0, SLOPE, false, &step);
	fit(s, from, to, side, side, to, true, &two);
	struct tally_change best = fit(s, from, to, side, SLOPE, to, false, &slope);
	left = end - i > 2 ? MIN(left, two) : two;
	if (slope >= MIN(ABOUT * left, BETTER * step))
		return false;
	c->at = best.at;
	c->until = best.until;
	return true;
}

/* Steps of a slope are one change, as many as there are that way. */
static void
join_slopes(const struct blocks *b, struct found *f)
{
	struct found joined = { .n = 0 };
	for (unsigned i = 0, end; i < f->n; i = end) {
		struct tally_change c = f->all[i];
		uint64_t from = begin_of(&joined, joined.n);
		bool up = c.after_ns > c.before_ns;
		for (end = i + 1; end < f->n; end++)
			if ((f->all[end].after_ns > f->all[end].before_ns) != up)
				break;
		while (end > i && !is_slope(b, f, from, end_of(b, f, end - 1) - 1, i, end, &c))
			end--;
		end = MAX(end, i + 1);
		joined.all[joined.n++] = c;
	}
	*f = joined;
	measure(b, f);
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
	struct blocks b = { .means = means,
			    .slots = slots,
			    .block = frames->block,
			    .frames = n };
	struct found f = { .n = 0 };
	for (uint32_t i = 0; i < frames->n && i * frames->block < n; i++) {
		const struct tally_course_slot *s = &frames->slots[i];
		if (s->n == 0)
			continue;
		slots[b.n] = i;
		means[b.n++] = (double)s->sum / s->n;
	}
	b.least = MAX(LEAST, (uint32_t)(LEAST_SHARE * b.n));
	divide_all(&b, 0, b.n, &f);
	keep_changes(&b, &f);
	place_all(&b, &f);
	join_slopes(&b, &f);
	unsigned made = 0;
	for (unsigned i = 0; i < f.n && made < TALLY_CHANGE_MOST; i++) {
		struct tally_change c = f.all[i];
		double ratio = fmax(c.before_ns, c.after_ns) / fmin(c.before_ns, c.after_ns);
		c.at = frame_of(&b, c.at);
		c.until = frame_of(&b, c.until);
		/* Its place may be another than where it was sure. */
		if (ratio >= RATIO)
			out[made++] = c;
	}
	return made;
}
