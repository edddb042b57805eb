/* SPDX-License-Identifier: MIT */
/* cli/shared/out.h - output for programs, JSON and CSV: all of it is written by these
 * functions.
 *
 * Text from a log, a driver, a file or the command line may contain characters that a
 * terminal interprets (control characters, C1) or that change the order of the text after
 * them (bidirectional controls). In JSON they become \u escapes, which its readers undo. In
 * a CSV cell they are escaped as in tables (tally_text_escape()), line breaks and tabs stay
 * unchanged, and an apostrophe precedes anything that a spreadsheet would interpret as a
 * formula.
 *
 * Commas are written automatically: `key` is a member's name, NULL inside an array. One
 * thread. Nothing fails: ferror() of the stream says at the end whether everything was
 * written. Memory: the buffer below.
 */
#ifndef PASSTALLY_CLI_SHARED_OUT_H
#define PASSTALLY_CLI_SHARED_OUT_H

#include "json/writer.h"

#include <glib.h>
#include <stdio.h>

struct tally_out {
	/* must be the first member: room() gets only a pointer to it */
	struct tally_json_writer w;
	FILE *to;
	bool comma; /* a value precedes in the same object or array */
	/* JSON inside HTML: <, > and & are escaped, and in values what is not printable, as in
	 * tables */
	bool in_page;
	const char *gap; /* written before the next value, after its comma; NULL = nothing */
	char bytes[1 << 15];
};

void tally_out_init(struct tally_out *o, FILE *to);
/* Writes the contents of the buffer; `o` stays usable. */
void tally_out_flush(struct tally_out *o);

/* ---- raw bytes that the command produces ---- */
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
/* The next value follows `gap`, a line break and blanks. */
void tally_out_break(struct tally_out *o, const char *gap);
/* Writes nothing at all if text is NULL. */
void tally_out_text(struct tally_out *o, const char *key, const char *text);
/* Writes null if text is NULL. */
void tally_out_text_or_null(struct tally_out *o, const char *key, const char *text);
/* An array of texts: elements char *. */
void tally_out_texts(struct tally_out *o, const char *key, const GPtrArray *texts);
void tally_out_bool(struct tally_out *o, const char *key, bool v);
void tally_out_u64(struct tally_out *o, const char *key, uint64_t v);
void tally_out_i64(struct tally_out *o, const char *key, int64_t v);
/* The fewest digits that restore the same value; null if it is not finite. */
void tally_out_f64(struct tally_out *o, const char *key, double v);
void tally_out_value(struct tally_out *o, const char *key, struct tally_value v);
/* All digits, without quotes. */
void tally_out_wide(struct tally_out *o, const char *key, const struct tally_int192 *v);
/* 16 hex digits. */
void tally_out_id(struct tally_out *o, const char *key, uint64_t id);
/* An array of the names of the flags. */
void tally_out_flags(struct tally_out *o, const char *key, uint64_t flags);
/* JSON from another writer; characters that are unsafe in its strings are escaped. */
void tally_out_json(struct tally_out *o, const char *json);

/* ---- CSV ---- */
/* A text cell, quoted if necessary (RFC 4180); the caller writes the commas. */
void tally_out_cell(struct tally_out *o, const char *text);
/* A number as above: the fewest digits; null if it is not finite. */
void tally_out_cell_value(struct tally_out *o, struct tally_value v);
/* The same text as tally_out_cell() writes; the caller frees it with g_free(). */
char *tally_out_cell_text(const char *text);

#endif
