/* SPDX-License-Identifier: MIT */
#include "json/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json/number.h"
#include "json/utf8.h"

/* ---- the line, and its failure ---- */

void
tally_json_begin(struct tally_json_reader *r, char *line, size_t len)
{
	r->begin = line;
	r->at = line;
	r->end = line + len;
	*r->end = '\n';
	r->depth = 0;
	r->fresh = false;
	r->failed = false;
	r->cut = false;
	r->no_memory = false;
	r->where = line;
	r->message[0] = '\0';
}

bool
tally_json_fail(struct tally_json_reader *r, const char *where, const char *format, ...)
{
	if (r->failed)
		return false;
	r->failed = true;
	r->where = where;
	r->cut = where == r->end;
	va_list args;
	va_start(args, format);
	vsnprintf(r->message, sizeof(r->message), format, args);
	va_end(args);
	return false;
}

bool
tally_json_fail_memory(struct tally_json_reader *r)
{
	r->no_memory = true;
	return tally_json_fail(r, r->at, "out of memory");
}

const char *
tally_json_quote(char out[48], const char *s, size_t len)
{
	enum { SHOWN = 40 };
	size_t n = 0;
	for (; n < len && n < SHOWN; n++)
		out[n] = s[n] >= 0x20 && s[n] < 0x7f ? s[n] : '?';
	if (n < len) {
		memcpy(out + n, "...", 3);
		n += 3;
	}
	out[n] = '\0';
	return out;
}

bool
tally_json_fail_expected(struct tally_json_reader *r, const char *what)
{
	unsigned char c = (unsigned char)*r->at;
	if (r->at == r->end)
		return tally_json_fail(r, r->at, "expected %s, but the line ends here", what);
	if (c >= 0x20 && c < 0x7f)
		return tally_json_fail(r, r->at, "expected %s, found '%c'", what, c);
	return tally_json_fail(r, r->at, "expected %s, found byte 0x%02x", what, c);
}

/* ---- strings: scanned eight bytes at a time, checked, unescaped in place ---- */

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits at r->at, which is advanced past them; -1 after failing at the byte that is
 * not one. */
static int
read_hex4(struct tally_json_reader *r)
{
	int v = 0;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(*r->at);
		if (digit < 0) {
			tally_json_fail_expected(r, "four hexadecimal digits after \\u");
			return -1;
		}
		v = v << 4 | digit;
		r->at++;
	}
	return v;
}

static char *
put_utf8(char *out, unsigned code)
{
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	unsigned more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
	*out++ = (char)(lead[more] | code >> 6 * more);
	while (more--)
		*out++ = (char)(0x80 | (code >> 6 * more & 0x3f));
	return out;
}

/* After "\u", one code point, possibly in two halves. NULL after failing. */
static char *
unescape_unicode(struct tally_json_reader *r, char *out, bool *has_nul)
{
	const char *where = r->at - 2;
	int code = read_hex4(r);
	if (code < 0)
		return NULL;
	if (code >= 0xd800 && code < 0xdc00) {
		for (int i = 0; i < 2; i++) {
			if (*r->at == "\\u"[i]) {
				r->at++;
				continue;
			}
			tally_json_fail(r, r->at == r->end ? r->end : where,
					"\\u%04x is half of "
					"a surrogate pair without the other half",
					code);
			return NULL;
		}
		int low = read_hex4(r);
		if (low < 0)
			return NULL;
		if (low < 0xdc00 || low > 0xdfff) {
			tally_json_fail(r, where,
					"\\u%04x is half of a surrogate pair without the "
					"other half",
					code);
			return NULL;
		}
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (code >= 0xdc00 && code < 0xe000) {
		tally_json_fail(r, where,
				"\\u%04x is the second half of a surrogate pair without "
				"the first",
				code);
		return NULL;
	}
	*has_nul |= code == 0;
	return put_utf8(out, (unsigned)code);
}

/* There is a backslash at r->at. */
static char *
unescape(struct tally_json_reader *r, char *out, bool *has_nul)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	r->at++;
	if (*r->at == 'u') {
		r->at++;
		return unescape_unicode(r, out, has_nul);
	}
	const char *found = *r->at ? strchr(letters, *r->at) : NULL;
	if (!found) {
		tally_json_fail_expected(r, "one of \"\\/bfnrtu after a backslash");
		return NULL;
	}
	r->at++;
	*out++ = meant[found - letters];
	return out;
}

static bool
fail_in_text(struct tally_json_reader *r)
{
	unsigned char c = (unsigned char)*r->at;
	if (r->at == r->end)
		return tally_json_fail(r, r->at, "the line ends inside a string");
	if (c < 0x20)
		return tally_json_fail(r, r->at,
				       "a control character (byte 0x%02x) inside a "
				       "string is not escaped",
				       c);
	return tally_json_fail(r, r->at, "byte 0x%02x is not valid UTF-8 here", c);
}

/* A sequence that is cut by the end of the line fails there, not at its first byte. */
static bool
fail_utf8(struct tally_json_reader *r)
{
	size_t rest = (size_t)(r->end - r->at);
	unsigned char lead = (unsigned char)*r->at;
	if (rest < 4 && lead >= 0xc2 && lead <= 0xf4) {
		size_t n = 1;
		while (n < rest && ((unsigned char)r->at[n] & 0xc0) == 0x80)
			n++;
		if (n == rest)
			r->at = r->end;
	}
	return fail_in_text(r);
}

/* The remainder of a string that contains an escape, from the first one on. */
static bool
read_escaped(struct tally_json_reader *r, struct tally_json_text *text)
{
	char *out = r->at;
	for (;;) {
		unsigned char c = (unsigned char)*r->at;
		if (c == '"')
			break;
		if (c == '\\') {
			out = unescape(r, out, &text->has_nul);
			if (!out)
				return false;
			continue;
		}
		if (c < 0x20)
			return fail_in_text(r);
		size_t n = c < 0x80 ? 1 : tally_utf8_length(r->at, (size_t)(r->end - r->at));
		if (!n)
			return fail_utf8(r);
		memmove(out, r->at, n);
		out += n;
		r->at += n;
	}
	r->at++;
	*out = '\0';
	text->len = (size_t)(out - text->s);
	return true;
}

bool
tally_json_read_text(struct tally_json_reader *r, struct tally_json_text *text)
{
	if (tally_json_peek(r) != '"')
		return tally_json_fail_expected(r, "a string");
	char *at = r->at + 1;
	text->s = at;
	text->has_nul = false;
	for (;;) {
		uint64_t special = tally_swar_find_special(at);
		if (!special) {
			at += 8;
			continue;
		}
		at += tally_swar_first(special);
		unsigned char c = (unsigned char)*at;
		if (c == '"')
			break;
		if (c >= 0x80) {
			size_t n = tally_utf8_length(at, (size_t)(r->end - at));
			if (n) {
				at += n;
				continue;
			}
			r->at = at;
			return fail_utf8(r);
		}
		r->at = at;
		if (c == '\\')
			return read_escaped(r, text);
		if (c < 0x20)
			return fail_in_text(r);
		at++;
	}
	text->len = (size_t)(at - text->s);
	*at = '\0';
	r->at = at + 1;
	return true;
}

/* ---- values ---- */

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
