/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare.h"
#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

static void
free_stratum(gpointer p)
{
	struct tally_stratum *s = p;
	g_free(s->text);
	g_string_free(s->key, TRUE);
	g_free(s);
}

GPtrArray *
tally_strata_new(void)
{
	return g_ptr_array_new_with_free_func(free_stratum);
}

bool
tally_strata_have(const struct tally_compare *c, enum tally_unlike_kind kind)
{
	return kind != TALLY_UNLIKE_NOTE && kind != TALLY_UNLIKE_OPTIONS &&
	       kind != TALLY_UNLIKE_PROGRAM &&
	       !(c->settings.allowed & 1u << kind);
}

void
tally_compare_properties(const struct tally_device_summary *d,
			 struct tally_compare_property out[TALLY_N_PROPERTIES], char size[32])
{
	const struct tally_surface *surface = tally_aggregate_surface(d);
	g_snprintf(size, 32, "(none)");
	if (surface)
		g_snprintf(size, 32, "%ux%u", surface->width, surface->height);
	const struct tally_compare_property properties[TALLY_N_PROPERTIES] = {
		{ "device", d->name, TALLY_UNLIKE_DEVICE },
		{ "api", d->described ? tally_api_name(d->api) : NULL, TALLY_UNLIKE_DEVICE },
		{ "driver", d->driver, TALLY_UNLIKE_DRIVER },
		{ "driver version", d->driver_version, TALLY_UNLIKE_DRIVER },
		{ "size", size, TALLY_UNLIKE_SIZE },
		{ "serialized by", d->serialized_by ? d->serialized_by : "nothing",
		  TALLY_UNLIKE_NOTE },
	};
	memcpy(out, properties, sizeof(properties));
}

/* `value` NULL: not stated. A value may contain any text except a NUL, so only that ends it. */
static void
add_part(struct tally_stratum *s, GString *text, const char *name, const char *value)
{
	if (value)
		g_string_append_printf(s->key, "=%s", value);
	if (value || *name)
		g_string_append_printf(text, "%s%s%s", text->len ? ", " : "", name,
				       value ? value : "(not said)");
	g_string_append_c(s->key, '\0');
}

/* The common properties of its runs: "fast, opengl, nvidia, 550.1, 1920x1080, scene=docks". */
static struct tally_stratum *
describe(const struct tally_compare *c, const struct tally_compare_log *log)
{
	struct tally_stratum *s = g_new0(struct tally_stratum, 1);
	GString *text = g_string_new(NULL);
	guint n_tags = c->settings.strata ? c->settings.strata->len : 0;
	s->key = g_string_new(NULL);
	for (guint i = 0; i < log->devices->len; i++) {
		struct tally_compare_property properties[TALLY_N_PROPERTIES];
		char size[32];
		uint32_t number = g_array_index(log->devices, uint32_t, i);
		tally_compare_properties(tally_aggregate_device(&log->aggregate, number),
					 properties, size);
		for (unsigned k = 0; k < TALLY_N_PROPERTIES; k++)
			if (tally_strata_have(c, properties[k].kind))
				add_part(s, text, "",
					 g_strcmp0(properties[k].text, "(none)") == 0
						 ? NULL
						 : properties[k].text);
	}
	for (guint i = 0; tally_strata_have(c, TALLY_UNLIKE_TAGS) && i < n_tags; i++) {
		const char *key = g_ptr_array_index(c->settings.strata, i);
		g_autofree char *name = g_strconcat(key, "=", NULL);
		add_part(s, text, name, tally_log_identity_tag(&log->aggregate.identity, key));
	}
	s->text = g_string_free(text, FALSE);
	return s;
}

/* The stratum of a run; `s`, owned, becomes a new one if no earlier run has its key. */
static uint32_t
find_stratum(GPtrArray *strata, struct tally_stratum *s)
{
	guint i = 0;
	while (i < strata->len &&
	       !g_string_equal(((struct tally_stratum *)strata->pdata[i])->key, s->key))
		i++;
	if (i < strata->len)
		free_stratum(s);
	else
		g_ptr_array_add(strata, s);
	return i;
}

void
tally_strata_find(struct tally_compare *c)
{
	bool common = false;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		TALLY_EACH (struct tally_compare_log, log, c->logs[side]) {
			log->stratum = find_stratum(c->strata, describe(c, log));
			struct tally_stratum *s = g_ptr_array_index(c->strata, log->stratum);
			s->logs[side]++;
			common |= s->logs[0] && s->logs[1];
		}
	}
	if (c->strata->len > 1 && common)
		return;
	/* All runs are alike, or the sides have nothing in common: the differences decide. */
	g_ptr_array_set_size(c->strata, 0);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		TALLY_EACH (struct tally_compare_log, log, c->logs[side])
			log->stratum = 0;
}

bool
tally_strata_judged(const struct tally_compare *c, uint32_t stratum)
{
	if (!c->strata->len)
		return true;
	const struct tally_stratum *s = g_ptr_array_index(c->strata, stratum);
	return s->logs[TALLY_SIDE_BASE] && s->logs[TALLY_SIDE_NEW];
}

/* ---- pooling ---- */

/* Whether the change of a row is known well enough to go into a mean of changes. */
static bool
is_poolable(const struct tally_compare_row *row)
{
	return row->worse && row->tested && !row->pace && row->se > 0 && row->df > 0 &&
	       row->mean[TALLY_SIDE_BASE] > 0;
}

static bool
is_same_value(const struct tally_compare_row *a, const struct tally_compare_row *b)
{
	return a->subject->pooled == b->subject->pooled && strcmp(a->key, b->key) == 0 &&
	       g_strcmp0(a->unit, b->unit) == 0;
}

/* The precision of the difference of two means of these numbers of runs; it does not depend on
 * the results of the runs, so a stratum that was quiet by chance has no larger weight. */
static double
weight_of(const struct tally_compare *c, const struct tally_compare_row *row)
{
	const struct tally_stratum *s = g_ptr_array_index(c->strata, row->subject->stratum);
	double base = s->logs[TALLY_SIDE_BASE], new = s->logs[TALLY_SIDE_NEW];
	return base * new / (base + new);
}

/* The weighted mean of the changes, as fractions of the base; with Satterthwaite's degrees of
 * freedom. Only for the first row of a value that several strata have. */
static void
pool_row(struct tally_compare *c, const GPtrArray *rows, guint first)
{
	const struct tally_compare_row *model = g_ptr_array_index(rows, first);
	double sum_of_weights = 0;
	guint n = 0;
	for (guint i = 0; i < rows->len; i++) {
		if (!is_same_value(model, rows->pdata[i]))
			continue;
		if (i < first)
			return;
		sum_of_weights += weight_of(c, rows->pdata[i]);
		n++;
	}
	if (n < 2)
		return;
	struct tally_compare_row *out = g_memdup2(model, sizeof(*model));
	double change = 0, variance = 0, spread = 0;
	out->subject = model->subject->pooled;
	out->against_others = false;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		out->n[side] = out->block[side] = 0;
	out->mean[TALLY_SIDE_BASE] = 0;
	for (guint i = first; i < rows->len; i++) {
		const struct tally_compare_row *row = g_ptr_array_index(rows, i);
		if (!is_same_value(row, model))
			continue;
		double w = weight_of(c, row) / sum_of_weights, base = row->mean[TALLY_SIDE_BASE];
		double t = tally_student_quantile(1 - c->settings.confidence, row->df);
		double error = w * (row->high - row->low) / 2 / t / base;
		change += w * row->difference / base;
		variance += error * error;
		spread += error * error * error * error / row->df;
		out->mean[TALLY_SIDE_BASE] += w * base;
		out->runs &= row->runs;
		out->estimated |= row->estimated;
		for (unsigned side = 0; side < TALLY_N_SIDES; side++)
			out->n[side] += row->n[side];
	}
	double base = out->mean[TALLY_SIDE_BASE];
	out->difference = change * base;
	out->mean[TALLY_SIDE_NEW] = base + out->difference;
	out->se = sqrt(variance) * base;
	out->df = variance * variance / spread;
	double reach = out->se * tally_student_quantile(1 - c->settings.confidence, out->df);
	out->low = out->difference - reach;
	out->high = out->difference + reach;
	out->p = tally_student_tail(fabs(out->difference) / out->se, out->df);
	g_ptr_array_add(c->rows, out);
}

void
tally_strata_pool(struct tally_compare *c)
{
	g_autoptr(GHashTable) of = g_hash_table_new_full(
		NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	TALLY_EACH (struct tally_compare_row, row, c->rows) {
		GPtrArray *rows = g_hash_table_lookup(of, row->subject->pooled);
		if (!row->subject->pooled || !is_poolable(row))
			continue;
		if (!rows) {
			rows = g_ptr_array_new();
			g_hash_table_insert(of, row->subject->pooled, rows);
		}
		g_ptr_array_add(rows, row);
	}
	/* In the order of the subjects, which is that of the rows. */
	for (guint i = 0; i < c->subjects->len; i++) {
		GPtrArray *rows = g_hash_table_lookup(of, c->subjects->pdata[i]);
		for (guint first = 0; rows && first < rows->len; first++)
			pool_row(c, rows, first);
	}
}
