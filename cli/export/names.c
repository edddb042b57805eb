/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

#include "cli/log/pass_name.h"

#include <string.h>

struct named_pass {
	char *label; /* NULL = none */
	char *base; /* name without the ordinal */
};

struct pass_key {
	uint64_t id;
	uint32_t device;
};

struct device_key {
	char *key;
	uint32_t device;
};

struct tally_export_names {
	GHashTable *passes; /* maps an id to struct named_pass */
	GHashTable *names; /* maps struct pass_key to char * */
	GHashTable *ordinals; /* maps "device|base" to the count so far */
	GHashTable *keys; /* maps struct device_key to struct tally_export_key */
};

static guint
hash_pass(gconstpointer v)
{
	const struct pass_key *k = v;
	return (guint)(k->id ^ k->id >> 32) * 31 + k->device;
}

static gboolean
same_pass(gconstpointer a, gconstpointer b)
{
	const struct pass_key *x = a, *y = b;
	return x->id == y->id && x->device == y->device;
}

static guint
hash_device(gconstpointer v)
{
	const struct device_key *k = v;
	return g_str_hash(k->key) * 31 + k->device;
}

static gboolean
same_device(gconstpointer a, gconstpointer b)
{
	const struct device_key *x = a, *y = b;
	return x->device == y->device && strcmp(x->key, y->key) == 0;
}

static void
free_device_key(gpointer v)
{
	g_free(((struct device_key *)v)->key);
	g_free(v);
}

static void
free_named_pass(gpointer v)
{
	struct named_pass *n = v;
	g_free(n->label);
	g_free(n->base);
	g_free(n);
}

static void
free_key(gpointer v)
{
	struct tally_export_key *k = v;
	g_free(k->unit);
	g_free(k->source);
	g_free(k->description);
	g_free(k);
}

struct tally_export_names *
tally_export_names_create(void)
{
	struct tally_export_names *names = g_new0(struct tally_export_names, 1);
	names->passes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_named_pass);
	names->names = g_hash_table_new_full(hash_pass, same_pass, g_free, g_free);
	names->ordinals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	names->keys = g_hash_table_new_full(hash_device, same_device, free_device_key, free_key);
	return names;
}

void
tally_export_names_destroy(struct tally_export_names *names)
{
	g_hash_table_destroy(names->passes);
	g_hash_table_destroy(names->names);
	g_hash_table_destroy(names->ordinals);
	g_hash_table_destroy(names->keys);
	g_free(names);
}

static struct named_pass *
add_pass(struct tally_export_names *names, uint64_t id, const char *label, char *base)
{
	struct named_pass *n = g_new0(struct named_pass, 1);
	n->label = label && *label ? g_strdup(label) : NULL;
	n->base = base;
	g_hash_table_replace(names->passes, g_memdup2(&id, sizeof(id)), n);
	return n;
}

void
tally_export_names_add(struct tally_export_names *names, const struct tally_pass_info_record *info)
{
	add_pass(names, info->id, info->label,
		 tally_pass_name(info->kind, &info->target, info->target.presented));
}

static struct named_pass *
need_pass(struct tally_export_names *names, const struct tally_pass_record *pass)
{
	struct named_pass *n = g_hash_table_lookup(names->passes, &pass->id);
	return n ? n
		 : add_pass(names, pass->id, pass->label, tally_pass_name(pass->kind, NULL, false));
}

const char *
tally_export_names_label(struct tally_export_names *names, const struct tally_pass_record *pass)
{
	return need_pass(names, pass)->label;
}

/* Follows the rules of cli/log/aggregate.c, so that a trace and a report use the same name
 * for the same pass. */
const char *
tally_export_names_find(struct tally_export_names *names, uint32_t device,
			const struct tally_pass_record *pass)
{
	struct pass_key key = { .id = pass->id, .device = device };
	char *name = g_hash_table_lookup(names->names, &key);
	if (name)
		return name;
	const struct named_pass *n = need_pass(names, pass);
	bool window = pass->surface >= 0 && pass->kind == TALLY_PASS_RENDER;
	const char *base = n->label ? n->label : window ? "Backbuffer" : n->base;
	char *counted = g_strdup_printf("%u|%s", device, base);
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(names->ordinals, counted)) + 1;
	g_hash_table_replace(names->ordinals, counted, GUINT_TO_POINTER(place));
	name = tally_pass_number_name(base, place);
	g_hash_table_insert(names->names, g_memdup2(&key, sizeof(key)), name);
	return name;
}

void
tally_export_lane_name(const struct tally_pass_record *pass, char *out, size_t size)
{
	if (pass->queue_family >= 0)
		g_snprintf(out, size, "queue %d.%d", pass->queue_family, pass->queue_index);
	else if (pass->context >= 0)
		g_snprintf(out, size, "context %" G_GINT64_FORMAT, pass->context);
	else
		g_snprintf(out, size, "no context");
}

static void
add_key(struct tally_export_names *names, uint32_t device, const char *key,
	const struct tally_export_key *says)
{
	struct device_key *k = g_new0(struct device_key, 1);
	k->device = device;
	k->key = g_strdup(key);
	struct tally_export_key *copy = g_new0(struct tally_export_key, 1);
	copy->unit = g_strdup(says->unit);
	copy->source = g_strdup(says->source);
	copy->description = g_strdup(says->description);
	copy->metric = says->metric;
	g_hash_table_replace(names->keys, k, copy);
}

void
tally_export_names_add_device(struct tally_export_names *names,
			      const struct tally_device_record *device)
{
	for (uint32_t i = 0; i < device->n_counters; i++) {
		const struct tally_counter *c = device->counters[i];
		const struct tally_export_key says = { .unit = (char *)c->unit,
						       .source = (char *)c->source,
						       .description = (char *)c->description };
		add_key(names, device->device, c->key, &says);
	}
	for (uint32_t i = 0; i < device->n_metrics; i++) {
		const struct tally_metric_info *m = &device->metrics[i];
		const struct tally_export_key says = { .unit = (char *)m->unit,
						       .source = (char *)m->dialect,
						       .description = (char *)m->expression,
						       .metric = true };
		add_key(names, device->device, m->key, &says);
	}
}

const struct tally_export_key *
tally_export_names_key(const struct tally_export_names *names, uint32_t device, const char *key)
{
	const struct device_key k = { .key = (char *)key, .device = device };
	return g_hash_table_lookup(names->keys, &k);
}
