/* SPDX-License-Identifier: MIT */
#include "cli/report/html_parts.h"

#include "cli/shared/each.h"

#include <zlib.h>

enum { STEP = 1 << 16 };

void
tally_html_pack_init(struct tally_html_pack *pack)
{
	*pack = (struct tally_html_pack){ .blob = g_byte_array_new() };
	pack->columns = g_array_new(FALSE, FALSE, sizeof(struct tally_html_packed));
	pack->z = g_new0(z_stream, 1);
	if (deflateInit(pack->z, Z_BEST_SPEED) != Z_OK)
		g_clear_pointer(&pack->z, g_free);
}

void
tally_html_pack_finish(struct tally_html_pack *pack)
{
	g_byte_array_unref(pack->blob);
	g_array_unref(pack->columns);
	if (pack->z)
		deflateEnd(pack->z);
	g_free(pack->z);
}

/* One column: begin, any number of times add, end */

static struct tally_html_packed
begin(struct tally_html_pack *pack, enum tally_html_packed_kind kind)
{
	if (pack->z)
		deflateReset(pack->z);
	return (struct tally_html_packed){ .offset = pack->blob->len, .kind = kind };
}

static void
deflate_bytes(struct tally_html_pack *pack, const guint8 *bytes, size_t n, int flush)
{
	z_stream *z = pack->z;
	if (!z)
		return;
	z->next_in = (Bytef *)bytes;
	z->avail_in = (uInt)n;
	do {
		guint length = pack->blob->len;
		g_byte_array_set_size(pack->blob, length + STEP);
		z->next_out = pack->blob->data + length;
		z->avail_out = STEP;
		deflate(z, flush);
		g_byte_array_set_size(pack->blob, length + STEP - z->avail_out);
	} while (z->avail_out == 0);
}

static void
add_number(struct tally_html_pack *pack, uint64_t v)
{
	guint8 bytes[TALLY_HTML_NUMBER_BYTES];
	size_t n = (size_t)(tally_html_write_unsigned(bytes, v) - bytes);
	deflate_bytes(pack, bytes, n, Z_NO_FLUSH);
}

static void
add_stream(struct tally_html_pack *pack, const struct tally_html_bytes *b,
	   struct tally_html_spill *spill)
{
	struct tally_html_cursor c;
	tally_html_cursor_begin(&c, b, spill);
	while (tally_html_cursor_fill(&c))
		deflate_bytes(pack, c.at, (size_t)(c.end - c.at), Z_NO_FLUSH);
}

/* Floats, with their bytes grouped by position. */
static void
add_planes(struct tally_html_pack *pack, const struct tally_html_bytes *b,
	   struct tally_html_spill *spill)
{
	guint8 plane[1024];
	for (size_t k = 0; k < sizeof(float); k++) {
		struct tally_html_cursor c;
		tally_html_cursor_begin(&c, b, spill);
		while (tally_html_cursor_fill(&c)) {
			while (c.at < c.end) {
				size_t n = 0;
				for (; n < sizeof(plane) && c.at < c.end; c.at += sizeof(float))
					plane[n++] = c.at[k];
				deflate_bytes(pack, plane, n, Z_NO_FLUSH);
			}
		}
	}
}

static int
end(struct tally_html_pack *pack, struct tally_html_packed p)
{
	if (!pack->z)
		return -1; /* out of memory: the page lacks the column */
	deflate_bytes(pack, NULL, 0, Z_FINISH);
	p.length = pack->blob->len - p.offset;
	g_array_append_val(pack->columns, p);
	return (int)pack->columns->len - 1;
}

int
tally_html_pack_column(struct tally_html_pack *pack, const struct tally_html_column *c,
		       struct tally_html_spill *spill)
{
	if (!c->n)
		return -1;
	enum tally_html_packed_kind kind = c->real        ? TALLY_HTML_REAL
					   : !c->wide     ? TALLY_HTML_WHOLE
					   : c->is_signed ? TALLY_HTML_WIDE_SIGNED
							  : TALLY_HTML_WIDE;
	struct tally_html_packed p = begin(pack, kind);
	add_number(pack, c->n);
	add_number(pack, c->n_runs);
	add_stream(pack, &c->runs, spill);
	if (c->real)
		add_planes(pack, &c->values, spill);
	else
		add_stream(pack, &c->values, spill);
	return end(pack, p);
}

/* Whole sets of columns, as exact as there is room */

static void
take_back(struct tally_html_pack *pack, guint n_columns, guint length)
{
	g_array_set_size(pack->columns, n_columns);
	g_byte_array_set_size(pack->blob, length);
}

/* Adds the passes of every `step`-th row. Returns how many rows were read before `most` bytes
 * were exceeded; all of them: *number is the column's. */
static uint64_t
add_bars(struct tally_html_pack *pack, struct tally_html_device *d, uint64_t step, size_t most,
	 int *number)
{
	struct tally_html_cursor lengths, bars;
	tally_html_cursor_begin(&lengths, &d->bar_lengths, &d->spill);
	tally_html_cursor_begin(&bars, &d->bars, &d->spill);
	struct tally_html_packed p = begin(pack, TALLY_HTML_BARS);
	uint64_t row = 0;
	for (; row < d->rows && pack->blob->len - p.offset <= most; row++) {
		uint64_t left = tally_html_take_unsigned(&lengths);
		while (left && (bars.at < bars.end || tally_html_cursor_fill(&bars))) {
			size_t n = MIN(left, (size_t)(bars.end - bars.at));
			if (row % step == 0)
				deflate_bytes(pack, bars.at, n, Z_NO_FLUSH);
			bars.at += n;
			left -= n;
		}
	}
	*number = end(pack, p);
	return row;
}

int
tally_html_pack_bars(struct tally_html_pack *pack, struct tally_html_device *d, size_t most,
		     uint64_t *step)
{
	guint columns = pack->columns->len, length = pack->blob->len;
	for (*step = 1;;) {
		int number;
		bool last = *step >= d->rows;
		uint64_t rows = add_bars(pack, d, *step, last ? SIZE_MAX : most, &number);
		guint size = pack->blob->len - length;
		if (size <= most || last)
			return number;
		/* The packed part indicates about how large all of them are. */
		double all = (double)size * (double)*step * (double)d->rows / (double)rows;
		do
			*step *= 2;
		while (*step < d->rows && all / (double)*step > (double)most);
		take_back(pack, columns, length);
	}
}

static int
pack_thinned(struct tally_html_pack *pack, const struct tally_html_column *c,
	     struct tally_html_spill *spill, uint64_t block)
{
	struct tally_html_column thin = { 0 };
	tally_html_column_thin(c, spill, block, &thin);
	int number = tally_html_pack_column(pack, &thin, NULL);
	tally_html_column_finish(&thin);
	return number;
}

/* Adds the columns, or as many as there are before `most` bytes are exceeded. Returns the part
 * that was added. */
static double
add_series(struct tally_html_pack *pack, struct tally_html_device *d, bool gpu, uint64_t block,
	   size_t most, GArray *numbers)
{
	guint length = pack->blob->len;
	uint64_t all = 0, done = 0;
	TALLY_EACH (const struct tally_group, g, d->groups) {
		const struct tally_html_group *own = g->watched;
		uint32_t end = gpu ? MIN(own->n_series, 1) : own->n_series;
		for (uint32_t k = gpu ? 0 : 1; k < end; k++) {
			const struct tally_html_column *c = &own->series[k].column;
			all += tally_html_bytes_length(&c->values);
			if (pack->blob->len - length > most)
				continue;
			int number = block == 1 ? tally_html_pack_column(pack, c, &d->spill)
						: pack_thinned(pack, c, &d->spill, block);
			g_array_append_val(numbers, number);
			done = all;
		}
	}
	return all ? (double)done / (double)all : 1;
}

void
tally_html_pack_series(struct tally_html_pack *pack, struct tally_html_device *d, bool gpu,
		       size_t most, uint64_t *block, GArray *numbers)
{
	guint columns = pack->columns->len, length = pack->blob->len, given = numbers->len;
	for (*block = 1;;) {
		bool last = *block >= d->rows;
		double part = add_series(pack, d, gpu, *block, last ? SIZE_MAX : most, numbers);
		guint size = pack->blob->len - length;
		if (size <= most || last)
			return;
		/* Means are floats, about twice the size of a difference, so a small block
		 * saves little. */
		*block = MAX(*block * 2, (uint64_t)(size / part / (double)MAX(most, 1)));
		take_back(pack, columns, length);
		g_array_set_size(numbers, given);
	}
}
