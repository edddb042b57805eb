/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

#include "cli/log/pass_names.h"

#include <string.h>

struct device_key {
	char *key;
	uint32_t device;
};

struct tally_export_names {
	struct tally_pass_names passes;
	GHashTable *names; /* maps struct tally_pass_key to char * */
	GHashTable *keys; /* maps struct device_key to struct tally_export_key */
};

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
	tally_pass_names_init(&names->passes);
	names->names = g_hash_table_new_full(tally_pass_key_hash, tally_pass_key_equal, g_free,
					     g_free);
	names->keys = g_hash_table_new_full(hash_device, same_device, free_device_key, free_key);
	return names;
}

void
tally_export_names_destroy(struct tally_export_names *names)
{
	tally_pass_names_finish(&names->passes);
	g_hash_table_destroy(names->names);
	g_hash_table_destroy(names->keys);
	g_free(names);
}

void
tally_export_names_add(struct tally_export_names *names, const struct tally_pass_info_record *info)
{
	tally_pass_names_add(&names->passes, info);
}

const char *
tally_export_names_label(struct tally_export_names *names, const struct tally_pass_record *pass)
{
	return tally_pass_names_find(&names->passes, pass)->label;
}

const char *
tally_export_names_find(struct tally_export_names *names, uint32_t device,
			const struct tally_pass_record *pass)
{
	struct tally_pass_key key = { .id = pass->id, .device = device };
	char *name = g_hash_table_lookup(names->names, &key);
	if (name)
		return name;
	name = tally_pass_names_number(&names->passes, device,
				       tally_pass_names_base(&names->passes, pass));
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
