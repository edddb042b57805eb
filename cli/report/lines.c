/* SPDX-License-Identifier: MIT */
#include "cli/report/formats.h"
#include "cli/shared/each.h"

#include <string.h>

/* A row below this share of the GPU time, and not among the most expensive, gets no line. */
#define LEAST_SHARE 0.005
#define MOST_EXPENSIVE 5
/* A row without a time that is in a smaller part of the frames gets none either, where others
 * have times. */
#define RARE_SHARE 0.1
/* If there are more frames than this, the first ones get lines. */
#define MOST_FRAMES 10

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
	struct tally_line *line = p;
	g_free(line->name);
	g_free(line->sum);
}

/* Work outside passes of which only estimates are known, and no GPU time. */
static bool
is_nothing(const struct tally_group *g)
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
	return a->by->passes && d && tally_int192_f64(&d->gpu_total) > 0 &&
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

static int
compare_cost(gconstpointer x, gconstpointer y)
{
	const struct tally_group *a = *(struct tally_group *const *)x;
	const struct tally_group *b = *(struct tally_group *const *)y;
	double s = tally_moments_total(&a->series[TALLY_SERIES_GPU].stats.moments);
	double t = tally_moments_total(&b->series[TALLY_SERIES_GPU].stats.moments);
	return (s < t) - (s > t);
}

/* The rows of a list that always get a line: a table must not be empty because its rows are
 * many and equal. */
static GHashTable *
choose_kept(const GPtrArray *list, unsigned most)
{
	GHashTable *kept = g_hash_table_new(NULL, NULL);
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	g_ptr_array_extend(order, (GPtrArray *)list, NULL, NULL);
	g_ptr_array_sort(order, compare_cost);
	for (guint i = 0; i < order->len && i < most; i++)
		g_hash_table_add(kept, g_ptr_array_index(order, i));
	return kept;
}

/* The line that all small rows of a device share. */
static struct tally_line *
need_folded(GArray *folded, struct tally_group *g, unsigned depth)
{
	TALLY_EACH_OF (struct tally_line, line, folded)
		if (line->group->device == g->device)
			return line;
	const struct tally_line line = { .group = g, .depth = depth };
	g_array_append_val(folded, line);
	return &g_array_index(folded, struct tally_line, folded->len - 1);
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
	const struct tally_line line = {
		.group = g, .n = 1, .depth = depth, .name = line_name(g, above)
	};
	g_array_append_val(b->lines, line);
	if (below)
		add_list(b, below, g->label, depth + 1);
}

static void
add_folded(struct builder *b, GArray *folded, const char *above)
{
	TALLY_EACH_OF (struct tally_line, line, folded) {
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
	g_autoptr(GHashTable) kept = choose_kept(list, depth ? 0 : MOST_EXPENSIVE);
	g_autoptr(GArray) folded = g_array_new(FALSE, FALSE, sizeof(struct tally_line));
	TALLY_EACH (struct tally_group, g, list) {
		double share = tally_group_share(b->a, g);
		if (is_nothing(g))
			continue;
		bool counts = share < 0 ? !is_rare(b->a, g) : share >= LEAST_SHARE;
		if (b->all || counts || g_hash_table_contains(kept, g)) {
			add_row(b, g, above, depth);
			continue;
		}
		struct tally_line *line = need_folded(folded, g, depth);
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

static int
compare_frame_time(gconstpointer x, gconstpointer y)
{
	const struct tally_group *a = *(struct tally_group *const *)x;
	const struct tally_group *b = *(struct tally_group *const *)y;
	uint64_t x_ns = tally_as_frame(a)->record.cpu_ns, y_ns = tally_as_frame(b)->record.cpu_ns;
	return (x_ns > y_ns) - (x_ns < y_ns);
}

/* For each device the frame with the median frame time. */
static void
add_medians(GArray *lines, const struct tally_aggregate *a, const GPtrArray *rows)
{
	g_autoptr(GPtrArray) frames = g_ptr_array_new();
	TALLY_EACH (const struct tally_device_summary, device, a->devices) {
		g_ptr_array_set_size(frames, 0);
		TALLY_EACH (struct tally_group, g, rows)
			if (g->device == device->device)
				g_ptr_array_add(frames, g);
		if (!frames->len)
			continue;
		g_ptr_array_sort(frames, compare_frame_time);
		struct tally_group *g = g_ptr_array_index(frames, (frames->len - 1) / 2);
		const struct tally_line line = {
			.group = g,
			.n = 1,
			.name = g_strdup_printf("median: %s", g->name),
		};
		g_array_append_val(lines, line);
	}
}

/* The first rows, the median frame, and the sum of the rows that have no line. */
static void
add_frames(GArray *lines, const struct tally_aggregate *a, const GPtrArray *rows, bool all)
{
	guint n = all || rows->len <= MOST_FRAMES ? rows->len : MOST_FRAMES;
	for (guint i = 0; i < n; i++) {
		const struct tally_line line = { .group = g_ptr_array_index(rows, i), .n = 1 };
		g_array_append_val(lines, line);
	}
	if (n == rows->len)
		return;
	add_medians(lines, a, rows);
	struct tally_frame_row *sum = g_new0(struct tally_frame_row, 1);
	sum->group.by = &tally_by_frame;
	for (guint i = n; i < rows->len; i++) {
		const struct tally_frame_record *f =
			&tally_as_frame(g_ptr_array_index(rows, i))->record;
		sum->record.cpu_ns += f->cpu_ns;
		sum->record.has_gpu |= f->has_gpu;
		sum->record.gpu_ns += f->has_gpu ? f->gpu_ns : 0;
		sum->record.n_passes += f->n_passes;
	}
	const struct tally_line line = {
		.group = &sum->group,
		.n = 1,
		.name = g_strdup_printf("(%u more)", rows->len - n),
		.sum = &sum->group,
	};
	g_array_append_val(lines, line);
}

GArray *
tally_lines_of_rows(const struct tally_aggregate *a, const GPtrArray *rows, bool all)
{
	struct builder b = { .a = a, .all = all };
	b.lines = g_array_new(FALSE, FALSE, sizeof(struct tally_line));
	g_array_set_clear_func(b.lines, free_line);
	if (a->by->frames) {
		add_frames(b.lines, a, rows, all);
		return b.lines;
	}
	b.children = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	b.listed = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < rows->len; i++)
		g_hash_table_add(b.listed, g_ptr_array_index(rows, i));
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
