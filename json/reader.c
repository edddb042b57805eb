/* SPDX-License-Identifier: MIT */
#include "json/reader.h"

#include <math.h>
#include <stdlib.h>

#include "json/number.h"

bool
tally_json_end(struct tally_json_reader *r)
{
	if (tally_json_peek(r) == '\n' && r->at == r->end)
		return true;
	return tally_json_fail_expected(r, "the end of the line after the object");
}

static bool
open_container(struct tally_json_reader *r, char bracket, const char *what)
{
	if (tally_json_peek(r) != bracket)
		return tally_json_fail_expected(r, what);
	if (r->depth == TALLY_JSON_DEPTH)
		return tally_json_fail(r, r->at, "nested deeper than %d", TALLY_JSON_DEPTH);
	r->at++;
	r->depth++;
	r->fresh = true;
	return true;
}

/* Advances to the next member. False at the closing bracket, which is consumed, or on
 * failure. */
static inline bool
next_member(struct tally_json_reader *r, char closing, const char *what)
{
	char c = tally_json_peek(r);
	if (c == closing) {
		r->at++;
		r->depth--;
		r->fresh = false;
		return false;
	}
	if (r->fresh) {
		r->fresh = false;
		return true;
	}
	if (c != ',')
		return tally_json_fail_expected(r, what);
	r->at++;
	return true;
}

bool
tally_json_open_object(struct tally_json_reader *r)
{
	return open_container(r, '{', "an object");
}

bool
tally_json_open_array(struct tally_json_reader *r)
{
	return open_container(r, '[', "an array");
}

bool
tally_json_next_item(struct tally_json_reader *r)
{
	return next_member(r, ']', "',' or ']'");
}

bool
tally_json_next_key(struct tally_json_reader *r, struct tally_json_text *key)
{
	if (!next_member(r, '}', "',' or '}'"))
		return false;
	if (tally_json_peek(r) != '"')
		return tally_json_fail_expected(r, "a key in quotes");
	if (!tally_json_read_text(r, key))
		return false;
	if (tally_json_peek(r) != ':')
		return tally_json_fail_expected(r, "':' after the key");
	r->at++;
	return true;
}

static bool
is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* Digits at r->at without a leading zero. False when there are none. */
static inline bool
check_integer(struct tally_json_reader *r, const char *what)
{
	if (!is_digit(*r->at))
		return tally_json_fail_expected(r, what);
	if (*r->at == '0' && is_digit(r->at[1]))
		return tally_json_fail(r, r->at, "a number may not begin with a 0");
	return true;
}

/* The integer at r->at, where there is a digit. */
static inline bool
read_digits(struct tally_json_reader *r, uint64_t *v)
{
	const char *first = r->at;
	uint64_t sum;
	char *at = tally_swar_scan_digits(r->at, &sum);
	for (; is_digit(*at) && at - first < 19; at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	if (is_digit(*at)) {
		unsigned digit = (unsigned)(*at - '0');
		bool fits = sum < UINT64_MAX / 10 ||
			    (sum == UINT64_MAX / 10 && digit <= UINT64_MAX % 10);
		if (!fits || is_digit(at[1]))
			return tally_json_fail(r, first, "the integer does not fit in 64 bits");
		sum = sum * 10 + digit;
		at++;
	}
	r->at = at;
	*v = sum;
	return true;
}

static bool
check_not_fraction(struct tally_json_reader *r, const char *first)
{
	if (*r->at != '.' && (*r->at | 0x20) != 'e')
		return true;
	return tally_json_fail(r, first, "expected an integer, without point or exponent");
}

bool
tally_json_read_any_u64(struct tally_json_reader *r, uint64_t *v)
{
	tally_json_peek(r);
	const char *first = r->at;
	return check_integer(r, "an integer, 0 or more") && read_digits(r, v) &&
	       check_not_fraction(r, first);
}

bool
tally_json_read_i64(struct tally_json_reader *r, int64_t *v)
{
	tally_json_peek(r);
	const char *first = r->at;
	bool negative = *r->at == '-';
	r->at += negative;
	uint64_t u;
	if (!check_integer(r, "an integer") || !read_digits(r, &u) ||
	    !check_not_fraction(r, first))
		return false;
	if (u > (uint64_t)INT64_MAX + negative)
		return tally_json_fail(r, first, "the integer does not fit in 64 bits");
	*v = (int64_t)(negative ? -u : u);
	return true;
}

static bool
skip_digits(struct tally_json_reader *r)
{
	if (!is_digit(*r->at))
		return tally_json_fail_expected(r, "a digit");
	while (is_digit(*r->at))
		r->at++;
	return true;
}

/* The end of a number of JSON's grammar. */
static bool
skip_number(struct tally_json_reader *r, bool *integer)
{
	*integer = true;
	r->at += *r->at == '-';
	if (!check_integer(r, "a number") || !skip_digits(r))
		return false;
	if (*r->at == '.') {
		*integer = false;
		r->at++;
		if (!skip_digits(r))
			return false;
	}
	if ((*r->at | 0x20) == 'e') {
		*integer = false;
		r->at++;
		r->at += *r->at == '-' || *r->at == '+';
		if (!skip_digits(r))
			return false;
	}
	return true;
}

bool
tally_json_read_f64(struct tally_json_reader *r, double *v)
{
	tally_json_peek(r);
	const char *first = r->at;
	bool integer;
	if (!skip_number(r, &integer))
		return false;
	*v = tally_number_parse_f64(first);
	if (isfinite(*v))
		return true;
	return tally_json_fail(r, first, "the number is too large for a double");
}

bool
tally_json_read_value(struct tally_json_reader *r, struct tally_value *v)
{
	if (tally_json_take_u64(r, &v->u64)) {
		v->storage = TALLY_STORAGE_U64; /* as is the case for nearly all */
		return true;
	}
	tally_json_peek(r);
	char *first = r->at;
	bool negative = *first == '-';
	char *at = first + negative;
	while (is_digit(*at))
		at++;
	if (*at == '.' || (*at | 0x20) == 'e') {
		v->storage = TALLY_STORAGE_F64;
		return tally_json_read_f64(r, &v->f64);
	}
	v->storage = negative ? TALLY_STORAGE_I64 : TALLY_STORAGE_U64;
	if (negative)
		return tally_json_read_i64(r, &v->i64);
	return check_integer(r, "a number") && read_digits(r, &v->u64);
}

static bool
read_word(struct tally_json_reader *r, const char *word)
{
	for (; *word; word++) {
		if (*r->at != *word)
			return tally_json_fail_expected(r, "true, false, null or a number");
		r->at++;
	}
	return true;
}

bool
tally_json_read_bool(struct tally_json_reader *r, bool *v)
{
	char c = tally_json_peek(r);
	*v = c == 't';
	if (c != 't' && c != 'f')
		return tally_json_fail_expected(r, "true or false");
	return read_word(r, c == 't' ? "true" : "false");
}

bool
tally_json_read_null(struct tally_json_reader *r)
{
	if (tally_json_peek(r) != 'n')
		return tally_json_fail_expected(r, "null");
	return read_word(r, "null");
}

static bool
skip_object(struct tally_json_reader *r)
{
	struct tally_json_text key;
	if (!tally_json_open_object(r))
		return false;
	while (tally_json_next_key(r, &key)) {
		if (!tally_json_skip(r))
			return false;
	}
	return !r->failed;
}

static bool
skip_array(struct tally_json_reader *r)
{
	if (!tally_json_open_array(r))
		return false;
	while (tally_json_next_item(r)) {
		if (!tally_json_skip(r))
			return false;
	}
	return !r->failed;
}

/* Recursive with skip_object() and skip_array(), TALLY_JSON_DEPTH deep at most. */
bool
tally_json_skip(struct tally_json_reader *r)
{
	struct tally_json_text text;
	bool integer;
	switch (tally_json_peek(r)) {
	case '{':
		return skip_object(r);
	case '[':
		return skip_array(r);
	case '"':
		return tally_json_read_text(r, &text);
	case 't':
		return read_word(r, "true");
	case 'f':
		return read_word(r, "false");
	case 'n':
		return read_word(r, "null");
	default:
		if (*r->at != '-' && !is_digit(*r->at))
			return tally_json_fail_expected(r, "a value");
		return skip_number(r, &integer);
	}
}
