/* SPDX-License-Identifier: MIT */
#include "cli/export/names.h"

const char *
tally_export_name(const struct tally_export_options *options, uint32_t device,
		  const struct tally_pass_record *pass)
{
	return tally_aggregate_find_pass(options->log, device, pass->id)->name;
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

GHashTable *
tally_export_keys_new(void)
{
	return g_hash_table_new_full(hash_key, equal_keys, g_free, NULL);
}

static void
add_key(GHashTable *keys, uint32_t device, const char *key, const char *unit,
	const char *source, const char *description)
{
	const struct tally_export_key says = { key, device, g_intern_string(unit),
					       g_intern_string(source),
					       g_intern_string(description) };
	g_hash_table_add(keys, g_memdup2(&says, sizeof(says)));
}

void
tally_export_keys_read(GHashTable *keys, const struct tally_device_record *d)
{
	for (uint32_t i = 0; i < d->n_counters; i++)
		add_key(keys, d->device, d->counters[i]->key, d->counters[i]->unit,
			d->counters[i]->source, d->counters[i]->description);
	for (uint32_t i = 0; i < d->n_metrics; i++)
		add_key(keys, d->device, d->metrics[i].key, d->metrics[i].unit,
			d->metrics[i].dialect, d->metrics[i].expression);
}

const struct tally_export_key *
tally_export_key(const struct tally_export_options *options, uint32_t device,
		 const char *key)
{
	const struct tally_export_key wanted = { .key = key, .device = device };
	return g_hash_table_lookup(options->keys, &wanted);
}
