/* SPDX-License-Identifier: MIT */
/* json/reader.h - a strict pull reader for one line of JSON.
 *
 * The caller requests what it expects and gets it, or an error with its position. Accepted text
 * is RFC 8259: no NaN, no leading zero, no raw control character, no lone surrogate, valid
 * UTF-8, at most TALLY_JSON_DEPTH deep. Text is unescaped in place, in the caller's line, and
 * terminated by a NUL. One thread at a time. Nothing is allocated.
 *
 * Every function that returns bool returns false on failure; then `failed` is set, `message`
 * and `where` describe the error, and nothing else may be requested.
 */
#ifndef PASSTALLY_JSON_READER_H
#define PASSTALLY_JSON_READER_H

#include "json/swar.h"
#include "layer/record.h"

#define TALLY_JSON_DEPTH 64
#define TALLY_JSON_PADDING 64 /* readable bytes that must follow a line */

struct tally_json_text {
	const char *s; /* ends in a NUL; may contain others only when has_nul */
	size_t len;
	bool has_nul;
};

struct tally_json_reader {
	char *begin, *at, *end; /* *end is '\n': no function reads past it */
	unsigned depth;
	bool fresh; /* an object or array was just opened */
	bool failed;
	bool cut; /* failed because the line ended too early */
	bool no_memory; /* failed for that reason */
	const char *where;
	char message[256];
};

/* `reader` is zeroed before the first line and used again for the next. line[len] is overwritten
 * by a newline and TALLY_JSON_PADDING bytes are readable from there on. */
void tally_json_begin(struct tally_json_reader *r, char *line, size_t len);

/* Fails at `where`, a position in the line. All three return false. */
bool tally_json_fail(struct tally_json_reader *r, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Fails at the reader's position: "expected WHAT, found ...". */
bool tally_json_fail_expected(struct tally_json_reader *r, const char *what);
bool tally_json_fail_memory(struct tally_json_reader *r);
/* Text of the log for a message: printable, shortened. Returns `out`. */
const char *tally_json_quote(char out[48], const char *s, size_t len);

/* Skips white space. Returns the first byte of the next value: '{', '[', '"', '-', a digit,
 * 't', 'f', 'n', or any invalid byte that is there. */
static inline char
tally_json_peek(struct tally_json_reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
		r->at++;
	return *r->at;
}

/* The next value as a text, which is unescaped in place. */
bool tally_json_read_text(struct tally_json_reader *r, struct tally_json_text *text);
/* Nothing but white space is left. */
bool tally_json_end(struct tally_json_reader *r);

bool tally_json_open_object(struct tally_json_reader *r);
/* Returns false at the end of the object too: then `failed` is not set. */
bool tally_json_next_key(struct tally_json_reader *r, struct tally_json_text *key);

/* Consumes the next key if it is spelled exactly like `spelled`, which is the key in its quotes
 * and the colon, `len` bytes in total, at most TALLY_JSON_PADDING. False changes nothing and
 * has no further meaning: call tally_json_next_key(). */
static inline bool
tally_json_take_key(struct tally_json_reader *r, const char *spelled, size_t len)
{
	const char *at = r->at + !r->fresh;
	if ((!r->fresh && *r->at != ',') || !tally_swar_is_equal(at, spelled, len))
		return false;
	r->at = r->at + !r->fresh + len;
	r->fresh = false;
	return true;
}

bool tally_json_open_array(struct tally_json_reader *r);
/* Whether there is another item. False at the end of the array too, as above. */
bool tally_json_next_item(struct tally_json_reader *r);

/* Consumes an integer of up to 16 digits before another member or the end, as the writer
 * formats them. False changes nothing but *v, and has no further meaning. */
static inline bool
tally_json_take_u64(struct tally_json_reader *r, uint64_t *v)
{
	char *at = tally_swar_scan_digits(r->at, v);
	if ((*at != ',' && *at != '}') || at == r->at || (*r->at == '0' && at != r->at + 1))
		return false;
	r->at = at;
	return true;
}

bool tally_json_read_any_u64(struct tally_json_reader *r, uint64_t *v);
/* An integer spelled without sign, point or exponent. */
static inline bool
tally_json_read_u64(struct tally_json_reader *r, uint64_t *v)
{
	return tally_json_take_u64(r, v) || tally_json_read_any_u64(r, v);
}
bool tally_json_read_i64(struct tally_json_reader *r, int64_t *v);
bool tally_json_read_f64(struct tally_json_reader *r, double *v);
bool tally_json_read_bool(struct tally_json_reader *r, bool *v);
bool tally_json_read_null(struct tally_json_reader *r);
/* Any number: U64 or, with a minus, I64 when spelled as an integer, else F64. */
bool tally_json_read_value(struct tally_json_reader *r, struct tally_value *v);
/* Skips any value, checked to its depth. */
bool tally_json_skip(struct tally_json_reader *r);

#endif
