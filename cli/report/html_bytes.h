/* SPDX-License-Identifier: MIT */
/* cli/report/html_bytes.h - byte streams that are written once and read back in order, with a
 * bounded part of each in memory.
 *
 * Bytes that do not fit into the buffer of a stream go to a temporary file without a name, in
 * TMPDIR or /tmp, in blocks; each block begins with the number of the next. The file is created
 * with the first block, so a small log needs none. If it cannot be created or written, or there
 * is no spill, the bytes stay in memory. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_HTML_BYTES_H
#define PASSTALLY_CLI_HTML_BYTES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* At most this many bytes per number. */
#define TALLY_HTML_NUMBER_BYTES 10

/* The file of all streams of a log. */
struct tally_html_spill {
	int fd; /* -1 = none yet */
	bool full; /* nothing more can be written to it */
	bool unreadable; /* some bytes of it could not be read again: the streams are wrong */
	uint64_t n_blocks; /* given to streams */
};

struct tally_html_bytes {
	guint8 *data; /* the last bytes: those that are not in the file */
	size_t n, room;
	uint64_t n_blocks; /* in the file */
	uint64_t first, next; /* the first block, and the one for what comes next */
};

void tally_html_spill_init(struct tally_html_spill *spill);
void tally_html_spill_finish(struct tally_html_spill *spill);

/* A zeroed stream is empty. */
void tally_html_bytes_finish(struct tally_html_bytes *b);
uint64_t tally_html_bytes_length(const struct tally_html_bytes *b);
/* Makes room for TALLY_HTML_NUMBER_BYTES. */
void tally_html_bytes_make_room(struct tally_html_bytes *b, struct tally_html_spill *spill);

/* Writes a number to `at` and returns where it ends. */
static inline guint8 *
tally_html_write_unsigned(guint8 *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (guint8)(v | 0x80);
	*at++ = (guint8)v;
	return at;
}

/* Appends a number; `spill` may be NULL. */
static inline void
tally_html_put_unsigned(struct tally_html_bytes *b, struct tally_html_spill *spill, uint64_t v)
{
	if (G_UNLIKELY(b->room - b->n < TALLY_HTML_NUMBER_BYTES))
		tally_html_bytes_make_room(b, spill);
	b->n = (size_t)(tally_html_write_unsigned(b->data + b->n, v) - b->data);
}

static inline void
tally_html_put_signed(struct tally_html_bytes *b, struct tally_html_spill *spill, int64_t v)
{
	tally_html_put_unsigned(b, spill, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

void tally_html_put_float(struct tally_html_bytes *b, struct tally_html_spill *spill, double v);

enum {
	TALLY_HTML_BLOCK_HEAD = 8, /* the number of the next block */
	TALLY_HTML_BLOCK_BYTES = 4072,
};

/* Reads a stream from its start; the stream must not change meanwhile. */
struct tally_html_cursor {
	const guint8 *at, *end; /* read, but not taken yet */
	const struct tally_html_bytes *bytes;
	struct tally_html_spill *spill;
	uint64_t block, blocks_left;
	bool in_memory; /* the bytes of the buffer were given */
	guint8 buffer[TALLY_HTML_BLOCK_HEAD + TALLY_HTML_BLOCK_BYTES];
};

void tally_html_cursor_begin(struct tally_html_cursor *c, const struct tally_html_bytes *b,
			     struct tally_html_spill *spill);
/* Once all bytes are taken: gives the next ones; false: there are none. Bytes past the end are
 * zero. */
bool tally_html_cursor_fill(struct tally_html_cursor *c);
uint64_t tally_html_take_unsigned(struct tally_html_cursor *c);
double tally_html_take_float(struct tally_html_cursor *c);

#endif
