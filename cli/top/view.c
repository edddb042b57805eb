/* SPDX-License-Identifier: MIT */
#include "cli/top/view.h"

#include "cli/answer/bound.h"
#include "cli/answer/text.h"
#include "cli/log/device_summary.h"
#include "cli/log/series.h"
#include "cli/report/table.h"
#include "cli/shared/each.h"
#include "cli/shared/table.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* A lower terminal has the title, the frame time and the table alone. */
#define HIGH 16

/* ---- contents ---- */

void
tally_top_next_device(const struct tally_top_window *w, struct tally_top_look *look)
{
	int64_t next = -1;
	TALLY_EACH_OF (const struct tally_top_device, d, w->devices)
		if (d->device > look->device && (next < 0 || d->device < next))
			next = d->device;
	look->device = next;
}

/* A further part of a line whose parts are in order of importance, with `between` before it. A
 * part that does not fit begins a new line on a high screen, and is left out on a low one. */
static void
put_part(GPtrArray *rows, const struct tally_top_look *look, unsigned height,
	 const char *between, const char *text)
{
	GString *row = g_ptr_array_index(rows, rows->len - 1);
	if (look->width && tally_top_row_width(row) + 2 + tally_text_width(text) > look->width) {
		row = height >= HIGH ? tally_top_new_row(rows) : NULL;
		between = "";
	}
	if (row)
		tally_top_put(row, TALLY_TOP_PLAIN, "%s%s", between, text);
}

static void
put_title(GPtrArray *rows, const struct tally_top_window *w,
	  const struct tally_top_look *look, unsigned height)
{
	GString *row = tally_top_new_row(rows);
	const struct tally_aggregate *a = &w->log;
	tally_top_put(row, TALLY_TOP_STRONG, "%s", "passtally top");
	g_autofree char *state = tally_top_clean(look, look->state ? look->state : "");
	tally_top_put(row, look->state_style, "  %s", state);
	if (a->program) {
		g_autofree char *base = g_path_get_basename(a->program);
		g_autofree char *name = tally_top_clean(look, base);
		tally_top_put(row, TALLY_TOP_STRONG, "  %s", name);
		tally_top_put(row, TALLY_TOP_PLAIN, " (process %" G_GINT64_FORMAT ")",
			      a->header.pid);
	}
	if (w->frames) {
		unsigned s = (unsigned)((double)(w->now_ns - w->first_ns) / 1e9);
		g_autofree char *length = g_strdup_printf(
			"%" G_GUINT64_FORMAT " frame%s in %u:%02u:%02u", w->frames,
			TALLY_S(w->frames), s / 3600, s / 60 % 60, s % 60);
		put_part(rows, look, height, "  ", length);
	}
	g_autofree char *path = tally_top_clean(look, a->path);
	unsigned used = tally_top_row_width(row);
	unsigned room = look->width > used + 2 ? look->width - used - 2 : 0;
	if (!look->width || room >= 12) {
		g_autofree char *fit = tally_text_fit(path, look->width ? room : SIZE_MAX);
		tally_top_put(row, TALLY_TOP_FAINT, "  %s", fit);
	}
}

static void
put_device(GPtrArray *rows, const struct tally_top_window *w, const struct tally_top_look *look,
	   const struct tally_top_device *d, unsigned height)
{
	const struct tally_device_summary *s = tally_aggregate_device(&w->log, d->device);
	g_autofree char *name = tally_top_clean(look, s && s->name ? s->name : "unknown");
	tally_top_put(tally_top_new_row(rows), TALLY_TOP_PLAIN, "device %u: %s", d->device, name);
	if (w->devices->len > 1) {
		g_autofree char *all = g_strdup_printf("%u devices in all", w->devices->len);
		put_part(rows, look, height, ", ", all);
	}
}

/* A sentence, in as many rows as it needs. */
static void
put_text(GPtrArray *rows, const struct tally_top_look *look, enum tally_top_style style,
	 const char *text)
{
	g_autofree char *wrapped =
		tally_text_wrap(text, 0, 2, look->width ? look->width : SIZE_MAX);
	g_auto(GStrv) lines = g_strsplit(wrapped, "\n", -1);
	for (guint i = 0; lines[i]; i++)
		tally_top_put(tally_top_new_row(rows), style, "%s", lines[i]);
}

/* The speed, what limits it, the worst hitch and passtally's cost, all for the window. */
static void
put_answer(GPtrArray *rows, const struct tally_top_look *look, const struct tally_answer_device *a)
{
	const char *speed = tally_answer_speed_text(a);
	const char *bound = tally_answer_bound_text(a);
	put_text(rows, look, TALLY_TOP_STRONG, speed);
	put_text(rows, look, TALLY_TOP_PLAIN, bound);
	const char *worst = a->n_listed ? tally_answer_hitch_text(&a->hitches[0]) : NULL;
	g_autofree char *hitches = g_strdup_printf("hitches: %" G_GUINT64_FORMAT "; %s%s",
						   a->n_hitches,
						   a->n_hitches > 1 ? "the worst: " : "",
						   worst ? worst : "");
	put_text(rows, look, TALLY_TOP_PLAIN, worst ? hitches : "hitches: none");
	put_part(rows, look, HIGH, "; ", tally_answer_cost_text(a));
}

/* "frame time   11.80 ms  max  29.60 ms   84.5 fps   ....chart"; `rate`: no other line has it. */
static void
put_chart(GPtrArray *rows, const struct tally_top_sums *sums,
	  const struct tally_top_look *look, bool gpu, bool rate)
{
	enum { MOST = TALLY_TOP_SLICES };
	GString *row = tally_top_new_row(rows);
	const struct tally_device_summary *d = tally_aggregate_device(&sums->w->log, sums->device);
	const struct tally_moments *m = gpu ? &d->gpu.moments : &d->cpu.moments;
	tally_top_put(row, TALLY_TOP_STRONG, "%s", gpu ? "GPU time  " : "frame time");
	if (!m->n) {
		tally_top_put(row, TALLY_TOP_FAINT, "%s", "  not measured");
		return;
	}
	double ns = tally_moments_mean(m);
	const char *mean = tally_duration_text(ns);
	const char *most = tally_duration_text(tally_value_f64(m->max));
	g_autofree char *more = rate && ns > 0 ? g_strdup_printf("%.1f fps", 1e9 / ns)
					       : g_strdup("");
	tally_top_put(row, TALLY_TOP_PLAIN, "  %9s  max %9s  %12s  ", mean, most, more);
	unsigned used = tally_top_row_width(row);
	unsigned n = look->width ? MIN(look->width > used ? look->width - used : 0, MOST) : 60;
	if (n < 4)
		return;
	double steps[MOST];
	tally_top_steps(sums, gpu ? &sums->gpu : &sums->cpu, steps, n);
	g_autofree char *chart = tally_top_spark(look, steps, n);
	tally_top_put(row, TALLY_TOP_CHART, "%s", chart);
}

/* The newest note and the number of notes; a problem of the view itself comes first. */
static void
put_note(GPtrArray *rows, const struct tally_top_window *w, const struct tally_top_look *look)
{
	enum { MOST_LINES = 2 };
	const GPtrArray *notes = w->log.notes;
	const char *label = "", *text = "";
	if (look->problem) {
		text = look->problem;
	} else if (w->cut) {
		text = "more passes than fit in memory: the window is shorter";
	} else if (notes->len) {
		text = g_ptr_array_index(notes, notes->len - 1);
		label = "note: ";
	}
	g_autofree char *clean = tally_top_clean(look, text);
	if (*label && notes->len > 1)
		label = tally_phrase("note %u: ", notes->len);
	g_autofree char *fit = tally_text_fit(tally_phrase("%s%s", label, clean),
					      look->width ? MOST_LINES * look->width : SIZE_MAX);
	if (*fit)
		put_text(rows, look, TALLY_TOP_WARNING, fit);
	else
		tally_top_new_row(rows);
}

/* ---- table ---- */

/* The report's columns of passes that matter here, and the series in use. */
static GArray *
list_columns(const struct tally_aggregate *a, const char *sort)
{
	static const char *const first[] = { "name", "share", "mean_ns", "max_ns", "n" };
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct tally_column));
	g_autoptr(GArray) all = tally_columns_create(a);
	for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
		g_array_append_vals(columns, tally_columns_seek(all, first[i]), 1);
	TALLY_EACH_OF (struct tally_column, c, all)
		if (c->what == TALLY_COLUMN_SERIES && tally_series_in_use(a, c->series) &&
		    c->series != TALLY_SERIES_CALLS)
			g_array_append_vals(columns, c, 1);
	const struct tally_column *sorts = sort ? tally_columns_seek(columns, sort) : NULL;
	guint at = sorts ? (guint)(sorts - (const struct tally_column *)(void *)columns->data) : 0;
	if (at >= G_N_ELEMENTS(first)) { /* it is shown before the others */
		const struct tally_column moved = *sorts;
		g_array_remove_index(columns, at);
		g_array_insert_val(columns, G_N_ELEMENTS(first), moved);
	}
	TALLY_EACH_OF (struct tally_column, shown, columns)
		shown->in_table = true;
	return columns;
}

void
tally_top_move_sort(const struct tally_top_window *w, struct tally_top_look *look, int direction)
{
	g_autoptr(GArray) columns = list_columns(&w->log, NULL);
	const struct tally_column *c = (const void *)columns->data,
				  *now = tally_columns_seek(columns, look->sort);
	guint at = now ? (guint)(now - c) : 1;
	look->sort = c[(at + columns->len + (guint)direction) % columns->len].key;
}

/* NULL: the column by which the table is sorted is there. */
static char *
no_column_text(const struct tally_aggregate *a, const char *sort)
{
	g_autoptr(GArray) columns = list_columns(a, NULL);
	if (tally_columns_seek(columns, sort))
		return NULL;
	GString *names = g_string_new(NULL);
	g_string_printf(names, "no column is named %s (yet): there are", sort);
	TALLY_EACH_OF (const struct tally_column, c, columns)
		g_string_append_printf(names, "%s %s",
				       c == (void *)columns->data ? "" : ",", c->key);
	return g_string_free(names, FALSE);
}

struct charts {
	const struct tally_top_sums *sums;
	const struct tally_top_look *look;
};

static const char *
chart_text(void *user, const struct tally_group *g)
{
	enum { STEPS = 20 };
	const struct charts *charts = user;
	const struct tally_top_course *course = g_hash_table_lookup(charts->sums->passes, g);
	double steps[STEPS];
	if (!course)
		return "";
	tally_top_steps(charts->sums, course, steps, STEPS);
	g_autofree char *chart = tally_top_spark(charts->look, steps, STEPS);
	return tally_phrase("%s", chart);
}

/* The table's lines, head first. */
static GPtrArray *
make_table(const struct tally_top_sums *sums, const struct tally_top_look *look)
{
	enum { BEFORE = 4 }; /* the columns before the chart's */
	const struct tally_aggregate *a = &sums->w->log;
	struct charts charts = { sums, look };
	const struct tally_column chart = {
		.title = "GPU time",
		.what = TALLY_COLUMN_OWN,
		.in_table = true,
		.own = chart_text,
		.user = &charts,
	};
	g_autoptr(GArray) columns = list_columns(a, look->sort);
	const struct tally_column *found = tally_columns_seek(columns, look->sort);
	const struct tally_column sort = found ? *found
					       : g_array_index(columns, struct tally_column, 1);
	g_array_insert_val(columns, BEFORE, chart);
	g_autoptr(GPtrArray) rows = tally_rows_create(a, sums->device, &sort, false);
	struct tally_table t;
	tally_report_fill_table(&t, a, columns, rows);
	GPtrArray *lines = tally_table_lines(&t, look->width, true);
	tally_table_finish(&t);
	return lines;
}

/* As many lines of the table as there is room for (0 = no limit), from where it is scrolled to. */
static void
put_table(GPtrArray *rows, const GPtrArray *lines, struct tally_top_look *look, unsigned height)
{
	unsigned room = height ? height - 1 : lines->len, n = lines->len - 1;
	look->scroll = MIN(look->scroll, n > room ? n - room : 0);
	for (unsigned i = 0; i <= room && i <= n; i++) {
		g_autofree char *line =
			tally_top_clean(look, g_ptr_array_index(lines, i ? look->scroll + i : 0));
		tally_top_put(tally_top_new_row(rows), i ? TALLY_TOP_PLAIN : TALLY_TOP_HEAD,
			      "%s", line);
	}
}

static void
put_keys(GPtrArray *rows, const struct tally_top_look *look, unsigned n_rows, unsigned n_shown)
{
	g_autofree char *sorts = g_strdup_printf("sort column: %s", look->sort);
	const char *const keys[][2] = {
		{ "q", "quit" }, { "<>", sorts }, { "d", "device" }, { "space", "pause" }
	};
	GString *row = tally_top_new_row(rows);
	if (n_shown < n_rows)
		tally_top_put(row, TALLY_TOP_PLAIN, "%u-%u of %u  ", look->scroll + 1,
			      look->scroll + n_shown, n_rows);
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		tally_top_put(row, TALLY_TOP_STRONG, "%s%s", i ? "  " : "", keys[i][0]);
		tally_top_put(row, TALLY_TOP_FAINT, " %s", keys[i][1]);
	}
}

/* ---- complete view ---- */

/* The device, the answer about it, and the charts. */
static void
put_head(GPtrArray *rows, const struct tally_top_sums *sums, const struct tally_top_look *look,
	 const struct tally_top_device *d, unsigned height)
{
	const struct tally_answer_device *a = tally_answer_find(sums->answer, d->device);
	if (height >= HIGH)
		put_device(rows, sums->w, look, d, height);
	if (height >= HIGH && a)
		put_answer(rows, look, a);
	put_chart(rows, sums, look, false, height < HIGH);
	if (height >= HIGH)
		put_chart(rows, sums, look, true, false);
}

GPtrArray *
tally_top_compose(struct tally_top_window *w, struct tally_top_look *look)
{
	GPtrArray *rows = tally_top_new_rows();
	unsigned height = look->height ? look->height : 1000;
	bool keys = look->keys && height >= HIGH;
	put_title(rows, w, look, height);
	const struct tally_top_device *d = tally_top_shown_device(w, look->device);
	struct tally_top_sums *sums = tally_top_sums_create(w, d);
	if (!look->problem)
		look->problem = no_column_text(&w->log, look->sort);
	if (d)
		put_head(rows, sums, look, d, height);
	if (height >= HIGH || look->problem)
		put_note(rows, w, look);
	unsigned left = !look->height ? 0 : MAX(height - rows->len - keys, 1), before = rows->len;
	g_autoptr(GPtrArray) table = make_table(sums, look);
	if (d)
		put_table(rows, table, look, left);
	else
		tally_top_put(tally_top_new_row(rows), TALLY_TOP_PLAIN, "%s",
			      w->log.has_end ? "it ended before its first frame"
					     : "no frame yet");
	unsigned n_shown = rows->len - before - 1;
	tally_top_sums_destroy(sums);
	while (keys && rows->len + 1 < height)
		tally_top_new_row(rows);
	if (keys)
		put_keys(rows, look, table->len - 1, n_shown);
	if (look->height && rows->len > look->height)
		g_ptr_array_set_size(rows, (gint)look->height);
	TALLY_EACH (GString, row, rows) {
		if (look->width)
			tally_top_clip(row, look->width);
		if (!look->utf8) /* names have no other character beyond ASCII */
			g_string_replace(row, "\xe2\x80\xa6", "~", 0);
	}
	return rows;
}
