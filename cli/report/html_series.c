/* SPDX-License-Identifier: MIT */
#include "cli/report/html_series.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

void
tally_html_series_finish(struct tally_html_series *s)
{
	g_free(s->points);
	*s = (struct tally_html_series){ 0 };
}

static bool
is_same(float a, float b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* From this row on it is this value. The row may be the last one: it has another value then. */
static void
step(struct tally_html_series *s, uint32_t row, float value)
{
	if (s->n && s->points[s->n - 1].row == row)
		s->n--;
	if (s->n ? is_same(s->points[s->n - 1].value, value) : isnan(value))
		return;
	if (s->n == s->room) {
		s->room = s->room < 1024 ? MAX(4, 2 * s->room) : s->room + 1024;
		s->points = g_renew(struct tally_html_point, s->points, s->room);
	}
	s->points[s->n++] = (struct tally_html_point){ row, value };
}

void
tally_html_series_flush(struct tally_html_series *s)
{
	if (!s->n_pending)
		return;
	if (s->row > s->end)
		step(s, s->end, NAN);
	step(s, s->row, (float)(s->pending / s->n_pending));
	s->end = s->row + 1;
	s->n_pending = 0;
	s->pending = 0;
}

void
tally_html_series_add(struct tally_html_series *s, uint64_t row, double value)
{
	if (!(fabs(value) < 3e38))
		return;
	if (s->row != row)
		tally_html_series_flush(s);
	s->row = (uint32_t)row;
	s->pending += value;
	s->n_pending++;
}

static float
mean(float a, float b)
{
	return isnan(a) ? b : isnan(b) ? a : (float)(((double)a + (double)b) / 2);
}

void
tally_html_series_halve(struct tally_html_series *s)
{
	struct tally_html_series half = { .end = (s->end + 1) / 2 };
	if (s->end % 2)
		step(s, s->end, NAN);
	float before = NAN;
	for (uint32_t i = 0; i < s->n; i++) {
		struct tally_html_point p = s->points[i];
		if (p.row % 2)
			step(&half, p.row / 2, mean(before, p.value));
		step(&half, p.row / 2 + p.row % 2, p.value);
		before = p.value;
	}
	g_free(s->points);
	*s = half;
}
