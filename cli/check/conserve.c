#include "cli/check/conserve.h"

#include <glib.h>

struct sum {
	const char *key; /* owned by the reader */
	uint32_t device;
	bool whole; /* every value was a whole number */
	/* Modulo 2^64, as the delta is: equal sums stay equal. */
	uint64_t passes, unattributed;
};

struct tally_conserve {
	GArray *sums; /* elements: struct sum */
	GHashTable *places; /* maps struct sum * (only device and key count) to index + 1 */
	/* Values come in the same order in every pass. */
	guint guess;
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

struct tally_conserve *
tally_conserve_create(void)
{
	struct tally_conserve *c = g_new0(struct tally_conserve, 1);
	c->sums = g_array_new(FALSE, FALSE, sizeof(struct sum));
	c->places = g_hash_table_new_full(hash_sum, equal_sums, g_free, NULL);
	return c;
}

void
tally_conserve_destroy(struct tally_conserve *c)
{
	if (!c)
		return;
	g_array_unref(c->sums);
	g_hash_table_destroy(c->places);
	g_free(c);
}

static struct sum *
find_sum(const struct tally_conserve *c, uint32_t device, const char *key)
{
	struct sum wanted = { .key = key, .device = device };
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(c->places, &wanted));
	return place ? &g_array_index(c->sums, struct sum, place - 1) : NULL;
}

static struct sum *
need_sum(struct tally_conserve *c, uint32_t device, const char *key)
{
	for (guint i = c->guess; i < c->sums->len && i < c->guess + 2; i++) {
		struct sum *s = &g_array_index(c->sums, struct sum, i);
		if (s->key == key && s->device == device) {
			c->guess = i + 1;
			return s;
		}
	}
	struct sum *s = find_sum(c, device, key);
	if (!s) {
		struct sum fresh = { .key = key, .device = device, .whole = true };
		g_array_append_val(c->sums, fresh);
		g_hash_table_insert(c->places, g_memdup2(&fresh, sizeof(fresh)),
				    GUINT_TO_POINTER(c->sums->len));
		s = &g_array_index(c->sums, struct sum, c->sums->len - 1);
	}
	c->guess = (guint)(s - &g_array_index(c->sums, struct sum, 0)) + 1;
	return s;
}

static uint64_t
whole_number(struct sum *s, struct tally_value v)
{
	s->whole &= v.storage == TALLY_STORAGE_U64;
	return v.storage == TALLY_STORAGE_U64 ? v.u64 : 0;
}

void
tally_conserve_add_frame(struct tally_conserve *c, const struct tally_frame_record *frame)
{
	for (uint32_t p = 0; p < frame->n_passes; p++) {
		const struct tally_pass_record *pass = &frame->passes[p];
		c->guess = 0;
		for (uint32_t i = 0; i < pass->n_counters; i++) {
			struct sum *s = need_sum(c, frame->device, pass->counters[i].key);
			s->passes += whole_number(s, pass->counters[i].value);
		}
	}
	c->guess = 0;
	for (uint32_t i = 0; i < frame->n_unattributed; i++) {
		struct sum *s = need_sum(c, frame->device, frame->unattributed[i].key);
		s->unattributed += whole_number(s, frame->unattributed[i].value);
	}
}

void
tally_conserve_check(struct tally_conserve *c, const struct tally_end_record *end,
		     tally_conserve_complain *complain, void *data)
{
	for (uint32_t i = 0; i < end->n_growth; i++) {
		const struct tally_growth_record *g = &end->growth[i];
		const struct sum *found = find_sum(c, g->device, g->key);
		const struct sum s = found ? *found : (struct sum){ .whole = true };
		uint64_t told = s.passes + s.unattributed + g->unlogged;
		if (s.whole && told == g->growth)
			continue;
		char *message;
		if (s.whole)
			message = g_strdup_printf("%s of device %u grew by %" G_GUINT64_FORMAT
						  ", but its values add up to %" G_GUINT64_FORMAT
						  " (passes %" G_GUINT64_FORMAT
						  ", unattributed %" G_GUINT64_FORMAT
						  ", unlogged %" G_GUINT64_FORMAT ")",
						  g->key, g->device, g->growth, told, s.passes,
						  s.unattributed, g->unlogged);
		else
			message = g_strdup_printf("%s of device %u has values that are no whole "
						  "numbers, but grew by %" G_GUINT64_FORMAT,
						  g->key, g->device, g->growth);
		complain(data, i, message);
		g_free(message);
	}
}
