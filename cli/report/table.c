/* SPDX-License-Identifier: MIT */
#include "cli/report/table.h"

#include "cli/log/device_summary.h"
#include "cli/log/pass_name.h"
#include "cli/log/series.h"
#include "cli/shared/each.h"
#include "cli/shared/table.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* A row below this share of the GPU time, and not among the most expensive, gets no line. */
#define LEAST_SHARE 0.005
#define MOST_EXPENSIVE 5
/* A row without a time that is in a smaller part of the frames gets none either, where others
 * have times. */
#define RARE_SHARE 0.1

/* What the table shows of one row or of several. */
struct line {
	/* the row; of a line for several rows, the first of them */
	struct tally_group *group;
	unsigned n; /* > 1: the line represents that many rows, and only their sums are known */
	double frame_ns, share; /* those sums; negative = not known */
	unsigned n_untimed; /* rows without a time among them, which are not in the sums */
	unsigned depth; /* in the tree of labels */
	char *name; /* not escaped, without indentation; owned. NULL for a frame */
};

/* ---- lines ---- */

struct builder {
	const struct tally_aggregate *a;
	bool all;
	GArray *lines;
	GHashTable *children; /* maps a group or NULL to a GPtrArray of those below it */
	GHashTable *listed; /* the groups that are rows */
};

static void
free_line(gpointer p)
{
	g_free(((struct line *)p)->name);
}

bool
tally_table_is_nothing(const struct tally_group *g)
{
	bool nothing = g->outside;
	for (uint32_t i = 0; i < g->n_series && nothing; i++) {
		const struct tally_moments *m = &g->series[i].stats.moments;
		nothing = g->series[i].estimated || m->n == 0 || tally_moments_total(m) == 0;
	}
	return nothing;
}

/* Whether a row without a time, as of mipmaps that are made while the game loads, is in so few
 * frames that it would only hide those that have times. */
static bool
is_rare(const struct tally_aggregate *a, const struct tally_group *g)
{
	const struct tally_device_summary *d = tally_aggregate_device(a, g->device);
	return (a->by->passes || a->by->parts) && d && tally_int192_f64(&d->gpu_total) > 0 &&
	       (double)g->frames < RARE_SHARE * (double)tally_group_n_frames(a, g);
}

/* The name below a line that shows the label `above`. */
static char *
line_name(const struct tally_group *g, const char *above)
{
	const struct tally_label_row *row = tally_as_label(g);
	if (!row || !g->label)
		return g_strdup(g->name);
	const char *name = g->label;
	if (above)
		name = strcmp(name, above) == 0 ? "(directly in it)" : name + strlen(above) + 1;
	return row->n_ids > 1 ? g_strdup_printf("%s: %u passes", name, row->n_ids) : g_strdup(name);
}

/* The rows of a list that always get a line: a table must not be empty because its rows are
 * many and equal. */
static GPtrArray *
most_expensive(const struct tally_aggregate *a, const GPtrArray *list, guint most)
{
	GPtrArray *order = g_ptr_array_new();
	g_ptr_array_extend(order, (GPtrArray *)list, NULL, NULL);
	tally_rows_sort(a, order, NULL);
	g_ptr_array_set_size(order, (gint)MIN(order->len, most));
	return order;
}

/* The line that all small rows of a device share. */
static struct line *
need_folded(GArray *folded, struct tally_group *g, unsigned depth)
{
	TALLY_EACH_OF (struct line, line, folded)
		if (line->group->device == g->device)
			return line;
	const struct line line = { .group = g, .depth = depth };
	g_array_append_val(folded, line);
	return &g_array_index(folded, struct line, folded->len - 1);
}

static void add_list(struct builder *b, const GPtrArray *list, const char *above, unsigned depth);

/* The line of a row, and those below it. A node with one thing below it is left out: that shows
 * both names. */
static void
add_row(struct builder *b, struct tally_group *g, const char *above, unsigned depth)
{
	const GPtrArray *below = g_hash_table_lookup(b->children, g);
	while (below && below->len == 1) {
		g = g_ptr_array_index(below, 0);
		below = g_hash_table_lookup(b->children, g);
	}
	const struct line line = {
		.group = g, .n = 1, .depth = depth, .name = line_name(g, above)
	};
	g_array_append_val(b->lines, line);
	if (below)
		add_list(b, below, g->label, depth + 1);
}

static void
add_folded(struct builder *b, GArray *folded, const char *above)
{
	TALLY_EACH_OF (struct line, line, folded) {
		if (line->n == 1) {
			add_row(b, line->group, above, line->depth);
			continue;
		}
		line->name = line->n_untimed ? g_strdup_printf("(%u more, small or rare)", line->n)
					     : g_strdup_printf("(%u more, under %.1f %%)", line->n,
							       100 * LEAST_SHARE);
		if (line->n_untimed == line->n)
			line->share = line->frame_ns = -1;
		g_array_append_val(b->lines, *line);
	}
}

static void
add_list(struct builder *b, const GPtrArray *list, const char *above, unsigned depth)
{
	g_autoptr(GPtrArray) shown = most_expensive(b->a, list, depth ? 0 : MOST_EXPENSIVE);
	g_autoptr(GArray) folded = g_array_new(FALSE, FALSE, sizeof(struct line));
	TALLY_EACH (struct tally_group, g, list) {
		double share = tally_group_share(b->a, g);
		if (tally_table_is_nothing(g))
			continue;
		bool counts = share < 0 ? !is_rare(b->a, g) : share >= LEAST_SHARE;
		if (b->all || counts || g_ptr_array_find(shown, g, NULL)) {
			add_row(b, g, above, depth);
			continue;
		}
		struct line *line = need_folded(folded, g, depth);
		line->n++;
		line->n_untimed += share < 0;
		line->share += MAX(share, 0);
		line->frame_ns += MAX(tally_group_frame_ns(b->a, g), 0);
	}
	add_folded(b, folded, above);
}

/* The nearest roll-up that is a row itself; NULL = none. */
static struct tally_group *
listed_parent(const struct builder *b, const struct tally_group *g)
{
	struct tally_group *parent = tally_row_parent(g);
	while (parent && !g_hash_table_contains(b->listed, parent))
		parent = tally_row_parent(parent);
	return parent;
}

static GArray *
lines_of_rows(const struct tally_aggregate *a, const GPtrArray *rows, bool all)
{
	struct builder b = { a, all, g_array_new(FALSE, FALSE, sizeof(struct line)), NULL, NULL };
	g_array_set_clear_func(b.lines, free_line);
	if (a->by->frames) {
		guint n = all ? rows->len : MIN(rows->len, TALLY_MOST_FRAMES);
		for (guint i = 0; i < n; i++) {
			const struct line line = { .group = g_ptr_array_index(rows, i), .n = 1 };
			g_array_append_val(b.lines, line);
		}
		return b.lines;
	}
	b.children = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	b.listed = g_hash_table_new(NULL, NULL);
	TALLY_EACH (struct tally_group, row, rows)
		g_hash_table_add(b.listed, row);
	TALLY_EACH (struct tally_group, g, rows) {
		struct tally_group *parent = listed_parent(&b, g);
		GPtrArray *list = g_hash_table_lookup(b.children, parent);
		if (!list) {
			list = g_ptr_array_new();
			g_hash_table_insert(b.children, parent, list);
		}
		g_ptr_array_add(list, g);
	}
	const GPtrArray *top = g_hash_table_lookup(b.children, NULL);
	if (top)
		add_list(&b, top, NULL, 0);
	g_hash_table_destroy(b.children);
	g_hash_table_destroy(b.listed);
	return b.lines;
}

/* ---- cells ---- */

struct time_unit {
	const char *word;
	double ns;
	int decimals;
};

/* One unit for all times of a table, so that its columns can be compared at a glance. */
static struct time_unit
choose_unit(const GArray *lines)
{
	double most = 0;
	TALLY_EACH_OF (const struct line, line, lines) {
		struct tally_moments *m = &line->group->series[TALLY_SERIES_GPU].stats.moments;
		const struct tally_frame_row *frame = tally_as_frame(line->group);
		most = MAX(most, frame  ? (double)frame->record.cpu_ns
				 : m->n ? tally_moments_mean(m)
					: 0);
	}
	return most >= 1e6 ? (struct time_unit){ "ms", 1e6, 3 }
			   : (struct time_unit){ "us", 1e3, 1 };
}

static const char *
number_text(struct tally_value v)
{
	double size = fabs(tally_value_f64(v));
	if (v.storage == TALLY_STORAGE_U64)
		return tally_phrase("%" G_GUINT64_FORMAT, v.u64);
	if (v.storage == TALLY_STORAGE_I64)
		return tally_phrase("%" G_GINT64_FORMAT, v.i64);
	if (size >= 1e15)
		return tally_phrase("%.6g", v.f64);
	return tally_phrase("%.*f", size >= 1000 ? 0 : size >= 10 ? 1 : 3, v.f64);
}

/* The value of a column; for a line that represents several rows, what is known about all of
 * them. */
static bool
line_value(const struct tally_aggregate *a, const struct line *line, const struct tally_column *c,
	   struct tally_value *out)
{
	if (line->n == 1 || c->what == TALLY_COLUMN_DEVICE)
		return tally_column_value(a, line->group, c, out);
	*out = tally_f64(c->what == TALLY_COLUMN_PER_FRAME ? line->frame_ns : line->share);
	return (c->what == TALLY_COLUMN_PER_FRAME || c->what == TALLY_COLUMN_GPU_SHARE) &&
	       line->share >= 0;
}

/* The number of frames; for a row that is not in every frame, also the total. */
static const char *
count_text(const struct tally_aggregate *a, const struct tally_group *g, struct tally_value v)
{
	uint64_t frames = tally_group_n_frames(a, g);
	const char *n = number_text(v);
	if (a->by->frames || v.u64 >= frames)
		return n;
	return tally_phrase("%s of %" G_GUINT64_FORMAT, n, frames);
}

/* Where a mean is over fewer frames than the row's N (counters that rotate are only in some
 * frames), their number follows in brackets. */
static const char *
series_text(const struct tally_group *g, const struct tally_column *c, struct tally_value v)
{
	uint64_t n = g->series[c->series].stats.moments.n;
	const char *mean = number_text(v);
	return n >= g->series[TALLY_SERIES_GPU].stats.moments.n
		       ? mean
		       : tally_phrase("%s (%" G_GUINT64_FORMAT ")", mean, n);
}

/* Not escaped. */
static const char *
cell_text(const struct tally_aggregate *a, const struct line *line, const struct tally_column *c,
	  const struct time_unit *unit)
{
	const struct tally_group *g = line->group;
	struct tally_value v;
	const char *text;
	if (c->what == TALLY_COLUMN_NAME)
		return tally_phrase("%*s%s", 2 * (int)line->depth, "", line->name);
	if (c->type == TALLY_COLUMN_TEXT)
		return line->n == 1 ? tally_column_text(g, c) : "";
	if (!line_value(a, line, c, &v))
		return line->n == 1 ? "-" : "";
	if (c->type == TALLY_COLUMN_TIME)
		text = tally_phrase("%.*f", unit->decimals, tally_value_f64(v) / unit->ns);
	else if (c->type == TALLY_COLUMN_SHARE)
		text = tally_phrase("%.1f%%", 100 * v.f64);
	else if (c->what == TALLY_COLUMN_N)
		text = count_text(a, g, v);
	else if (c->what == TALLY_COLUMN_SERIES && line->n == 1 && !a->by->frames)
		text = series_text(g, c, v);
	else
		text = number_text(v);
	bool estimated = line->n == 1 && tally_column_estimated(g, c);
	return estimated ? tally_phrase("~%s", text) : text;
}

static const char *
head_text(const struct tally_column *c, const struct time_unit *unit)
{
	if (c->type != TALLY_COLUMN_TIME)
		return c->title;
	return c->title[0] == '/' ? tally_phrase("%s%s", unit->word, c->title)
				  : tally_phrase("%s %s", c->title, unit->word);
}

static void
fill(struct tally_table *t, const struct tally_aggregate *a, const GArray *columns,
     const GArray *lines)
{
	struct time_unit unit = choose_unit(lines);
	guint n = 0;
	TALLY_EACH_OF (const struct tally_column, c, columns)
		n += c->in_table;
	tally_table_init(t, n);
	n = 0;
	TALLY_EACH_OF (const struct tally_column, head, columns) {
		if (!head->in_table)
			continue;
		t->left[n++] = head->type == TALLY_COLUMN_TEXT;
		tally_table_add(t, tally_text_escape(head_text(head, &unit)));
	}
	TALLY_EACH_OF (const struct line, line, lines)
		TALLY_EACH_OF (const struct tally_column, column, columns)
			if (column->in_table)
				tally_table_add(t, tally_text_escape(cell_text(a, line, column,
									       &unit)));
}

/* The color of a line; the most expensive ones are highlighted. NULL = none. */
static const char *
color_of(const struct tally_aggregate *a, const struct line *line)
{
	if (line->n > 1)
		return "\033[2m";
	double share = a->by->frames ? 0 : tally_group_share(a, line->group);
	return share >= 0.25 ? "\033[1;31m" : share >= 0.1 ? "\033[33m" : NULL;
}

void
tally_report_fill_table(struct tally_table *t, const struct tally_aggregate *a,
			const GArray *columns, const GPtrArray *rows)
{
	g_autoptr(GArray) lines = lines_of_rows(a, rows, true);
	fill(t, a, columns, lines);
}

void
tally_report_print_table(FILE *out, const struct tally_aggregate *a, const GArray *columns,
			 const GPtrArray *rows, const struct tally_table_style *style)
{
	g_autoptr(GArray) of = lines_of_rows(a, rows, style->all);
	struct tally_table t;
	fill(&t, a, columns, of);
	g_autoptr(GPtrArray) lines = tally_table_lines(&t, style->width, style->cut);
	for (guint i = 0; i < lines->len; i++) {
		const char *color = i ? color_of(a, &g_array_index(of, struct line, i - 1))
				      : "\033[1m";
		if (color && style->color)
			tally_text_color(out, color);
		tally_text_print(out, "%s", (const char *)g_ptr_array_index(lines, i));
		if (color && style->color)
			tally_text_color(out, NULL);
		putc('\n', out);
	}
	tally_table_finish(&t);
}
