/* SPDX-License-Identifier: MIT */
#include "cli/top/table.h"

#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

#define LEAST_NAME 10
#define LEAST_HISTORY 8
#define MOST_HISTORY 60
#define GAP 2

/* One pass as it is shown. */
struct line {
	const struct tally_top_pass *pass;
	struct tally_top_figures gpu;
	char *name; /* printable */
	bool sortable; /* has a value in the sort column */
	double value;
};

struct layout {
	GArray *columns; /* elements: struct tally_top_column, the columns that fit */
	GArray *widths; /* elements: unsigned */
	double unit_ns;
	const char *unit;
	unsigned decimals;
	double gpu_sum; /* GPU time of the device's frames, 0 = not known */
	const struct tally_top_sums *sums;
};

/* ---- columns ---- */

static GArray *
all_columns(const struct tally_top_window *w)
{
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct tally_top_column));
	for (unsigned what = TALLY_TOP_NAME; what < TALLY_TOP_SERIES; what++) {
		struct tally_top_column c = { .what = (enum tally_top_what)what };
		g_array_append_val(columns, c);
	}
	for (uint32_t i = TALLY_SERIES_GPU + 1; i < tally_n_series(&w->log); i++) {
		struct tally_top_column c = { .what = TALLY_TOP_SERIES, .series = i };
		if (tally_top_series_in_use(w, i) && i != TALLY_SERIES_CALLS)
			g_array_append_val(columns, c);
	}
	return columns;
}

static bool
is_column(const struct tally_top_column *a, const struct tally_top_column *b)
{
	return a->what == b->what &&
	       (a->what != TALLY_TOP_SERIES || a->series == b->series);
}

static const char *
column_name(const struct tally_top_window *w, const struct tally_top_column *c)
{
	static const char *const names[] = {
		[TALLY_TOP_NAME] = "name", [TALLY_TOP_SHARE] = "share",
		[TALLY_TOP_MEAN] = "mean", [TALLY_TOP_MAX] = "max",
		[TALLY_TOP_SEEN] = "n",    [TALLY_TOP_HISTORY] = "GPU time",
	};
	return c->what == TALLY_TOP_SERIES ? tally_series_name(&w->log, c->series)
					   : names[c->what];
}

bool
tally_top_find_column(const struct tally_top_window *w, const char *name,
		      struct tally_top_column *column)
{
	g_autoptr(GArray) columns = all_columns(w);
	TALLY_EACH_OF (const struct tally_top_column, c, columns) {
		if (c->what == TALLY_TOP_HISTORY || strcmp(column_name(w, c), name) != 0)
			continue;
		*column = *c;
		return true;
	}
	return false;
}

char *
tally_top_column_names(const struct tally_top_window *w)
{
	GString *names = g_string_new(NULL);
	g_autoptr(GArray) columns = all_columns(w);
	TALLY_EACH_OF (const struct tally_top_column, c, columns) {
		if (c->what == TALLY_TOP_HISTORY)
			continue;
		g_autofree char *name = tally_text_escape(column_name(w, c));
		g_string_append_printf(names, "%s%s", names->len ? ", " : "", name);
	}
	return g_string_free(names, FALSE);
}

void
tally_top_move_sort(const struct tally_top_window *w, struct tally_top_look *look,
		    int steps)
{
	g_autoptr(GArray) columns = all_columns(w);
	int n = (int)columns->len, at = 0;
	for (int i = 0; i < n; i++)
		if (is_column(&g_array_index(columns, struct tally_top_column, i),
			      &look->sort))
			at = i;
	int direction = steps < 0 ? -1 : 1;
	for (; steps != 0; steps -= direction) {
		at = (at + direction + n) % n;
		if (g_array_index(columns, struct tally_top_column, at).what ==
		    TALLY_TOP_HISTORY)
			at = (at + direction + n) % n;
	}
	look->sort = g_array_index(columns, struct tally_top_column, at);
}

/* ---- rows ---- */

static void
take_value(const struct tally_top_column *c, struct line *l)
{
	struct tally_top_figures f = l->gpu;
	switch (c->what) {
	case TALLY_TOP_SHARE:
		l->value = f.sum;
		break;
	case TALLY_TOP_MEAN:
		l->value = f.sum / (double)f.n;
		break;
	case TALLY_TOP_MAX:
		l->value = f.largest;
		break;
	case TALLY_TOP_SEEN:
		f.n = l->pass->frames;
		l->value = (double)f.n;
		break;
	case TALLY_TOP_SERIES:
		f = (struct tally_top_figures){ 0 };
		if (c->series < l->pass->n_series)
			f = l->pass->series[c->series];
		l->value = f.sum / (double)f.n;
		break;
	default:
		f.n = 1;
		l->value = 0;
	}
	l->sortable = f.n > 0;
}

static int
compare_lines(const void *a, const void *b, void *data)
{
	const struct tally_top_look *look = data;
	const struct line *x = a, *y = b;
	int order;
	if (x->sortable != y->sortable)
		return x->sortable ? -1 : 1; /* rows without a value come last */
	if (look->sort.what == TALLY_TOP_NAME || x->value == y->value)
		order = strcmp(x->name, y->name);
	else
		order = x->value > y->value ? -1 : 1;
	if (order == 0) /* the same name in two devices, or equal after escaping */
		return x->pass->group->id < y->pass->group->id ? -1 : 1;
	return look->reverse ? -order : order;
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
		struct line l = { .pass = pass };
		l.gpu = l.pass->gpu.all;
		if (l.pass->group->outside && l.gpu.sum <= 0)
			continue; /* there was no work outside passes */
		l.name = tally_top_clean(look, l.pass->group->name);
		take_value(&look->sort, &l);
		g_array_append_val(lines, l);
	}
	g_array_sort_with_data(lines, compare_lines, (void *)look);
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
	} steps[] = {
		{ 1e18, "E" }, { 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }
	};
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
	return g_strdup_printf("%s%.*f", mark,
			       whole || size >= 1000 ? 0
			       : size >= 10          ? 1
						     : 3,
			       v);
}

static bool
is_estimated(const struct line *l, const struct tally_top_column *c)
{
	const struct tally_group *g = l->pass->group;
	return c->what == TALLY_TOP_SERIES && c->series < g->n_series &&
	       g->series[c->series].estimated;
}

static char *
cell_text(const struct layout *layout, const struct line *l,
	  const struct tally_top_column *c)
{
	struct line value = *l;
	take_value(c, &value);
	if (!value.sortable)
		return g_strdup("-");
	switch (c->what) {
	case TALLY_TOP_NAME:
		return g_strdup(l->name);
	case TALLY_TOP_SHARE:
		if (layout->gpu_sum <= 0)
			return g_strdup("-");
		return g_strdup_printf("%.1f%%", 100 * value.value / layout->gpu_sum);
	case TALLY_TOP_MEAN:
	case TALLY_TOP_MAX:
		return g_strdup_printf("%.*f", (int)layout->decimals,
				       value.value / layout->unit_ns);
	default:
		return number_text(value.value, is_estimated(l, c));
	}
}

static char *
title_text(const struct tally_top_window *w, const struct tally_top_look *look,
	   const struct layout *layout, const struct tally_top_column *c)
{
	if (c->what == TALLY_TOP_NAME)
		return g_strdup("pass");
	if (c->what == TALLY_TOP_MEAN || c->what == TALLY_TOP_MAX)
		return g_strdup_printf("%s %s", column_name(w, c), layout->unit);
	return tally_top_clean(look, column_name(w, c));
}

/* ---- layout ---- */

static unsigned
column_width(const struct tally_top_window *w, const struct tally_top_column *c)
{
	enum { MOST_TITLE = 16 };
	switch (c->what) {
	case TALLY_TOP_SHARE:
	case TALLY_TOP_SEEN:
		return 6;
	case TALLY_TOP_MEAN:
	case TALLY_TOP_MAX:
		return 8;
	default:
		return MAX(8, MIN((unsigned)tally_text_width(column_name(w, c)),
				  MOST_TITLE));
	}
}

static void
place(struct layout *layout, const struct tally_top_column *c, unsigned width)
{
	g_array_append_val(layout->columns, *c);
	g_array_append_val(layout->widths, width);
}

/* The number of columns of call counts, counters and metrics, starting at `first`, that fit
 * into `room`. */
static guint
fit_series(const struct tally_top_window *w, const GArray *all, guint first,
	   unsigned room)
{
	guint i = first;
	for (unsigned used = 0; i < all->len; i++) {
		used += GAP +
			column_width(w, &g_array_index(all, struct tally_top_column, i));
		if (used > room)
			break;
	}
	return i;
}

/* The columns of call counts, counters and metrics that are shown: from `first` up to, but
 * not including, `end`. */
struct series_range {
	guint first, end;
};

/* The sort column is always included: if it is far to the right, the columns before it are
 * skipped. */
static struct series_range
choose_series(const struct tally_top_window *w, const struct tally_top_look *look,
	      const GArray *all, unsigned room, unsigned fixed)
{
	const struct tally_top_column *c = (const struct tally_top_column *)(void *)
						   all->data;
	struct series_range range = { .first = TALLY_TOP_SERIES };
	guint sorted = 0;
	for (guint i = range.first; i < all->len; i++)
		sorted = is_column(&c[i], &look->sort) ? i : sorted;
	unsigned least = sorted ? GAP + column_width(w, &c[sorted]) : 0;
	unsigned for_series = MIN(MAX(MAX(room, fixed) - fixed, least), room);
	range.end = fit_series(w, all, range.first, for_series);
	while (sorted && range.end <= sorted && range.first < sorted)
		range.end = fit_series(w, all, ++range.first, for_series);
	return range;
}

/* Places the columns between the name and the series, from left to right while there is
 * room; returns the remaining room. */
static unsigned
place_fixed(struct layout *layout, const struct tally_top_window *w,
	    const struct tally_top_column *c, unsigned room, unsigned history)
{
	for (guint i = TALLY_TOP_SHARE; i < TALLY_TOP_SERIES; i++) {
		unsigned need = i == TALLY_TOP_HISTORY ? history : column_width(w, &c[i]);
		if (GAP + need > room)
			continue;
		room -= GAP + need;
		place(layout, &c[i], need);
	}
	return room;
}

/* The name and the sort column are always shown; the others from left to right while there
 * is room. */
static void
lay_out(struct layout *layout, const struct tally_top_window *w,
	const struct tally_top_look *look, unsigned name)
{
	g_autoptr(GArray) all = all_columns(w);
	const struct tally_top_column *c = (struct tally_top_column *)(void *)all->data;
	unsigned width = look->width ? look->width : 10000;
	name = MAX(MIN(name, MAX(width / 3, LEAST_NAME)), 4);
	unsigned room = MAX(width, name) - name;
	unsigned fixed = 0;
	for (guint i = TALLY_TOP_SHARE; i < TALLY_TOP_SERIES; i++)
		fixed += GAP + (i == TALLY_TOP_HISTORY ? LEAST_HISTORY
						       : column_width(w, &c[i]));
	struct series_range series = choose_series(w, look, all, room, fixed);
	for (guint i = series.first; i < series.end; i++)
		room -= MIN(room, GAP + column_width(w, &c[i]));
	unsigned spare = MAX(room, fixed) - fixed;
	unsigned history = look->width ? MIN(LEAST_HISTORY + spare, MOST_HISTORY) : 24;
	place(layout, &c[TALLY_TOP_NAME], name);
	room = place_fixed(layout, w, c, room, history);
	for (guint i = series.first; i < series.end; i++)
		place(layout, &c[i], column_width(w, &c[i]));
	if (look->width && layout->columns->len > 1)
		g_array_index(layout->widths, unsigned, 0) += room;
}

/* ---- the table ---- */

static void
put_cell(GArray *row, unsigned width, bool left, bool last, enum tally_top_style style,
	 char *text)
{
	g_autofree char *fit = tally_text_fit(text, width);
	unsigned gap = width - MIN(width, (unsigned)tally_text_width(fit));
	if (left)
		tally_top_put(row, style,
			      g_strdup_printf("%s%*s", fit, last ? 0 : (int)gap, ""));
	else
		tally_top_put(row, style, g_strdup_printf("%*s%s", (int)gap, "", fit));
	g_free(text);
}

static void
put_head(GArray *row, const struct tally_top_window *w, const struct tally_top_look *look,
	 const struct layout *layout)
{
	for (guint i = 0; i < layout->columns->len; i++) {
		const struct tally_top_column *c = &g_array_index(
			layout->columns, struct tally_top_column, i);
		unsigned width = g_array_index(layout->widths, unsigned, i);
		bool sorts = is_column(c, &look->sort);
		if (i)
			tally_top_put(row, TALLY_TOP_HEAD, g_strdup("  "));
		put_cell(row, width,
			 c->what == TALLY_TOP_NAME || c->what == TALLY_TOP_HISTORY, false,
			 sorts ? TALLY_TOP_SORTED : TALLY_TOP_HEAD,
			 title_text(w, look, layout, c));
	}
}

static void
put_line(GArray *row, const struct tally_top_look *look,
	 const struct layout *layout, const struct line *l)
{
	for (guint i = 0; i < layout->columns->len; i++) {
		const struct tally_top_column *c = &g_array_index(
			layout->columns, struct tally_top_column, i);
		unsigned width = g_array_index(layout->widths, unsigned, i);
		bool last = i + 1 == layout->columns->len;
		if (i)
			tally_top_put(row, TALLY_TOP_PLAIN, g_strdup("  "));
		if (c->what == TALLY_TOP_HISTORY) {
			double steps[MOST_HISTORY];
			tally_top_steps(layout->sums, &l->pass->gpu, steps, width);
			put_cell(row, width, true, last, TALLY_TOP_CHART,
				 tally_top_spark(look, steps, width));
		} else {
			put_cell(row, width, c->what == TALLY_TOP_NAME, last,
				 is_column(c, &look->sort) ? TALLY_TOP_STRONG
							   : TALLY_TOP_PLAIN,
				 cell_text(layout, l, c));
		}
	}
}

/* One unit for all times, as in a report. */
static void
choose_unit(struct layout *layout, const GArray *lines)
{
	double most = 0;
	TALLY_EACH_OF (const struct line, l, lines)
		if (l->gpu.n)
			most = MAX(most, l->gpu.sum / (double)l->gpu.n);
	bool ms = most >= 1e6;
	layout->unit_ns = ms ? 1e6 : 1e3;
	layout->decimals = ms ? 3 : 1;
	layout->unit = ms ? "ms" : "us";
}

void
tally_top_put_table(GPtrArray *rows, const struct tally_top_window *w,
		    const struct tally_top_sums *sums, struct tally_top_look *look,
		    unsigned height, unsigned *n_rows, unsigned *n_shown)
{
	struct layout layout = { .sums = sums };
	g_autoptr(GArray) lines = make_lines(sums, look);
	layout.columns = g_array_new(FALSE, FALSE, sizeof(struct tally_top_column));
	layout.widths = g_array_new(FALSE, FALSE, sizeof(unsigned));
	layout.gpu_sum = sums->gpu.all.sum;
	choose_unit(&layout, lines);
	unsigned name = LEAST_NAME;
	TALLY_EACH_OF (const struct line, l, lines)
		name = MAX(name, (unsigned)tally_text_width(l->name));
	lay_out(&layout, w, look, MIN(name, 60));
	put_head(tally_top_new_row(rows), w, look, &layout);
	unsigned room = height ? MAX(height, 1) - 1 : lines->len;
	room = look->most_passes ? MIN(room, look->most_passes) : room;
	unsigned most = lines->len > room ? lines->len - room : 0;
	look->scroll = MIN(look->scroll, most);
	*n_rows = lines->len;
	*n_shown = MIN(room, lines->len - look->scroll);
	for (unsigned i = 0; i < *n_shown; i++)
		put_line(tally_top_new_row(rows), look, &layout,
			 &g_array_index(lines, struct line, look->scroll + i));
	g_array_unref(layout.columns);
	g_array_unref(layout.widths);
}
