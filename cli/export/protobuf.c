/* SPDX-License-Identifier: MIT */
#include "cli/export/protobuf.h"

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

void
tally_protobuf_grow(struct tally_protobuf *p, size_t more)
{
	p->max = MAX(p->max * 2, p->len + more + 256);
	p->bytes = g_realloc(p->bytes, p->max);
}

uint8_t *
tally_protobuf_encode_wide(uint8_t *to, uint64_t v)
{
	for (; G_UNLIKELY(v >> 56 != 0); v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	unsigned bits = 64 - (unsigned)__builtin_clzll(v), n = (bits * 9 + 64) / 64;
	/* halves of 28 bits, quarters of 14, eighths of 7 */
	v = (v & UINT64_C(0x00fffffff0000000)) << 4 | (v & UINT64_C(0x000000000fffffff));
	v = (v & UINT64_C(0x0fffc0000fffc000)) << 2 | (v & UINT64_C(0x00003fff00003fff));
	v = (v & UINT64_C(0x3f803f803f803f80)) << 1 | (v & UINT64_C(0x007f007f007f007f));
	v |= UINT64_C(0x8080808080808080) & ((UINT64_C(1) << (8 * n - 8)) - 1);
	v = GUINT64_TO_LE(v);
	memcpy(to, &v, sizeof(v));
	return to + n;
}

static void
put_bytes(struct tally_protobuf *p, uint32_t field, const void *bytes, size_t len)
{
	uint8_t *at = tally_protobuf_need(p, 2 * TALLY_VARINT_MAX + len);
	at = tally_protobuf_encode_tag(at, field, TALLY_WIRE_LENGTH);
	at = tally_protobuf_encode(at, len);
	if (len)
		memcpy(at, bytes, len);
	p->len = (size_t)(at + len - p->bytes);
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

/* The message that begins there has a length of more than the one byte that is reserved. */
void
tally_protobuf_end_long(struct tally_protobuf *p, size_t begin)
{
	size_t len = p->len - begin;
	uint8_t length[TALLY_VARINT_MAX];
	size_t n = (size_t)(tally_protobuf_encode(length, len) - length);
	tally_protobuf_need(p, n - 1);
	memmove(p->bytes + begin + n - 1, p->bytes + begin, len);
	p->len += n - 1;
	memcpy(p->bytes + begin - 1, length, n);
}
