/* SPDX-License-Identifier: MIT */
#include "cli/report/formats.h"

char *
tally_csv_head(const GArray *columns)
{
	GString *head = g_string_new("log");
	for (guint i = 0; i < columns->len; i++) {
		g_autofree char *cell = tally_out_cell_text(
			g_array_index(columns, struct tally_column, i).key);
		g_string_append_printf(head, ",%s", cell);
	}
	g_string_append_c(head, '\n');
	return g_string_free(head, FALSE);
}

static void
put_column(struct tally_out *o, const struct tally_aggregate *a, const struct tally_group *g,
	   const struct tally_column *c)
{
	struct tally_value v;
	tally_out_char(o, ',');
	if (c->type == TALLY_COLUMN_TEXT) {
		g_autofree char *text = tally_column_text(g, c);
		tally_out_cell(o, text);
	} else if (tally_column_value(a, g, c, &v)) {
		tally_out_cell_value(o, v);
	}
}

void
tally_csv_print_rows(struct tally_out *o, const struct tally_aggregate *a, const GArray *columns,
		     const GPtrArray *rows)
{
	for (guint r = 0; r < rows->len; r++) {
		tally_out_cell(o, a->path);
		for (guint i = 0; i < columns->len; i++)
			put_column(o, a, g_ptr_array_index(rows, r),
				   &g_array_index(columns, struct tally_column, i));
		tally_out_char(o, '\n');
	}
}
