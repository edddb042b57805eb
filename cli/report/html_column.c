/* SPDX-License-Identifier: MIT */
#include "cli/report/html_column.h"

#include <math.h>
#include <string.h>

#define EXACT_IN_DOUBLE (UINT64_C(1) << 53)

void
tally_html_put_unsigned(GByteArray *out, uint64_t v)
{
	guint8 bytes[TALLY_HTML_NUMBER_BYTES];
	g_byte_array_append(out, bytes, (guint)(tally_html_write_unsigned(bytes, v) - bytes));
}

static uint64_t
take_unsigned(const guint8 **at)
{
	uint64_t v = 0;
	for (unsigned shift = 0;; shift += 7) {
		guint8 byte = *(*at)++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
}

void
tally_html_column_finish(struct tally_html_column *c)
{
	if (c->values) {
		g_byte_array_unref(c->values);
		g_byte_array_unref(c->runs);
	}
	*c = (struct tally_html_column){ 0 };
}

static void
put_float(GByteArray *out, double v)
{
	float f = (float)v;
	g_byte_array_append(out, (const guint8 *)&f, sizeof(f));
}

static void
close_run(struct tally_html_column *c)
{
	if (c->run_end == c->run_first)
		return;
	tally_html_put_unsigned(c->runs, c->run_first - c->covered);
	tally_html_put_unsigned(c->runs, c->run_end - c->run_first);
	c->covered = c->run_end;
	c->n_runs++;
}

static double
whole_as_double(const struct tally_html_column *c, uint64_t bits)
{
	return c->is_signed ? (double)(int64_t)bits : (double)bits;
}

/* Iterates over the values, as doubles. */
struct cursor {
	const guint8 *at;
	uint64_t last;
};

static double
next_value(const struct tally_html_column *c, struct cursor *k)
{
	if (c->real) {
		float f;
		memcpy(&f, k->at, sizeof(f));
		k->at += sizeof(f);
		return (double)f;
	}
	uint64_t zigzag = take_unsigned(&k->at);
	k->last += zigzag >> 1 ^ (zigzag & 1 ? UINT64_MAX : 0);
	return whole_as_double(c, k->last);
}

static void
make_real(struct tally_html_column *c)
{
	GByteArray *out = g_byte_array_new();
	struct cursor k = { .at = c->values->data };
	for (uint64_t i = 0; i < c->n; i++)
		put_float(out, next_value(c, &k));
	g_byte_array_unref(c->values);
	c->values = out;
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
tally_html_column_add(struct tally_html_column *c, uint64_t row, struct tally_value v)
{
	if (!fits(v))
		return;
	if (!c->values) {
		c->values = g_byte_array_new();
		c->runs = g_byte_array_new();
		c->real = v.storage == TALLY_STORAGE_F64;
		c->is_signed = v.storage == TALLY_STORAGE_I64;
		c->run_first = c->run_end = row;
	}
	bool other_sign = v.storage != TALLY_STORAGE_F64 && (v.u64 >> 63) &&
			  c->is_signed != (v.storage == TALLY_STORAGE_I64);
	if (!c->real && (v.storage == TALLY_STORAGE_F64 || other_sign))
		make_real(c);
	if (row != c->run_end) {
		close_run(c);
		c->run_first = c->run_end = row;
	}
	c->run_end++;
	c->n++;
	if (c->real) {
		put_float(c->values, tally_value_f64(v));
		return;
	}
	guint8 bytes[TALLY_HTML_NUMBER_BYTES];
	guint8 *end = tally_html_write_signed(bytes, (int64_t)(v.u64 - c->last));
	g_byte_array_append(c->values, bytes, (guint)(end - bytes));
	c->last = v.u64;
	c->wide |= fabs(whole_as_double(c, v.u64)) > (double)EXACT_IN_DOUBLE;
}

void
tally_html_column_write(const struct tally_html_column *c, GByteArray *out)
{
	struct tally_html_column copy = *c;
	guint runs = c->runs->len;
	close_run(&copy); /* closes the run for writing only; undone below */
	tally_html_put_unsigned(out, copy.n);
	tally_html_put_unsigned(out, copy.n_runs);
	g_byte_array_append(out, c->runs->data, c->runs->len);
	g_byte_array_set_size(c->runs, runs);
	if (!c->real) {
		g_byte_array_append(out, c->values->data, c->values->len);
		return;
	}
	guint begin = out->len;
	g_byte_array_set_size(out, begin + c->values->len);
	for (uint64_t i = 0; i < c->n; i++)
		for (uint64_t k = 0; k < sizeof(float); k++)
			out->data[begin + k * c->n + i] = c->values->data[sizeof(float) * i + k];
}

void
tally_html_column_thin(const struct tally_html_column *c, uint64_t block,
		       struct tally_html_column *out)
{
	if (!c->values)
		return;
	struct tally_html_column copy = *c;
	guint length = c->runs->len;
	close_run(&copy);
	const guint8 *runs = c->runs->data;
	struct cursor k = { .at = c->values->data };
	uint64_t row = 0, at = 0, n = 0;
	double sum = 0;
	for (uint64_t r = 0; r < copy.n_runs; r++) {
		row += take_unsigned(&runs);
		for (uint64_t end = row + take_unsigned(&runs); row < end; row++) {
			if (n && row / block != at) {
				tally_html_column_add(
					out, at,
					(struct tally_value){ .storage = TALLY_STORAGE_F64,
							      .f64 = sum / (double)n });
				sum = 0;
				n = 0;
			}
			at = row / block;
			sum += next_value(c, &k);
			n++;
		}
	}
	g_byte_array_set_size(c->runs, length);
	if (n)
		tally_html_column_add(out, at,
				      (struct tally_value){ .storage = TALLY_STORAGE_F64,
							    .f64 = sum / (double)n });
}
