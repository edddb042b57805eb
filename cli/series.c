#include "cli/aggregate.h"

#include <string.h>

/* A latency counter's extremes join by being the extreme. */
enum tally_join
tally_join_of_key(const char *key)
{
	if (g_str_has_suffix(key, ".min"))
		return TALLY_JOIN_MIN;
	return g_str_has_suffix(key, ".max") ? TALLY_JOIN_MAX : TALLY_JOIN_SUM;
}

enum tally_join
tally_join_of_counter(const struct tally_counter *c)
{
	return tally_counter_adds_up(c) ? tally_join_of_key(c->key) : TALLY_JOIN_NONE;
}

static struct tally_value
add_values(struct tally_value a, struct tally_value b)
{
	if (a.storage == TALLY_STORAGE_U64 && b.storage == TALLY_STORAGE_U64 &&
	    a.u64 + b.u64 >= a.u64)
		return tally_u64(a.u64 + b.u64);
	int64_t sum;
	if (a.storage == TALLY_STORAGE_I64 && b.storage == TALLY_STORAGE_I64 &&
	    !__builtin_add_overflow(a.i64, b.i64, &sum))
		return (struct tally_value){ .storage = TALLY_STORAGE_I64, .i64 = sum };
	return tally_f64(tally_value_f64(a) + tally_value_f64(b));
}

void
tally_series_add_part(struct tally_series *s, struct tally_value v, enum tally_join join)
{
	if (s->n_parts++ == 0)
		s->part = v;
	else if (join == TALLY_JOIN_SUM)
		s->part = add_values(s->part, v);
	else if (join == TALLY_JOIN_MIN && tally_value_f64(v) < tally_value_f64(s->part))
		s->part = v;
	else if (join == TALLY_JOIN_MAX && tally_value_f64(v) > tally_value_f64(s->part))
		s->part = v;
}

double
tally_group_share(const struct tally_aggregate *a, const struct tally_group *g)
{
	const struct tally_device_summary *d = tally_aggregate_device(a, g->device);
	double all = d ? (double)tally_sum128_to_float(d->gpu_total) : 0;
	const struct tally_stats *gpu = &g->series[TALLY_SERIES_GPU].stats;
	if (a->by == TALLY_BY_FRAME)
		return g->record.has_gpu && all > 0 ? (double)g->record.gpu_ns / all : -1;
	return gpu->n && all > 0 ? tally_stats_total(gpu) / all : -1;
}

uint32_t
tally_n_series(const struct tally_aggregate *a)
{
	return TALLY_N_FIXED_SERIES + a->keys->len;
}

const char *
tally_series_name(const struct tally_aggregate *a, uint32_t series)
{
	static const char *const fixed[TALLY_N_FIXED_SERIES] = {
		[TALLY_SERIES_GPU] = "gpu_ns",
		[TALLY_SERIES_DRAWS] = "draws",
		[TALLY_SERIES_VERTICES] = "vertices",
		[TALLY_SERIES_INSTANCES] = "instances",
		[TALLY_SERIES_DISPATCHES] = "dispatches",
		[TALLY_SERIES_COPIES] = "copies",
		[TALLY_SERIES_CLEARS] = "clears",
		[TALLY_SERIES_CALLS] = "calls",
	};
	if (series < TALLY_N_FIXED_SERIES)
		return fixed[series];
	return g_array_index(a->keys, struct tally_key, series - TALLY_N_FIXED_SERIES).key;
}

const char *
tally_series_unit(const struct tally_aggregate *a, uint32_t series)
{
	if (series == TALLY_SERIES_GPU)
		return "ns";
	if (series < TALLY_N_FIXED_SERIES)
		return "1";
	return g_array_index(a->keys, struct tally_key, series - TALLY_N_FIXED_SERIES).unit;
}

bool
tally_series_in_use(const struct tally_aggregate *a, uint32_t series)
{
	for (guint i = 0; i < a->groups->len; i++) {
		const struct tally_group *g = g_ptr_array_index(a->groups, i);
		if (series >= g->n_series || g->series[series].stats.n == 0)
			continue;
		const struct tally_stats *s = &g->series[series].stats;
		if (tally_value_f64(s->min) != 0 || tally_value_f64(s->max) != 0)
			return true;
	}
	return false;
}
