/* SPDX-License-Identifier: MIT */
#include "query/metric/set.h"

#include "query/statistics/run_statistics.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables of names ---- */

static uint32_t
hash_text(const char *key)
{
	uint32_t h = UINT32_C(2166136261);
	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * UINT32_C(16777619);
	return h ^ h >> 15;
}

static uint32_t
hash_address(const char *key)
{
	return (uint32_t)(((uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

bool
tally_name_table_init(struct tally_name_table *t, uint32_t n, bool by_address)
{
	uint32_t size = 8;
	while (size / 2 < n)
		size *= 2;
	t->rows = calloc(size, sizeof(*t->rows));
	t->mask = size - 1;
	t->by_address = by_address;
	return t->rows != NULL;
}

void
tally_name_table_finish(struct tally_name_table *t)
{
	free(t->rows);
	memset(t, 0, sizeof(*t));
}

/* The row that has the key or would get it: at most half of the rows are used. */
static struct tally_name_row *
find_row(const struct tally_name_table *t, const char *key)
{
	uint32_t at = t->by_address ? hash_address(key) : hash_text(key);
	for (;; at++) {
		struct tally_name_row *row = &t->rows[at & t->mask];
		if (!row->key || row->key == key ||
		    (!t->by_address && strcmp(row->key, key) == 0))
			return row;
	}
}

bool
tally_name_table_put(struct tally_name_table *t, const char *key, uint32_t value)
{
	struct tally_name_row *row = find_row(t, key);
	if (row->key)
		return false;
	row->key = key;
	row->value = value;
	return true;
}

uint32_t
tally_name_table_find(const struct tally_name_table *t, const char *key)
{
	const struct tally_name_row *row = find_row(t, key);
	return row->key ? row->value : TALLY_NO_SLOT;
}

/* ---- sets ---- */

void
tally_metric_set_destroy(struct tally_metric_set *set)
{
	if (!set)
		return;
	for (uint32_t i = 0; i < set->n_bound; i++) {
		tally_expr_destroy(set->bound[i].expr);
		free(set->bound[i].refs);
	}
	for (uint32_t i = 0; i < set->n_strings; i++)
		free(set->strings[i]);
	free(set->strings);
	free(set->bound);
	free(set->logged);
	free(set->values);
	free(set->state);
	free(set->initial);
	tally_name_table_finish(&set->by_address);
	tally_name_table_finish(&set->by_text);
	free(set);
}

uint32_t
tally_metric_set_size(const struct tally_metric_set *set)
{
	return set->n_logged;
}

struct tally_metric_info
tally_metric_set_info(const struct tally_metric_set *set, uint32_t i)
{
	const struct tally_metric *metric = &set->bound[set->logged[i]].metric;
	return (struct tally_metric_info){
		.key = metric->key,
		.name = metric->name,
		.unit = metric->unit,
		.expression = metric->expression,
		.dialect = tally_dialect_name(metric->dialect),
	};
}

/* ---- evaluation ---- */

static void
take_special(struct tally_metric_set *set, enum tally_metric_special special, double value)
{
	set->values[special] = value;
	set->state[special] = TALLY_SLOT_KNOWN;
}

static void
take_specials(struct tally_metric_set *set, const struct tally_metric_values *in)
{
	/* The first specials are the first call_counts. */
	for (unsigned k = 0; in->call_counts && k < TALLY_SPECIAL_GPU_NS; k++)
		if (!(in->unknown & tally_call_count_names[k].unknown))
			take_special(set, k, (double)tally_call_count(in->call_counts, k));
	if (in->has_gpu) {
		take_special(set, TALLY_SPECIAL_GPU_NS, (double)in->gpu_ns);
		take_special(set, TALLY_SPECIAL_DURATION, (double)in->gpu_ns / 1e9);
	}
	if (in->pixels)
		take_special(set, TALLY_SPECIAL_PIXELS, (double)in->pixels);
}

static void
take_counters(struct tally_metric_set *set, const struct tally_keyed_value *values, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = tally_name_table_find(&set->by_address, values[i].key);
		if (slot == TALLY_NO_SLOT)
			slot = tally_name_table_find(&set->by_text, values[i].key);
		if (slot >= set->n_slots)
			continue;
		set->values[slot] = tally_value_f64(values[i].value);
		set->state[slot] = TALLY_SLOT_KNOWN;
		if (values[i].estimated)
			set->state[slot] |= TALLY_SLOT_ESTIMATED;
	}
}

static bool
evaluate_one(struct tally_metric_set *set, const struct tally_bound_metric *m)
{
	static const uint64_t all[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	_Static_assert(sizeof(all) * 8 == TALLY_EXPR_MAX_NAMES, "a bit a name");
	double values[TALLY_EXPR_MAX_NAMES];
	uint8_t state = TALLY_SLOT_KNOWN;
	for (uint32_t i = 0; i < m->n_refs; i++) {
		const struct tally_metric_ref *ref = &m->refs[i];
		uint8_t s = set->state[ref->slot];
		if (!(s & TALLY_SLOT_KNOWN))
			return false;
		state |= s;
		values[i] = set->values[ref->slot] / ref->divisor;
	}
	double out;
	if (!tally_expr_evaluate(m->expr, values, all, &out))
		return false;
	set->values[m->slot] = out + 0.0; /* turns -0 into 0 */
	set->state[m->slot] = state;
	return true;
}

uint32_t
tally_metric_set_evaluate(struct tally_metric_set *set, const struct tally_metric_values *in,
			  struct tally_keyed_value *out)
{
	uint32_t n = 0;
	memcpy(set->state, set->initial, set->n_slots);
	take_specials(set, in);
	take_counters(set, in->counters, in->n_counters);
	take_counters(set, in->more, in->n_more);
	for (uint32_t i = 0; i < set->n_bound; i++) {
		const struct tally_bound_metric *m = &set->bound[i];
		if (!evaluate_one(set, m) || !m->logged)
			continue;
		out[n++] = (struct tally_keyed_value){
			.key = m->metric.key,
			.value = { .storage = TALLY_STORAGE_F64, .f64 = set->values[m->slot] },
			.estimated = (set->state[m->slot] & TALLY_SLOT_ESTIMATED) != 0,
		};
	}
	return n;
}
