/* SPDX-License-Identifier: MIT */
/* json/writer.h - writes JSON bytes into memory that the caller provides.
 *
 * The caller writes punctuation and keys as literals; this writes values, escapes text and
 * ensures that there is room. Used by one thread at a time. Nothing here allocates, blocks,
 * calls the kernel or depends on the locale. When room() refuses, `failed` is set, that write
 * and all later ones do nothing, and the owner discards the line: check it once, at the end of
 * the line.
 */
#ifndef PASSTALLY_JSON_WRITER_H
#define PASSTALLY_JSON_WRITER_H

#include <math.h>
#include <string.h>

#include "json/number.h"
#include "json/swar.h"
#include "layer/record.h"

#define TALLY_JSON_ID_CHARS 18
#define TALLY_JSON_ROOM 1024 /* the most that one write requests from room() */

/* A text that does not change, in quotes; `text` NULL: the entry is empty. */
struct tally_json_kept {
	const char *text;
	char quoted[55];
	uint8_t len;
};
#define TALLY_JSON_KEPT 256

/* The digits of a number before its last eight; n 0: the entry is empty. */
struct tally_json_digits {
	uint64_t n;
	char text[16];
	uint8_t len;
};
#define TALLY_JSON_CLOCKS 4

struct tally_json_writer {
	char *at; /* the next byte goes here */
	char *end; /* no bytes here or after */
	bool failed;
	struct tally_json_kept *kept; /* TALLY_JSON_KEPT of them, the owner's; or NULL */
	/* Of the latest times: for 0.1 s all of one clock begin with the same digits. */
	struct tally_json_digits before[TALLY_JSON_CLOCKS];
	/* Makes end - at at least `need`, by moving bytes elsewhere or enlarging. */
	bool (*room)(struct tally_json_writer *w, size_t need);
};

/* There is no room for `need` bytes: requests it. False: failed. */
bool tally_json_make_room(struct tally_json_writer *w, size_t need);

static inline bool
tally_json_has_room(struct tally_json_writer *w, size_t need)
{
	return __builtin_expect((size_t)(w->end - w->at) >= need, 1) ||
	       tally_json_make_room(w, need);
}

/* Writes `len` bytes unchanged, at most TALLY_JSON_ROOM. */
static inline void
tally_json_put(struct tally_json_writer *w, const char *bytes, size_t len)
{
	if (!tally_json_has_room(w, len))
		return;
	memcpy(w->at, bytes, len);
	w->at += len;
}

/* A string literal: punctuation and keys. */
#define TALLY_JSON_PUT(w, literal) tally_json_put(w, literal, sizeof(literal) - 1)

static inline void
tally_json_put_u64(struct tally_json_writer *w, uint64_t v)
{
	if (tally_json_has_room(w, TALLY_U64_CHARS))
		w->at = tally_number_put_u64(w->at, v);
}
/* The same at an address, for times: cheap if the last ones were close to it. */
void tally_json_remember_digits(struct tally_json_digits *before, uint64_t n);
static inline char *
tally_json_put_ns_at(struct tally_json_writer *w, char *at, uint64_t ns)
{
	uint64_t n = ns / TALLY_EIGHT_DIGITS;
	if (n == 0)
		return tally_number_put_u64(at, ns);
	struct tally_json_digits *before = &w->before[n % TALLY_JSON_CLOCKS];
	if (before->n != n)
		tally_json_remember_digits(before, n);
	memcpy(at, before->text, sizeof(before->text));
	at += before->len;
	tally_number_format_eight(at, (uint32_t)(ns % TALLY_EIGHT_DIGITS));
	return at + 8;
}
void tally_json_put_i64(struct tally_json_writer *w, int64_t v);
/* `v` is finite. */
void tally_json_put_f64(struct tally_json_writer *w, double v);
/* In quotes. */
void tally_json_put_int192(struct tally_json_writer *w, const struct tally_int192 *v);
/* 16 hex digits in quotes. */
void tally_json_put_id(struct tally_json_writer *w, uint64_t id);
static inline char *
tally_json_put_id_at(char *at, uint64_t id)
{
	*at = '"';
	tally_swar_write_hex(at + 1, (uint32_t)(id >> 32));
	tally_swar_write_hex(at + 9, (uint32_t)id);
	at[17] = '"';
	return at + TALLY_JSON_ID_CHARS;
}
/* Whether it can be written: not if it is a double that is not finite. */
static inline bool
tally_json_is_writable(struct tally_value v)
{
	return v.storage != TALLY_STORAGE_F64 || isfinite(v.f64);
}
/* For at most TALLY_F64_CHARS; it can be written. */
static inline char *
tally_json_put_value_at(char *at, struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_F64)
		return tally_number_put_f64(at, v.f64);
	bool negative = v.storage == TALLY_STORAGE_I64 && v.i64 < 0;
	*at = '-';
	return tally_number_put_u64(at + negative, negative ? -v.u64 : v.u64);
}
void tally_json_put_value(struct tally_json_writer *w, struct tally_value v);

/* Text in quotes, always valid UTF-8: a byte that is not part of a UTF-8 sequence becomes the four
 * characters \xNN, and so that this can be undone a backslash before an 'x' becomes \x5c. NULL is
 * written as "". */
void tally_json_put_text(struct tally_json_writer *w, const char *text);

/* The same for a text that is not NULL and, until w->kept is emptied, neither changed nor freed:
 * it is found by its address. */
void tally_json_keep_text(struct tally_json_writer *w, const char *text); /* for the first time */
/* Each text may be in one of two entries: where words of every pass had the same, and that
 * depended on the addresses of a build, none of them was ever found. */
static inline struct tally_json_kept *
tally_json_kept_at(struct tally_json_writer *w, const char *text, unsigned which)
{
	uint64_t mixed = (uintptr_t)text * UINT64_C(0x9e3779b97f4a7c15);
	return &w->kept[(uint8_t)(mixed >> 56) ^ which];
}
/* NULL: it is not kept. */
static inline const struct tally_json_kept *
tally_json_find_kept(struct tally_json_writer *w, const char *text)
{
	const struct tally_json_kept *kept = w->kept ? tally_json_kept_at(w, text, 0) : NULL;
	if (!kept || kept->text == text)
		return kept;
	kept = tally_json_kept_at(w, text, 1);
	return kept->text == text ? kept : NULL;
}
static inline void
tally_json_put_kept(struct tally_json_writer *w, const char *text)
{
	const struct tally_json_kept *kept = tally_json_find_kept(w, text);
	if (!kept) {
		tally_json_keep_text(w, text);
	} else if (tally_json_has_room(w, sizeof(kept->quoted))) {
		memcpy(w->at, kept->quoted, sizeof(kept->quoted));
		w->at += kept->len;
	}
}

/* A time in quotes, RFC 3339 in UTC with nine decimals. */
void tally_json_put_time(struct tally_json_writer *w, uint64_t unix_ns);

#endif
