/* SPDX-License-Identifier: MIT */
#include "cli/report/html_parts.h"

#include <math.h>
#include <string.h>

void
tally_html_column_finish(struct tally_html_column *c)
{
	tally_html_bytes_finish(&c->values);
	tally_html_bytes_finish(&c->runs);
	*c = (struct tally_html_column){ 0 };
}

void
tally_html_column_close(struct tally_html_column *c, struct tally_html_spill *spill)
{
	if (c->run_end == c->run_first)
		return;
	tally_html_put_unsigned(&c->runs, spill, c->run_first - c->covered);
	tally_html_put_unsigned(&c->runs, spill, c->run_end - c->run_first);
	c->covered = c->run_end;
	c->n_runs++;
}

static double
whole_as_double(const struct tally_html_column *c, uint64_t bits)
{
	return c->is_signed ? (double)(int64_t)bits : (double)bits;
}

/* The next whole value; `last` is 0 at first. */
static inline uint64_t
next_whole(struct tally_html_cursor *k, uint64_t *last)
{
	uint64_t zigzag = tally_html_take_unsigned(k);
	return *last += zigzag >> 1 ^ (zigzag & 1 ? UINT64_MAX : 0);
}

/* The next value as a double. */
static double
next_value(const struct tally_html_column *c, struct tally_html_cursor *k, uint64_t *last)
{
	if (c->real)
		return tally_html_take_float(k);
	return whole_as_double(c, next_whole(k, last));
}

static void
make_real(struct tally_html_column *c, struct tally_html_spill *spill)
{
	struct tally_html_bytes floats = { 0 };
	struct tally_html_cursor k;
	uint64_t last = 0;
	tally_html_cursor_begin(&k, &c->values, spill);
	for (uint64_t i = 0; i < c->n; i++)
		tally_html_put_float(&floats, spill, next_value(c, &k, &last));
	tally_html_bytes_finish(&c->values);
	c->values = floats;
	c->real = true;
	c->wide = false;
}

/* Whether a float can represent it (it is in range). */
static bool
fits(struct tally_value v)
{
	return v.storage != TALLY_STORAGE_F64 || fabs(v.f64) < 3e38;
}

void
tally_html_column_add_any(struct tally_html_column *c, struct tally_html_spill *spill, uint64_t row,
			  struct tally_value v)
{
	if (!fits(v))
		return;
	if (!c->n) {
		c->real = v.storage == TALLY_STORAGE_F64;
		c->is_signed = v.storage == TALLY_STORAGE_I64;
		c->run_first = c->run_end = row;
	}
	bool other_sign = v.storage != TALLY_STORAGE_F64 && (v.u64 >> 63) &&
			  c->is_signed != (v.storage == TALLY_STORAGE_I64);
	if (!c->real && (v.storage == TALLY_STORAGE_F64 || other_sign))
		make_real(c, spill);
	c->plain = !c->real && !c->is_signed;
	if (row != c->run_end) {
		tally_html_column_close(c, spill);
		c->run_first = c->run_end = row;
	}
	c->run_end++;
	c->n++;
	if (c->real) {
		tally_html_put_float(&c->values, spill, tally_value_f64(v));
		return;
	}
	tally_html_put_signed(&c->values, spill, (int64_t)(v.u64 - c->last));
	c->last = v.u64;
	uint64_t size = c->is_signed && v.i64 < 0 ? 0 - v.u64 : v.u64;
	c->wide |= size > TALLY_HTML_EXACT_IN_DOUBLE;
}

void
tally_html_column_count(const struct tally_html_column *c, struct tally_html_spill *spill,
			struct tally_stats *to)
{
	struct tally_html_cursor k;
	uint64_t last = 0, times = 0;
	tally_html_cursor_begin(&k, &c->values, spill);
	for (uint64_t i = 0; i < c->n; i++, times++) {
		uint64_t before = last;
		if (next_whole(&k, &last) == before)
			continue;
		tally_stats_add_times(to, tally_u64(before), times);
		times = 0;
	}
	tally_stats_add_times(to, tally_u64(last), times);
}

void
tally_html_column_copy(const struct tally_html_column *c, struct tally_html_spill *spill,
		       struct tally_html_bytes *to)
{
	struct tally_html_cursor k;
	uint64_t last = 0;
	tally_html_cursor_begin(&k, &c->values, spill);
	for (uint64_t i = 0; i < c->n; i++)
		tally_html_put_value(to, spill, tally_u64(next_whole(&k, &last)));
}

bool
tally_html_column_repeat(struct tally_html_column *c, uint32_t n)
{
	struct tally_html_bytes *b = &c->values;
	if (b->room - b->n < TALLY_HTML_MOST_REPEATS)
		return false;
	memset(b->data + b->n, 0, TALLY_HTML_MOST_REPEATS); /* of a fixed size: one store */
	b->n += n;
	c->n += n;
	c->run_end += n;
	return true;
}

static void
add_mean(struct tally_html_column *out, uint64_t row, double sum, uint64_t n)
{
	if (n)
		tally_html_column_add(out, NULL, row,
				      (struct tally_value){ .storage = TALLY_STORAGE_F64,
							    .f64 = sum / (double)n });
}

void
tally_html_column_thin(const struct tally_html_column *c, struct tally_html_spill *spill,
		       uint64_t block, struct tally_html_column *out)
{
	struct tally_html_cursor runs, values;
	tally_html_cursor_begin(&runs, &c->runs, spill);
	tally_html_cursor_begin(&values, &c->values, spill);
	uint64_t row = 0, at = 0, n = 0, last = 0;
	double sum = 0;
	for (uint64_t r = 0; r < c->n_runs; r++) {
		row += tally_html_take_unsigned(&runs);
		for (uint64_t end = row + tally_html_take_unsigned(&runs); row < end; row++) {
			if (row / block != at) {
				add_mean(out, at, sum, n);
				sum = 0;
				n = 0;
			}
			at = row / block;
			sum += next_value(c, &values, &last);
			n++;
		}
	}
	add_mean(out, at, sum, n);
	tally_html_column_close(out, NULL);
}
