/* SPDX-License-Identifier: MIT */
#include "cli/report/html_pack.h"

#include <string.h>
#include <zlib.h>

void
tally_html_pack_init(struct tally_html_pack *pack)
{
	pack->blob = g_byte_array_new();
	pack->columns = g_array_new(FALSE, FALSE, sizeof(struct tally_html_packed));
	pack->scratch = g_byte_array_new();
}

void
tally_html_pack_finish(struct tally_html_pack *pack)
{
	g_byte_array_unref(pack->blob);
	g_array_unref(pack->columns);
	g_byte_array_unref(pack->scratch);
}

/* Compresses `scratch` and appends it to the blob. */
static int
pack_scratch(struct tally_html_pack *pack, enum tally_html_packed_kind kind)
{
	struct tally_html_packed p = { .offset = pack->blob->len, .kind = kind };
	uLongf size = compressBound(pack->scratch->len);
	g_byte_array_set_size(pack->blob, (guint)(p.offset + size));
	bool done = compress2(pack->blob->data + p.offset, &size, pack->scratch->data,
			      pack->scratch->len, Z_BEST_SPEED) == Z_OK;
	g_byte_array_set_size(pack->blob, (guint)(p.offset + (done ? size : 0)));
	if (!done)
		return -1; /* out of memory: the page lacks the column */
	p.length = (guint)size;
	g_array_append_val(pack->columns, p);
	return (int)pack->columns->len - 1;
}

int
tally_html_pack_column(struct tally_html_pack *pack, const struct tally_html_column *c)
{
	if (!c->n)
		return -1;
	g_byte_array_set_size(pack->scratch, 0);
	tally_html_column_write(c, pack->scratch);
	if (c->real)
		return pack_scratch(pack, TALLY_HTML_REAL);
	if (c->wide)
		return pack_scratch(pack, c->is_signed ? TALLY_HTML_WIDE_SIGNED
						       : TALLY_HTML_WIDE);
	return pack_scratch(pack, TALLY_HTML_WHOLE);
}

static void
take_back(struct tally_html_pack *pack, guint n_columns, guint length)
{
	g_array_set_size(pack->columns, n_columns);
	g_byte_array_set_size(pack->blob, length);
}

int
tally_html_pack_bars(struct tally_html_pack *pack, const struct tally_html_device *d,
		     size_t most, uint64_t *step)
{
	guint columns = pack->columns->len, length = pack->blob->len;
	for (*step = 1;; *step *= 2) {
		g_byte_array_set_size(pack->scratch, 0);
		for (uint64_t row = 0; row < d->rows; row += *step) {
			guint begin = row ? g_array_index(d->bar_ends, guint, row - 1) : 0;
			guint end = g_array_index(d->bar_ends, guint, row);
			g_byte_array_append(pack->scratch, d->bars->data + begin, end - begin);
		}
		int number = pack_scratch(pack, TALLY_HTML_BARS);
		if (pack->blob->len - length <= most || *step >= d->rows)
			return number;
		take_back(pack, columns, length);
	}
}

static int
pack_thinned(struct tally_html_pack *pack, const struct tally_html_column *c, uint64_t block)
{
	struct tally_html_column thin = { 0 };
	tally_html_column_thin(c, block, &thin);
	int number = tally_html_pack_column(pack, &thin);
	tally_html_column_finish(&thin);
	return number;
}

void
tally_html_pack_series(struct tally_html_pack *pack, const struct tally_html_device *d, bool gpu,
		       size_t most, uint64_t *block, GArray *numbers)
{
	guint columns = pack->columns->len, length = pack->blob->len, given = numbers->len;
	for (*block = 1;; *block *= 2) {
		for (guint i = 0; i < d->groups->len; i++) {
			const struct tally_group *g = g_ptr_array_index(d->groups, i);
			const struct tally_html_group *own = g->watched;
			uint32_t end = gpu ? MIN(own->n_series, 1) : own->n_series;
			for (uint32_t k = gpu ? 0 : 1; k < end; k++) {
				const struct tally_html_column *c = &own->series[k].column;
				int number = *block == 1 ? tally_html_pack_column(pack, c)
							 : pack_thinned(pack, c, *block);
				g_array_append_val(numbers, number);
			}
		}
		if (pack->blob->len - length <= most || *block >= d->rows)
			return;
		/* Means are floats, about twice the size of a difference, so a small block
		 * saves little. */
		uint64_t over = (pack->blob->len - length) / (most ? most : 1);
		*block = MAX(*block * 2, over);
		take_back(pack, columns, length);
		g_array_set_size(numbers, given);
	}
}
