/* SPDX-License-Identifier: MIT */
#include "cli/report/html_pack.h"

#include "cli/shared/each.h"

#include <math.h>
#include <stdbool.h>
#include <zlib.h>

void
tally_html_pack_init(struct tally_html_pack *pack)
{
	pack->blob = g_byte_array_new();
	pack->column = g_byte_array_new();
	pack->columns = g_array_new(FALSE, FALSE, sizeof(struct tally_html_packed));
}

void
tally_html_pack_finish(struct tally_html_pack *pack)
{
	g_byte_array_unref(pack->blob);
	g_byte_array_unref(pack->column);
	g_array_unref(pack->columns);
}

static void
put(struct tally_html_pack *pack, const void *bytes, size_t n)
{
	g_byte_array_append(pack->column, bytes, (guint)n);
}

/* Packs what was put since the last column. */
static int
end_column(struct tally_html_pack *pack)
{
	struct tally_html_packed p = { .offset = pack->blob->len };
	uLongf length = compressBound(pack->column->len);
	g_byte_array_set_size(pack->blob, p.offset + (guint)length);
	int status = compress2(pack->blob->data + p.offset, &length, pack->column->data,
			       pack->column->len, Z_BEST_SPEED);
	if (status != Z_OK)
		g_error("out of memory"); /* ends the program, as g_new() does */
	p.length = (guint)length;
	g_byte_array_set_size(pack->blob, p.offset + p.length);
	g_byte_array_set_size(pack->column, 0);
	g_array_append_val(pack->columns, p);
	return (int)pack->columns->len - 1;
}

int
tally_html_pack_frames(struct tally_html_pack *pack, const struct tally_html_frames *frames,
		       enum tally_html_frame_column column)
{
	bool any = false;
	TALLY_EACH_OF (const struct tally_html_frame, f, frames->rows) {
		any |= !isnan(f->columns[column]);
		put(pack, &f->columns[column], sizeof(double));
	}
	if (any)
		return end_column(pack);
	g_byte_array_set_size(pack->column, 0);
	return -1;
}

int
tally_html_pack_passes(struct tally_html_pack *pack, const struct tally_html_frames *frames)
{
	TALLY_EACH_OF (const struct tally_html_frame, f, frames->rows)
		put(pack, &f->n_bytes, sizeof(f->n_bytes));
	TALLY_EACH_OF (const struct tally_html_frame, g, frames->rows)
		put(pack, g->passes, g->n_bytes);
	return end_column(pack);
}

int
tally_html_pack_series(struct tally_html_pack *pack, const struct tally_html_series *s)
{
	const struct tally_html_point end = { s->end, NAN };
	uint32_t before = 0;
	if (!s->n)
		return -1;
	for (uint32_t i = 0; i <= s->n; i++) {
		uint32_t row = i < s->n ? s->points[i].row : end.row;
		uint32_t skipped = row - before;
		put(pack, &skipped, sizeof(skipped));
		before = row;
	}
	for (uint32_t i = 0; i <= s->n; i++)
		put(pack, i < s->n ? &s->points[i].value : &end.value, sizeof(float));
	return end_column(pack);
}
