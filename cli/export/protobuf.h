/* SPDX-License-Identifier: MIT */
/* cli/export/protobuf.h - a small writer of Protocol Buffers messages.
 *
 * It covers enough of the wire format to write any message: numbers, texts and nested
 * messages, each under its field number. Fields may be written in any order; lengths are
 * encoded as short as possible. Runs on the caller's thread; nothing fails (out of memory
 * ends the program, as everywhere in cli/).
 */
#ifndef PASSTALLY_CLI_PROTOBUF_H
#define PASSTALLY_CLI_PROTOBUF_H

#include <assert.h>
#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Field numbers are constants, so that a call compiles to very little. */
#define TALLY_INLINE static inline __attribute__((always_inline))

#define TALLY_PROTOBUF_DEPTH 8 /* maximum depth of nested messages */

struct tally_protobuf {
	uint8_t *bytes;
	size_t len, max;
	/* where each open message begins, after its length */
	size_t open[TALLY_PROTOBUF_DEPTH];
	unsigned depth;
};

/* A zeroed struct is an empty message; this frees its memory. */
void tally_protobuf_finish(struct tally_protobuf *p);
/* Empties the message but keeps its memory. */
void tally_protobuf_clear(struct tally_protobuf *p);

enum { TALLY_WIRE_VARINT = 0, TALLY_WIRE_FIXED64 = 1, TALLY_WIRE_LENGTH = 2 };
#define TALLY_VARINT_MAX 10 /* bytes of the longest number */

void tally_protobuf_grow(struct tally_protobuf *p, size_t more);

/* Returns where `more` bytes may be written; they count once they are in `len`. */
TALLY_INLINE uint8_t *
tally_protobuf_need(struct tally_protobuf *p, size_t more)
{
	if (__builtin_expect(p->max - p->len < more, 0))
		tally_protobuf_grow(p, more);
	return p->bytes + p->len;
}

/* Write a number, seven bits a byte, and return the end; up to TALLY_VARINT_MAX bytes may be
 * overwritten even where it takes fewer. Wide: one of 128 or more. */
uint8_t *tally_protobuf_encode_wide(uint8_t *to, uint64_t v);

TALLY_INLINE uint8_t *
tally_protobuf_encode(uint8_t *to, uint64_t v)
{
	if (v >= 0x80)
		return tally_protobuf_encode_wide(to, v);
	*to = (uint8_t)v;
	return to + 1;
}

TALLY_INLINE uint8_t *
tally_protobuf_encode_tag(uint8_t *to, uint32_t field, unsigned wire)
{
	uint32_t tag = field << 3 | wire; /* usually constant: then this is one store */
	if (tag < 0x80) {
		*to = (uint8_t)tag;
		return to + 1;
	}
	if (tag >= 0x4000)
		return tally_protobuf_encode(to, tag);
	to[0] = (uint8_t)(tag | 0x80);
	to[1] = (uint8_t)(tag >> 7);
	return to + 2;
}

/* Writes a field that is a number, to where there is room for twice TALLY_VARINT_MAX bytes. */
TALLY_INLINE uint8_t *
tally_protobuf_encode_number(uint8_t *to, uint32_t field, uint64_t v)
{
	return tally_protobuf_encode(tally_protobuf_encode_tag(to, field, TALLY_WIRE_VARINT), v);
}

/* For the types uint32, uint64, int32, int64 (cast to 64 bits first), bool and enum. */
TALLY_INLINE void
tally_protobuf_put_number(struct tally_protobuf *p, uint32_t field, uint64_t v)
{
	uint8_t *at = tally_protobuf_need(p, 2 * TALLY_VARINT_MAX);
	p->len = (size_t)(tally_protobuf_encode_number(at, field, v) - p->bytes);
}

/* Writes a nested message of two fields that are numbers. */
TALLY_INLINE void
tally_protobuf_put_pair(struct tally_protobuf *p, uint32_t field, uint32_t first_field,
			uint64_t first, uint32_t second_field, uint64_t second)
{
	uint8_t *at = tally_protobuf_need(p, 6 * TALLY_VARINT_MAX);
	at = tally_protobuf_encode_tag(at, field, TALLY_WIRE_LENGTH);
	uint8_t *length = at++;
	at = tally_protobuf_encode_number(at, first_field, first);
	at = tally_protobuf_encode_number(at, second_field, second);
	*length = (uint8_t)(at - length - 1);
	p->len = (size_t)(at - p->bytes);
}

TALLY_INLINE void
tally_protobuf_put_fixed64(struct tally_protobuf *p, uint32_t field, uint64_t v)
{
	uint8_t *at = tally_protobuf_need(p, 2 * TALLY_VARINT_MAX);
	at = tally_protobuf_encode_tag(at, field, TALLY_WIRE_FIXED64);
	v = GUINT64_TO_LE(v);
	memcpy(at, &v, sizeof(v));
	p->len = (size_t)(at + sizeof(v) - p->bytes);
}

TALLY_INLINE void
tally_protobuf_put_double(struct tally_protobuf *p, uint32_t field, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	tally_protobuf_put_fixed64(p, field, bits);
}

void tally_protobuf_put_text(struct tally_protobuf *p, uint32_t field, const char *text);
/* Writes a complete message that was built separately. */
void tally_protobuf_put_message(struct tally_protobuf *p, uint32_t field,
				const struct tally_protobuf *message);
/* Writes a nested message: everything written between begin and end belongs to it. */
TALLY_INLINE void
tally_protobuf_begin(struct tally_protobuf *p, uint32_t field)
{
	assert(p->depth < TALLY_PROTOBUF_DEPTH);
	uint8_t *at = tally_protobuf_need(p, 2 * TALLY_VARINT_MAX);
	at = tally_protobuf_encode_tag(at, field, TALLY_WIRE_LENGTH);
	/* Most messages are shorter than 128 bytes, so one byte is reserved for the length;
	 * more room is made at the end if needed. */
	p->len = (size_t)(at + 1 - p->bytes);
	p->open[p->depth++] = p->len;
}

void tally_protobuf_end_long(struct tally_protobuf *p, size_t begin);

TALLY_INLINE void
tally_protobuf_end(struct tally_protobuf *p)
{
	assert(p->depth > 0);
	size_t begin = p->open[--p->depth], len = p->len - begin;
	if (len < 0x80)
		p->bytes[begin - 1] = (uint8_t)len;
	else
		tally_protobuf_end_long(p, begin);
}

#endif
