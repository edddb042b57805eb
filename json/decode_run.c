/* SPDX-License-Identifier: MIT */
#include "json/decode_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The lines about the run itself: header, notes, end. */

/* Whether a later version of passtally wrote the log: the same name with a higher number. */
static bool
is_newer(const struct tally_json_text *schema)
{
	size_t name = strcspn(TALLY_SCHEMA, "/") + 1;
	if (schema->len <= name || memcmp(schema->s, TALLY_SCHEMA, name) != 0)
		return false;
	const char *number = schema->s + name;
	size_t digits = strspn(number, "0123456789");
	return digits && digits < 10 && number[digits] == '\0' &&
	       strtoul(number, NULL, 10) > strtoul(&TALLY_SCHEMA[name], NULL, 10);
}

static bool
decode_schema(struct tally_decoder *d, struct tally_header_record *header)
{
	(void)header;
	struct tally_json_text text;
	if (!tally_json_read_text(&d->json, &text))
		return false;
	if (text.len == strlen(TALLY_SCHEMA) && !memcmp(text.s, TALLY_SCHEMA, text.len))
		return true;
	char shown[48];
	d->named = true;
	return tally_json_fail(&d->json, text.s - 1, "this is schema %s; this passtally reads %s%s",
			       tally_json_quote(shown, text.s, text.len), TALLY_SCHEMA,
			       is_newer(&text) ? ": update passtally" : "");
}

static bool
decode_key_texts(struct tally_decoder *d, struct tally_array *items, uint32_t *n)
{
	d->epoch++;
	if (!tally_json_open_object(&d->json))
		return false;
	for (struct tally_word *key; (key = tally_decode_key(d));) {
		struct tally_key_text *item = tally_array_push(d, items, sizeof(*item));
		if (!item || !tally_decode_text(d, &item->value))
			return false;
		item->key = key->text;
		++*n;
	}
	return !d->json.failed;
}

static bool
decode_started(struct tally_decoder *d, struct tally_header_record *header)
{
	const char *s;
	if (!tally_decode_text(d, &s))
		return false;
	if (tally_time_parse(s, &header->started_unix_ns))
		return true;
	return tally_json_fail(&d->json, s - 1,
			       "a time is written as RFC 3339 says, for example "
			       "2026-01-31T12:00:00Z, from 1970 to 2554");
}

/* A whole number as JSON spells it: no sign except '-', no leading zero. */
static bool
scan_integer(const char *s, bool is_signed, struct tally_int192 *whole)
{
	bool negative = *s == '-';
	if ((negative && !is_signed) || (s[negative] == '0' && s[negative + 1]))
		return false;
	return tally_int192_parse(s, strlen(s), whole);
}

/* Whether it is a number with a point or an exponent, by JSON's grammar. */
static bool
scan_double(const char *s, double *f64)
{
	size_t len = strlen(s);
	struct tally_json_reader number = { 0 };
	char copy[64 + TALLY_JSON_PADDING] = { 0 };
	if (len > 63)
		return false;
	memcpy(copy, s, len);
	tally_json_begin(&number, copy, len);
	struct tally_value v;
	if (!len || strpbrk(s, " \t\r\n") ||
	    !tally_json_read_value(&number, &v) || !tally_json_end(&number) ||
	    v.storage != TALLY_STORAGE_F64)
		return false;
	*f64 = v.f64;
	return true;
}

/* A sum in quotes: *integral stays true only for a whole number; *f64 is always set. */
static bool
decode_any_sum(struct tally_decoder *d, bool is_signed, bool *integral,
	       struct tally_int192 *whole, double *f64)
{
	const char *s;
	if (!tally_decode_text(d, &s))
		return false;
	if (scan_integer(s, is_signed, whole)) {
		*f64 = tally_int192_f64(whole);
		return true;
	}
	*integral = false;
	if ((is_signed || *s != '-') && scan_double(s, f64))
		return true;
	return tally_json_fail(&d->json, s - 1,
			       "a sum is a decimal number in quotes, 128 bits wide");
}

static bool
decode_sum(struct tally_decoder *d, struct tally_statistic_record *s)
{
	return decode_any_sum(d, true, &s->integral, &s->sum, &s->sum_f64);
}

static bool
decode_sum_sq(struct tally_decoder *d, struct tally_statistic_record *s)
{
	return decode_any_sum(d, false, &s->integral, &s->sum_sq, &s->sum_sq_f64);
}

/* tally_decode_header() and so on, and decode_NAME() of the objects in them. */
#include "json/log_read_run.inc"

/* Sums are both exact or both inexact. */
static void
finish_statistic(const struct tally_object *o, struct tally_statistic_record *s)
{
	const uint64_t both = TALLY_BIT(STATISTIC_SUM) | TALLY_BIT(STATISTIC_SUM_SQ);
	s->integral = s->integral && (o->seen & both) == both;
	if (s->integral)
		s->sum_f64 = s->sum_sq_f64 = 0;
}
