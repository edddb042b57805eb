/* SPDX-License-Identifier: MIT */
#include "cli/shared/out.h"

#include "cli/shared/text.h"
#include "json/record_json.h"

#include <glib.h>
#include <math.h>

static bool
make_room(struct tally_json_writer *w, size_t need)
{
	struct tally_out *o = (struct tally_out *)w;
	fwrite(o->bytes, 1, (size_t)(w->at - o->bytes), o->to);
	w->at = o->bytes;
	return need <= sizeof(o->bytes);
}

void
tally_out_init(struct tally_out *o, FILE *to)
{
	o->to = to;
	o->comma = o->in_page = false;
	o->gap = NULL;
	o->w = (struct tally_json_writer){
		.at = o->bytes,
		.end = o->bytes + sizeof(o->bytes),
		.room = make_room,
	};
}

void
tally_out_flush(struct tally_out *o)
{
	make_room(&o->w, 0);
}

void
tally_out_bytes(struct tally_out *o, const char *bytes, size_t len)
{
	while (len) {
		if (o->w.at == o->w.end)
			tally_out_flush(o);
		size_t fits = MIN(len, (size_t)(o->w.end - o->w.at));
		memcpy(o->w.at, bytes, fits);
		o->w.at += fits;
		bytes += fits;
		len -= fits;
	}
}

void
tally_out_put(struct tally_out *o, const char *text)
{
	tally_out_bytes(o, text, strlen(text));
}

/* ---- JSON ---- */

static void
put_unit(struct tally_out *o, unsigned unit)
{
	char escape[8];
	int len = g_snprintf(escape, sizeof(escape), "\\u%04x", unit);
	tally_out_bytes(o, escape, (size_t)len);
}

/* A character above U+FFFF takes two UTF-16 code units. */
static void
put_code(struct tally_out *o, gunichar c)
{
	if (c > 0xffff) {
		put_unit(o, 0xd800 + ((c - 0x10000) >> 10));
		c = 0xdc00 + ((c - 0x10000) & 0x3ff);
	}
	put_unit(o, c);
}

/* Characters below 0x80 are as they must be already where it is JSON. */
static bool
is_plain_byte(const struct tally_out *o, unsigned char byte, bool json)
{
	if (json || byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\')
		return json && byte < 0x7f;
	return !o->in_page || (byte != '<' && byte != '>' && byte != '&');
}

/* Bytes that are not UTF-8 become U+FFFD, because JSON must be UTF-8. */
static void
put_escaped(struct tally_out *o, const char *text, bool json)
{
	const char *plain = text;
	while (*text) {
		gunichar c = (unsigned char)*text;
		if (is_plain_byte(o, (unsigned char)c, json)) {
			text++;
			continue;
		}
		const char *next = text + 1;
		if (c >= 0x80) {
			c = g_utf8_get_char_validated(text, -1);
			bool good = c != (gunichar)-1 && c != (gunichar)-2;
			next = good ? g_utf8_next_char(text) : next;
			if (good && !tally_text_is_control(c)) {
				text = next;
				continue;
			}
			c = good ? c : 0xfffd;
		}
		tally_out_bytes(o, plain, (size_t)(text - plain));
		if (c == '"' || c == '\\')
			tally_out_bytes(o, c == '"' ? "\\\"" : "\\\\", 2);
		else if (c == 0xfffd)
			tally_out_put(o, "\xef\xbf\xbd");
		else
			put_code(o, c);
		plain = text = next;
	}
	tally_out_bytes(o, plain, (size_t)(text - plain));
}

static void
put_string(struct tally_out *o, const char *text)
{
	tally_out_char(o, '"');
	put_escaped(o, text, false);
	tally_out_char(o, '"');
}

void
tally_out_json(struct tally_out *o, const char *json)
{
	put_escaped(o, json, true);
}

void
tally_out_break(struct tally_out *o, const char *gap)
{
	o->gap = gap;
}

/* Writes everything that precedes a value: comma, gap and key. */
static void
begin_value(struct tally_out *o, const char *key)
{
	if (o->comma)
		tally_out_char(o, ',');
	if (o->gap)
		tally_out_put(o, o->gap);
	o->gap = NULL;
	o->comma = true;
	if (!key)
		return;
	put_string(o, key);
	tally_out_char(o, ':');
}

void
tally_out_object(struct tally_out *o, const char *key)
{
	begin_value(o, key);
	tally_out_char(o, '{');
	o->comma = false;
}

void
tally_out_array(struct tally_out *o, const char *key)
{
	begin_value(o, key);
	tally_out_char(o, '[');
	o->comma = false;
}

static void
close_with(struct tally_out *o, char bracket)
{
	o->comma = false;
	begin_value(o, NULL);
	tally_out_char(o, bracket);
}

void
tally_out_end_object(struct tally_out *o)
{
	close_with(o, '}');
}

void
tally_out_end_array(struct tally_out *o)
{
	close_with(o, ']');
}

void
tally_out_text(struct tally_out *o, const char *key, const char *text)
{
	if (!text)
		return;
	g_autofree char *printable = o->in_page ? tally_text_escape(text) : NULL;
	begin_value(o, key);
	put_string(o, printable ? printable : text);
}

static void
put_word(struct tally_out *o, const char *key, const char *word)
{
	begin_value(o, key);
	tally_out_put(o, word);
}

void
tally_out_text_or_null(struct tally_out *o, const char *key, const char *text)
{
	if (!text)
		put_word(o, key, "null");
	tally_out_text(o, key, text);
}

void
tally_out_texts(struct tally_out *o, const char *key, const GPtrArray *texts)
{
	tally_out_array(o, key);
	for (guint i = 0; i < texts->len; i++)
		tally_out_text(o, NULL, texts->pdata[i]);
	tally_out_end_array(o);
}

void
tally_out_bool(struct tally_out *o, const char *key, bool v)
{
	put_word(o, key, v ? "true" : "false");
}

void
tally_out_u64(struct tally_out *o, const char *key, uint64_t v)
{
	begin_value(o, key);
	tally_json_put_u64(&o->w, v);
}

void
tally_out_i64(struct tally_out *o, const char *key, int64_t v)
{
	begin_value(o, key);
	tally_json_put_i64(&o->w, v);
}

static void
put_f64(struct tally_out *o, double v)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE] = "null";
	for (int digits = 15; isfinite(v) && digits <= 17; digits++) {
		char format[8];
		g_snprintf(format, sizeof(format), "%%.%dg", digits);
		g_ascii_formatd(text, sizeof(text), format, v);
		if (g_ascii_strtod(text, NULL) == v)
			break;
	}
	tally_out_put(o, text);
}

void
tally_out_cell_value(struct tally_out *o, struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_F64)
		put_f64(o, v.f64);
	else
		tally_json_put_value(&o->w, v);
}

void
tally_out_f64(struct tally_out *o, const char *key, double v)
{
	begin_value(o, key);
	put_f64(o, v);
}

void
tally_out_value(struct tally_out *o, const char *key, struct tally_value v)
{
	begin_value(o, key);
	tally_out_cell_value(o, v);
}

void
tally_out_wide(struct tally_out *o, const char *key, const struct tally_int192 *v)
{
	char digits[TALLY_INT192_DIGITS];
	tally_int192_print(v, digits);
	put_word(o, key, digits);
}

void
tally_out_id(struct tally_out *o, const char *key, uint64_t id)
{
	begin_value(o, key);
	tally_json_put_id(&o->w, id);
}

void
tally_out_flags(struct tally_out *o, const char *key, uint64_t flags)
{
	tally_out_array(o, key);
	for (unsigned i = 0; i < TALLY_N_FLAGS; i++)
		if (flags >> i & 1)
			tally_out_text(o, NULL, tally_flag_name(i));
	tally_out_end_array(o);
}

/* ---- CSV ---- */

/* Letters, digits and other characters that are never special in a cell: most cells contain
 * only these. */
static bool
is_plain(const char *text)
{
	if (strchr("=+-@ ", *text))
		return !*text;
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e || *text == ',' || *text == '"')
			return false;
	return true;
}

char *
tally_out_cell_text(const char *text)
{
	if (is_plain(text))
		return g_strdup(text);
	const char *first = text + strspn(text, " \t\r\n");
	bool formula = *first && strchr("=+-@", *first);
	bool quoted = strpbrk(text, ",\"\n") || (*text == ' ' && !formula);
	GString *cell = g_string_new(quoted ? "\"" : NULL);
	if (formula)
		g_string_append_c(cell, '\'');
	/* Line breaks and tabs only move the position of the next character: they stay. */
	for (const char *end; *text; text = end) {
		end = text + strcspn(text, "\t\n\"");
		g_autofree char *part = g_strndup(text, (size_t)(end - text));
		g_autofree char *printable = tally_text_escape(part);
		g_string_append(cell, printable);
		if (*end == '"')
			g_string_append_c(cell, '"');
		if (*end)
			g_string_append_c(cell, *end++);
	}
	if (quoted)
		g_string_append_c(cell, '"');
	return g_string_free(cell, FALSE);
}

void
tally_out_cell(struct tally_out *o, const char *text)
{
	if (is_plain(text)) {
		tally_out_put(o, text);
		return;
	}
	g_autofree char *cell = tally_out_cell_text(text);
	tally_out_put(o, cell);
}
