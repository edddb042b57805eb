#include "cli/export/export.h"

#include "json/writer.h"

#include <string.h>

struct tally_export_text {
	struct tally_json_writer w; /* first: room() is handed nothing else */
	FILE *out;
	char bytes[1 << 16];
};

/* Failed writes show in ferror(), which the command asks at the end. */
static bool
make_room(struct tally_json_writer *w, size_t need)
{
	struct tally_export_text *t = (struct tally_export_text *)w;
	fwrite(t->bytes, 1, (size_t)(w->at - t->bytes), t->out);
	w->at = t->bytes;
	return need <= sizeof(t->bytes);
}

struct tally_export_text *
tally_export_text_create(FILE *out)
{
	struct tally_export_text *t = g_new(struct tally_export_text, 1);
	t->out = out;
	t->w = (struct tally_json_writer){ .at = t->bytes,
					   .end = t->bytes + sizeof(t->bytes),
					   .room = make_room };
	return t;
}

void
tally_export_text_destroy(struct tally_export_text *t)
{
	make_room(&t->w, 0);
	g_free(t);
}

static void
put_bytes(struct tally_export_text *t, const char *bytes, size_t len)
{
	while (len) {
		if (t->w.at == t->w.end)
			make_room(&t->w, 0);
		size_t part = MIN(len, (size_t)(t->w.end - t->w.at));
		memcpy(t->w.at, bytes, part);
		t->w.at += part;
		bytes += part;
		len -= part;
	}
}

void
tally_export_put(struct tally_export_text *t, const char *text)
{
	put_bytes(t, text, strlen(text));
}

void
tally_export_put_char(struct tally_export_text *t, char c)
{
	tally_json_put(&t->w, &c, 1);
}

void
tally_export_put_u64(struct tally_export_text *t, uint64_t v)
{
	tally_json_put_u64(&t->w, v);
}

void
tally_export_put_value(struct tally_export_text *t, struct tally_value v)
{
	if (tally_json_is_writable(v))
		tally_json_put_value(&t->w, v);
}

/* The log is UTF-8, checked by the reader: only what JSON cannot have in a string is escaped. */
static void
put_escaped(struct tally_export_text *t, const char *text)
{
	const char *plain = text;
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f)
			continue;
		put_bytes(t, plain, (size_t)(text - plain));
		plain = text + 1;
		char escape[8];
		g_snprintf(escape, sizeof(escape), byte == '"' || byte == '\\' ? "\\%c" : "\\u%04x",
			   byte);
		tally_export_put(t, escape);
	}
	put_bytes(t, plain, (size_t)(text - plain));
}

void
tally_export_put_json(struct tally_export_text *t, const char *prefix, const char *text)
{
	tally_export_put_char(t, '"');
	put_escaped(t, prefix);
	put_escaped(t, text);
	tally_export_put_char(t, '"');
}

void
tally_export_put_csv(struct tally_export_text *t, const char *text)
{
	if (!strpbrk(text, ",\"\r\n") && *text != ' ') {
		tally_export_put(t, text);
		return;
	}
	tally_export_put_char(t, '"');
	for (; *text; text++) {
		if (*text == '"')
			tally_export_put_char(t, '"');
		tally_export_put_char(t, *text);
	}
	tally_export_put_char(t, '"');
}
