/* SPDX-License-Identifier: MIT */
#include "cli/report/html_parts.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ROOM = 32, BLOCK_SIZE = TALLY_HTML_BLOCK_HEAD + TALLY_HTML_BLOCK_BYTES };

void
tally_html_spill_init(struct tally_html_spill *spill)
{
	*spill = (struct tally_html_spill){ .fd = -1 };
}

void
tally_html_spill_finish(struct tally_html_spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	tally_html_spill_init(spill);
}

static bool
open_spill(struct tally_html_spill *spill)
{
	char *name = NULL;
	if (spill->fd >= 0)
		return true;
	spill->fd = g_file_open_tmp("passtally-XXXXXX", &name, NULL);
	if (spill->fd >= 0)
		g_unlink(name);
	g_free(name);
	return spill->fd >= 0;
}

static bool
write_block(int fd, uint64_t block, const guint8 *bytes)
{
	for (size_t done = 0; done < BLOCK_SIZE;) {
		ssize_t n = pwrite(fd, bytes + done, BLOCK_SIZE - done,
				   (off_t)(block * BLOCK_SIZE + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Moves the first bytes of the buffer to the file. */
static bool
spill_block(struct tally_html_bytes *b, struct tally_html_spill *spill)
{
	if (!spill || spill->full || !open_spill(spill))
		return false;
	if (!b->n_blocks)
		b->first = b->next = spill->n_blocks++;
	guint8 block[BLOCK_SIZE];
	uint64_t next = spill->n_blocks++;
	memcpy(block, &next, TALLY_HTML_BLOCK_HEAD);
	memcpy(block + TALLY_HTML_BLOCK_HEAD, b->data, TALLY_HTML_BLOCK_BYTES);
	if (!write_block(spill->fd, b->next, block)) {
		spill->full = true; /* the disk is full: the rest stays in memory */
		return false;
	}
	b->next = next;
	b->n_blocks++;
	b->n -= TALLY_HTML_BLOCK_BYTES;
	memmove(b->data, b->data + TALLY_HTML_BLOCK_BYTES, b->n);
	return true;
}

void
tally_html_bytes_make_room(struct tally_html_bytes *b, struct tally_html_spill *spill)
{
	if (b->n >= TALLY_HTML_BLOCK_BYTES && spill_block(b, spill))
		return;
	b->room = b->room ? 2 * b->room : FIRST_ROOM;
	b->data = g_realloc(b->data, b->room);
}

void
tally_html_bytes_finish(struct tally_html_bytes *b)
{
	g_free(b->data);
	*b = (struct tally_html_bytes){ 0 };
}

uint64_t
tally_html_bytes_length(const struct tally_html_bytes *b)
{
	return b->n_blocks * TALLY_HTML_BLOCK_BYTES + b->n;
}

void
tally_html_put_float(struct tally_html_bytes *b, struct tally_html_spill *spill, double v)
{
	float f = (float)v;
	if (G_UNLIKELY(b->room - b->n < TALLY_HTML_NUMBER_BYTES))
		tally_html_bytes_make_room(b, spill);
	memcpy(b->data + b->n, &f, sizeof(f));
	b->n += sizeof(f);
}

void
tally_html_put_value(struct tally_html_bytes *b, struct tally_html_spill *spill,
		     struct tally_value v)
{
	G_STATIC_ASSERT(1 + sizeof(v.u64) <= TALLY_HTML_NUMBER_BYTES);
	if (G_UNLIKELY(b->room - b->n < TALLY_HTML_NUMBER_BYTES))
		tally_html_bytes_make_room(b, spill);
	b->data[b->n] = (guint8)v.storage;
	memcpy(b->data + b->n + 1, &v.u64, sizeof(v.u64));
	b->n += 1 + sizeof(v.u64);
}

void
tally_html_cursor_begin(struct tally_html_cursor *c, const struct tally_html_bytes *b,
			struct tally_html_spill *spill)
{
	c->bytes = b;
	c->spill = spill;
	c->block = b->first;
	c->blocks_left = b->n_blocks;
	c->in_memory = false;
	c->at = c->end = c->buffer;
}

static void
read_block(struct tally_html_spill *spill, uint64_t block, guint8 *to)
{
	size_t done = 0;
	ssize_t n = 1;
	while (done < BLOCK_SIZE && n != 0) {
		n = pread(spill->fd, to + done, BLOCK_SIZE - done,
			  (off_t)(block * BLOCK_SIZE + done));
		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	if (done < BLOCK_SIZE)
		__atomic_store_n(&spill->unreadable, true, __ATOMIC_RELAXED);
	memset(to + done, 0, BLOCK_SIZE - done);
}

bool
tally_html_cursor_fill(struct tally_html_cursor *c)
{
	if (c->in_memory)
		return false;
	if (!c->blocks_left) {
		c->in_memory = true;
		c->at = c->bytes->data;
		c->end = c->at + c->bytes->n;
		return c->bytes->n > 0;
	}
	read_block(c->spill, c->block, c->buffer);
	memcpy(&c->block, c->buffer, TALLY_HTML_BLOCK_HEAD);
	c->blocks_left--;
	c->at = c->buffer + TALLY_HTML_BLOCK_HEAD;
	c->end = c->buffer + BLOCK_SIZE;
	return true;
}

static inline guint8
take_byte(struct tally_html_cursor *c)
{
	return c->at < c->end || tally_html_cursor_fill(c) ? *c->at++ : 0;
}

uint64_t
tally_html_take_large(struct tally_html_cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		guint8 byte = take_byte(c);
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return v;
}

bool
tally_html_take_value(struct tally_html_cursor *c, struct tally_value *v)
{
	guint8 bytes[sizeof(v->u64)];
	if (c->at == c->end && !tally_html_cursor_fill(c))
		return false;
	v->storage = (enum tally_storage)take_byte(c);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = take_byte(c);
	memcpy(&v->u64, bytes, sizeof(bytes));
	return true;
}

double
tally_html_take_float(struct tally_html_cursor *c)
{
	guint8 bytes[sizeof(float)];
	float f;
	for (size_t i = 0; i < sizeof(f); i++)
		bytes[i] = take_byte(c);
	memcpy(&f, bytes, sizeof(f));
	return (double)f;
}
