/* SPDX-License-Identifier: MIT */
#include "json/reader_text.h"

#include "json/swar.h"
#include "json/utf8.h"

/* Strings: scanned eight bytes at a time, checked, unescaped in place. */

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
