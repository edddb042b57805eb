/* SPDX-License-Identifier: MIT */
#include "cli/report/formats.h"

#include "cli/log/pass_name.h"
#include "cli/shared/each.h"
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
choose_unit(const GArray *lines)
{
	const struct time_unit us = { "us", 1e3, 1 };
	const struct time_unit ms = { "ms", 1e6, 3 };
	double most = 0;
	TALLY_EACH_OF (const struct tally_line, line, lines) {
		const struct tally_group *g = line->group;
		if (line->sum)
			continue;
		struct tally_stats *s = &g->series[TALLY_SERIES_GPU].stats;
		const struct tally_frame_row *frame = tally_as_frame(g);
		double ns = frame          ? (double)frame->record.cpu_ns
			    : s->moments.n ? tally_moments_mean(&s->moments)
					   : 0;
		most = MAX(most, ns);
	}
	return most >= 1e6 ? ms : us;
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
name_text(const struct tally_line *line)
{
	g_autofree char *name = tally_text_escape(line->name);
	return g_strdup_printf("%*s%s", 2 * (int)line->depth, "", name);
}

/* The value of a column; for a line that represents several rows, what is known about all of
 * them. */
static bool
line_value(const struct tally_aggregate *a, const struct tally_line *line,
	   const struct tally_column *c, struct tally_value *out)
{
	if (line->n == 1 || c->what == TALLY_COLUMN_DEVICE)
		return tally_column_value(a, line->group, c, out);
	*out = tally_f64(c->what == TALLY_COLUMN_PER_FRAME ? line->frame_ns : line->share);
	return (c->what == TALLY_COLUMN_PER_FRAME || c->what == TALLY_COLUMN_GPU_SHARE) &&
	       line->share >= 0;
}

/* The number of frames; for a row that is not in every frame, also the total. */
static char *
count_text(const struct tally_aggregate *a, const struct tally_group *g, struct tally_value v)
{
	uint64_t frames = tally_group_n_frames(a, g);
	g_autofree char *n = number_text(v);
	if (a->by->frames || v.u64 >= frames)
		return g_steal_pointer(&n);
	return g_strdup_printf("%s of %" G_GUINT64_FORMAT, n, frames);
}

/* Where a mean is over fewer frames than the row's N (counters that rotate are only in some
 * frames), their number follows in brackets. */
static char *
series_text(const struct tally_group *g, const struct tally_column *c, struct tally_value v)
{
	uint64_t n = g->series[c->series].stats.moments.n;
	g_autofree char *mean = number_text(v);
	if (n >= g->series[TALLY_SERIES_GPU].stats.moments.n)
		return g_steal_pointer(&mean);
	return g_strdup_printf("%s (%" G_GUINT64_FORMAT ")", mean, n);
}

static char *
cell_text(const struct tally_aggregate *a, const struct tally_line *line,
	  const struct tally_column *c, const struct time_unit *unit)
{
	const struct tally_group *g = line->group;
	if (c->what == TALLY_COLUMN_NAME || (c->what == TALLY_COLUMN_FRAME && line->name))
		return name_text(line);
	if (c->type == TALLY_COLUMN_TEXT) {
		g_autofree char *raw = line->n == 1 ? tally_column_text(g, c)
						    : g_strdup("");
		return tally_text_escape(raw);
	}
	struct tally_value v;
	if (!line_value(a, line, c, &v))
		return g_strdup(line->n == 1 ? "-" : "");
	g_autofree char *text = NULL;
	if (c->type == TALLY_COLUMN_TIME)
		text = g_strdup_printf("%.*f", unit->decimals, tally_value_f64(v) / unit->ns);
	else if (c->type == TALLY_COLUMN_SHARE)
		text = g_strdup_printf("%.1f%%", 100 * v.f64);
	else if (c->what == TALLY_COLUMN_N)
		text = count_text(a, g, v);
	else if (c->what == TALLY_COLUMN_SERIES && line->n == 1 && !a->by->frames)
		text = series_text(g, c, v);
	else
		text = number_text(v);
	bool estimated = line->n == 1 && tally_column_estimated(g, c);
	return g_strconcat(estimated ? "~" : "", text, NULL);
}

static char *
head_text(const struct tally_column *c, const struct time_unit *unit)
{
	if (c->type != TALLY_COLUMN_TIME)
		return tally_text_escape(c->title);
	if (c->title[0] == '/')
		return g_strdup_printf("%s%s", unit->word, c->title);
	return g_strdup_printf("%s %s", c->title, unit->word);
}

struct table {
	guint n_columns, n_rows;
	guint n_shown; /* the first of the columns */
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
fill(struct table *t, const struct tally_aggregate *a, const GArray *columns, const GArray *lines)
{
	struct time_unit unit = choose_unit(lines);
	guint n = 0;
	TALLY_EACH_OF (const struct tally_column, c, columns) {
		if (!c->in_table)
			continue;
		t->left[n] = c->type == TALLY_COLUMN_TEXT;
		t->cells[n] = head_text(c, &unit);
		for (guint r = 0; r < lines->len; r++)
			t->cells[(r + 1) * t->n_columns + n] = cell_text(
				a, &g_array_index(lines, struct tally_line, r), c, &unit);
		for (guint r = 0; r < t->n_rows; r++)
			t->widths[n] = MAX(t->widths[n], tally_text_width(table_cell(t, r, n)));
		n++;
	}
}

/* Makes the table as narrow as `width` where possible. The name is shortened first: numbers
 * must not be cut. Columns that a table of one block has no room for are left out. */
static void
fit_width(struct table *t, size_t width, bool one_block)
{
	size_t least = t->left[0] ? MIN(t->widths[0], LEAST_NAME) : t->widths[0], others = 0;
	t->n_shown = t->n_columns;
	for (guint c = 1; c < t->n_columns; c++) {
		if (one_block && least + others + 2 + t->widths[c] > width) {
			t->n_shown = c;
			break;
		}
		others += 2 + t->widths[c];
	}
	size_t room = width > others ? width - others : 0;
	if (t->left[0] && t->widths[0] > room)
		t->widths[0] = MAX(least, room);
}

static void
print_cell(FILE *out, const struct table *t, guint row, guint column, bool last)
{
	const char *cell = table_cell(t, row, column);
	g_autofree char *text = column == 0 ? tally_pass_name_fit(cell, t->widths[column])
					    : tally_text_fit(cell, t->widths[column]);
	int gap = (int)(t->widths[column] - tally_text_width(text));
	if (t->left[column])
		tally_text_print(out, "%s%*s", text, last ? 0 : gap, "");
	else
		tally_text_print(out, "%*s%s", gap, "", text);
}

/* The beginning of a row's line: the most expensive ones are highlighted. */
static const char *
color_of(const struct tally_aggregate *a, const GArray *lines, guint row)
{
	if (row == 0)
		return "\033[1m";
	const struct tally_line *line = &g_array_index(lines, struct tally_line, row - 1);
	double share = line->n == 1 && !a->by->frames ? tally_group_share(a, line->group) : 0;
	return line->n > 1     ? "\033[2m"
	       : share >= 0.25 ? "\033[1;31m"
	       : share >= 0.1  ? "\033[33m"
			       : NULL;
}

/* Prints the columns from `from` up to, but not including, `to`, after the first column.
 * `colors` NULL: without. */
static void
print_block(FILE *out, const struct table *t, guint from, guint to, const char *const *colors)
{
	for (guint r = 0; r < t->n_rows; r++) {
		const char *color = colors ? colors[r] : NULL;
		if (color)
			tally_text_color(out, color);
		guint end = to; /* empty cells at the end of a line are left out */
		while (end > from && !*table_cell(t, r, end - 1))
			end--;
		print_cell(out, t, r, 0, from == end);
		for (guint c = from; c < end; c++) {
			fputs("  ", out);
			print_cell(out, t, r, c, c + 1 == end);
		}
		if (color)
			tally_text_color(out, NULL);
		putc('\n', out);
	}
}

void
tally_table_print(FILE *out, const struct tally_aggregate *a, const GArray *columns,
		  const GArray *lines, const struct tally_table_style *style)
{
	guint n_columns = 0;
	TALLY_EACH_OF (const struct tally_column, c, columns)
		n_columns += c->in_table;
	g_auto(GStrv) cells = g_new0(char *, (size_t)n_columns *(lines->len + 1) + 1);
	g_autofree size_t *widths = g_new0(size_t, n_columns);
	g_autofree bool *left = g_new0(bool, n_columns);
	struct table t = { n_columns, lines->len + 1, n_columns, cells, widths, left };
	g_autofree const char **colors = style->color ? g_new0(const char *, t.n_rows)
						      : NULL;
	for (guint r = 0; colors && r < t.n_rows; r++)
		colors[r] = color_of(a, lines, r);
	fill(&t, a, columns, lines);
	size_t width = style->width;
	if (width)
		fit_width(&t, width, style->one_block);
	else if (t.left[0])
		t.widths[0] = MIN(t.widths[0], MOST_NAME);
	guint from = 1;
	do {
		guint to = from;
		size_t used = t.widths[0];
		while (to < t.n_shown && (!width || to == from || used + 2 + t.widths[to] <= width))
			used += 2 + t.widths[to++];
		if (from > 1)
			putc('\n', out);
		print_block(out, &t, from, to, colors);
		from = to;
	} while (from < t.n_shown);
}
