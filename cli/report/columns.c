/* SPDX-License-Identifier: MIT */
#include "cli/report/columns.h"
#include "cli/log/device_summary.h"
#include "cli/log/series.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include "json/log_numbers.h"

#include <math.h>
#include <string.h>

#define N(word, head, kind, value, table) \
	{ \
		.key = word, .title = head, .type = TALLY_COLUMN_##kind, \
		.what = TALLY_COLUMN_##value, .in_table = table \
	}

static const struct tally_column pass_columns[] = {
	N("name", "pass", TEXT, NAME, true),
	N("device", "device", NUMBER, DEVICE, false),
	N("id", "id", TEXT, ID, false),
	N("label", "label", TEXT, LABEL, false),
	N("kind", "kind", TEXT, KIND, false),
	N("queue", "queue", TEXT, QUEUE, false),
	N("n", "N", NUMBER, N, true),
	N("mean_ns", "mean", TIME, MEAN, true),
	N("sd_ns", "sd", TIME, SD, true),
	N("min_ns", "min", TIME, MIN, true),
	N("max_ns", "max", TIME, MAX, true),
	N("p50_ns", "p50", TIME, P50, true),
	N("p90_ns", "p90", TIME, P90, false),
	N("p99_ns", "p99", TIME, P99, true),
	N("total_ns", "total", TIME, TOTAL, false),
	N("share", "share", SHARE, GPU_SHARE, true),
};

static const struct tally_column frame_columns[] = {
	N("frame", "frame", NUMBER, FRAME, true),
	N("device", "device", NUMBER, DEVICE, false),
	N("start_ns", "start", TIME, FIELD, false),
	N("cpu_ns", "frame time", TIME, FIELD, true),
	N("gpu_ns", "gpu", TIME, FIELD, true),
	N("envelope_ns", "envelope", TIME, FIELD, true),
	N("coverage", "coverage", SHARE, FIELD, true),
	N("share", "share", SHARE, GPU_SHARE, true),
	N("unattributed_ns", "outside", TIME, UNATTRIBUTED, true),
	N("overhead_ns", "overhead", TIME, FIELD, true),
	N("n", "passes", NUMBER, N, true),
	N("dropped_passes", "dropped", NUMBER, FIELD, false),
};

/* Newer than the others: they are at the end, so that the columns of CSV keep their
 * positions. */
static const struct tally_column late_pass_columns[] = {
	N("per_frame_ns", "/frame", TIME, PER_FRAME, true),
	N("order", "order", NUMBER, ORDER, false),
};

static const struct tally_column workload_columns[] = {
	N("number", "in frame", NUMBER, IN_FRAME, true),
	N("pipeline", "pipeline", TEXT, PIPELINE, true),
	N("groups", "groups", TEXT, GROUPS, true),
};
#undef N

/* Those that json/log.fields lists and that have no column yet. */
static void
add_frame_numbers(GArray *columns)
{
	for (const struct tally_number_name *n = tally_frame_number_names(); n->name; n++) {
		g_autofree char *title = g_strdup(n->name);
		bool time = strcmp(n->unit, "ns") == 0;
		if (time && g_str_has_suffix(title, "_ns"))
			title[strlen(title) - strlen("_ns")] = '\0';
		const struct tally_column c = {
			.key = n->name,
			.title = g_intern_string(title),
			.type = time                            ? TALLY_COLUMN_TIME
				: strcmp(n->unit, "ratio") == 0 ? TALLY_COLUMN_SHARE
								: TALLY_COLUMN_NUMBER,
			.what = TALLY_COLUMN_FIELD,
		};
		bool listed = false;
		TALLY_EACH_OF (const struct tally_column, other, columns)
			listed |= strcmp(other->key, n->name) == 0;
		if (!listed)
			g_array_append_val(columns, c);
	}
}

/* Whether a series has a column in the table for people. */
static bool
is_in_table(const struct tally_aggregate *a, uint32_t i)
{
	if (i == TALLY_SERIES_DRAWS || i == TALLY_SERIES_VERTICES)
		return !a->by->parts || tally_series_in_use(a, i);
	bool counted = i >= TALLY_N_FIXED_SERIES || i == TALLY_SERIES_DISPATCHES ||
		       i == TALLY_SERIES_COPIES;
	return counted && tally_series_in_use(a, i);
}

GArray *
tally_columns_create(const struct tally_aggregate *a)
{
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct tally_column));
	if (a->by->frames)
		g_array_append_vals(columns, frame_columns, G_N_ELEMENTS(frame_columns));
	else
		g_array_append_vals(columns, pass_columns, G_N_ELEMENTS(pass_columns));
	TALLY_EACH_OF (struct tally_column, c, columns)
		c->in_table |= c->what == TALLY_COLUMN_QUEUE && a->several_queues;
	for (uint32_t i = TALLY_SERIES_GPU + 1; i < tally_n_series(a); i++) {
		bool time = g_strcmp0(tally_series_key(a, i)->unit, "ns") == 0;
		struct tally_column c = {
			.key = tally_series_key(a, i)->key,
			.title = tally_series_key(a, i)->key,
			.type = time ? TALLY_COLUMN_TIME : TALLY_COLUMN_NUMBER,
			.what = TALLY_COLUMN_SERIES,
			.series = i,
			.in_table = is_in_table(a, i),
		};
		g_array_append_val(columns, c);
	}
	struct tally_column flags = { .key = "flags",
				      .title = "flags",
				      .what = TALLY_COLUMN_FLAGS };
	g_array_append_val(columns, flags);
	if (a->by->frames)
		add_frame_numbers(columns);
	else
		g_array_append_vals(columns, late_pass_columns, G_N_ELEMENTS(late_pass_columns));
	if (a->by == &tally_by_workload)
		g_array_append_vals(columns, workload_columns, G_N_ELEMENTS(workload_columns));
	return columns;
}

/* By its heading, with or without the unit that a table may give a time: "p99 ms", "us/frame". */
static bool
is_headed(const struct tally_column *c, const char *name)
{
	static const char *const units[][2] = { { "us/", " us" }, { "ms/", " ms" } };
	bool after = c->title[0] == '/';
	for (size_t i = 0; c->type == TALLY_COLUMN_TIME && i < G_N_ELEMENTS(units); i++) {
		g_autofree char *head = after ? g_strconcat(units[i][0], c->title + 1, NULL)
					      : g_strconcat(c->title, units[i][1], NULL);
		if (strcmp(head, name) == 0)
			return true;
	}
	return strcmp(c->title, name) == 0;
}

/* By its key, with or without the unit, or its heading. */
static bool
is_named(const struct tally_column *c, const char *name)
{
	size_t len = strlen(name);
	bool plain = strncmp(c->key, name, len) == 0 && strcmp(c->key + len, "_ns") == 0;
	return plain || strcmp(c->key, name) == 0 || is_headed(c, name);
}

const struct tally_column *
tally_columns_seek(const GArray *columns, const char *key)
{
	TALLY_EACH_OF (const struct tally_column, c, columns)
		if (is_named(c, key))
			return c;
	return NULL;
}

const struct tally_column *
tally_columns_find(const GArray *columns, const char *command, const char *option, const char *key)
{
	const struct tally_column *found = tally_columns_seek(columns, key);
	if (found)
		return found;
	g_autoptr(GString) valid = g_string_new(NULL);
	TALLY_EACH_OF (const struct tally_column, other, columns)
		g_string_append_printf(valid, "%s%s", valid->len ? ", " : "", other->key);
	return TALLY_FAIL(NULL, command, "--%s %s: no such column; the columns are %s", option, key,
			  valid->str);
}

static bool
matches(const struct tally_column *c, const char *item)
{
	return is_named(c, item) || g_pattern_match_simple(item, c->key);
}

/* Moves the columns that the item names from one array to the other, except the first, which is
 * always shown. Whether it names any, moved by an earlier item perhaps. */
static bool
choose_item(GArray *from, GArray *to, const char *item)
{
	bool any = false;
	TALLY_EACH_OF (const struct tally_column, moved, to)
		any |= matches(moved, item);
	for (guint i = 1; i < from->len;) {
		struct tally_column *c = &g_array_index(from, struct tally_column, i);
		if (!matches(c, item)) {
			i++;
			continue;
		}
		any = c->in_table = true;
		g_array_append_val(to, *c);
		g_array_remove_index(from, i);
	}
	return any;
}

bool
tally_columns_choose(GArray *columns, const char *command, const char *list)
{
	g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(struct tally_column));
	g_array_append_val(chosen, g_array_index(columns, struct tally_column, 0));
	g_auto(GStrv) items = g_strsplit_set(list, ",+", -1);
	bool ok = true;
	for (char **item = items; ok && *item; item++) {
		g_strstrip(*item);
		if (!choose_item(columns, chosen, *item))
			ok = tally_columns_find(columns, command, "columns", *item) != NULL;
	}
	g_array_set_size(columns, 0);
	g_array_append_vals(columns, chosen->data, chosen->len);
	return ok;
}

bool
tally_rows_mix_devices(const GPtrArray *rows)
{
	TALLY_EACH (const struct tally_group, g, rows)
		if (g->device != ((const struct tally_group *)rows->pdata[0])->device)
			return true;
	return false;
}

/* Whether any row has a value in the column. */
static bool
has_value(const struct tally_aggregate *a, const GPtrArray *rows, const struct tally_column *c)
{
	struct tally_value v;
	TALLY_EACH (const struct tally_group, g, rows)
		if (c->type == TALLY_COLUMN_TEXT ? *tally_column_text(g, c) != '\0'
						 : tally_column_value(a, g, c, &v))
			return true;
	return false;
}

void
tally_columns_choose_default(GArray *columns, const struct tally_aggregate *a,
			     const GPtrArray *rows)
{
	g_autofree char *list = g_strdup_printf(
		"%s%s%s", tally_rows_mix_devices(rows) ? "device," : "",
		a->several_queues && !a->by->frames ? "queue," : "", a->by->columns);
	tally_columns_choose(columns, NULL, list);
	for (guint i = columns->len; i-- > 1;)
		if (!has_value(a, rows, &g_array_index(columns, struct tally_column, i)))
			g_array_remove_index(columns, i);
}

static bool
from_u64(bool has, uint64_t v, struct tally_value *out)
{
	*out = tally_u64(v);
	return has;
}

/* A number of a frame that is searched for among those that json/log.fields lists. */
struct sought {
	const char *key;
	bool found;
	struct tally_value value;
};

static void
see_number(void *to, const char *name, const char *unit, bool known, struct tally_value value)
{
	struct sought *sought = to;
	(void)unit;
	if (!known || strcmp(name, sought->key) != 0)
		return;
	sought->found = true;
	sought->value = value;
}

static bool
frame_value(const struct tally_frame_record *r, const struct tally_column *c,
	    struct tally_value *out)
{
	struct sought sought = { .key = c->key };
	if (c->what == TALLY_COLUMN_FRAME)
		return from_u64(true, r->frame, out);
	if (c->what == TALLY_COLUMN_UNATTRIBUTED)
		return from_u64(r->has_unattributed_gpu, r->unattributed_gpu_ns, out);
	if (c->what == TALLY_COLUMN_N)
		return from_u64(true, r->n_passes, out);
	tally_frame_numbers(r, see_number, &sought);
	*out = sought.value;
	return c->what == TALLY_COLUMN_FIELD && sought.found;
}

/* The mean; if all values are equal, the integer itself. */
static bool
series_value(const struct tally_group *g, uint32_t series, struct tally_value *out)
{
	if (series >= g->n_series || g->series[series].stats.moments.n == 0)
		return false;
	struct tally_stats *s = &g->series[series].stats;
	if (tally_value_f64(s->moments.min) == tally_value_f64(s->moments.max))
		*out = s->moments.min;
	else
		*out = tally_f64(tally_moments_mean(&s->moments));
	return true;
}

/* An integer where possible: nanoseconds of a run fit in 64 bits for 584 years. */
static struct tally_value
total_of(const struct tally_moments *m)
{
	bool fits = m->storage != TALLY_STORAGE_F64 && m->sum.word[1] == 0 && m->sum.word[2] == 0;
	return fits ? tally_u64(m->sum.word[0]) : tally_f64(tally_moments_total(m));
}

static bool
gpu_value(struct tally_stats *s, enum tally_column_what what, struct tally_value *out)
{
	static const double quantiles[] = {
		[TALLY_COLUMN_P50] = 0.50, [TALLY_COLUMN_P90] = 0.90, [TALLY_COLUMN_P99] = 0.99,
	};
	struct tally_moments *m = &s->moments;
	if (m->n == 0)
		return false;
	if (what == TALLY_COLUMN_MEAN)
		*out = tally_f64(tally_moments_mean(m));
	else if (what == TALLY_COLUMN_SD)
		*out = tally_f64(m->n > 1 ? tally_moments_sd_sample(m) : (double)NAN);
	else if (what == TALLY_COLUMN_MIN || what == TALLY_COLUMN_MAX)
		*out = what == TALLY_COLUMN_MIN ? m->min : m->max;
	else if (what == TALLY_COLUMN_TOTAL)
		*out = total_of(m);
	else if (what >= TALLY_COLUMN_P50 && what <= TALLY_COLUMN_P99)
		*out = tally_stats_quantile(s, quantiles[what]);
	else
		return false;
	return what != TALLY_COLUMN_SD || m->n > 1;
}

bool
tally_column_value(const struct tally_aggregate *a, const struct tally_group *g,
		   const struct tally_column *c, struct tally_value *out)
{
	switch (c->what) {
	case TALLY_COLUMN_DEVICE:
		return from_u64(true, g->device, out);
	case TALLY_COLUMN_GPU_SHARE:
		*out = tally_f64(tally_group_share(a, g));
		return out->f64 >= 0;
	case TALLY_COLUMN_SERIES:
		return series_value(g, c->series, out);
	case TALLY_COLUMN_PER_FRAME:
		*out = tally_f64(tally_group_frame_ns(a, g));
		return out->f64 >= 0;
	case TALLY_COLUMN_ORDER:
		*out = tally_f64(g->frames ? g->index_sum / (double)g->frames : 0);
		return g->frames && !g->outside;
	case TALLY_COLUMN_IN_FRAME: {
		const struct tally_workload_row *w = tally_as_workload(g);
		return from_u64(w && w->number, w ? w->number : 0, out);
	}
	case TALLY_COLUMN_N:
		if (!a->by->frames) {
			/* The number of frames with a time; if no time was measured at all,
			 * the number of frames. */
			uint64_t timed = g->series[TALLY_SERIES_GPU].stats.moments.n;
			return from_u64(true, timed ? timed : g->frames, out);
		}
		break;
	default:
		break;
	}
	const struct tally_frame_row *frame = tally_as_frame(g);
	if (frame)
		return frame_value(&frame->record, c, out);
	return gpu_value(&g->series[TALLY_SERIES_GPU].stats, c->what, out);
}

char *
tally_flags_text(uint64_t flags, const char *separator)
{
	GString *words = g_string_new(NULL);
	for (unsigned i = 0; i < TALLY_N_FLAGS; i++)
		if (flags >> i & 1)
			g_string_append_printf(words, "%s%s", words->len ? separator : "",
					       tally_flag_name(i));
	return g_string_free(words, FALSE);
}

const char *
tally_queue_text(const struct tally_group *g)
{
	const struct tally_row_queue *q = &g->queue;
	if (!q->known)
		return "";
	return q->several ? "several" : tally_phrase("%d.%d", q->family, q->index);
}

const char *
tally_column_text(const struct tally_group *g, const struct tally_column *c)
{
	const struct tally_workload_row *workload = tally_as_workload(g);
	const struct tally_label_row *label = tally_as_label(g);
	const char *text = NULL;
	switch (c->what) {
	case TALLY_COLUMN_NAME:
		return g->name;
	case TALLY_COLUMN_ID:
		if (!g->outside && (!label || label->n_ids <= 1))
			text = tally_phrase("%016" G_GINT64_MODIFIER "x", g->id);
		break;
	case TALLY_COLUMN_LABEL:
		text = g->label;
		break;
	case TALLY_COLUMN_KIND:
		return g->outside ? "outside" : tally_pass_kind_name(g->kind);
	case TALLY_COLUMN_QUEUE:
		return tally_queue_text(g);
	case TALLY_COLUMN_FLAGS: {
		g_autofree char *flags = tally_flags_text(g->flags, " ");
		return tally_phrase("%s", flags);
	}
	case TALLY_COLUMN_PIPELINE:
		text = workload ? workload->pipeline : NULL;
		break;
	case TALLY_COLUMN_GROUPS:
		text = workload ? workload->groups : NULL;
		break;
	default:
		text = c->own ? c->own(c->user, g) : NULL;
		break;
	}
	return text ? text : "";
}

bool
tally_column_estimated(const struct tally_group *g, const struct tally_column *c)
{
	return c->what == TALLY_COLUMN_SERIES && c->series < g->n_series &&
	       g->series[c->series].estimated;
}

/* One row with its sort key precomputed: quantiles are not cheap. */
struct sort_row {
	struct tally_group *group;
	double number; /* NAN: no value */
	char *text; /* NULL: a number */
};

static int
compare_rows(gconstpointer a, gconstpointer b, gpointer ascends)
{
	const struct sort_row *x = a, *y = b;
	uint32_t of_x = x->group->device, of_y = y->group->device;
	if (*(bool *)ascends && of_x != of_y)
		return of_x < of_y ? -1 : 1; /* each has frames of its own */
	if (isnan(x->number) != isnan(y->number))
		return isnan(y->number) ? -1 : 1; /* those without come last */
	int order = x->text ? strcmp(x->text, y->text)
			    : (x->number < y->number) - (x->number > y->number);
	return *(bool *)ascends ? -order : order;
}

void
tally_rows_sort(const struct tally_aggregate *a, GPtrArray *rows, const struct tally_column *sort)
{
	static const struct tally_column most_expensive = {
		.type = TALLY_COLUMN_TIME,
		.what = TALLY_COLUMN_TOTAL,
	};
	sort = sort ? sort : &most_expensive;
	/* Numbers are sorted from the largest, except the position in the frame, which
	 * ascends. */
	bool ascends = sort->what == TALLY_COLUMN_ORDER;
	g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(struct sort_row));
	TALLY_EACH (struct tally_group, g, rows) {
		struct sort_row row = { .group = g };
		struct tally_value v;
		if (sort->type == TALLY_COLUMN_TEXT)
			row.text = g_strdup(tally_column_text(g, sort));
		else
			row.number = tally_column_value(a, g, sort, &v) ? tally_value_f64(v)
									: (double)NAN;
		g_array_append_val(sorted, row);
	}
	g_array_sort_with_data(sorted, compare_rows, &ascends);
	g_ptr_array_set_size(rows, 0);
	TALLY_EACH_OF (struct sort_row, s, sorted) {
		g_ptr_array_add(rows, s->group);
		g_free(s->text);
	}
}

/* A row for work outside passes is omitted if all its values are zero. */
static bool
is_empty(const struct tally_group *g)
{
	for (uint32_t i = 0; i < g->n_series; i++) {
		const struct tally_stats *s = &g->series[i].stats;
		if (s->moments.n &&
		    (tally_value_f64(s->moments.min) != 0 || tally_value_f64(s->moments.max) != 0))
			return false;
	}
	return true;
}

/* Whether the row is of the requested device or, without a request, of a device that is not
 * below another. */
static bool
is_shown(const struct tally_aggregate *a, const struct tally_group *g, int64_t device, bool rollups)
{
	const struct tally_label_row *label = tally_as_label(g);
	bool hidden = label && label->rollup && (label->n_below < 2 || !rollups);
	if (hidden || !g->frames || (g->outside && is_empty(g)))
		return false;
	return device >= 0 ? g->device == device : !tally_aggregate_is_beneath(a, g->device);
}

GPtrArray *
tally_rows_create(const struct tally_aggregate *a, int64_t device, const struct tally_column *sort,
		  bool rollups)
{
	GPtrArray *rows = g_ptr_array_new();
	TALLY_EACH (struct tally_group, g, a->groups)
		if (is_shown(a, g, device, rollups))
			g_ptr_array_add(rows, g);
	if (sort || !a->by->frames)
		tally_rows_sort(a, rows, sort);
	return rows;
}
