/* SPDX-License-Identifier: MIT */
#include "cli/check/recount.h"

#include "query/statistics/moments.h"
#include "query/statistics/run_statistics.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW_PLACES 1e-12

struct tally_recount {
	struct tally_run_statistics *statistics;
	GPtrArray *kept; /* copies of the counters */
};

struct tally_recount *
tally_recount_create(void)
{
	struct tally_recount *r = g_new0(struct tally_recount, 1);
	r->statistics = tally_run_statistics_create();
	r->kept = g_ptr_array_new_with_free_func(g_free);
	return r;
}

void
tally_recount_destroy(struct tally_recount *r)
{
	tally_run_statistics_destroy(r->statistics);
	g_ptr_array_free(r->kept, TRUE);
	g_free(r);
}

void
tally_recount_add_device(struct tally_recount *r, const struct tally_device_record *device)
{
	struct tally_device_record copy = { .device = device->device };
	struct tally_counter *counters = g_new0(struct tally_counter, device->n_counters);
	const struct tally_counter **list = g_new0(const struct tally_counter *,
						   device->n_counters);
	g_ptr_array_add(r->kept, counters);
	for (uint32_t i = 0; i < device->n_counters; i++) {
		counters[i] = *device->counters[i];
		counters[i].key = g_intern_string(counters[i].key);
		counters[i].unit = g_intern_string(counters[i].unit ? counters[i].unit : "");
		list[i] = &counters[i];
	}
	copy.counters = list;
	copy.n_counters = device->n_counters;
	tally_run_statistics_describe(r->statistics, &copy);
	g_free(list);
}

void
tally_recount_add_frame(struct tally_recount *r, const struct tally_frame_record *frame)
{
	tally_run_statistics_add(r->statistics, frame);
}

/* A value that is not finite is left out of the line and read back as not a number. */
static bool
near(double told, double counted)
{
	if (!isfinite(told) || !isfinite(counted))
		return !isfinite(told) && !isfinite(counted);
	return fabs(told - counted) <= FEW_PLACES * fmax(fabs(told), fabs(counted));
}

static double
sample_of(const struct tally_statistic_record *s)
{
	return s->has_sd_sample ? s->sd_sample : (double)NAN;
}

static bool
same_sums(const struct tally_statistic_record *a, const struct tally_statistic_record *b)
{
	if (a->integral && b->integral)
		return memcmp(&a->sum, &b->sum, sizeof(a->sum)) == 0 &&
		       memcmp(&a->sum_sq, &b->sum_sq, sizeof(a->sum_sq)) == 0;
	/* A log that another program has rewritten may say 3 where we write 3.0. */
	double sum = a->integral ? tally_int192_f64(&a->sum) : a->sum_f64;
	double sum_sq = a->integral ? tally_int192_f64(&a->sum_sq) : a->sum_sq_f64;
	double want = b->integral ? tally_int192_f64(&b->sum) : b->sum_f64;
	double want_sq = b->integral ? tally_int192_f64(&b->sum_sq) : b->sum_sq_f64;
	/* Either both are in the line or neither is. */
	bool told = isfinite(sum) && isfinite(sum_sq);
	if (told != (isfinite(want) && isfinite(want_sq)))
		return false;
	return !told || (near(sum, want) && near(sum_sq, want_sq));
}

/* The name of the first member in which they differ, or NULL. */
static const char *
difference(const struct tally_statistic_record *told,
	   const struct tally_statistic_record *counted)
{
	if (told->n != counted->n)
		return "n";
	if (!same_sums(told, counted))
		return "sum or sum_sq";
	if (tally_value_compare(told->min, counted->min) != 0)
		return "min";
	if (tally_value_compare(told->max, counted->max) != 0)
		return "max";
	if (!near(told->mean, counted->mean))
		return "mean";
	if (!near(told->sd_population, counted->sd_population))
		return "sd_population";
	if (!near(sample_of(told), sample_of(counted)))
		return "sd_sample";
	return NULL;
}

static guint
hash(gconstpointer p)
{
	const struct tally_statistic_record *s = p;
	return (guint)(s->id ^ s->id >> 32) ^ g_str_hash(s->key) ^ s->device;
}

static gboolean
equal(gconstpointer a, gconstpointer b)
{
	const struct tally_statistic_record *x = a, *y = b;
	return x->id == y->id && x->device == y->device && strcmp(x->key, y->key) == 0;
}

static void
tell(const struct tally_statistic_record *told, const struct tally_statistic_record *counted,
     const char *what, uint32_t i, tally_recount_wrong *wrong, void *data)
{
	g_autofree char *message =
		counted ? g_strdup_printf(
				  "%s of pass %016" G_GINT64_MODIFIER
				  "x on device %u: %s is not what the frames come to "
				  "(n %" G_GUINT64_FORMAT ", mean %.17g; "
				  "they: n %" G_GUINT64_FORMAT ", mean %.17g)",
				  told->key, told->id, told->device, what, told->n,
				  told->mean, counted->n, counted->mean)
			: g_strdup_printf("%s of pass %016" G_GINT64_MODIFIER
					  "x on device %u: no frame has a value of it",
					  told->key, told->id, told->device);
	wrong(data, i, message);
}

void
tally_recount_check(struct tally_recount *r, const struct tally_end_record *end,
		    tally_recount_wrong *wrong, void *data)
{
	uint32_t n;
	struct tally_statistic_record *list = tally_run_statistics_list(r->statistics, &n);
	g_autoptr(GHashTable) counted = g_hash_table_new(hash, equal);
	for (uint32_t i = 0; i < n; i++)
		g_hash_table_add(counted, &list[i]);
	for (uint32_t i = 0; i < end->n_statistics; i++) {
		const struct tally_statistic_record *told = &end->statistics[i];
		const struct tally_statistic_record *mine = g_hash_table_lookup(counted, told);
		const char *what = mine ? difference(told, mine) : NULL;
		if (what || !mine)
			tell(told, mine, what, i, wrong, data);
	}
	free(list);
}
