/* SPDX-License-Identifier: MIT */
#include "cli/check/parts.h"

struct sum {
	const char *key; /* owned by the reader */
	uint32_t device;
	bool whole; /* every value was a whole number */
	/* Modulo 2^64, as the delta is: equal sums stay equal. */
	uint64_t passes, unattributed;
};

static guint
hash_sum(gconstpointer p)
{
	const struct sum *s = p;
	return g_str_hash(s->key) ^ s->device * 2654435761u;
}

static gboolean
equal_sums(gconstpointer x, gconstpointer y)
{
	const struct sum *a = x, *b = y;
	return a->device == b->device && strcmp(a->key, b->key) == 0;
}

GHashTable *
tally_conserve_create(void)
{
	return g_hash_table_new_full(hash_sum, equal_sums, g_free, NULL);
}

static void
add_value(GHashTable *sums, uint32_t device, const struct tally_keyed_value *v,
	  bool of_pass)
{
	const struct sum wanted = { .key = v->key, .device = device, .whole = true };
	struct sum *s = g_hash_table_lookup(sums, &wanted);
	if (!s) {
		s = g_memdup2(&wanted, sizeof(wanted));
		g_hash_table_add(sums, s);
	}
	s->whole &= v->value.storage == TALLY_STORAGE_U64;
	if (s->whole)
		*(of_pass ? &s->passes : &s->unattributed) += v->value.u64;
}

void
tally_conserve_add_frame(GHashTable *sums, const struct tally_frame_record *frame)
{
	for (uint32_t p = 0; p < frame->n_passes; p++) {
		const struct tally_pass_record *pass = &frame->passes[p];
		for (uint32_t i = 0; i < pass->n_counters; i++)
			add_value(sums, frame->device, &pass->counters[i], true);
	}
	for (uint32_t i = 0; i < frame->n_unattributed; i++)
		add_value(sums, frame->device, &frame->unattributed[i], false);
}

static char *
describe_sum(const struct tally_growth_record *g, const struct sum *s, uint64_t total)
{
	if (!s->whole)
		return g_strdup_printf(
			"%s of device %u has values that are no whole numbers, "
			"but grew by %" G_GUINT64_FORMAT,
			g->key, g->device, g->growth);
	return g_strdup_printf("%s of device %u grew by %" G_GUINT64_FORMAT
			       ", but its values add up to %" G_GUINT64_FORMAT
			       " (passes %" G_GUINT64_FORMAT
			       ", unattributed %" G_GUINT64_FORMAT
			       ", unlogged %" G_GUINT64_FORMAT ")",
			       g->key, g->device, g->growth, total, s->passes,
			       s->unattributed, g->unlogged);
}

void
tally_conserve_check(GHashTable *sums, const struct tally_end_record *end,
		     tally_conserve_complain *complain, void *data)
{
	for (uint32_t i = 0; i < end->n_growth; i++) {
		const struct tally_growth_record *g = &end->growth[i];
		const struct sum none = { .key = g->key,
					  .device = g->device,
					  .whole = true };
		const struct sum *found = g_hash_table_lookup(sums, &none);
		const struct sum *s = found ? found : &none;
		uint64_t total = s->passes + s->unattributed + g->unlogged;
		if (s->whole && total == g->growth)
			continue;
		g_autofree char *message = describe_sum(g, s, total);
		complain(data, i, message);
	}
}
