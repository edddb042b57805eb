#include "cli/report/formats.h"

#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* A name shorter than this is no longer useful. */
#define LEAST_NAME 16
#define MOST_NAME 60

struct time_unit {
	const char *word;
	double ns;
	int decimals;
};

/* One unit for all times of a table, so that its columns can be compared at a glance. */
static struct time_unit
choose_unit(const struct tally_aggregate *a, const GPtrArray *rows)
{
	const struct time_unit us = { tally_text_is_utf8() ? "\xc2\xb5s" : "us", 1e3, 1 };
	const struct time_unit ms = { "ms", 1e6, 3 };
	double most = 0;
	for (guint i = 0; i < rows->len; i++) {
		const struct tally_group *g = g_ptr_array_index(rows, i);
		struct tally_stats *s = &g->series[TALLY_SERIES_GPU].stats;
		double ns = a->by == TALLY_BY_FRAME ? (double)g->record.cpu_ns
			    : s->moments.n                  ? tally_moments_mean(&s->moments)
						    : 0;
		most = MAX(most, ns);
	}
	return most >= 1e7 ? ms : us;
}

static char *
number_text(struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_U64)
		return g_strdup_printf("%" G_GUINT64_FORMAT, v.u64);
	if (v.storage == TALLY_STORAGE_I64)
		return g_strdup_printf("%" G_GINT64_FORMAT, v.i64);
	double size = fabs(v.f64);
	if (size >= 1e15)
		return g_strdup_printf("%.6g", v.f64);
	return g_strdup_printf("%.*f", size >= 1000 ? 0 : size >= 10 ? 1 : 3, v.f64);
}

static char *
cell_text(const struct tally_aggregate *a, const struct tally_group *g,
	  const struct tally_column *c, const struct time_unit *unit)
{
	if (c->type == TALLY_COLUMN_TEXT) {
		char *raw = tally_column_text(g, c);
		char *shown = tally_text_escape(raw);
		g_free(raw);
		return shown;
	}
	struct tally_value v;
	if (!tally_column_value(a, g, c, &v))
		return g_strdup("-");
	char *text;
	if (c->type == TALLY_COLUMN_TIME)
		text = g_strdup_printf("%.*f", unit->decimals, tally_value_f64(v) / unit->ns);
	else if (c->type == TALLY_COLUMN_SHARE)
		text = g_strdup_printf("%.1f%%", 100 * v.f64);
	else
		text = number_text(v);
	if (!tally_column_estimated(g, c))
		return text;
	char *marked = g_strconcat("~", text, NULL);
	g_free(text);
	return marked;
}

struct table {
	guint n_columns, n_rows;
	char **cells; /* row 0 is the head */
	size_t *widths;
	bool *left; /* aligned left */
};

static char *
table_cell(const struct table *t, guint row, guint column)
{
	return t->cells[row * t->n_columns + column];
}

static void
fill(struct table *t, const struct tally_aggregate *a, const GArray *columns,
     const GPtrArray *rows)
{
	struct time_unit unit = choose_unit(a, rows);
	guint n = 0;
	for (guint i = 0; i < columns->len; i++) {
		const struct tally_column *c = &g_array_index(columns, struct tally_column, i);
		if (!c->in_table)
			continue;
		t->left[n] = c->type == TALLY_COLUMN_TEXT;
		t->cells[n] = c->type == TALLY_COLUMN_TIME
				      ? g_strdup_printf("%s %s", c->title, unit.word)
				      : tally_text_escape(c->title);
		for (guint r = 0; r < rows->len; r++)
			t->cells[(r + 1) * t->n_columns + n] = cell_text(
				a, g_ptr_array_index(rows, r), c, &unit);
		for (guint r = 0; r < t->n_rows; r++)
			t->widths[n] = MAX(t->widths[n], tally_text_width(table_cell(t, r, n)));
		n++;
	}
}

static void
print_cell(FILE *out, const struct table *t, guint row, guint column, bool last)
{
	char *text = tally_text_fit(table_cell(t, row, column), t->widths[column]);
	int gap = (int)(t->widths[column] - tally_text_width(text));
	if (t->left[column])
		tally_text_print(out, "%s%*s", text, last ? 0 : gap, "");
	else
		tally_text_print(out, "%*s%s", gap, "", text);
	g_free(text);
}

/* Prints the columns from `from` up to, but not including, `to`, after the first column. */
static void
print_block(FILE *out, const struct table *t, guint from, guint to)
{
	for (guint r = 0; r < t->n_rows; r++) {
		print_cell(out, t, r, 0, from == to);
		for (guint c = from; c < to; c++) {
			fputs("  ", out);
			print_cell(out, t, r, c, c + 1 == to);
		}
		putc('\n', out);
	}
}

void
tally_table_print(FILE *out, const struct tally_aggregate *a, const GArray *columns,
		  const GPtrArray *rows, size_t width)
{
	struct table t = { .n_rows = rows->len + 1 };
	for (guint i = 0; i < columns->len; i++)
		t.n_columns += g_array_index(columns, struct tally_column, i).in_table;
	size_t n_cells = (size_t)t.n_columns * t.n_rows;
	t.cells = g_new0(char *, n_cells);
	t.widths = g_new0(size_t, t.n_columns);
	t.left = g_new0(bool, t.n_columns);
	fill(&t, a, columns, rows);
	if (width) {
		/* The name is shortened first: numbers must not be cut. */
		size_t all = 0;
		for (guint c = 0; c < t.n_columns; c++)
			all += t.widths[c] + (c ? 2 : 0);
		size_t over = all > width ? all - width : 0;
		size_t least = MIN(t.widths[0], LEAST_NAME);
		if (t.left[0])
			t.widths[0] = MAX(least, t.widths[0] > over ? t.widths[0] - over : 0);
	} else if (t.left[0]) {
		t.widths[0] = MIN(t.widths[0], MOST_NAME);
	}
	guint from = 1;
	do {
		guint to = from;
		size_t used = t.widths[0];
		while (to < t.n_columns &&
		       (!width || to == from || used + 2 + t.widths[to] <= width))
			used += 2 + t.widths[to++];
		if (from > 1)
			putc('\n', out);
		print_block(out, &t, from, to);
		from = to;
	} while (from < t.n_columns);
	for (size_t i = 0; i < n_cells; i++)
		g_free(t.cells[i]);
	g_free(t.cells);
	g_free(t.widths);
	g_free(t.left);
}
