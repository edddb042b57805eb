/* SPDX-License-Identifier: MIT */
/* By label, with a roll-up of each node of the tree of labels. */
#include "cli/log/device_summary.h"
#include "cli/log/rows.h"

#include <string.h>

static struct tally_label_row *
of(struct tally_group *g)
{
	return (struct tally_label_row *)g;
}

/* `g` is new, and in the roll-up `parent`, which may be NULL. */
static void
add_to_rollup(struct tally_group *parent, struct tally_group *g)
{
	of(g)->parent = parent;
	if (parent)
		of(parent)->n_below++;
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
			g = tally_group_create(a, device, NULL);
			of(g)->rollup = true;
			g->label = g->name = tally_row_text(a, path);
			add_to_rollup(parent, g);
			g_hash_table_insert(a->state->groups.by_label, g_strdup(key), g);
		}
		parent = g;
	}
	return parent;
}

/* The row of a pass whose identity is new. */
static struct tally_group *
label_row(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	const char *label = tally_pass_names_find(&a->state->groups.names, p)->label;
	const char *base = tally_pass_names_base(&a->state->groups.names, p);
	struct tally_group *rollup = label ? need_rollup(a, device, label) : NULL;
	for (struct tally_group *g = rollup; g; g = of(g)->parent)
		of(g)->n_ids++;
	g_autofree char *key = g_strdup_printf("%u|%c|%s", device, label ? 'l' : 'a',
					       label ? label : base);
	struct tally_group *g = g_hash_table_lookup(a->state->groups.by_label, key);
	if (!g) {
		g_autofree char *name = label ? g_strdup(label) : g_strdup_printf("(%s)", base);
		g = tally_group_create(a, device, p);
		g->label = tally_row_text(a, label);
		g->name = tally_row_text(a, name);
		add_to_rollup(rollup, g);
		g_hash_table_insert(a->state->groups.by_label, g_steal_pointer(&key), g);
	}
	of(g)->n_ids++;
	return g;
}

static void
add(struct tally_aggregate *a, struct tally_device_summary *d, const struct tally_frame_record *f)
{
	GHashTable *by_id = a->state->groups.by_id;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		const struct tally_pass_key key = { .id = p->id, .device = f->device };
		struct tally_group *g = g_hash_table_lookup(by_id, &key);
		if (!g) {
			g = label_row(a, f->device, p);
			g_hash_table_insert(by_id, g_memdup2(&key, sizeof(key)), g);
		}
		tally_device_summary_add_queue(a, d, g, p);
		tally_group_add_pass(a, g, p, i);
		for (struct tally_group *r = of(g)->parent; r; r = of(r)->parent)
			tally_group_add_pass(a, r, p, i);
	}
	tally_aggregate_add_outside(a, f);
}

const struct tally_grouping tally_by_label = {
	.word = "label",
	.columns = "per_frame_ns,p50_ns,p99_ns,share,n,draws",
	.row_bytes = sizeof(struct tally_label_row),
	.add = add,
};
