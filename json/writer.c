/* SPDX-License-Identifier: MIT */
#include "json/writer.h"

#include "json/utf8.h"

bool
tally_json_make_room(struct tally_json_writer *w, size_t need)
{
	if (!w->failed && w->room(w, need))
		return true;
	w->failed = true;
	w->end = w->at; /* smaller writes must not succeed later */
	return false;
}

void
tally_json_remember_digits(struct tally_json_digits *before, uint64_t n)
{
	char text[TALLY_U64_CHARS] = ""; /* more than the digits may be written */
	before->n = n;
	before->len = (uint8_t)tally_number_format_u64(text, n);
	memcpy(before->text, text, sizeof(before->text));
}

void
tally_json_put_i64(struct tally_json_writer *w, int64_t v)
{
	if (v < 0)
		TALLY_JSON_PUT(w, "-");
	tally_json_put_u64(w, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void
tally_json_put_f64(struct tally_json_writer *w, double v)
{
	if (tally_json_has_room(w, TALLY_F64_CHARS))
		w->at = tally_number_put_f64(w->at, v);
}

void
tally_json_put_int192(struct tally_json_writer *w, const struct tally_int192 *v)
{
	if (!tally_json_has_room(w, TALLY_INT192_DIGITS + 2))
		return;
	*w->at++ = '"';
	if (v->word[1] | v->word[2])
		w->at += tally_int192_print(v, w->at);
	else
		w->at = tally_number_put_u64(w->at, v->word[0]);
	*w->at++ = '"';
}

void
tally_json_put_id(struct tally_json_writer *w, uint64_t id)
{
	if (tally_json_has_room(w, TALLY_JSON_ID_CHARS))
		w->at = tally_json_put_id_at(w->at, id);
}

void
tally_json_put_value(struct tally_json_writer *w, struct tally_value v)
{
	if (tally_json_has_room(w, TALLY_F64_CHARS))
		w->at = tally_json_put_value_at(w->at, v);
}

/* One ASCII byte that may need a backslash; `next` is the byte after it or NUL. */
static size_t
escape_ascii(char *out, unsigned char c, char next)
{
	static const char special[] = "\"\\\n\t\r\b\f", letters[] = "\"\\ntrbf";
	if (c >= 0x20 && c != '"' && c != '\\') {
		*out = (char)c;
		return 1;
	}
	const char *found = strchr(special, c); /* no text contains a NUL */
	out[0] = '\\';
	if (!found) {
		memcpy(out + 1, "u00", 3);
		out[4] = "0123456789abcdef"[c >> 4];
		out[5] = "0123456789abcdef"[c & 15];
		return 6;
	}
	out[1] = letters[found - special];
	if (c != '\\' || next != 'x')
		return 2;
	memcpy(out + 2, "x5c", 3);
	return 5;
}

/* Writes the text at `s` up to the byte that ends a character; returns how many bytes were
 * consumed. */
static size_t
put_character(struct tally_json_writer *w, const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;
	if (c < 0x80) {
		w->at += escape_ascii(w->at, c, len > 1 ? s[1] : '\0');
		return 1;
	}
	size_t n = tally_utf8_length(s, len);
	if (n) {
		memcpy(w->at, s, n);
		w->at += n;
		return n;
	}
	memcpy(w->at, "\\\\x", 3);
	w->at[3] = "0123456789abcdef"[c >> 4];
	w->at[4] = "0123456789abcdef"[c & 15];
	w->at += 5;
	return 1;
}

/* Nothing to escape, only ASCII: the case for nearly all texts. */
static bool
is_plain(const char *text, size_t len)
{
	if (len >= 8) {
		uint64_t special = tally_swar_find_special(text + len - 8);
		for (size_t i = 0; i + 8 < len; i += 8)
			special |= tally_swar_find_special(text + i);
		return !special;
	}
	char eight[8];
	memset(eight, ' ', sizeof(eight));
	for (size_t i = 0; i < len; i++)
		eight[i] = text[i];
	return !tally_swar_find_special(eight);
}

void
tally_json_put_text(struct tally_json_writer *w, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	if (len <= TALLY_JSON_ROOM - 2 && is_plain(text, len)) {
		if (!tally_json_has_room(w, len + 2))
			return;
		w->at[0] = '"';
		memcpy(w->at + 1, text ? text : "", len);
		w->at[len + 1] = '"';
		w->at += len + 2;
		return;
	}
	TALLY_JSON_PUT(w, "\"");
	while (len) {
		if (!tally_json_has_room(w, 6 + 1))
			return;
		size_t n = put_character(w, text, len);
		text += n;
		len -= n;
	}
	*w->at++ = '"';
}

void
tally_json_keep_text(struct tally_json_writer *w, const char *text)
{
	size_t len = strlen(text);
	struct tally_json_kept *kept = w->kept ? tally_json_kept_at(w, text, 0) : NULL;
	if (kept && kept->text)
		kept = tally_json_kept_at(w, text, 1);
	if (kept && len <= sizeof(kept->quoted) - 2 && is_plain(text, len)) {
		kept->text = text;
		kept->len = (uint8_t)(len + 2);
		kept->quoted[0] = kept->quoted[len + 1] = '"';
		memcpy(kept->quoted + 1, text, len);
	}
	tally_json_put_text(w, text);
}

static void
put_padded(struct tally_json_writer *w, uint64_t v, unsigned width)
{
	for (unsigned i = width; i-- > 0; v /= 10)
		w->at[i] = (char)('0' + v % 10);
	w->at += width;
}

/* Days since 1970 to a date of the Gregorian calendar, counting years from March so that the leap
 * day comes last. Not gmtime_r(): it takes a lock that may be held in a forked child. */
static void
put_date(struct tally_json_writer *w, uint64_t days)
{
	uint64_t z = days + 719468; /* since 0000-03-01 */
	uint64_t era = z / 146097, day_of_era = z % 146097;
	uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
				day_of_era / 146096) /
			       365;
	uint64_t day_of_year = day_of_era -
			       (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	uint64_t month = (5 * day_of_year + 2) / 153; /* 0 is March */
	uint64_t day = day_of_year - (153 * month + 2) / 5 + 1;
	put_padded(w, era * 400 + year_of_era + (month >= 10), 4);
	*w->at++ = '-';
	put_padded(w, month < 10 ? month + 3 : month - 9, 2);
	*w->at++ = '-';
	put_padded(w, day, 2);
}

void
tally_json_put_time(struct tally_json_writer *w, uint64_t unix_ns)
{
	if (!tally_json_has_room(w, sizeof("\"2554-07-21T23:34:33.709551615Z\"")))
		return;
	uint64_t seconds = unix_ns / 1000000000;
	*w->at++ = '"';
	put_date(w, seconds / 86400);
	*w->at++ = 'T';
	put_padded(w, seconds / 3600 % 24, 2);
	*w->at++ = ':';
	put_padded(w, seconds / 60 % 60, 2);
	*w->at++ = ':';
	put_padded(w, seconds % 60, 2);
	*w->at++ = '.';
	put_padded(w, unix_ns % 1000000000, 9);
	*w->at++ = 'Z';
	*w->at++ = '"';
}
