/* SPDX-License-Identifier: MIT */
#include "cli/answer/course.h"

#include "cli/shared/sort.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
tally_course_finish(struct tally_course *c)
{
	g_free(c->slots);
	c->slots = NULL;
}

static void
halve(struct tally_course *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct tally_course_slot s = { 0 };
		for (uint32_t k = 2 * i; k < MIN(2 * i + 2, c->n); k++) {
			s.sum += c->slots[k].sum;
			s.n += c->slots[k].n;
		}
		c->slots[i] = s;
	}
	c->block *= 2;
}

static void
grow(struct tally_course *c, uint64_t slot)
{
	uint32_t n = c->n;
	while (slot >= c->n)
		c->n = c->n ? MIN(2 * c->n, c->room) : MIN(16, c->room);
	c->slots = g_renew(struct tally_course_slot, c->slots, c->n);
	memset(c->slots + n, 0, (c->n - n) * sizeof(*c->slots));
}

void
tally_course_add(struct tally_course *c, uint64_t at, double value)
{
	c->block = MAX(c->block, 1);
	while (at / c->block >= c->room)
		halve(c);
	if (at / c->block >= c->n)
		grow(c, at / c->block);
	c->slots[at / c->block].sum += (float)value;
	c->slots[at / c->block].n++;
}

static bool
is_within(const struct tally_course *c, uint32_t slot, uint64_t from, uint64_t to)
{
	uint64_t middle = slot * c->block + c->block / 2;
	return c->slots[slot].n && middle >= from && middle < to;
}

/* Of the blocks in a range, sorted; the caller frees them. */
static double *
sorted_means(const struct tally_course *c, uint64_t from, uint64_t to, size_t *n)
{
	double *means = g_new(double, MAX(c->n, 1));
	*n = 0;
	for (uint32_t i = 0; i < c->n; i++)
		if (is_within(c, i, from, to))
			means[(*n)++] = (double)c->slots[i].sum / c->slots[i].n;
	qsort(means, *n, sizeof(means[0]), tally_order_double);
	return means;
}

double
tally_course_median(const struct tally_course *c, uint64_t from, uint64_t to)
{
	size_t n;
	g_autofree double *means = sorted_means(c, from, to, &n);
	return n ? means[(n - 1) / 2] : (double)NAN;
}

double
tally_course_spread(const struct tally_course *c, uint64_t from, uint64_t to)
{
	size_t n;
	g_autofree double *means = sorted_means(c, from, to, &n);
	return n ? means[n - 1 - n / 10] - means[n / 10] : (double)NAN;
}

double
tally_course_sum(const struct tally_course *c, uint64_t from, uint64_t to)
{
	double sum = 0;
	for (uint32_t i = 0; i < c->n; i++)
		sum += is_within(c, i, from, to) ? (double)c->slots[i].sum : 0;
	return sum;
}

uint64_t
tally_course_count(const struct tally_course *c, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < c->n; i++)
		n += is_within(c, i, from, to) ? c->slots[i].n : 0;
	return n;
}
