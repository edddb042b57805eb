/* SPDX-License-Identifier: MIT */
#include "cli/top/table.h"

#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

#define LEAST_NAME 10
#define MOST_NAME 60
#define MOST_TITLE 16
#define LEAST_HISTORY 8
#define MOST_HISTORY 60
#define GAP 2

struct column {
	unsigned what;
	const char *name; /* not escaped */
	unsigned width;
};

/* One pass as it is shown. */
struct line {
	const struct tally_top_pass *pass;
	char *name; /* printable */
	double value; /* in the sort column; NAN: none */
};

struct layout {
	const struct tally_top_look *look;
	const struct tally_top_sums *sums;
	GArray *columns; /* elements: struct column, those that fit */
	bool ms; /* times are in milliseconds, otherwise in microseconds */
};

/* ---- columns ---- */

static GArray *
all_columns(const struct tally_top_window *w)
{
	static const struct column fixed[] = {
		{ TALLY_TOP_NAME, "name", LEAST_NAME },
		{ TALLY_TOP_SHARE, "share", 6 },
		{ TALLY_TOP_MEAN, "mean", 8 },
		{ TALLY_TOP_MAX, "max", 8 },
		{ TALLY_TOP_HISTORY, "GPU time", LEAST_HISTORY },
		{ TALLY_TOP_SEEN, "n", 6 },
	};
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct column));
	g_array_append_vals(columns, fixed, G_N_ELEMENTS(fixed));
	for (uint32_t i = TALLY_SERIES_GPU + 1; i < tally_n_series(&w->log); i++) {
		struct column c = { TALLY_TOP_SERIES + i, tally_series_name(&w->log, i), 0 };
		c.width = CLAMP((unsigned)tally_text_width(c.name), 8, MOST_TITLE);
		if (i < w->series_in_use->len && g_array_index(w->series_in_use, bool, i) &&
		    i != TALLY_SERIES_CALLS)
			g_array_append_val(columns, c);
	}
	return columns;
}

bool
tally_top_find_column(const struct tally_top_window *w, const char *name, unsigned *column)
{
	g_autoptr(GArray) columns = all_columns(w);
	TALLY_EACH_OF (const struct column, c, columns) {
		if (c->what == TALLY_TOP_HISTORY || strcmp(c->name, name) != 0)
			continue;
		*column = c->what;
		return true;
	}
	return false;
}

char *
tally_top_column_names(const struct tally_top_window *w)
{
	GString *names = g_string_new(NULL);
	g_autoptr(GArray) columns = all_columns(w);
	TALLY_EACH_OF (const struct column, c, columns) {
		g_autofree char *name = tally_text_escape(c->name);
		if (c->what != TALLY_TOP_HISTORY)
			g_string_append_printf(names, "%s%s", names->len ? ", " : "", name);
	}
	return g_string_free(names, FALSE);
}

void
tally_top_move_sort(const struct tally_top_window *w, struct tally_top_look *look, int direction)
{
	g_autoptr(GArray) columns = all_columns(w);
	const struct column *c = (const void *)columns->data;
	int n = (int)columns->len, at = 0;
	for (int i = 0; i < n; i++)
		at = c[i].what == look->sort ? i : at;
	do
		at = (at + direction + n) % n;
	while (c[at].what == TALLY_TOP_HISTORY);
	look->sort = c[at].what;
}

/* ---- rows ---- */

/* NAN: there is none. */
static double
value_of(const struct tally_top_pass *p, unsigned what)
{
	struct tally_top_figures f = p->gpu.all;
	unsigned series = what - TALLY_TOP_SERIES;
	if (what >= TALLY_TOP_SERIES)
		f = series < p->n_series ? p->series[series] : (struct tally_top_figures){ 0 };
	if (what == TALLY_TOP_NAME || what == TALLY_TOP_HISTORY)
		return 0;
	if (what == TALLY_TOP_SEEN)
		return p->frames ? (double)p->frames : (double)NAN;
	if (!f.n)
		return NAN;
	return what == TALLY_TOP_SHARE ? f.sum
	       : what == TALLY_TOP_MAX ? f.largest
				       : f.sum / (double)f.n;
}

static int
compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	if (isnan(x->value) != isnan(y->value))
		return isnan(y->value) ? -1 : 1; /* rows without a value come last */
	int order = (x->value < y->value) - (x->value > y->value);
	if (order == 0)
		order = strcmp(x->name, y->name);
	if (order == 0) /* the same name in two devices, or equal after escaping */
		return x->pass->group->id < y->pass->group->id ? -1 : 1;
	return order;
}

static void
clear_line(gpointer line)
{
	g_free(((struct line *)line)->name);
}

static GArray *
make_lines(const struct tally_top_sums *sums, const struct tally_top_look *look)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct line));
	g_array_set_clear_func(lines, clear_line);
	TALLY_EACH (const struct tally_top_pass, pass, sums->passes) {
		if (pass->group->outside && pass->gpu.all.sum <= 0)
			continue; /* there was no work outside passes */
		const struct line l = { pass, tally_top_clean(look, pass->group->name),
					value_of(pass, look->sort) };
		g_array_append_val(lines, l);
	}
	g_array_sort(lines, compare_lines);
	return lines;
}

/* ---- cells ---- */

/* Short enough that columns need not widen: at most 8 columns. */
static char *
number_text(double v, bool estimated)
{
	static const struct {
		double size;
		const char *letter;
	} steps[] = { { 1e18, "E" }, { 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" } };
	const char *mark = estimated ? "~" : "";
	double size = fabs(v);
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
		/* Compared as it will be rounded: 999999.6 is 1.00M, not 1000000. */
		double in = size / steps[i].size;
		if (in >= 0.9999995)
			return g_strdup_printf("%s%.*f%s", mark,
					       in < 10    ? 2
					       : in < 100 ? 1
							  : 0,
					       v / steps[i].size, steps[i].letter);
	}
	bool whole = size == floor(size);
	return g_strdup_printf("%s%.*f", mark, whole || size >= 1000 ? 0 : size >= 10 ? 1 : 3, v);
}

static bool
is_estimated(const struct tally_group *g, unsigned what)
{
	return what >= TALLY_TOP_SERIES && what - TALLY_TOP_SERIES < g->n_series &&
	       g->series[what - TALLY_TOP_SERIES].estimated;
}

static char *
cell_text(const struct layout *layout, const struct line *l, const struct column *c)
{
	double v = value_of(l->pass, c->what), all = layout->sums->gpu.all.sum;
	double steps[MOST_HISTORY];
	if (c->what == TALLY_TOP_NAME)
		return g_strdup(l->name);
	if (isnan(v))
		return g_strdup("-");
	switch (c->what) {
	case TALLY_TOP_HISTORY:
		tally_top_steps(layout->sums, &l->pass->gpu, steps, c->width);
		return tally_top_spark(layout->look, steps, c->width);
	case TALLY_TOP_SHARE:
		return all > 0 ? g_strdup_printf("%.1f%%", 100 * v / all) : g_strdup("-");
	case TALLY_TOP_MEAN:
	case TALLY_TOP_MAX:
		return g_strdup_printf("%.*f", layout->ms ? 3 : 1, v / (layout->ms ? 1e6 : 1e3));
	default:
		return number_text(v, is_estimated(l->pass->group, c->what));
	}
}

static char *
title_text(const struct layout *layout, const struct column *c)
{
	if (c->what == TALLY_TOP_NAME)
		return g_strdup("pass");
	if (c->what == TALLY_TOP_MEAN || c->what == TALLY_TOP_MAX)
		return g_strdup_printf("%s %s", c->name, layout->ms ? "ms" : "us");
	return tally_top_clean(layout->look, c->name);
}

/* ---- layout ---- */

/* The name always, then from left to right what there is room for; a series that sorts comes
 * before the others. The chart takes the room that is left. */
static void
lay_out(struct layout *layout, const struct tally_top_window *w, unsigned name)
{
	g_autoptr(GArray) all = all_columns(w);
	struct column *c = (void *)all->data;
	unsigned limit = layout->look->width, width = limit ? limit : 10000;
	for (guint i = TALLY_TOP_SERIES + 1; i < all->len; i++) {
		const struct column sorts = c[i];
		if (sorts.what != layout->look->sort)
			continue;
		memmove(&c[TALLY_TOP_SERIES + 1], &c[TALLY_TOP_SERIES],
			(i - TALLY_TOP_SERIES) * sizeof(*c));
		c[TALLY_TOP_SERIES] = sorts;
	}
	c[TALLY_TOP_NAME].width = MAX(MIN(name, MAX(width / 3, LEAST_NAME)), 4);
	unsigned room = MAX(width, c[TALLY_TOP_NAME].width) - c[TALLY_TOP_NAME].width;
	g_array_append_vals(layout->columns, c, 1);
	for (guint i = TALLY_TOP_SHARE; i < all->len && GAP + c[i].width <= room; i++) {
		room -= GAP + c[i].width;
		g_array_append_vals(layout->columns, &c[i], 1);
	}
	if (layout->columns->len > TALLY_TOP_HISTORY) {
		struct column *chart = &g_array_index(layout->columns, struct column,
						      TALLY_TOP_HISTORY);
		unsigned more = limit ? MIN(room, MOST_HISTORY - LEAST_HISTORY) : 16;
		chart->width += more;
		room -= more;
	}
	if (limit && layout->columns->len > 1)
		g_array_index(layout->columns, struct column, 0).width += room;
}

/* ---- the table ---- */

static enum tally_top_style
style_of(const struct column *c, bool head, bool sorts)
{
	if (head)
		return sorts ? TALLY_TOP_SORTED : TALLY_TOP_HEAD;
	return c->what == TALLY_TOP_HISTORY ? TALLY_TOP_CHART
	       : sorts                      ? TALLY_TOP_STRONG
					    : TALLY_TOP_PLAIN;
}

/* The head, if there is no line. Text is aligned left, numbers are right. */
static void
put_line(GString *row, const struct layout *layout, const struct line *l)
{
	TALLY_EACH_OF (const struct column, c, layout->columns) {
		enum tally_top_style style = style_of(c, !l, c->what == layout->look->sort);
		bool left = c->what == TALLY_TOP_NAME || c->what == TALLY_TOP_HISTORY;
		bool last = l && c + 1 == c_end;
		g_autofree char *text = l ? cell_text(layout, l, c) : title_text(layout, c);
		g_autofree char *fit = tally_text_fit(text, c->width);
		int gap = (int)c->width - (int)tally_text_width(fit);
		if (c->what != TALLY_TOP_NAME)
			tally_top_put(row, l ? TALLY_TOP_PLAIN : TALLY_TOP_HEAD, "  ");
		tally_top_put(row, style, "%*s%s%*s", left ? 0 : gap, "", fit,
			      left && !last ? gap : 0, "");
	}
}

/* One unit for all times, as in a report. */
static bool
is_in_ms(const GArray *lines)
{
	bool ms = false;
	TALLY_EACH_OF (const struct line, l, lines)
		ms |= value_of(l->pass, TALLY_TOP_MEAN) >= 1e6;
	return ms;
}

void
tally_top_put_table(GPtrArray *rows, const struct tally_top_window *w,
		    const struct tally_top_sums *sums, struct tally_top_look *look, unsigned height,
		    unsigned *n_rows, unsigned *n_shown)
{
	g_autoptr(GArray) lines = make_lines(sums, look);
	g_autoptr(GArray) columns = g_array_new(FALSE, FALSE, sizeof(struct column));
	struct layout layout = { look, sums, columns, is_in_ms(lines) };
	unsigned name = LEAST_NAME;
	TALLY_EACH_OF (const struct line, l, lines)
		name = MAX(name, (unsigned)tally_text_width(l->name));
	lay_out(&layout, w, MIN(name, MOST_NAME));
	put_line(tally_top_new_row(rows), &layout, NULL);
	unsigned room = height ? height - 1 : lines->len;
	look->scroll = MIN(look->scroll, lines->len > room ? lines->len - room : 0);
	*n_rows = lines->len;
	*n_shown = MIN(room, lines->len - look->scroll);
	for (unsigned i = 0; i < *n_shown; i++)
		put_line(tally_top_new_row(rows), &layout,
			 &g_array_index(lines, struct line, look->scroll + i));
}
