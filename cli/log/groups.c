/* SPDX-License-Identifier: MIT */
/* How the passes of a log become groups: by pass, by label with roll-ups, by workload. */
#include "cli/log/aggregate_parts.h"

#include <string.h>

static void
free_group(gpointer p)
{
	struct tally_group *g = p;
	for (uint32_t i = 0; i < g->n_series; i++)
		tally_stats_finish(&g->series[i].stats);
	g_free(g->series);
	g_free(g->parts);
	g_free(g->label);
	g_free(g->groups);
	g_free(g->name);
	if (g->workloads)
		g_ptr_array_unref(g->workloads);
	g_free(g);
}

void
tally_group_make_series(struct tally_group *g, uint32_t series)
{
	g->series = g_renew(struct tally_series, g->series, series + 1);
	g->parts = g_renew(struct tally_joined, g->parts, series + 1);
	for (uint32_t i = g->n_series; i <= series; i++) {
		g->series[i] = (struct tally_series){ 0 };
		g->parts[i] = (struct tally_joined){ 0 };
		tally_stats_init(&g->series[i].stats, TALLY_STATS_KEEP_PASS);
	}
	g->n_series = series + 1;
}

struct tally_group *
tally_group_create(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	struct tally_group *g = g_new0(struct tally_group, 1);
	g->device = device;
	g->n_ids = 1;
	if (p) {
		g->id = p->id;
		g->kind = p->kind;
	}
	tally_group_series(g, TALLY_N_FIXED_SERIES - 1);
	g_ptr_array_add(a->groups, g);
	return g;
}

/* Gives a roll-up separate values: so far they were those of the only group in it. */
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
	g->parts = g_memdup2(from->parts, from->n_series * sizeof(*from->parts));
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
	enum { MOST_LEVELS = 32 }; /* everything below them is one part */
	struct tally_group *parent = NULL;
	size_t end = 0;
	for (unsigned level = 1; label[end]; level++) {
		end += parent != NULL; /* the separator */
		end += level < MOST_LEVELS ? tally_label_part(label + end) : strlen(label + end);
		g_autofree char *path = g_strndup(label, end);
		g_autofree char *key = g_strdup_printf("%u|r|%s", device, path);
		struct tally_group *g = g_hash_table_lookup(a->state->groups.by_label, key);
		if (!g) {
			g = g_new0(struct tally_group, 1);
			g->device = device;
			g->rollup = true;
			g->label = g_strdup(path);
			g->name = g_strdup(path);
			g_ptr_array_add(a->groups, g);
			add_to_rollup(a, parent, g);
			g_hash_table_insert(a->state->groups.by_label, g_strdup(key), g);
		}
		parent = g;
	}
	return parent;
}

static struct tally_group *
label_group(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	const char *label = tally_pass_names_find(&a->state->groups.names, p)->label;
	const char *base = tally_pass_names_base(&a->state->groups.names, p);
	struct tally_group *rollup = label ? need_rollup(a, device, label) : NULL;
	for (struct tally_group *g = rollup; g; g = g->parent)
		g->n_ids++;
	char *key = g_strdup_printf("%u|%c|%s", device, label ? 'l' : 'a', base);
	struct tally_group *g = g_hash_table_lookup(a->state->groups.by_label, key);
	if (g) {
		g->n_ids++;
		g_free(key);
		return g;
	}
	g = tally_group_create(a, device, p);
	g->label = g_strdup(label);
	g->name = label ? g_strdup(label) : g_strdup_printf("(%s)", base);
	add_to_rollup(a, rollup, g);
	g_hash_table_insert(a->state->groups.by_label, key, g);
	return g;
}

static struct tally_group *
pass_group(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	struct tally_group *g = tally_group_create(a, device, p);
	struct tally_pass_names *names = &a->state->groups.names;
	const struct tally_named_pass *named = tally_pass_names_find(names, p);
	g->label = g_strdup(named->label);
	g->groups = g_strdup(named->groups);
	g->name = tally_pass_names_number(names, device, tally_pass_names_base(names, p));
	return g;
}

struct tally_group *
tally_group_find(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p,
		 uint32_t place)
{
	struct tally_aggregate_state *s = a->state;
	if (a->by != TALLY_BY_LABEL && place < s->groups.n_guess && s->groups.guess[place] &&
	    s->groups.guess[place]->id == p->id && s->groups.guess[place]->device == device)
		return s->groups.guess[place];
	struct tally_pass_key key = { .id = p->id, .device = device };
	struct tally_group *g = g_hash_table_lookup(s->groups.by_id, &key);
	if (!g) {
		g = a->by == TALLY_BY_LABEL ? label_group(a, device, p) : pass_group(a, device, p);
		g_hash_table_insert(s->groups.by_id, g_memdup2(&key, sizeof(key)), g);
	}
	if (place >= s->groups.n_guess) {
		s->groups.guess = g_renew(struct tally_group *, s->groups.guess, place + 1);
		memset(&s->groups.guess[s->groups.n_guess], 0,
		       (place + 1 - s->groups.n_guess) * sizeof(*s->groups.guess));
		s->groups.n_guess = place + 1;
	}
	s->groups.guess[place] = g;
	return g;
}

struct tally_group *
tally_aggregate_find_pass(const struct tally_aggregate *a, uint32_t device, uint64_t id,
			  uint32_t place)
{
	const struct tally_groups *s = &a->state->groups;
	struct tally_group *g = place < s->n_guess ? s->guess[place] : NULL;
	if (g && g->id == id && g->device == device && a->by != TALLY_BY_LABEL)
		return g;
	const struct tally_pass_key key = { .id = id, .device = device };
	return g_hash_table_lookup(s->by_id, &key);
}

/* The group of the next command of a pass, indexed over all its segments. If a frame has a
 * clear where others have a draw, the clear gets a separate group at that index. */
struct tally_group *
tally_group_next_workload(struct tally_aggregate *a, struct tally_group *pass, const char *command)
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
	struct tally_group *g = tally_group_create(a, pass->device, NULL);
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

void
tally_groups_init(struct tally_aggregate *a)
{
	struct tally_groups *g = &a->state->groups;
	a->groups = g_ptr_array_new_with_free_func(free_group);
	tally_pass_names_init(&g->names);
	g->by_id = g_hash_table_new_full(tally_pass_key_hash, tally_pass_key_equal, g_free, NULL);
	g->by_label = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void
tally_groups_finish(struct tally_aggregate *a)
{
	struct tally_groups *g = &a->state->groups;
	tally_pass_names_finish(&g->names);
	g_hash_table_destroy(g->by_id);
	g_hash_table_destroy(g->by_label);
	g_free(g->guess);
	g_ptr_array_unref(a->groups);
}
