/* SPDX-License-Identifier: MIT */
#include "cli/compare/join.h"

#include "cli/compare/pair.h"
#include "cli/log/series.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

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
free_row(gpointer p)
{
	struct tally_compare_row *row = p;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		g_ptr_array_unref(row->values[side]);
	g_free(row);
}

static void
free_unlike(gpointer p)
{
	struct tally_compare_unlike *u = p;
	g_free(u->what);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		g_free(u->side[side]);
		g_ptr_array_unref(u->said[side]);
	}
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
	c->rows = g_ptr_array_new_with_free_func(free_row);
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
	s->first[side] = s->first[side] ? s->first[side] : source;
}

static void
set_wholes(struct tally_compare *c)
{
	g_autofree const struct tally_compare_subject **frames = g_new0(
		const struct tally_compare_subject *, c->n_slots + 1);
	TALLY_EACH (const struct tally_compare_subject, s, c->subjects)
		frames[s->slot] = s->frame ? s : frames[s->slot];
	TALLY_EACH (struct tally_compare_subject, s, c->subjects)
		s->whole = frames[s->slot];
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
add_row(struct tally_compare *c, struct tally_compare_subject *s, const char *key, const char *unit)
{
	struct tally_compare_row *row = g_new0(struct tally_compare_row, 1);
	row->subject = s;
	row->key = key;
	row->unit = unit;
	row->is_time = g_strcmp0(unit, "ns") == 0;
	row->worse = direction(c, key);
	row->p = row->p_holm = 1;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		row->values[side] = g_ptr_array_new();
	g_ptr_array_add(c->rows, row);
	return row;
}

static void
add_times(struct tally_compare_row *row)
{
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		TALLY_EACH (struct tally_compare_source, source, row->subject->sources[side])
			if (source && source->cpu.moments.n)
				g_ptr_array_add(row->values[side], &source->cpu);
}

/* The frame time, and those of its paces that a gate names: everything that is judged makes it
 * harder to detect the rest. */
static void
add_frame_rows(struct tally_compare *c, struct tally_compare_subject *s)
{
	const struct tally_compare_log *log = c->logs[0]->pdata[0];
	bool wants_cpu = tally_compare_wants(log->filter, "cpu_ns");
	for (unsigned pace = 0; pace < TALLY_N_PACES; pace++) {
		const char *key = pace ? tally_pace_keys[pace] : "cpu_ns";
		if (pace ? !direction(c, key) : !wants_cpu)
			continue;
		struct tally_compare_row *row = add_row(
			c, s, key, pace == TALLY_PACE_HITCHES ? "per 1000 frames" : "ns");
		row->pace = pace;
		row->is_cpu = true;
		add_times(row);
	}
}

/* `rows` has those of the subject so far, by key and unit: values with different units cannot be
 * compared. */
static void
add_values(struct tally_compare *c, struct tally_compare_subject *s, unsigned side, guint place,
	   GHashTable *rows)
{
	const struct tally_aggregate *a =
		&((const struct tally_compare_log *)c->logs[side]->pdata[place])->aggregate;
	const struct tally_compare_source *source = s->sources[side]->pdata[place];
	for (uint32_t i = 0; source && i < source->values->len; i++) {
		struct tally_compare_values *values = source->values->pdata[i];
		if (!values || !values->moments.n)
			continue;
		const struct tally_key *key = tally_series_key(a, i);
		const char *name = tally_phrase("%s %s", key->key, key->unit ? key->unit : "");
		struct tally_compare_row *row = g_hash_table_lookup(rows, name);
		if (!row) {
			row = add_row(c, s, key->key, key->unit);
			row->ratio = key->join == TALLY_JOIN_NONE;
			s->gpu = i == TALLY_SERIES_GPU ? row : s->gpu;
			g_hash_table_insert(rows, g_strdup(name), row);
		}
		g_ptr_array_add(row->values[side], values);
	}
}

static void
add_rows_of(struct tally_compare *c, struct tally_compare_subject *s)
{
	g_autoptr(GHashTable) rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (s->frame)
		add_frame_rows(c, s);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		for (guint place = 0; place < s->sources[side]->len; place++)
			add_values(c, s, side, place, rows);
}

static void
add_rows(struct tally_compare *c)
{
	TALLY_EACH (struct tally_compare_subject, s, c->subjects)
		add_rows_of(c, s);
	TALLY_EACH (const struct tally_compare_row, row, c->rows)
		c->has_gates |= row->worse != 0;
}

/* Of a device in all logs the most frames that are left out at the start. */
static uint64_t
most_left_out(const struct tally_compare *c, uint32_t slot)
{
	uint64_t most = 0;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		TALLY_EACH (const struct tally_compare_log, log, c->logs[side]) {
			const struct tally_device_summary *d = slot < log->devices->len
								       ? log->devices->pdata[slot]
								       : NULL;
			most = d ? MAX(most, d->warmed_up) : most;
		}
	return most;
}

/* Reads a log again where fewer are, at most without a quarter of it. A pipe cannot be. */
static int
even_start(const struct tally_compare *c, gpointer *place)
{
	struct tally_compare_log *log = *place;
	const struct tally_compare_filter *given = log->filter;
	struct tally_compare_filter filter = { given->patterns, given->frame_times, 0,
					       given->device, true };
	for (uint32_t slot = 0; slot < log->devices->len; slot++) {
		const struct tally_device_summary *d = log->devices->pdata[slot];
		uint64_t most = MIN(most_left_out(c, slot), d->seen / 4);
		if (d->warmed_up < most)
			filter.warmup = MAX(filter.warmup, most);
	}
	g_autofree char *path = g_strdup(log->aggregate.path);
	if (!filter.warmup || given->warmup != TALLY_WARMUP_AUTO ||
	    !g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return TALLY_EXIT_OK;
	tally_compare_log_destroy(log);
	int status = tally_compare_log_read(&log, path, &filter);
	log->filter = given;
	*place = log;
	return status;
}

int
tally_compare_join(struct tally_compare *c)
{
	int status = TALLY_EXIT_OK;
	g_autoptr(GHashTable)
		subjects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	/* The new side goes first, because its names are the ones people look for in the
	 * current game. */
	for (unsigned side = TALLY_N_SIDES; side-- > 0;) {
		for (guint k = 0; k < c->logs[side]->len && !status; k++) {
			status = even_start(c, &c->logs[side]->pdata[k]);
			const struct tally_compare_log *log = c->logs[side]->pdata[k];
			c->n_slots = MAX(c->n_slots, log->devices->len);
			TALLY_EACH (struct tally_compare_source, source, log->sources)
				add_source(c, subjects, side, k, source);
		}
	}
	set_wholes(c);
	tally_compare_pair(c);
	add_ids(c);
	g_ptr_array_sort(c->subjects, subject_compare);
	add_rows(c);
	return status;
}
