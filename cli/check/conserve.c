/* SPDX-License-Identifier: MIT */
#include "cli/check/conserve.h"

#include "cli/shared/each.h"

#include <glib.h>

#define MOST_DEVICES 64u /* that are compared with each other */

struct sum {
	const char *key; /* owned by the reader */
	const char *source; /* of its growth; NULL: it has none */
	uint32_t device;
	bool whole; /* every value was a whole number */
	bool shared; /* a frame overlaps one of another device and is not flagged for it */
	uint32_t shared_with; /* that device */
	uint64_t shared_frame;
	uint64_t end_ns; /* the end of the last frame that had passes and a value; 0: none */
	/* Modulo 2^64, as the delta is: equal sums stay equal. */
	uint64_t passes, unattributed;
};

struct device {
	uint32_t number;
	int64_t beneath; /* the device that uses it; -1: none */
	uint64_t end_ns; /* of its last frame that had passes; 0: none */
	bool reported;
};

struct tally_conserve {
	GArray *devices; /* elements: struct device */
	GHashTable *sums; /* a set of struct sum *, by device and key */
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
	c->devices = g_array_new(FALSE, FALSE, sizeof(struct device));
	c->sums = g_hash_table_new_full(hash_sum, equal_sums, g_free, NULL);
	return c;
}

void
tally_conserve_destroy(struct tally_conserve *c)
{
	g_array_unref(c->devices);
	g_hash_table_destroy(c->sums);
	g_free(c);
}

static struct sum *
find_sum(const struct tally_conserve *c, uint32_t device, const char *key)
{
	struct sum wanted = { .key = key, .device = device };
	return g_hash_table_lookup(c->sums, &wanted);
}

static struct sum *
need_sum(struct tally_conserve *c, uint32_t device, const char *key)
{
	struct sum *s = find_sum(c, device, key);
	if (!s) {
		s = g_new(struct sum, 1);
		*s = (struct sum){ .key = key, .device = device, .whole = true };
		g_hash_table_add(c->sums, s);
	}
	return s;
}

static uint64_t
whole_number(struct sum *s, struct tally_value v)
{
	s->whole &= v.storage == TALLY_STORAGE_U64;
	return v.storage == TALLY_STORAGE_U64 ? v.u64 : 0;
}

/* ---- devices that have the same growth ---- */

static struct device *
find_device(const struct tally_conserve *c, uint32_t number)
{
	TALLY_EACH_OF (struct device, d, c->devices)
		if (d->number == number)
			return d;
	return NULL;
}

void
tally_conserve_add_device(struct tally_conserve *c, const struct tally_device_record *device)
{
	struct device *d = find_device(c, device->device);
	struct device fresh = { .number = device->device, .beneath = device->beneath };
	if (d)
		d->beneath = device->beneath;
	else if (c->devices->len < MOST_DEVICES)
		g_array_append_val(c->devices, fresh);
}

static void
mark_shared(struct tally_conserve *c, const struct tally_frame_record *frame, uint32_t other,
	    const struct tally_keyed_value *values, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct sum *beside = find_sum(c, other, values[i].key);
		if (!beside || beside->end_ns <= frame->start_ns)
			continue;
		struct sum *s = need_sum(c, frame->device, values[i].key);
		if (s->shared)
			continue;
		s->shared = true;
		s->shared_with = other;
		s->shared_frame = frame->frame;
	}
}

/* Compares a frame that is not flagged with the earlier ones in the log. With GL over Vulkan
 * both devices have the same work. */
static void
look_beside(struct tally_conserve *c, const struct tally_frame_record *frame)
{
	const struct device *own = find_device(c, frame->device);
	if (!own || frame->flags & TALLY_FLAG(SHARED_TOTALS))
		return;
	TALLY_EACH_OF (const struct device, d, c->devices) {
		if (d == own || d->end_ns <= frame->start_ns || d->beneath == own->number ||
		    own->beneath == d->number)
			continue;
		for (uint32_t p = 0; p < frame->n_passes; p++)
			mark_shared(c, frame, d->number, frame->passes[p].counters,
				    frame->passes[p].n_counters);
		mark_shared(c, frame, d->number, frame->unattributed, frame->n_unattributed);
	}
}

/* Whether to report for a counter that the whole growth of its source is also another device's:
 * once for each device. */
static bool
is_first_shared(struct tally_conserve *c, const struct sum *s)
{
	const struct sum *beside = s->shared ? find_sum(c, s->shared_with, s->key) : NULL;
	struct device *d = find_device(c, s->device);
	if (!d || d->reported || !beside || !beside->source ||
	    strcmp(beside->source, s->source) != 0)
		return false;
	d->reported = true;
	return true;
}

/* ---- sums ---- */

void
tally_conserve_add_frame(struct tally_conserve *c, const struct tally_frame_record *frame)
{
	uint64_t end_ns = frame->n_passes ? frame->start_ns + frame->cpu_ns : 0;
	struct device *d = find_device(c, frame->device);
	look_beside(c, frame);
	if (d)
		d->end_ns = MAX(d->end_ns, end_ns);
	for (uint32_t p = 0; p < frame->n_passes; p++) {
		const struct tally_pass_record *pass = &frame->passes[p];
		for (uint32_t i = 0; i < pass->n_counters; i++) {
			struct sum *s = need_sum(c, frame->device, pass->counters[i].key);
			s->passes += whole_number(s, pass->counters[i].value);
			s->end_ns = MAX(s->end_ns, end_ns);
		}
	}
	for (uint32_t i = 0; i < frame->n_unattributed; i++) {
		struct sum *s = need_sum(c, frame->device, frame->unattributed[i].key);
		s->unattributed += whole_number(s, frame->unattributed[i].value);
		s->end_ns = MAX(s->end_ns, end_ns);
	}
}

static char *
describe_sum(const struct tally_growth_record *g, const struct sum *s, uint64_t total)
{
	if (!s->whole)
		return g_strdup_printf("%s of device %u has values that are no whole "
				       "numbers, but grew by %" G_GUINT64_FORMAT,
				       g->key, g->device, g->growth);
	return g_strdup_printf(
		"%s of device %u grew by %" G_GUINT64_FORMAT
		", but its values add up to %" G_GUINT64_FORMAT " (passes %" G_GUINT64_FORMAT
		", unattributed %" G_GUINT64_FORMAT ", unlogged %" G_GUINT64_FORMAT ")",
		g->key, g->device, g->growth, total, s->passes, s->unattributed, g->unlogged);
}

void
tally_conserve_check(struct tally_conserve *c, const struct tally_end_record *end,
		     tally_conserve_complain *complain, void *data)
{
	for (uint32_t i = 0; i < end->n_growth; i++) {
		struct sum *s = find_sum(c, end->growth[i].device, end->growth[i].key);
		if (s)
			s->source = end->growth[i].source ? end->growth[i].source : "";
	}
	for (uint32_t i = 0; i < end->n_growth; i++) {
		const struct tally_growth_record *g = &end->growth[i];
		const struct sum *found = find_sum(c, g->device, g->key);
		const struct sum s = found ? *found : (struct sum){ .whole = true };
		uint64_t total = s.passes + s.unattributed + g->unlogged;
		g_autofree char *message = NULL;
		if (!s.whole || total != g->growth)
			message = describe_sum(g, &s, total);
		else if (is_first_shared(c, &s))
			message = g_strdup_printf("%s of device %u holds what device %u did "
						  "meanwhile, and frame %" G_GUINT64_FORMAT
						  " is not flagged shared_totals",
						  g->key, g->device, s.shared_with, s.shared_frame);
		if (message)
			complain(data, i, message);
	}
}
