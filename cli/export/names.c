/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

static guint
hash_key(gconstpointer p)
{
	const struct tally_export_key *k = p;
	return g_direct_hash(k->key) ^ k->device * 2654435761u;
}

static gboolean
equal_keys(gconstpointer a, gconstpointer b)
{
	const struct tally_export_key *x = a, *y = b;
	return x->key == y->key && x->device == y->device;
}

void
tally_export_names_init(struct tally_export_names *names)
{
	tally_pass_names_init(&names->passes);
	names->names = g_hash_table_new_full(tally_pass_key_hash, tally_pass_key_equal,
					     g_free, g_free);
	names->keys = g_hash_table_new_full(hash_key, equal_keys, g_free, NULL);
}

void
tally_export_names_finish(struct tally_export_names *names)
{
	tally_pass_names_finish(&names->passes);
	g_hash_table_destroy(names->names);
	g_hash_table_destroy(names->keys);
}

const char *
tally_export_names_find(struct tally_export_names *names, uint32_t device,
			const struct tally_pass_record *pass)
{
	struct tally_pass_key key = { .id = pass->id, .device = device };
	char *name = g_hash_table_lookup(names->names, &key);
	if (name)
		return name;
	name = tally_pass_names_next(&names->passes, device, pass);
	g_hash_table_insert(names->names, g_memdup2(&key, sizeof(key)), name);
	return name;
}

void
tally_export_lane_name(const struct tally_pass_record *pass, char *out, size_t size)
{
	if (pass->queue_family >= 0)
		g_snprintf(out, size, "queue %d.%d", pass->queue_family,
			   pass->queue_index);
	else if (pass->context >= 0)
		g_snprintf(out, size, "context %" G_GINT64_FORMAT, pass->context);
	else
		g_snprintf(out, size, "no context");
}

static void
add_key(struct tally_export_names *names, uint32_t device, const char *key,
	const char *unit, const char *source, const char *description)
{
	const struct tally_export_key says = { key, device, g_intern_string(unit),
					       g_intern_string(source),
					       g_intern_string(description) };
	g_hash_table_add(names->keys, g_memdup2(&says, sizeof(says)));
}

void
tally_export_names_read(struct tally_export_names *names,
			const struct tally_log_line *line)
{
	const struct tally_device_record *d = &line->device;
	if (line->type == TALLY_LINE_HEADER)
		tally_pass_names_program(&names->passes, line->header.program);
	if (line->type == TALLY_LINE_PASS_INFO)
		tally_pass_names_add(&names->passes, &line->pass_info);
	if (line->type != TALLY_LINE_DEVICE)
		return;
	for (uint32_t i = 0; i < d->n_counters; i++)
		add_key(names, d->device, d->counters[i]->key, d->counters[i]->unit,
			d->counters[i]->source, d->counters[i]->description);
	for (uint32_t i = 0; i < d->n_metrics; i++)
		add_key(names, d->device, d->metrics[i].key, d->metrics[i].unit,
			d->metrics[i].dialect, d->metrics[i].expression);
}

const struct tally_export_key *
tally_export_names_key(const struct tally_export_names *names, uint32_t device,
		       const char *key)
{
	const struct tally_export_key wanted = { .key = key, .device = device };
	return g_hash_table_lookup(names->keys, &wanted);
}
