/* SPDX-License-Identifier: MIT */
#include "cli/export/protobuf.h"

#include <assert.h>
#include <glib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, VARINT_MAX = 10 };

void
tally_protobuf_finish(struct tally_protobuf *p)
{
	g_free(p->bytes);
	*p = (struct tally_protobuf){ 0 };
}

void
tally_protobuf_clear(struct tally_protobuf *p)
{
	p->len = 0;
	p->depth = 0;
}

static void
grow(struct tally_protobuf *p, size_t more)
{
	p->max = MAX(p->max * 2, p->len + more + 256);
	p->bytes = g_realloc(p->bytes, p->max);
}

static inline void
need(struct tally_protobuf *p, size_t more)
{
	if (__builtin_expect(p->max - p->len >= more, 1))
		return;
	grow(p, more);
}

static inline size_t
encode_varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;
	if (v < 0x80) {
		*to = (uint8_t)v;
		return 1;
	}
	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

void
tally_protobuf_put_number(struct tally_protobuf *p, uint32_t field, uint64_t v)
{
	need(p, 2 * VARINT_MAX);
	p->len += encode_varint(p->bytes + p->len, (uint64_t)field << 3 | WIRE_VARINT);
	p->len += encode_varint(p->bytes + p->len, v);
}

void
tally_protobuf_put_fixed64(struct tally_protobuf *p, uint32_t field, uint64_t v)
{
	need(p, VARINT_MAX + 8);
	p->len += encode_varint(p->bytes + p->len, (uint64_t)field << 3 | WIRE_FIXED64);
	uint64_t little = GUINT64_TO_LE(v);
	memcpy(p->bytes + p->len, &little, sizeof(little));
	p->len += sizeof(little);
}

void
tally_protobuf_put_double(struct tally_protobuf *p, uint32_t field, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	tally_protobuf_put_fixed64(p, field, bits);
}

static void
put_bytes(struct tally_protobuf *p, uint32_t field, const void *bytes, size_t len)
{
	need(p, 2 * VARINT_MAX + len);
	p->len += encode_varint(p->bytes + p->len, (uint64_t)field << 3 | WIRE_LENGTH);
	p->len += encode_varint(p->bytes + p->len, len);
	if (len)
		memcpy(p->bytes + p->len, bytes, len);
	p->len += len;
}

void
tally_protobuf_put_text(struct tally_protobuf *p, uint32_t field, const char *text)
{
	put_bytes(p, field, text, strlen(text));
}

void
tally_protobuf_put_message(struct tally_protobuf *p, uint32_t field,
			   const struct tally_protobuf *message)
{
	put_bytes(p, field, message->bytes, message->len);
}

void
tally_protobuf_begin(struct tally_protobuf *p, uint32_t field)
{
	assert(p->depth < TALLY_PROTOBUF_DEPTH);
	need(p, VARINT_MAX + 1);
	p->len += encode_varint(p->bytes + p->len, (uint64_t)field << 3 | WIRE_LENGTH);
	/* Most messages are shorter than 128 bytes, so one byte is reserved for the length;
	 * more room is made at the end if needed. */
	p->len++;
	p->open[p->depth++] = p->len;
}

void
tally_protobuf_end(struct tally_protobuf *p)
{
	assert(p->depth > 0);
	size_t begin = p->open[--p->depth], len = p->len - begin;
	if (len < 0x80) {
		p->bytes[begin - 1] = (uint8_t)len;
		return;
	}
	uint8_t length[VARINT_MAX];
	size_t n = encode_varint(length, len);
	if (n > 1) {
		need(p, n - 1);
		memmove(p->bytes + begin + n - 1, p->bytes + begin, len);
		p->len += n - 1;
	}
	memcpy(p->bytes + begin - 1, length, n);
}
