/* SPDX-License-Identifier: MIT */
/* The rows of a summary, and the passes by their identity. */
#include "cli/log/rows.h"

#include "cli/log/device_summary.h"
#include "query/statistics/run_statistics.h"

#include <string.h>

static void
free_row(gpointer p)
{
	struct tally_group *g = p;
	if (tally_as_pipeline(g))
		g_tree_unref(tally_as_pipeline(g)->passes);
	for (uint32_t i = 0; i < g->n_series; i++)
		tally_stats_finish(&g->series[i].stats);
	g_free(g->series);
	g_free(g->parts);
	g_free(g);
}

void
tally_group_make_series(struct tally_group *g, uint32_t series)
{
	g->series = g_renew(struct tally_series, g->series, series + 1);
	g->parts = g_renew(struct tally_joined, g->parts, series + 1);
	for (uint32_t i = g->n_series; i <= series; i++) {
		g->series[i] = (struct tally_series){ 0 };
		g->parts[i] = (struct tally_joined){ 0 };
		tally_stats_init(&g->series[i].stats, TALLY_STATS_KEEP_PASS);
	}
	g->n_series = series + 1;
}

const char *
tally_row_text(struct tally_aggregate *a, const char *text)
{
	return text ? g_string_chunk_insert_const(a->state->groups.texts, text) : NULL;
}

static struct tally_group *
create_row(const struct tally_grouping *by, uint32_t device, const struct tally_pass_record *p)
{
	struct tally_group *g = g_malloc0(by->row_bytes);
	g->by = by;
	g->device = device;
	if (p) {
		g->id = p->id;
		g->kind = p->kind;
	}
	return g;
}

struct tally_group *
tally_group_create(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	struct tally_group *g = create_row(a->by, device, p);
	tally_group_series(g, TALLY_N_FIXED_SERIES - 1);
	g_ptr_array_add(a->groups, g);
	return g;
}

static struct tally_pass_row *
create_pass(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	struct tally_group *g;
	if (a->by->passes) {
		g = tally_group_create(a, device, p);
	} else {
		g = create_row(&tally_by_pass, device, p);
		g_ptr_array_add(a->state->groups.named, g);
	}
	struct tally_pass_row *pass = (struct tally_pass_row *)g;
	struct tally_pass_names *names = &a->state->groups.names;
	const struct tally_named_pass *named = tally_pass_names_find(names, p);
	g->label = tally_row_text(a, named->label);
	g_autofree char *name = tally_pass_names_next(names, device, p);
	g->name = tally_row_text(a, name);
	g->given = tally_pass_names_given(names, p);
	pass->groups = tally_row_text(a, named->groups);
	pass->size = named->size;
	return pass;
}

struct tally_pass_row *
tally_pass_row(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p)
{
	struct tally_group *g = tally_aggregate_find_pass(a, device, p->id);
	if (!g) {
		const struct tally_pass_key key = { .id = p->id, .device = device };
		g = &create_pass(a, device, p)->group;
		g_hash_table_insert(a->state->groups.by_id, g_memdup2(&key, sizeof(key)), g);
	}
	return (struct tally_pass_row *)g;
}

struct tally_group *
tally_aggregate_find_pass(const struct tally_aggregate *a, uint32_t device, uint64_t id)
{
	const struct tally_pass_key key = { .id = id, .device = device };
	return g_hash_table_lookup(a->state->groups.by_id, &key);
}

bool
tally_aggregate_has_pass(const struct tally_aggregate *a, uint32_t device)
{
	GHashTableIter passes;
	gpointer key;
	g_hash_table_iter_init(&passes, a->state->groups.by_id);
	while (g_hash_table_iter_next(&passes, &key, NULL))
		if (((const struct tally_pass_key *)key)->device == device)
			return true;
	return false;
}

static guint
hash_workload(gconstpointer key)
{
	const struct tally_workload_row *w = key;
	return g_direct_hash(w->pass) * 31 + w->place * 7 + g_direct_hash(w->command);
}

static gboolean
equal_workloads(gconstpointer a, gconstpointer b)
{
	const struct tally_workload_row *x = a, *y = b;
	return x->pass == y->pass && x->place == y->place && x->command == y->command;
}

void
tally_groups_init(struct tally_aggregate *a)
{
	struct tally_groups *g = &a->state->groups;
	a->groups = g_ptr_array_new_with_free_func(free_row);
	g->named = g_ptr_array_new_with_free_func(free_row);
	g->texts = g_string_chunk_new(1024);
	tally_pass_names_init(&g->names);
	g->by_id = g_hash_table_new_full(tally_pass_key_hash, tally_pass_key_equal, g_free, NULL);
	g->by_label = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g->pipelines = g_hash_table_new_full(tally_pass_key_hash, tally_pass_key_equal,
					     g_free, NULL);
	g->pipeline_names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	g->workloads = g_hash_table_new(hash_workload, equal_workloads);
}

void
tally_groups_finish(struct tally_aggregate *a)
{
	struct tally_groups *g = &a->state->groups;
	tally_pass_names_finish(&g->names);
	g_hash_table_destroy(g->by_id);
	g_hash_table_destroy(g->by_label);
	g_hash_table_destroy(g->pipelines);
	g_hash_table_destroy(g->pipeline_names);
	g_hash_table_destroy(g->workloads);
	g_ptr_array_unref(g->named);
	g_ptr_array_unref(a->groups);
	g_string_chunk_free(g->texts);
}

/* ---- values of the frame being read ---- */

/* Joins a value with those of the frame being read. */
static inline void
add_part(struct tally_group *g, uint32_t series, struct tally_value v, enum tally_join join)
{
	struct tally_joined *part = &g->parts[series];
	part->value = part->n++ ? tally_join_values(part->value, v, join) : v;
}

void
tally_group_add_gpu(struct tally_group *g, uint64_t gpu_ns)
{
	add_part(g, TALLY_SERIES_GPU, tally_u64(gpu_ns), TALLY_JOIN_SUM);
}

void
tally_group_add_call_counts(struct tally_group *g, const struct tally_call_counts *t,
			    uint32_t unknown)
{
	for (unsigned k = 0; k < TALLY_N_CALL_COUNTS; k++)
		if (!(unknown & tally_call_count_names[k].unknown))
			add_part(g, TALLY_SERIES_DRAWS + k, tally_u64(tally_call_count(t, k)),
				 TALLY_JOIN_SUM);
}

void
tally_group_add_keyed(struct tally_aggregate *a, struct tally_group *g,
		      const struct tally_keyed_value *values, uint32_t n, bool metrics)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = tally_aggregate_key(a, values[i].key, metrics);
		struct tally_series *s = tally_group_series(g, k);
		add_part(g, k, values[i].value, tally_series_key(a, k)->join);
		if (values[i].estimated)
			s->estimated = true;
	}
}

void
tally_group_touch(struct tally_aggregate *a, struct tally_group *g, double index)
{
	if (!g->n_parts++) {
		g->index_sum += index;
		g_ptr_array_add(a->state->touched, g);
	}
}

void
tally_group_add_pass(struct tally_aggregate *a, struct tally_group *g,
		     const struct tally_pass_record *p, uint32_t index)
{
	tally_group_touch(a, g, index);
	g->flags |= p->flags;
	if (p->has_gpu)
		tally_group_add_gpu(g, p->gpu_ns);
	tally_group_add_call_counts(g, &p->call_counts, p->unknown);
	tally_group_add_keyed(a, g, p->counters, p->n_counters, false);
	tally_group_add_keyed(a, g, p->metrics, p->n_metrics, true);
}

void
tally_aggregate_add_outside(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	struct tally_device_summary *d = tally_aggregate_need_device(a, f->device);
	if (!f->has_unattributed_gpu && !f->n_unattributed)
		return;
	if (!d->outside) {
		d->outside = tally_group_create(a, f->device, NULL);
		d->outside->outside = true;
		d->outside->kind = TALLY_PASS_OTHER;
		d->outside->name = TALLY_OUTSIDE_PASSES;
	}
	for (uint32_t i = 0; i < f->n_passes; i++)
		if (f->passes[i].flags & TALLY_FLAG(SHARED_TIME) && !f->passes[i].has_gpu)
			d->outside->name = TALLY_DRAWN_TOGETHER;
	tally_group_touch(a, d->outside, f->n_passes);
	if (f->has_unattributed_gpu)
		tally_group_add_gpu(d->outside, f->unattributed_gpu_ns);
	tally_group_add_keyed(a, d->outside, f->unattributed, f->n_unattributed, false);
}
