/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

#include "cli/log/pass_name.h"

struct tally_export_names {
	struct tally_pass_names passes;
	GHashTable *names; /* maps struct tally_pass_key to char * */
	GHashTable *keys; /* maps "DEVICE|KEY" to struct tally_export_key */
	GStringChunk *texts; /* of the keys */
};

struct tally_export_names *
tally_export_names_create(void)
{
	struct tally_export_names *names = g_new0(struct tally_export_names, 1);
	tally_pass_names_init(&names->passes);
	names->names = g_hash_table_new_full(tally_pass_key_hash, tally_pass_key_equal, g_free,
					     g_free);
	names->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	names->texts = g_string_chunk_new(1024);
	return names;
}

void
tally_export_names_destroy(struct tally_export_names *names)
{
	tally_pass_names_finish(&names->passes);
	g_hash_table_destroy(names->names);
	g_hash_table_destroy(names->keys);
	g_string_chunk_free(names->texts);
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

static const char *
keep(struct tally_export_names *names, const char *text)
{
	return text ? g_string_chunk_insert_const(names->texts, text) : NULL;
}

static void
add_key(struct tally_export_names *names, uint32_t device, const char *key,
	struct tally_export_key says)
{
	says.unit = keep(names, says.unit);
	says.source = keep(names, says.source);
	says.description = keep(names, says.description);
	g_hash_table_replace(names->keys, g_strdup_printf("%u|%s", device, key),
			     g_memdup2(&says, sizeof(says)));
}

void
tally_export_names_add_device(struct tally_export_names *names,
			      const struct tally_device_record *device)
{
	for (uint32_t i = 0; i < device->n_counters; i++) {
		const struct tally_counter *c = device->counters[i];
		add_key(names, device->device, c->key,
			(struct tally_export_key){ .unit = c->unit,
						   .source = c->source,
						   .description = c->description });
	}
	for (uint32_t i = 0; i < device->n_metrics; i++) {
		const struct tally_metric_info *m = &device->metrics[i];
		add_key(names, device->device, m->key,
			(struct tally_export_key){ .unit = m->unit,
						   .source = m->dialect,
						   .description = m->expression });
	}
}

const struct tally_export_key *
tally_export_names_key(const struct tally_export_names *names, uint32_t device, const char *key)
{
	g_autofree char *of_device = g_strdup_printf("%u|%s", device, key);
	return g_hash_table_lookup(names->keys, of_device);
}
