#include "cli/report/formats.h"

#include "cli/shared/text.h"

char *
tally_csv_head(const GArray *columns)
{
	GString *head = g_string_new("log");
	for (guint i = 0; i < columns->len; i++) {
		char *field = tally_text_csv(g_array_index(columns, struct tally_column, i).key);
		g_string_append_printf(head, ",%s", field);
		g_free(field);
	}
	g_string_append_c(head, '\n');
	return g_string_free(head, FALSE);
}

static void
print_field(FILE *out, const char *text)
{
	char *field = tally_text_csv(text);
	fputs(field, out);
	g_free(field);
}

void
tally_csv_print_rows(FILE *out, const struct tally_aggregate *a, const GArray *columns,
		     const GPtrArray *rows)
{
	for (guint r = 0; r < rows->len; r++) {
		const struct tally_group *g = g_ptr_array_index(rows, r);
		print_field(out, a->path);
		for (guint i = 0; i < columns->len; i++) {
			const struct tally_column *c = &g_array_index(columns, struct tally_column,
								      i);
			struct tally_value v;
			putc(',', out);
			if (c->type == TALLY_COLUMN_TEXT) {
				char *text = tally_column_text(g, c);
				print_field(out, text);
				g_free(text);
			} else if (tally_column_value(a, g, c, &v)) {
				tally_json_print_value(out, v);
			}
		}
		putc('\n', out);
	}
}
