/* SPDX-License-Identifier: MIT */
#include "cli/compare/join.h"

#include "cli/log/series.h"
#include "cli/shared/each.h"

#include <string.h>

static void
free_subject(gpointer p)
{
	struct tally_compare_subject *s = p;
	g_free(s->name);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		g_ptr_array_unref(s->sources[side]);
	g_free(s);
}

static void
free_unlike(gpointer p)
{
	struct tally_compare_unlike *u = p;
	g_free(u->what);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		g_free(u->side[side]);
	g_free(u);
}

void
tally_compare_init(struct tally_compare *c)
{
	*c = (struct tally_compare){ 0 };
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		c->logs[side] = g_ptr_array_new_with_free_func(
			(GDestroyNotify)tally_compare_log_destroy);
	c->subjects = g_ptr_array_new_with_free_func(free_subject);
	c->rows = g_ptr_array_new_with_free_func(g_free);
	c->unlike = g_ptr_array_new_with_free_func(free_unlike);
}

void
tally_compare_finish(struct tally_compare *c)
{
	g_ptr_array_unref(c->unlike);
	g_ptr_array_unref(c->rows);
	g_ptr_array_unref(c->subjects);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		g_ptr_array_unref(c->logs[side]);
	*c = (struct tally_compare){ 0 };
}

/* `g` NULL: the frame. */
static struct tally_compare_subject *
need_subject(struct tally_compare *c, GHashTable *subjects, const struct tally_group *g,
	     uint32_t slot)
{
	static const struct tally_group of_frame = { .name = (char *)"frame",
						     .kind = TALLY_PASS_OTHER };
	bool frame = !g;
	g = frame ? &of_frame : g;
	uint64_t id = g->outside ? 0 : g->id;
	/* The properties by which a pass is the same in every log. */
	g_autofree char *key = g_strdup_printf("%u|%d|%d|%" G_GUINT64_FORMAT, slot, frame,
					       g->outside, id);
	struct tally_compare_subject *s = g_hash_table_lookup(subjects, key);
	/* The generated name of an unlabeled pass counts the passes before it, so it may differ
	 * between logs. */
	if (s)
		s->renamed |= strcmp(g->name, s->name) != 0;
	if (s)
		return s;
	s = g_new0(struct tally_compare_subject, 1);
	s->frame = frame;
	s->outside = g->outside;
	s->slot = slot;
	s->id = id;
	s->kind = g->kind;
	s->name = g_strdup(g->name);
	s->label = g->label;
	for (unsigned i = 0; i < TALLY_N_SIDES; i++) {
		s->sources[i] = g_ptr_array_new();
		g_ptr_array_set_size(s->sources[i], (gint)c->logs[i]->len);
	}
	g_hash_table_insert(subjects, g_steal_pointer(&key), s);
	g_ptr_array_add(c->subjects, s);
	return s;
}

static void
add_source(struct tally_compare *c, GHashTable *subjects, unsigned side, guint place,
	   struct tally_compare_source *source)
{
	const struct tally_compare_log *log = g_ptr_array_index(c->logs[side], place);
	uint32_t slot = 0;
	while (slot < log->devices->len && tally_compare_log_device(log, slot) != source->device)
		slot++;
	if (slot == log->devices->len)
		return;
	struct tally_compare_subject *s = need_subject(c, subjects, source->group, slot);
	s->frames[side] += source->frames;
	s->sources[side]->pdata[place] = source;
}

static gint
subject_compare(gconstpointer a, gconstpointer b)
{
	const struct tally_compare_subject *x = *(struct tally_compare_subject *const *)a;
	const struct tally_compare_subject *y = *(struct tally_compare_subject *const *)b;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->frame != y->frame)
		return x->frame ? -1 : 1;
	if (x->outside != y->outside)
		return x->outside ? 1 : -1;
	int names = strcmp(x->name, y->name);
	if (names)
		return names;
	return (x->id > y->id) - (x->id < y->id);
}

/* A name alone means the same pass in all logs, and no other. */
static void
add_ids(struct tally_compare *c)
{
	g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	TALLY_EACH (struct tally_compare_subject, s, c->subjects) {
		char *key = g_strdup_printf("%u|%s", s->slot, s->name);
		bool other = !g_hash_table_add(taken, key);
		if ((!other && !s->renamed) || s->frame || s->outside)
			continue;
		g_autofree char *name = s->name;
		s->name = g_strdup_printf("%s [%08x]", name, (unsigned)(s->id >> 32));
	}
}

static bool
has_values(const struct tally_compare_source *source, uint32_t series)
{
	const struct tally_compare_values *values = series < source->values->len
							    ? source->values->pdata[series]
							    : NULL;
	return values && values->moments.n;
}

/* Values with different units cannot be compared. */
static bool
is_of(const struct tally_aggregate *a, uint32_t series, const struct tally_compare_row *row)
{
	return strcmp(tally_series_key(a, series)->key, row->key) == 0 &&
	       g_strcmp0(tally_series_key(a, series)->unit, row->unit) == 0;
}

static const struct tally_compare_values *
find_values(const struct tally_compare_log *log, const struct tally_compare_source *source,
	    const struct tally_compare_row *row)
{
	if (row->series == TALLY_COMPARE_CPU)
		return source->cpu.moments.n ? &source->cpu : NULL;
	uint32_t i = row->series;
	if (i >= source->values->len || !is_of(&log->aggregate, i, row))
		for (i = 0; i < source->values->len; i++)
			if (source->values->pdata[i] && is_of(&log->aggregate, i, row))
				break;
	return has_values(source, i) ? source->values->pdata[i] : NULL;
}

static int
direction(const struct tally_compare *c, const char *key)
{
	const GArray *gates = c->settings.gates;
	for (guint i = 0; gates && i < gates->len; i++)
		if (strcmp(g_array_index(gates, struct tally_gate, i).key, key) == 0)
			return g_array_index(gates, struct tally_gate, i).worse;
	return strcmp(key, "gpu_ns") == 0 || strcmp(key, "cpu_ns") == 0;
}

static struct tally_compare_row *
add_row(struct tally_compare *c, const struct tally_compare_subject *s, const char *key)
{
	struct tally_compare_row *row = g_new0(struct tally_compare_row, 1);
	row->subject = s;
	row->key = key;
	row->worse = direction(c, key);
	c->has_gates |= row->worse != 0;
	row->p = row->p_holm = 1;
	g_ptr_array_add(c->rows, row);
	return row;
}

/* The frame time, and those of its paces that a gate names: everything that is judged makes it
 * harder to detect the rest. */
static void
add_frame_rows(struct tally_compare *c, const struct tally_compare_subject *s)
{
	bool has_mean = false, has_each = false;
	for (unsigned side = 0; s->frame && side < TALLY_N_SIDES; side++) {
		TALLY_EACH (const struct tally_compare_source, source, s->sources[side]) {
			has_mean |= source && source->cpu.moments.n;
			has_each |= source && source->frame_ns;
		}
	}
	for (unsigned pace = 0; pace < TALLY_N_PACES; pace++) {
		const char *key = pace ? tally_pace_keys[pace] : "cpu_ns";
		if (pace ? !has_each || !direction(c, key) : !has_mean)
			continue;
		struct tally_compare_row *row = add_row(c, s, key);
		row->pace = pace;
		row->series = TALLY_COMPARE_CPU;
		row->is_time = pace != TALLY_PACE_HITCHES;
		row->unit = row->is_time ? "ns" : "per 1000 frames";
	}
}

/* `seen` has the keys of the subject so far, each with its unit. */
static void
add_rows_of(struct tally_compare *c, const struct tally_compare_subject *s,
	    const struct tally_compare_log *log, const struct tally_compare_source *source,
	    GHashTable *seen)
{
	const struct tally_aggregate *a = &log->aggregate;
	for (uint32_t i = 0; i < source->values->len; i++) {
		const char *key = tally_series_key(a, i)->key, *unit = tally_series_key(a, i)->unit;
		if (!has_values(source, i) ||
		    !g_hash_table_add(seen, g_strdup_printf("%s %s", key, unit ? unit : "")))
			continue;
		struct tally_compare_row *row = add_row(c, s, key);
		row->series = i;
		row->unit = unit;
		row->is_time = g_strcmp0(unit, "ns") == 0;
		row->ratio = tally_series_key(a, i)->join == TALLY_JOIN_NONE;
	}
}

static void
add_rows(struct tally_compare *c, const struct tally_compare_subject *s)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	add_frame_rows(c, s);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		for (guint k = 0; k < s->sources[side]->len; k++)
			if (s->sources[side]->pdata[k])
				add_rows_of(c, s, c->logs[side]->pdata[k],
					    s->sources[side]->pdata[k], seen);
}

GPtrArray *
tally_compare_row_values(const struct tally_compare *c, const struct tally_compare_row *row,
			 enum tally_side side)
{
	GPtrArray *out = g_ptr_array_new();
	const struct tally_compare_subject *s = row->subject;
	for (guint k = 0; k < s->sources[side]->len; k++) {
		const struct tally_compare_source *source = s->sources[side]->pdata[k];
		const struct tally_compare_log *log = c->logs[side]->pdata[k];
		const struct tally_compare_values *v = source ? find_values(log, source, row)
							      : NULL;
		if (v)
			g_ptr_array_add(out, (gpointer)v);
	}
	return out;
}

uint32_t
tally_compare_device(const struct tally_compare *c, uint32_t slot)
{
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		TALLY_EACH (const struct tally_compare_log, log, c->logs[side])
			if (slot < log->devices->len)
				return tally_compare_log_device(log, slot);
	return slot;
}

void
tally_compare_join(struct tally_compare *c)
{
	g_autoptr(GHashTable)
		subjects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	/* The new side goes first, because its names are the ones people look for in the
	 * current game. */
	for (unsigned turn = 0; turn < TALLY_N_SIDES; turn++) {
		unsigned side = turn == 0 ? TALLY_SIDE_NEW : TALLY_SIDE_BASE;
		for (guint k = 0; k < c->logs[side]->len; k++) {
			const struct tally_compare_log *log = g_ptr_array_index(c->logs[side], k);
			c->n_slots = MAX(c->n_slots, log->devices->len);
			for (guint i = 0; i < log->sources->len; i++)
				add_source(c, subjects, side, k, log->sources->pdata[i]);
		}
	}
	add_ids(c);
	g_ptr_array_sort(c->subjects, subject_compare);
	for (guint i = 0; i < c->subjects->len; i++)
		add_rows(c, g_ptr_array_index(c->subjects, i));
}
