/* SPDX-License-Identifier: MIT */
#include "cli/report/html_parts.h"

#include "cli/shared/each.h"
#include "cli/shared/workers.h"

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

/* Columns that are packed on two threads, and then added in their order: so few that their bytes
 * take little memory. One that is alone is packed where it belongs. */
enum { MOST_AT_ONCE = 256, MOST_BYTES_AT_ONCE = 2 << 20 };

struct at_once {
	struct tally_html_pack *to, packs[TALLY_WORKERS];
	struct tally_html_column **columns; /* `n` of them */
	unsigned n;
	struct {
		unsigned worker;
		int number; /* in its pack */
	} packed[MOST_AT_ONCE];
	struct tally_html_spill *spill;
	uint64_t block;
};

static void
pack_one(void *user, unsigned worker, unsigned piece)
{
	struct at_once *a = user;
	struct tally_html_pack *pack = a->n == 1 ? a->to : &a->packs[worker];
	const struct tally_html_column *c = a->columns[piece];
	a->packed[piece].worker = worker;
	a->packed[piece].number = a->block == 1 ? tally_html_pack_column(pack, c, a->spill)
						: pack_thinned(pack, c, a->spill, a->block);
}

static int
add_packed(const struct at_once *a, unsigned i)
{
	struct tally_html_pack *pack = a->to;
	if (a->n == 1 || a->packed[i].number < 0)
		return a->packed[i].number;
	const struct tally_html_pack *from = &a->packs[a->packed[i].worker];
	struct tally_html_packed p = g_array_index(from->columns, struct tally_html_packed,
						   a->packed[i].number);
	const guint8 *bytes = from->blob->data + p.offset;
	p.offset = pack->blob->len;
	g_byte_array_append(pack->blob, bytes, p.length);
	g_array_append_val(pack->columns, p);
	return (int)pack->columns->len - 1;
}

/* Packs the first of `left` columns. */
static void
pack_at_once(struct at_once *a, struct tally_html_column **columns, guint left)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < TALLY_WORKERS; i++)
		take_back(&a->packs[i], 0, 0);
	a->columns = columns;
	for (a->n = 0; a->n < MIN(left, MOST_AT_ONCE); a->n++) {
		bytes += tally_html_bytes_length(&columns[a->n]->values);
		if (a->n && bytes > MOST_BYTES_AT_ONCE)
			break;
	}
	tally_workers_run(a->n, pack_one, a);
}

/* Adds the columns, or as many as there are before `most` bytes are exceeded. Returns the part
 * that was added. */
static double
add_series(struct tally_html_pack *pack, GPtrArray *columns, struct tally_html_spill *spill,
	   uint64_t block, size_t most, GArray *numbers)
{
	guint length = pack->blob->len;
	uint64_t all = 0, done = 0;
	struct at_once a = { .to = pack, .spill = spill, .block = block };
	for (unsigned i = 0; i < TALLY_WORKERS; i++)
		tally_html_pack_init(&a.packs[i]);
	bool room = true;
	for (guint at = 0; at < columns->len && room; at += a.n) {
		pack_at_once(&a, (struct tally_html_column **)columns->pdata + at,
			     columns->len - at);
		for (unsigned i = 0; i < a.n && room; i++) {
			int number = add_packed(&a, i);
			g_array_append_val(numbers, number);
			done += tally_html_bytes_length(&a.columns[i]->values);
			room = pack->blob->len - length <= most;
		}
	}
	for (unsigned i = 0; i < TALLY_WORKERS; i++)
		tally_html_pack_finish(&a.packs[i]);
	TALLY_EACH (const struct tally_html_column, c, columns)
		all += tally_html_bytes_length(&c->values);
	return all ? (double)done / (double)all : 1;
}

static GPtrArray *
columns_of(const struct tally_html_device *d, bool gpu)
{
	GPtrArray *columns = g_ptr_array_new();
	TALLY_EACH (const struct tally_group, g, d->groups) {
		struct tally_html_group *own = g->watched;
		uint32_t end = gpu ? MIN(own->n_series, 1) : own->n_series;
		for (uint32_t k = gpu ? 0 : 1; k < end; k++)
			g_ptr_array_add(columns, &own->series[k].column);
	}
	return columns;
}

void
tally_html_pack_series(struct tally_html_pack *pack, struct tally_html_device *d, bool gpu,
		       size_t most, uint64_t *block, GArray *numbers)
{
	guint n_columns = pack->columns->len, length = pack->blob->len, given = numbers->len;
	g_autoptr(GPtrArray) columns = columns_of(d, gpu);
	for (*block = 1;;) {
		bool last = *block >= d->rows;
		double part = add_series(pack, columns, &d->spill, *block, last ? SIZE_MAX : most,
					 numbers);
		guint size = pack->blob->len - length;
		if (size <= most || last)
			return;
		/* Means are floats, about twice the size of a difference, so a small block
		 * saves little. */
		*block = MAX(*block * 2, (uint64_t)(size / part / (double)MAX(most, 1)));
		take_back(pack, n_columns, length);
		g_array_set_size(numbers, given);
	}
}
