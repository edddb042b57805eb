/* SPDX-License-Identifier: MIT */
#include "cli/log/aggregate.h"

#include "cli/log/input.h"
#include "cli/log/pass_name.h"
#include "cli/log/recent.h"

#include <stdio.h>
#include <string.h>

/* The content of a pass_info line, kept until a pass with that id is seen. */
struct named_pass {
	char *label; /* NULL = none */
	char *base; /* generated name without the ordinal */
	char *groups; /* debug groups inside it; NULL = none */
};

/* A mark that waits for its frame, which may follow it in the log. */
struct mark {
	uint64_t ns;
	guint note; /* index among the notes */
};

struct tally_aggregate_state {
	GHashTable *names; /* maps uint64_t * id to struct named_pass * */
	GHashTable *by_id; /* maps struct group_key * to struct tally_group * */
	GHashTable *by_label; /* maps "device|name" to struct tally_group * */
	GHashTable *ordinals; /* maps "device|name" to the count so far */
	GHashTable *key_index; /* maps the reader's key pointer to index + 1 */
	GHashTable *devices; /* maps a number to struct tally_device_summary * */
	GHashTable *note_set;
	const char *clock_key; /* the reader's text "gpu_clock", NULL: not met yet */
	struct tally_recent recent;
	GArray *marks; /* elements: struct mark, those whose frame was not read yet */
	uint64_t first_ns; /* the first point in time in the log, 0: none yet */
	struct tally_warmup *warmup; /* NULL: a->warmup is a number */
	GPtrArray *touched; /* groups of the frame being read */
	/* Passes come in the same order in every frame: guess before looking up. */
	struct tally_group **guess;
	uint32_t n_guess;
	uint32_t key_guess;
	const void **key_pointers; /* the reader's key pointers, by index */
	uint32_t n_key_pointers;
};

struct group_key {
	uint64_t id;
	uint32_t device;
};

static guint
group_key_hash(gconstpointer p)
{
	const struct group_key *k = p;
	return (guint)(k->id ^ k->id >> 32) ^ k->device * 2654435761u;
}

static gboolean
group_key_equal(gconstpointer a, gconstpointer b)
{
	const struct group_key *x = a, *y = b;
	return x->id == y->id && x->device == y->device;
}

static void
free_named_pass(gpointer p)
{
	struct named_pass *n = p;
	g_free(n->label);
	g_free(n->base);
	g_free(n->groups);
	g_free(n);
}

static void
free_group(gpointer p)
{
	struct tally_group *g = p;
	for (uint32_t i = 0; i < g->n_series; i++)
		tally_stats_finish(&g->series[i].stats);
	g_free(g->series);
	g_free(g->label);
	g_free(g->groups);
	g_free(g->name);
	if (g->workloads)
		g_ptr_array_unref(g->workloads);
	g_free(g);
}

static void
free_device(gpointer p)
{
	struct tally_device_summary *d = p;
	g_free(d->name);
	g_free(d->driver);
	g_free(d->driver_version);
	g_free(d->serialized_by);
	g_free(d->pci);
	g_free(d->uuid);
	g_array_unref(d->surfaces);
	g_ptr_array_unref(d->off);
	tally_stats_finish(&d->cpu);
	tally_stats_finish(&d->gpu);
	tally_stats_finish(&d->overhead);
	tally_stats_finish(&d->clock);
	g_free(d);
}

static void
clear_key(gpointer p)
{
	struct tally_key *k = p;
	g_free(k->key);
	g_free(k->unit);
}

/* Devices */

struct tally_device_summary *
tally_aggregate_device(const struct tally_aggregate *a, uint32_t device)
{
	return g_hash_table_lookup(a->state->devices, GUINT_TO_POINTER(device));
}

static struct tally_device_summary *
need_device(struct tally_aggregate *a, uint32_t number)
{
	struct tally_device_summary *d = tally_aggregate_device(a, number);
	if (d)
		return d;
	d = g_new0(struct tally_device_summary, 1);
	d->device = number;
	d->beneath = -1;
	d->off = g_ptr_array_new_with_free_func(g_free);
	d->surfaces = g_array_new(FALSE, FALSE, sizeof(struct tally_surface));
	tally_stats_init(&d->cpu, TALLY_STATS_KEEP_FRAME);
	tally_stats_init(&d->gpu, TALLY_STATS_KEEP_FRAME);
	tally_stats_init(&d->overhead, TALLY_STATS_KEEP_PASS);
	tally_stats_init(&d->clock, TALLY_STATS_KEEP_PASS);
	g_hash_table_insert(a->state->devices, GUINT_TO_POINTER(number), d);
	g_ptr_array_add(a->devices, d);
	return d;
}

/* The device that it names may be one that a program created only as a probe (a first
 * context, then destroyed): then another device of the same API is on top. */
bool
tally_aggregate_is_beneath(const struct tally_aggregate *a, uint32_t device)
{
	const struct tally_device_summary *d = tally_aggregate_device(a, device);
	if (!d || d->beneath < 0 || d->beneath > UINT32_MAX || d->beneath == device)
		return false;
	const struct tally_device_summary *upper = tally_aggregate_device(a, (uint32_t)d->beneath);
	bool seen = upper && upper->seen > 0;
	for (guint i = 0; upper && !seen && i < a->devices->len; i++) {
		const struct tally_device_summary *other = g_ptr_array_index(a->devices, i);
		seen = other->seen > 0 && other->described && other->api == upper->api &&
		       other->api != d->api;
	}
	return seen;
}

static void
replace(char **to, const char *text)
{
	g_free(*to);
	*to = g_strdup(text);
}

static inline uint32_t need_key(struct tally_aggregate *a, const char *key, bool metric);

/* A key is one column for all devices: if they disagree about the unit, no unit is right for
 * all. */
static void
read_unit(struct tally_key *key, const char *unit)
{
	bool agree = !key->described || g_strcmp0(key->unit, unit) == 0;
	replace(&key->unit, agree ? unit : NULL);
	key->described = true;
}

static void
read_device(struct tally_aggregate *a, const struct tally_device_record *r)
{
	struct tally_device_summary *d = need_device(a, r->device);
	d->described = true;
	d->api = r->api;
	d->beneath = r->beneath;
	replace(&d->name, r->name);
	replace(&d->driver, r->driver);
	replace(&d->driver_version, r->driver_version);
	replace(&d->serialized_by, r->serialized_by);
	d->vendor_id = r->vendor_id;
	d->has_device_id = r->has_device_id;
	d->device_id = r->device_id;
	d->driver_id = r->driver_id;
	replace(&d->pci, r->pci);
	replace(&d->uuid, r->uuid);
	g_ptr_array_set_size(d->off, 0);
	for (uint32_t i = 0; i < r->n_sources; i++) {
		const struct tally_source_info *s = &r->sources[i];
		if (!s->on)
			g_ptr_array_add(d->off,
					g_strdup_printf("%s: %s", s->name,
							s->reason ? s->reason : "no reason given"));
	}
	for (uint32_t i = 0; i < r->n_counters; i++) {
		uint32_t k = need_key(a, r->counters[i]->key, false);
		struct tally_key *key = &g_array_index(a->keys, struct tally_key, k);
		read_unit(key, r->counters[i]->unit);
		key->join = tally_join_of_counter(r->counters[i]);
	}
	for (uint32_t i = 0; i < r->n_metrics; i++) {
		uint32_t k = need_key(a, r->metrics[i].key, true);
		read_unit(&g_array_index(a->keys, struct tally_key, k), r->metrics[i].unit);
	}
}

/* Keys and groups */

static uint32_t
look_up_key(struct tally_aggregate *a, const char *key, bool metric)
{
	struct tally_aggregate_state *s = a->state;
	gpointer found = g_hash_table_lookup(s->key_index, key);
	uint32_t i;
	if (found) {
		i = GPOINTER_TO_UINT(found) - 1;
	} else {
		/* The pointer is new; the text may still be known if a metric has the same
		 * name. */
		for (i = 0; i < a->keys->len; i++)
			if (strcmp(g_array_index(a->keys, struct tally_key, i).key, key) == 0)
				break;
		if (i == a->keys->len) {
			struct tally_key k = { .key = g_strdup(key), .metric = metric };
			k.join = metric ? TALLY_JOIN_NONE : tally_join_of_key(key);
			g_array_append_val(a->keys, k);
			s->key_pointers = g_renew(const void *, s->key_pointers, i + 1);
			s->key_pointers[i] = key;
			s->n_key_pointers = i + 1;
		}
		g_hash_table_insert(s->key_index, (gpointer)key, GUINT_TO_POINTER(i + 1));
	}
	return i;
}

/* Keys come in the same order as last time. */
static inline uint32_t
need_key(struct tally_aggregate *a, const char *key, bool metric)
{
	struct tally_aggregate_state *s = a->state;
	uint32_t i = s->key_guess;
	if (i >= s->n_key_pointers || s->key_pointers[i] != key)
		i = look_up_key(a, key, metric);
	s->key_guess = i + 1;
	return i;
}

static void
make_series(struct tally_group *g, uint32_t series)
{
	g->series = g_renew(struct tally_series, g->series, series + 1);
	for (uint32_t i = g->n_series; i <= series; i++) {
		g->series[i] = (struct tally_series){ 0 };
		tally_stats_init(&g->series[i].stats, TALLY_STATS_KEEP_PASS);
	}
	g->n_series = series + 1;
}

static inline struct tally_series *
need_series(struct tally_group *g, uint32_t series)
{
	if (G_UNLIKELY(series >= g->n_series))
		make_series(g, series);
	return &g->series[series];
}

static struct tally_group *
new_group(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	struct tally_group *g = g_new0(struct tally_group, 1);
	g->device = device;
	g->n_ids = 1;
	if (p) {
		g->id = p->id;
		g->kind = p->kind;
	}
	need_series(g, TALLY_N_FIXED_SERIES - 1);
	g_ptr_array_add(a->groups, g);
	return g;
}

/* The label of a pass, or the base of its generated name. */
static const char *
pass_base(struct tally_aggregate *a, const struct tally_pass_record *p, const char **label)
{
	struct named_pass *n = g_hash_table_lookup(a->state->names, &p->id);
	if (!n) {
		n = g_new0(struct named_pass, 1);
		n->label = p->label && *p->label ? g_strdup(p->label) : NULL;
		n->base = tally_pass_name(p->kind, NULL, false);
		g_hash_table_insert(a->state->names, g_memdup2(&p->id, sizeof(p->id)), n);
	}
	/* Only the pass itself says whether its target belongs to a window. */
	if (p->surface >= 0 && p->kind == TALLY_PASS_RENDER)
		replace(&n->base, "Backbuffer");
	*label = n->label;
	return n->label ? n->label : n->base;
}

/* Gives a roll-up values of its own: so far they were those of the only group in it. */
static void
make_rollup(struct tally_aggregate *a, struct tally_group *g)
{
	const struct tally_group *from = g->only;
	while (from->only)
		from = from->only;
	g->only = NULL;
	g->flags = from->flags;
	g->frames = from->frames;
	g->index_sum = from->index_sum;
	g->n_parts = from->n_parts;
	g->n_series = from->n_series;
	g->series = g_memdup2(from->series, from->n_series * sizeof(*from->series));
	for (uint32_t i = 0; i < g->n_series; i++)
		tally_stats_copy(&g->series[i].stats, &from->series[i].stats);
	g->touched = from->touched;
	if (g->touched)
		g_ptr_array_add(a->state->touched, g);
}

/* `g` is new, and in the roll-up `parent`, which may be NULL. */
static void
add_to_rollup(struct tally_aggregate *a, struct tally_group *parent, struct tally_group *g)
{
	g->parent = parent;
	if (parent && parent->only)
		make_rollup(a, parent);
	else if (parent && !parent->n_series)
		parent->only = g;
}

/* The roll-up of a label, created with those above it. */
static struct tally_group *
need_rollup(struct tally_aggregate *a, uint32_t device, const char *label)
{
	enum { MOST_LEVELS = 32 }; /* what is below them is one part */
	struct tally_group *parent = NULL;
	size_t end = 0;
	for (unsigned level = 1; label[end]; level++) {
		end += parent != NULL; /* the separator */
		end += level < MOST_LEVELS ? tally_label_part(label + end) : strlen(label + end);
		char *path = g_strndup(label, end);
		char *key = g_strdup_printf("%u|r|%s", device, path);
		struct tally_group *g = g_hash_table_lookup(a->state->by_label, key);
		if (!g) {
			g = g_new0(struct tally_group, 1);
			g->device = device;
			g->rollup = true;
			g->label = g_strdup(path);
			g->name = g_strdup(path);
			g_ptr_array_add(a->groups, g);
			add_to_rollup(a, parent, g);
			g_hash_table_insert(a->state->by_label, g_strdup(key), g);
		}
		g_free(key);
		g_free(path);
		parent = g;
	}
	return parent;
}

static struct tally_group *
label_group(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	const char *label, *base = pass_base(a, p, &label);
	struct tally_group *rollup = label ? need_rollup(a, device, label) : NULL;
	for (struct tally_group *g = rollup; g; g = g->parent)
		g->n_ids++;
	char *key = g_strdup_printf("%u|%c|%s", device, label ? 'l' : 'a', base);
	struct tally_group *g = g_hash_table_lookup(a->state->by_label, key);
	if (g) {
		g->n_ids++;
		g_free(key);
		return g;
	}
	g = new_group(a, device, p);
	g->label = g_strdup(label);
	g->name = label ? g_strdup(label) : g_strdup_printf("(%s)", base);
	add_to_rollup(a, rollup, g);
	g_hash_table_insert(a->state->by_label, key, g);
	return g;
}

static struct tally_group *
pass_group(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	struct tally_group *g = new_group(a, device, p);
	const char *label, *base = pass_base(a, p, &label);
	g->label = g_strdup(label);
	g->groups = g_strdup(((struct named_pass *)g_hash_table_lookup(a->state->names, &p->id))
				     ->groups);
	char *key = g_strdup_printf("%u|%s", device, base);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(a->state->ordinals, key)) + 1;
	g->name = tally_pass_number_name(base, n);
	g_hash_table_replace(a->state->ordinals, key, GUINT_TO_POINTER(n));
	return g;
}

static struct tally_group *
find_group(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p,
	   uint32_t place)
{
	struct tally_aggregate_state *s = a->state;
	if (a->by != TALLY_BY_LABEL && place < s->n_guess && s->guess[place] &&
	    s->guess[place]->id == p->id && s->guess[place]->device == device)
		return s->guess[place];
	struct group_key key = { .id = p->id, .device = device };
	struct tally_group *g = g_hash_table_lookup(s->by_id, &key);
	if (!g) {
		g = a->by == TALLY_BY_LABEL ? label_group(a, device, p) : pass_group(a, device, p);
		g_hash_table_insert(s->by_id, g_memdup2(&key, sizeof(key)), g);
	}
	if (place >= s->n_guess) {
		s->guess = g_renew(struct tally_group *, s->guess, place + 1);
		memset(&s->guess[s->n_guess], 0, (place + 1 - s->n_guess) * sizeof(*s->guess));
		s->n_guess = place + 1;
	}
	s->guess[place] = g;
	return g;
}

struct tally_group *
tally_aggregate_find_pass(const struct tally_aggregate *a, uint32_t device, uint64_t id)
{
	const struct group_key key = { .id = id, .device = device };
	return g_hash_table_lookup(a->state->by_id, &key);
}

/* Values */

static void
add_tallies(struct tally_group *g, const struct tally_pass_record *p)
{
	const struct {
		enum tally_series_index series;
		uint64_t value;
		uint32_t unknown;
	} call_counts[] = {
		{ TALLY_SERIES_DRAWS, p->call_counts.draws, TALLY_UNKNOWN_DRAWS },
		{ TALLY_SERIES_VERTICES, p->call_counts.vertices, TALLY_UNKNOWN_VERTICES },
		{ TALLY_SERIES_INSTANCES, p->call_counts.instances, TALLY_UNKNOWN_INSTANCES },
		{ TALLY_SERIES_DISPATCHES, p->call_counts.dispatches, TALLY_UNKNOWN_DISPATCHES },
		{ TALLY_SERIES_COPIES, p->call_counts.copies, TALLY_UNKNOWN_COPIES },
		{ TALLY_SERIES_CLEARS, p->call_counts.clears, TALLY_UNKNOWN_CLEARS },
		{ TALLY_SERIES_CALLS, p->call_counts.calls, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(call_counts); i++)
		if (!(p->unknown & call_counts[i].unknown))
			tally_series_add_part(&g->series[call_counts[i].series],
					      tally_u64(call_counts[i].value), TALLY_JOIN_SUM);
}

static void
add_keyed(struct tally_aggregate *a, struct tally_group *g, const struct tally_keyed_value *values,
	  uint32_t n, bool metrics)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = need_key(a, values[i].key, metrics);
		struct tally_series *s = need_series(g, TALLY_N_FIXED_SERIES + k);
		tally_series_add_part(s, values[i].value,
				      g_array_index(a->keys, struct tally_key, k).join);
		s->estimated |= values[i].estimated;
	}
}

/* `index`: of the pass in its frame. */
static void
touch(struct tally_aggregate *a, struct tally_group *g, double index)
{
	if (!g->touched) {
		g->touched = true;
		g->index_sum += index;
		g_ptr_array_add(a->state->touched, g);
	}
	g->n_parts++;
	a->state->key_guess = 0;
}

static void
add_pass(struct tally_aggregate *a, struct tally_group *g, const struct tally_pass_record *p,
	 uint32_t index)
{
	touch(a, g, index);
	g->flags |= p->flags;
	if (p->has_gpu)
		tally_series_add_part(&g->series[TALLY_SERIES_GPU], tally_u64(p->gpu_ns),
				      TALLY_JOIN_SUM);
	add_tallies(g, p);
	add_keyed(a, g, p->counters, p->n_counters, false);
	if (a->by != TALLY_BY_FRAME)
		add_keyed(a, g, p->metrics, p->n_metrics, true);
}

/* The group of the next command of a pass, indexed over all its segments. If a frame has a
 * clear where others have a draw, the clear gets a group of its own at that index. */
static struct tally_group *
next_workload(struct tally_aggregate *a, struct tally_group *pass, const char *command)
{
	if (!pass->workloads)
		pass->workloads = g_ptr_array_new();
	uint32_t place = pass->n_placed++;
	struct tally_group *first = place < pass->workloads->len
					    ? g_ptr_array_index(pass->workloads, place)
					    : NULL;
	for (struct tally_group *g = first; g; g = g->other)
		if (strcmp(g->command, command) == 0)
			return g;
	struct tally_group *g = new_group(a, pass->device, NULL);
	g->id = pass->id;
	g->kind = pass->kind;
	g->pass = pass;
	g->label = g_strdup(pass->label);
	g->command = g_intern_string(command);
	g->name = g_strdup_printf("%s: %u %s", pass->name, place + 1, command);
	if (first) {
		g->other = first->other;
		first->other = g;
	} else {
		g_ptr_array_add(pass->workloads, g);
	}
	return g;
}

static void
add_workloads(struct tally_aggregate *a, struct tally_group *pass,
	      const struct tally_pass_record *p, uint32_t index, uint64_t frame)
{
	if (pass->placed_in != frame + 1)
		pass->n_placed = 0;
	pass->placed_in = frame + 1;
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		struct tally_group *g = next_workload(a, pass, w->command);
		/* All commands of a pass stand before those of the next one. */
		touch(a, g, index + 1 - 1 / (double)(pass->n_placed + 1));
		g->flags |= w->flags;
		if (w->has_gpu)
			tally_series_add_part(&g->series[TALLY_SERIES_GPU], tally_u64(w->gpu_ns),
					      TALLY_JOIN_SUM);
		add_keyed(a, g, w->counters, w->n_counters, false);
	}
}

/* Measured work that belongs to no pass gets a group of its own, so that the shares add up. */
static void
add_outside(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	struct tally_device_summary *d = need_device(a, f->device);
	if (!d->outside) {
		d->outside = new_group(a, f->device, NULL);
		d->outside->outside = true;
		d->outside->kind = TALLY_PASS_OTHER;
		d->outside->name = g_strdup("(outside passes)");
	}
	touch(a, d->outside, f->n_passes);
	if (f->has_unattributed_gpu)
		tally_series_add_part(&d->outside->series[TALLY_SERIES_GPU],
				      tally_u64(f->unattributed_gpu_ns), TALLY_JOIN_SUM);
	add_keyed(a, d->outside, f->unattributed, f->n_unattributed, false);
}

/* Ends the frame for a group: the joined values of its parts count as one value each. */
static void
close_group(struct tally_aggregate *a, struct tally_group *g)
{
	for (uint32_t i = 0; i < g->n_series; i++) {
		struct tally_series *s = &g->series[i];
		bool ratio =
			i >= TALLY_N_FIXED_SERIES &&
			g_array_index(a->keys, struct tally_key, i - TALLY_N_FIXED_SERIES).join ==
				TALLY_JOIN_NONE;
		bool known = s->n_parts == g->n_parts && !(ratio && s->n_parts > 1);
		if (known && a->watch && a->watch->value)
			a->watch->value(a->watch->user, g, i, s->part);
		else if (known)
			tally_stats_add(&s->stats, s->part);
		s->n_parts = 0;
	}
	g->frames++;
	g->n_parts = 0;
	g->touched = false;
}

/* Adds the frame's row: for a counter also the remainder that no pass has, and the metrics
 * of the whole frame, which are not those of its passes. */
static void
add_frame_totals(struct tally_aggregate *a, struct tally_group *g,
		 const struct tally_frame_record *f)
{
	if (!g->touched)
		touch(a, g, 0);
	for (uint32_t i = 0; i < f->n_unattributed; i++) {
		const struct tally_keyed_value *v = &f->unattributed[i];
		uint32_t k = need_key(a, v->key, false);
		struct tally_series *s = need_series(g, TALLY_N_FIXED_SERIES + k);
		if (g_array_index(a->keys, struct tally_key, k).join != TALLY_JOIN_SUM ||
		    (s->n_parts && s->n_parts != g->n_parts))
			continue;
		tally_series_add_part(s, v->value, TALLY_JOIN_SUM);
		s->n_parts = g->n_parts;
		s->estimated |= v->estimated;
	}
	for (uint32_t i = 0; i < f->n_metrics; i++) {
		const struct tally_keyed_value *v = &f->metrics[i];
		uint32_t k = need_key(a, v->key, true);
		struct tally_series *s = need_series(g, TALLY_N_FIXED_SERIES + k);
		tally_stats_add(&s->stats, v->value);
		s->n_parts = 0;
		s->estimated |= v->estimated;
	}
}

static void
count_clock(struct tally_aggregate *a, struct tally_device_summary *d,
	    const struct tally_frame_record *f)
{
	const char **known = &a->state->clock_key;
	for (uint32_t i = 0; i < f->n_metrics; i++) {
		const char *key = f->metrics[i].key;
		if (!*known && strcmp(key, "gpu_clock") == 0)
			*known = key;
		if (key != *known)
			continue;
		tally_stats_add(&d->clock, f->metrics[i].value);
		return;
	}
}

bool
tally_aggregate_clock(struct tally_device_summary *d, struct tally_clock_range *out)
{
	if (!d->clock.moments.n)
		return false;
	out->median_mhz = tally_value_f64(tally_stats_quantile(&d->clock, 0.5));
	out->low_mhz = tally_value_f64(tally_stats_quantile(&d->clock, 0.05));
	out->high_mhz = tally_value_f64(tally_stats_quantile(&d->clock, 0.95));
	out->moved = out->median_mhz > 0 ? (out->high_mhz - out->low_mhz) / out->median_mhz : 0;
	return true;
}

/* A window that is dragged larger has many sizes: more than these are not told apart. */
#define MOST_SURFACES 64

static void
count_surface(struct tally_device_summary *d, const struct tally_frame_record *f)
{
	struct tally_surface *s = (struct tally_surface *)(void *)d->surfaces->data;
	if (!f->width || !f->height)
		return;
	for (guint i = 0; i < d->surfaces->len; i++) {
		if (s[i].width == f->width && s[i].height == f->height) {
			s[i].frames++;
			return;
		}
	}
	struct tally_surface first = { f->width, f->height, 1 };
	if (d->surfaces->len < MOST_SURFACES)
		g_array_append_val(d->surfaces, first);
}

const struct tally_surface *
tally_aggregate_surface(const struct tally_device_summary *d)
{
	const struct tally_surface *most = NULL;
	for (guint i = 0; i < d->surfaces->len; i++) {
		const struct tally_surface *s =
			&g_array_index(d->surfaces, struct tally_surface, i);
		if (!most || s->frames > most->frames)
			most = s;
	}
	return most;
}

static void
count_frame(struct tally_aggregate *a, struct tally_device_summary *d,
	    const struct tally_frame_record *f)
{
	d->flags |= f->flags;
	d->dropped_passes += f->dropped_passes;
	if (f->has_gpu)
		tally_int192_add_u64(&d->gpu_total, f->gpu_ns);
	if (f->has_unattributed_gpu) {
		d->has_unattributed = true;
		tally_int192_add_u64(&d->unattributed, f->unattributed_gpu_ns);
	}
	if (f->has_coverage && f->has_gpu) {
		d->covered += f->coverage * (double)f->gpu_ns;
		d->coverable += (double)f->gpu_ns;
	}
	if (f->flags & TALLY_FLAG(PARTIAL)) {
		d->partial++;
		return;
	}
	d->frames++;
	count_surface(d, f);
	count_clock(a, d, f);
	tally_stats_add_u64(&d->cpu, f->cpu_ns);
	tally_stats_add_u64(&d->overhead, f->overhead_ns);
	if (f->has_gpu)
		tally_stats_add_u64(&d->gpu, f->gpu_ns);
}

static void
note_queue(struct tally_aggregate *a, struct tally_device_summary *d, struct tally_group *g,
	   const struct tally_pass_record *p)
{
	if (p->queue_family < 0)
		return;
	if (!d->has_queue) {
		d->has_queue = true;
		d->queue_family = p->queue_family;
		d->queue_index = p->queue_index;
	}
	a->several_queues |= p->queue_family != d->queue_family || p->queue_index != d->queue_index;
	g->queues |= g->has_queue &&
		     (p->queue_family != g->queue_family || p->queue_index != g->queue_index);
	g->has_queue = true;
	g->queue_family = p->queue_family;
	g->queue_index = p->queue_index;
}

static bool
is_warmup(const struct tally_aggregate *a, const struct tally_device_summary *d)
{
	return d->seen <
	       (a->state->warmup ? tally_warmup_frames(a->state->warmup, d->device) : a->warmup);
}

/* Puts the number of its frame on a mark's note. */
static void
name_frame(struct tally_aggregate *a, const struct mark *mark,
	   const struct tally_recent_frame *frame)
{
	char *old = g_ptr_array_index(a->notes, mark->note);
	char *text = g_strdup_printf("%s, frame %" G_GUINT64_FORMAT, old, frame->number);
	g_hash_table_remove(a->state->note_set, old);
	g_hash_table_add(a->state->note_set, text);
	a->notes->pdata[mark->note] = text;
}

/* A frame was read: the marks in it need not wait any longer. */
static void
name_marks(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	GArray *marks = a->state->marks;
	const struct tally_recent_frame *frame = tally_recent_add(&a->state->recent, f);
	for (guint i = marks->len; i-- > 0;) {
		const struct mark *mark = &g_array_index(marks, struct mark, i);
		if (!tally_recent_is_inside(frame, mark->ns))
			continue;
		name_frame(a, mark, frame);
		g_array_remove_index(marks, i);
	}
}

static void
read_frame(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	struct tally_device_summary *d = need_device(a, f->device);
	if (!a->state->first_ns)
		a->state->first_ns = f->start_ns;
	name_marks(a, f);
	bool skipped = is_warmup(a, d);
	d->seen++;
	if (skipped) {
		d->warmed_up++;
		d->warmed_up_ns += f->cpu_ns;
		if (a->watch && a->watch->skipped)
			a->watch->skipped(a->watch->user, f);
		return;
	}
	count_frame(a, d, f);
	struct tally_group *frame_group = NULL;
	if (a->by == TALLY_BY_FRAME) {
		frame_group = new_group(a, f->device, NULL);
		frame_group->frame = f->frame;
		frame_group->flags = f->flags;
		frame_group->name = g_strdup_printf("%" G_GUINT64_FORMAT, f->frame);
		frame_group->record = *f;
		frame_group->record.set = NULL;
		frame_group->record.passes = NULL;
		frame_group->record.unattributed = NULL;
		frame_group->record.metrics = NULL;
	}
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		struct tally_group *g = find_group(a, f->device, p, i);
		g->only_name = frame_group != NULL;
		g = frame_group ? frame_group : g;
		note_queue(a, d, g, p);
		if (a->by == TALLY_BY_WORKLOAD)
			add_workloads(a, g, p, i, f->frame);
		else
			add_pass(a, g, p, i);
		for (struct tally_group *r = g->parent; r; r = r->parent)
			if (!r->only)
				add_pass(a, r, p, i);
	}
	if (frame_group)
		add_frame_totals(a, frame_group, f);
	else if (a->by != TALLY_BY_WORKLOAD && (f->has_unattributed_gpu || f->n_unattributed))
		add_outside(a, f);
	for (guint i = 0; i < a->state->touched->len; i++)
		close_group(a, g_ptr_array_index(a->state->touched, i));
	if (a->watch && a->watch->frame)
		a->watch->frame(a->watch->user, f, a->state->touched);
	g_ptr_array_set_size(a->state->touched, 0);
}

static void
read_pass_info(struct tally_aggregate *a, const struct tally_pass_info_record *r)
{
	struct named_pass *n = g_new0(struct named_pass, 1);
	n->label = r->label && *r->label ? g_strdup(r->label) : NULL;
	n->base = tally_pass_name(r->kind, &r->target, r->target.presented);
	n->groups = g_strdup(r->groups);
	g_hash_table_replace(a->state->names, g_memdup2(&r->id, sizeof(r->id)), n);
}

static bool
is_mark(const struct tally_note_record *r)
{
	return r->has_time && r->source &&
	       (strcmp(r->source, "mark") == 0 || strcmp(r->source, "trigger") == 0);
}

static void
read_note(struct tally_aggregate *a, const struct tally_note_record *r)
{
	enum { MOST_NOTES = 1000 };
	if (a->notes->len >= MOST_NOTES)
		return;
	struct tally_aggregate_state *s = a->state;
	char *text = r->source && *r->source ? g_strdup_printf("%s: %s", r->source, r->message)
					     : g_strdup(r->message);
	bool mark = is_mark(r);
	if (mark) {
		/* Two equal marks are two separate marks. */
		if (!s->first_ns)
			s->first_ns = r->time_ns;
		uint64_t since_ns = r->time_ns > s->first_ns ? r->time_ns - s->first_ns : 0;
		char *plain = text;
		text = g_strdup_printf("%s, %.3f s into the log", plain, (double)since_ns / 1e9);
		g_free(plain);
	}
	if (!g_hash_table_add(s->note_set, text))
		return;
	g_ptr_array_add(a->notes, text);
	if (!mark)
		return;
	const struct mark waiting = { r->time_ns, a->notes->len - 1 };
	const struct tally_recent_frame *frame = tally_recent_find(&s->recent, r->time_ns);
	if (frame)
		name_frame(a, &waiting, frame);
	else
		g_array_append_val(s->marks, waiting);
}

/* The option by which no frame may have been captured although frames ended. */
static void
read_waits(struct tally_aggregate *a, const struct tally_header_record *r)
{
	replace(&a->waits, NULL);
	for (uint32_t i = 0; i < r->n_options && !a->waits; i++) {
		const struct tally_option_record *o = &r->options[i];
		bool starts = strcmp(o->key, "start-on") == 0 && *o->value &&
			      strcmp(o->value, "none") != 0;
		if (starts || (strcmp(o->key, "skip") == 0 && strcmp(o->value, "0") != 0))
			a->waits = g_strdup_printf("--%s %s", o->key, o->value);
	}
}

static void
read_header(struct tally_aggregate *a, const struct tally_header_record *r)
{
	a->header.pid = r->pid;
	a->header.started_unix_ns = r->started_unix_ns;
	replace(&a->program, r->program);
	replace(&a->version, r->version);
	read_waits(a, r);
	tally_log_identity_read(&a->identity, r);
	if (a->watch && a->watch->header)
		a->watch->header(a->watch->user, r);
}

void
tally_aggregate_add(struct tally_aggregate *a, const struct tally_log_line *line)
{
	a->state->key_guess = 0;
	if (a->watch && a->watch->line)
		a->watch->line(a->watch->user, line);
	switch (line->type) {
	case TALLY_LINE_HEADER:
		read_header(a, &line->header);
		break;
	case TALLY_LINE_DEVICE:
		read_device(a, &line->device);
		break;
	case TALLY_LINE_PASS_INFO:
		read_pass_info(a, &line->pass_info);
		break;
	case TALLY_LINE_FRAME:
		read_frame(a, &line->frame);
		break;
	case TALLY_LINE_NOTE:
		read_note(a, &line->note);
		break;
	case TALLY_LINE_END:
		a->has_end = true;
		replace(&a->end_reason, line->end.reason);
		a->end_frames = line->end.frames;
		a->end_frames_dropped = line->end.frames_dropped;
		a->end_passes = line->end.passes;
		break;
	case TALLY_LINE_UNKNOWN:
		break;
	}
}

static void
init(struct tally_aggregate *a, const char *path, enum tally_by by, uint64_t warmup)
{
	*a = (struct tally_aggregate){ .by = by, .warmup = warmup, .path = g_strdup(path) };
	tally_log_identity_init(&a->identity);
	a->keys = g_array_new(FALSE, TRUE, sizeof(struct tally_key));
	g_array_set_clear_func(a->keys, clear_key);
	a->groups = g_ptr_array_new_with_free_func(free_group);
	a->devices = g_ptr_array_new_with_free_func(free_device);
	a->notes = g_ptr_array_new();
	struct tally_aggregate_state *s = g_new0(struct tally_aggregate_state, 1);
	s->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_named_pass);
	s->by_id = g_hash_table_new_full(group_key_hash, group_key_equal, g_free, NULL);
	s->by_label = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->ordinals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->key_index = g_hash_table_new(NULL, NULL);
	s->devices = g_hash_table_new(NULL, NULL);
	s->note_set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->touched = g_ptr_array_new();
	s->marks = g_array_new(FALSE, FALSE, sizeof(struct mark));
	a->state = s;
}

void
tally_aggregate_begin(struct tally_aggregate *a, const char *path,
		      const struct tally_aggregate_watch *watch)
{
	init(a, path, TALLY_BY_PASS, 0);
	a->watch = watch;
}

void
tally_aggregate_finish(struct tally_aggregate *a)
{
	struct tally_aggregate_state *s = a->state;
	if (!s)
		return;
	g_hash_table_destroy(s->names);
	g_hash_table_destroy(s->by_id);
	g_hash_table_destroy(s->by_label);
	g_hash_table_destroy(s->ordinals);
	g_hash_table_destroy(s->key_index);
	g_hash_table_destroy(s->devices);
	g_ptr_array_unref(a->notes);
	g_hash_table_destroy(s->note_set);
	g_ptr_array_unref(s->touched);
	g_array_unref(s->marks);
	tally_warmup_destroy(s->warmup);
	g_free(s->guess);
	g_free(s->key_pointers);
	g_free(s);
	g_array_unref(a->keys);
	g_ptr_array_unref(a->groups);
	g_ptr_array_unref(a->devices);
	g_free(a->path);
	g_free(a->program);
	g_free(a->waits);
	g_free(a->version);
	tally_log_identity_finish(&a->identity);
	g_free(a->end_reason);
	*a = (struct tally_aggregate){ 0 };
}

static bool
look_ahead(void *user, const struct tally_log_line *line)
{
	return tally_warmup_add(user, line);
}

static struct tally_log_reader *
open_log(struct tally_aggregate *a, const char *path, enum tally_read_status *status,
	 struct tally_read_error *error)
{
	struct tally_log_reader *reader;
	if (a->warmup != TALLY_WARMUP_AUTO) {
		reader = tally_log_input_open(path, status, error);
	} else {
		a->state->warmup = tally_warmup_create();
		reader = tally_log_input_open_ahead(path, a->skips_bad, look_ahead,
						    a->state->warmup, status, error);
	}
	if (reader && a->skips_bad)
		tally_log_reader_skip_bad(reader);
	return reader;
}

static int
read_log(struct tally_aggregate *a, const char *command, const char *path)
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status = TALLY_READ_OK;
	struct tally_log_reader *reader = open_log(a, path, &status, &error);
	if (!reader)
		return tally_cli_read_failed(NULL, path, status, &error);
	struct tally_progress progress;
	tally_progress_begin(&progress, 1000);
	struct tally_log_line line;
	while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK) {
		tally_aggregate_add(a, &line);
		tally_progress_read(&progress, "reading", path, reader);
	}
	tally_progress_end(&progress);
	a->skipped = *tally_log_reader_skipped(reader);
	tally_log_reader_close(reader);
	if (status == TALLY_READ_TRUNCATED) {
		a->truncated = true;
		a->cut = error;
		tally_cli_complain(command,
				   "%s: the last line (%" G_GUINT64_FORMAT
				   ") is cut, as when the program was killed; all lines before it "
				   "are used",
				   path, error.line);
		return TALLY_EXIT_OK;
	}
	return status == TALLY_READ_END ? TALLY_EXIT_OK
					: tally_cli_read_failed(NULL, path, status, &error);
}

int
tally_aggregate_read(struct tally_aggregate *a, const char *command, const char *path,
		     enum tally_by by, uint64_t warmup)
{
	return tally_aggregate_read_watched(a, command, path, by, warmup, NULL, false);
}

int
tally_aggregate_read_watched(struct tally_aggregate *a, const char *command, const char *path,
			     enum tally_by by, uint64_t warmup,
			     const struct tally_aggregate_watch *watch, bool skip_bad)
{
	init(a, path, by, warmup);
	a->skips_bad = skip_bad;
	a->watch = watch;
	return read_log(a, command, path);
}

int
tally_aggregate_watch(struct tally_aggregate *a, const char *command, const char *path,
		      uint64_t warmup, const struct tally_aggregate_watch *watch)
{
	return tally_aggregate_read_watched(a, command, path, TALLY_BY_PASS, warmup, watch, false);
}
