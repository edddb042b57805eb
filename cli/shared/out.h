/* cli/shared/out.h - what programs read, JSON and CSV: the only way for both out of the
 * command.
 *
 * Text of a log, a driver, a file or the command line may hold what a terminal obeys
 * (control characters, C1) or what changes the order of the text after it (bidirectional
 * controls). JSON has these as \u escapes, which its readers undo. A cell of CSV has them as
 * tables have them (tally_text_escape()), line breaks and tabs as they are, and an
 * apostrophe before what a spreadsheet would take for a formula.
 *
 * Commas are written here: `key` is a member's name, NULL inside an array. One thread.
 * Nothing fails: ferror() of the stream tells at the end whether all was written. Memory:
 * the buffer below.
 */
#ifndef PASSTALLY_CLI_SHARED_OUT_H
#define PASSTALLY_CLI_SHARED_OUT_H

#include "json/writer.h"

#include <stdio.h>

struct tally_out {
	struct tally_json_writer w; /* first: room() is given nothing else */
	FILE *to;
	bool comma; /* a value stands before, in the same object or array */
	bool in_page; /* JSON inside HTML: <, > and & are escaped */
	const char *gap; /* written before the next value, after its comma; NULL = nothing */
	char bytes[1 << 15];
};

void tally_out_init(struct tally_out *o, FILE *to);
/* Writes what the buffer holds; `o` can be used on. */
void tally_out_flush(struct tally_out *o);

/* ---- bytes as they are, written by us ---- */
void tally_out_bytes(struct tally_out *o, const char *bytes, size_t len);
void tally_out_put(struct tally_out *o, const char *text);
static inline void
tally_out_char(struct tally_out *o, char c)
{
	tally_json_put(&o->w, &c, 1);
}

/* ---- JSON ---- */
void tally_out_object(struct tally_out *o, const char *key);
void tally_out_end_object(struct tally_out *o);
void tally_out_array(struct tally_out *o, const char *key);
void tally_out_end_array(struct tally_out *o);
/* The next value stands after `gap`, a line break and blanks. */
void tally_out_break(struct tally_out *o, const char *gap);
/* Nothing at all where text is NULL. */
void tally_out_text(struct tally_out *o, const char *key, const char *text);
/* null where text is NULL. */
void tally_out_text_or_null(struct tally_out *o, const char *key, const char *text);
void tally_out_bool(struct tally_out *o, const char *key, bool v);
void tally_out_u64(struct tally_out *o, const char *key, uint64_t v);
void tally_out_i64(struct tally_out *o, const char *key, int64_t v);
/* The fewest digits that give the same value back; not finite: null. */
void tally_out_f64(struct tally_out *o, const char *key, double v);
void tally_out_value(struct tally_out *o, const char *key, struct tally_value v);
/* All digits, without quotes. */
void tally_out_wide(struct tally_out *o, const char *key, const struct tally_int192 *v);
/* 16 hex digits. */
void tally_out_id(struct tally_out *o, const char *key, uint64_t id);
/* The names of the flags. */
void tally_out_flags(struct tally_out *o, const char *key, uint64_t flags);
void tally_out_null(struct tally_out *o, const char *key);
/* JSON that was written elsewhere: what its strings must not hold is escaped. */
void tally_out_json(struct tally_out *o, const char *json, size_t len);
/* A string with its quotes and nothing around it; `prefix` stands before `text` in it. */
void tally_out_string(struct tally_out *o, const char *prefix, const char *text);

/* ---- CSV ---- */
/* A cell of text, in quotes where it must be (RFC 4180); the caller writes the commas. */
void tally_out_cell(struct tally_out *o, const char *text);
/* A number as above: the fewest digits; not finite: null. */
void tally_out_cell_value(struct tally_out *o, struct tally_value v);
/* As tally_out_cell(); the caller frees it with g_free(). */
char *tally_out_cell_text(const char *text);

#endif
