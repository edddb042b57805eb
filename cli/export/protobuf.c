/* SPDX-License-Identifier: MIT */
#include "cli/export/protobuf.h"

#include <assert.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };
#define VARINT_MAX 10 /* bytes of the longest number */

void
tally_protobuf_finish(struct tally_protobuf *p)
{
	g_free(p->bytes);
	*p = (struct tally_protobuf){ 0 };
}

/* Returns where `more` bytes may be written; they count once they are in `len`. */
static uint8_t *
need(struct tally_protobuf *p, size_t more)
{
	if (p->max - p->len < more) {
		p->max = MAX(p->max * 2, p->len + more + 256);
		p->bytes = g_realloc(p->bytes, p->max);
	}
	return p->bytes + p->len;
}

/* Writes a number, seven bits a byte, and returns the end. */
static uint8_t *
encode(uint8_t *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to = (uint8_t)v;
	return to + 1;
}

static uint8_t *
encode_tag(uint8_t *to, uint32_t field, unsigned wire)
{
	return encode(to, field << 3 | wire);
}

void
tally_protobuf_put_number(struct tally_protobuf *p, uint32_t field, uint64_t v)
{
	uint8_t *at = encode_tag(need(p, 2 * VARINT_MAX), field, VARINT);
	p->len = (size_t)(encode(at, v) - p->bytes);
}

void
tally_protobuf_put_double(struct tally_protobuf *p, uint32_t field, double v)
{
	uint8_t *at = encode_tag(need(p, VARINT_MAX + sizeof(v)), field, FIXED64);
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	bits = GUINT64_TO_LE(bits);
	memcpy(at, &bits, sizeof(bits));
	p->len = (size_t)(at + sizeof(bits) - p->bytes);
}

void
tally_protobuf_put_text(struct tally_protobuf *p, uint32_t field, const char *text)
{
	if (!text)
		return;
	size_t len = strlen(text);
	uint8_t *at = encode_tag(need(p, 2 * VARINT_MAX + len), field, LENGTH);
	at = encode(at, len);
	memcpy(at, text, len);
	p->len = (size_t)(at + len - p->bytes);
}

void
tally_protobuf_begin(struct tally_protobuf *p, uint32_t field)
{
	assert(p->depth < TALLY_PROTOBUF_DEPTH);
	/* Most messages are shorter than 128 bytes, so one byte is reserved for the length;
	 * more room is made at the end if needed. */
	uint8_t *at = encode_tag(need(p, 2 * VARINT_MAX), field, LENGTH) + 1;
	p->len = (size_t)(at - p->bytes);
	p->open[p->depth++] = p->len;
}

void
tally_protobuf_end(struct tally_protobuf *p)
{
	assert(p->depth > 0);
	size_t begin = p->open[--p->depth], len = p->len - begin;
	uint8_t length[VARINT_MAX];
	size_t n = (size_t)(encode(length, len) - length);
	if (n > 1) {
		need(p, n - 1);
		memmove(p->bytes + begin + n - 1, p->bytes + begin, len);
		p->len += n - 1;
	}
	memcpy(p->bytes + begin - 1, length, n);
}
