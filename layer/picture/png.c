/* SPDX-License-Identifier: MIT */
#include "layer/picture/png.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_RUN 258
#define SHORT_RUN 10 /* the longest whose length has no extra bits */
#define SHORTEST_RUN 3
#define END_OF_BLOCK 256
#define RUN_CODE 254 /* + length, of a short run */
#define LONGEST_RUN_CODE 285
#define ADLER 65521u

struct bits {
	unsigned char *out;
	size_t n;
	uint32_t held;
	unsigned n_held;
};

static void
put(struct bits *b, uint32_t value, unsigned n)
{
	b->held |= value << b->n_held;
	for (b->n_held += n; b->n_held >= 8; b->n_held -= 8, b->held >>= 8)
		b->out[b->n++] = (unsigned char)b->held;
}

/* A symbol of deflate's fixed code (RFC 1951, 3.2.6), whose first bit is its highest. */
static void
put_symbol(struct bits *b, unsigned symbol)
{
	unsigned n = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
	unsigned code = symbol < 144   ? 0x30 + symbol
			: symbol < 256 ? 0x190 + symbol - 144
			: symbol < 280 ? symbol - 256
				       : 0xc0 + symbol - 280;
	for (unsigned i = n; i-- > 0;)
		put(b, code >> i & 1, 1);
}

static void
put_run(struct bits *b, unsigned length)
{
	put_symbol(b, length == LONGEST_RUN ? LONGEST_RUN_CODE : RUN_CODE + length);
	put(b, 0, 5); /* the distance 1 */
}

static void
deflate(struct bits *b, const unsigned char *data, size_t n)
{
	put(b, 1, 1); /* the last block */
	put(b, 1, 2); /* of fixed codes */
	for (size_t i = 0; i < n;) {
		size_t run = 1;
		while (i + run < n && data[i + run] == data[i])
			run++;
		put_symbol(b, data[i]);
		i += run;
		for (run--; run >= SHORTEST_RUN;) {
			unsigned length = run >= LONGEST_RUN ? LONGEST_RUN
					  : run > SHORT_RUN  ? SHORT_RUN
							     : (unsigned)run;
			put_run(b, length);
			run -= length;
		}
		for (; run; run--)
			put_symbol(b, data[i - 1]);
	}
	put_symbol(b, END_OF_BLOCK);
	put(b, 0, 7);
}

static void
put_u32(struct bits *b, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		b->out[b->n++] = (unsigned char)(v >> shift);
}

static uint32_t
crc_of(const unsigned char *data, size_t n)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static uint32_t
adler_of(const unsigned char *data, size_t n)
{
	uint32_t a = 1, b = 0;
	for (size_t i = 0; i < n; i++) {
		a = (a + data[i]) % ADLER;
		b = (b + a) % ADLER;
	}
	return b << 16 | a;
}

/* Begins a chunk; returns where its length stands. */
static size_t
begin_chunk(struct bits *b, const char *type)
{
	size_t at = b->n;
	put_u32(b, 0);
	memcpy(b->out + b->n, type, 4);
	b->n += 4;
	return at;
}

static void
end_chunk(struct bits *b, size_t at)
{
	size_t end = b->n;
	b->n = at;
	put_u32(b, (uint32_t)(end - at - 8));
	b->n = end;
	put_u32(b, crc_of(b->out + at + 4, end - at - 4));
}

/* Each row after the number of its filter: 2, the difference to the row above. */
static void
filter(unsigned char *to, const unsigned char *rgb, size_t row, uint32_t height)
{
	for (uint32_t y = 0; y < height; y++, rgb += row) {
		*to++ = 2;
		for (size_t x = 0; x < row; x++)
			*to++ = (unsigned char)(rgb[x] - (y ? (rgb - row)[x] : 0));
	}
}

unsigned char *
tally_png_make(const unsigned char *rgb, uint32_t width, uint32_t height, size_t *size)
{
	static const unsigned char signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
	static const unsigned char kind[5] = { 8, 2, 0, 0, 0 }; /* 8 bits, RGB */
	size_t row = (size_t)3 * width, n = (row + 1) * height;
	unsigned char *data = malloc(n ? n : 1);
	/* A literal has 9 bits at most. */
	struct bits b = { .out = malloc(n + n / 8 + 128) };
	if (!data || !b.out) {
		free(data);
		free(b.out);
		return NULL;
	}
	filter(data, rgb, row, height);
	memcpy(b.out, signature, sizeof(signature));
	b.n = sizeof(signature);
	size_t at = begin_chunk(&b, "IHDR");
	put_u32(&b, width);
	put_u32(&b, height);
	memcpy(b.out + b.n, kind, sizeof(kind));
	b.n += sizeof(kind);
	end_chunk(&b, at);
	at = begin_chunk(&b, "IDAT");
	b.out[b.n++] = 0x78; /* zlib, deflate, no dictionary */
	b.out[b.n++] = 0x01;
	deflate(&b, data, n);
	b.held = b.n_held = 0;
	put_u32(&b, adler_of(data, n));
	end_chunk(&b, at);
	end_chunk(&b, begin_chunk(&b, "IEND"));
	free(data);
	*size = b.n;
	return b.out;
}
