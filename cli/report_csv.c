#include "cli/formats.h"

#include "cli/text.h"

void
tally_csv_print_head(FILE *out, const GArray *columns)
{
	fputs("log", out);
	for (guint i = 0; i < columns->len; i++) {
		putc(',', out);
		tally_text_print_csv(out, g_array_index(columns, struct tally_column, i).key);
	}
	fputs("\r\n", out);
}

void
tally_csv_print_rows(FILE *out, const struct tally_aggregate *a, const GArray *columns,
		     const GPtrArray *rows)
{
	for (guint r = 0; r < rows->len; r++) {
		const struct tally_group *g = g_ptr_array_index(rows, r);
		tally_text_print_csv(out, a->path);
		for (guint i = 0; i < columns->len; i++) {
			const struct tally_column *c =
				&g_array_index(columns, struct tally_column, i);
			struct tally_value v;
			putc(',', out);
			if (c->type == TALLY_COLUMN_TEXT) {
				char *text = tally_column_text(g, c);
				tally_text_print_csv(out, text);
				g_free(text);
			} else if (tally_column_value(a, g, c, &v)) {
				tally_json_print_value(out, v);
			}
		}
		fputs("\r\n", out);
	}
}
