/* SPDX-License-Identifier: MIT */
#include "query/attribute/annotate_device.h"

#include "layer/log.h"
#include "query/attribute/annotate_account.h"
#include "query/attribute/annotate_metrics.h"
#include "query/metric/bind.h"
#include "query/metric/set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT "passtally --snapshot exact"

struct tally_annotated *
tally_annotated_create(uint32_t number)
{
	struct tally_annotated *d = calloc(1, sizeof(*d));
	if (d)
		d->number = number;
	return d;
}

static bool
add_accounts(struct tally_annotated *d, struct tally_sampler *sampler)
{
	uint32_t n = sampler ? tally_sampler_n_sources(sampler) : 0;
	while (d->n_accounts < n) {
		uint32_t i = d->n_accounts;
		const struct tally_snapshot_source *src = tally_sampler_source(sampler, i);
		struct tally_account *account = &d->accounts[i];
		if (!tally_account_init(account, src, tally_sampler_history(sampler, i))) {
			tally_account_finish(account);
			return false;
		}
		account->now = tally_sampler_levels(sampler, i);
		for (uint32_t c = 0; c < src->n_counters; c++) {
			bool logged = tally_bit(src->logged, c);
			d->n_logged += logged;
			d->n_hidden += !logged;
			account->shown |= !src->of_state && logged;
		}
		d->n_hidden += src->n_levels;
		d->n_accounts++;
	}
	return true;
}

void
tally_annotated_destroy(struct tally_annotated *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->n_accounts; i++)
		tally_account_finish(&d->accounts[i]);
	tally_metric_set_destroy(d->metrics);
	free(d->sums);
	free(d->info);
	free(d->sources);
	free(d->counters);
	free(d->infos);
	free(d->serialized_by);
	free(d);
}

/* ---- the device line ---- */

/* A key must be unique in a line: a counter whose key the device itself already uses is
 * prefixed with the name of its source. */
static bool
name_counters(struct tally_annotated *d, const struct tally_device_record *info)
{
	struct tally_key_table keys = { NULL };
	bool ok = true;
	for (uint32_t i = 0; ok && i < info->n_counters; i++)
		ok = tally_key_table_reserve(&keys, info->counters[i]);
	for (uint32_t s = 0; ok && s < d->n_accounts; s++) {
		struct tally_account *account = &d->accounts[s];
		for (uint32_t i = 0; ok && i < account->src->n_counters; i++) {
			struct tally_counter counter = *account->src->counters[i];
			const struct tally_counter *named = tally_key_table_add(&keys, &counter);
			ok = named != NULL;
			if (named)
				account->counters[i] = named;
		}
	}
	tally_key_table_finish(&keys);
	return ok;
}

static bool
list_sources(struct tally_annotated *d, const struct tally_device_record *info,
	     struct tally_sampler *sampler)
{
	uint32_t rows = sampler ? tally_sampler_n_rows(sampler) : 0;
	struct tally_source_info *sources = calloc(info->n_sources + rows + 1, sizeof(*sources));
	if (!sources)
		return false;
	for (uint32_t i = 0; i < info->n_sources; i++)
		sources[i] = info->sources[i];
	for (uint32_t i = 0; i < rows; i++)
		sources[info->n_sources + i] = tally_sampler_row(sampler, i);
	free(d->sources);
	d->sources = sources;
	d->line.sources = sources;
	d->line.n_sources = info->n_sources + rows;
	return true;
}

static bool
list_counters(struct tally_annotated *d, const struct tally_device_record *info)
{
	const struct tally_counter **counters = calloc(info->n_counters + d->n_logged + 1,
						       sizeof(*counters));
	if (!counters)
		return false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < info->n_counters; i++)
		counters[n++] = info->counters[i];
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_account *account = &d->accounts[s];
		for (uint32_t i = 0; i < account->src->n_counters; i++)
			if (tally_bit(account->src->logged, i))
				counters[n++] = account->counters[i];
	}
	free(d->counters);
	d->counters = counters;
	d->line.counters = counters;
	d->line.n_counters = n;
	return true;
}

static bool
say_serialized(struct tally_annotated *d, const struct tally_device_record *info,
	       const struct tally_config *config)
{
	d->line.serialized_by = info->serialized_by;
	if (config->snapshot != TALLY_SNAPSHOT_EXACT || d->n_accounts == 0)
		return true;
	const char *before = info->serialized_by;
	char *text;
	if (asprintf(&text, "%s%s" EXACT, before ? before : "", before ? ", " : "") < 0)
		return false;
	free(d->serialized_by);
	d->serialized_by = text;
	d->line.serialized_by = text;
	return true;
}

/* ---- metrics ---- */

static bool
is_taken(const struct tally_device_record *line, const char *key)
{
	static const char *const of_passes[] = { "draws",  "vertices", "instances", "dispatches",
						 "copies", "clears",   "calls",     "gpu_ns" };
	for (size_t i = 0; i < sizeof(of_passes) / sizeof(of_passes[0]); i++)
		if (strcmp(of_passes[i], key) == 0)
			return true;
	for (uint32_t i = 0; i < line->n_counters; i++)
		if (strcmp(line->counters[i]->key, key) == 0)
			return true;
	return false;
}

/* Lists the user's metrics. A metric with the same name as another value would be next to it in
 * the log, and a reader that sums the values of this name would add both. */
static uint32_t
list_own(const struct tally_annotated *d, const struct tally_annotate_by *by,
	 struct tally_metric *out)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < by->n_own; i++) {
		if (!is_taken(&d->line, by->own[i].key))
			out[n++] = by->own[i];
		else
			tally_log_say(TALLY_LEVEL_WARNING, "config",
				      "metric %s is left out, as a counter or another value of "
				      "passes has this name: give the metric a name of its own",
				      by->own[i].key);
	}
	return n;
}

/* Binds to everything that an expression may name: the device's counters, all counters of the
 * snapshots, and constants. NULL: out of memory, or none of the metrics is wanted. */
static struct tally_metric_set *
bind_metrics(const struct tally_annotated *d, const struct tally_device_record *info,
	     const struct tally_annotate_by *by)
{
	uint32_t n_counters = info->n_counters + d->n_logged + d->n_hidden, n_constants = 0;
	for (uint32_t s = 0; s < d->n_accounts; s++)
		n_constants += d->accounts[s].src->n_constants;
	const struct tally_counter **counters = calloc(n_counters + 1, sizeof(*counters));
	struct tally_constant *constants = calloc(n_constants + 1, sizeof(*constants));
	struct tally_metric *own = calloc(by->n_own + 1, sizeof(*own));
	struct tally_metric_set *set = NULL;
	if (counters && constants && own) {
		struct tally_metric_inputs in = { .counters = counters, .constants = constants };
		for (uint32_t i = 0; i < info->n_counters; i++)
			counters[in.n_counters++] = info->counters[i];
		for (uint32_t s = 0; s < d->n_accounts; s++) {
			const struct tally_snapshot_source *src = d->accounts[s].src;
			for (uint32_t i = 0; i < src->n_counters; i++)
				counters[in.n_counters++] = d->accounts[s].counters[i];
			for (uint32_t i = 0; i < src->n_levels; i++)
				counters[in.n_counters++] = src->levels[i].counter;
			for (uint32_t i = 0; i < src->n_constants; i++)
				constants[in.n_constants++] = src->constants[i];
			const struct tally_mali_product *product =
				src->layout ? tally_mali_find_name(src->layout) : NULL;
			if (product && !in.layout)
				in.layout = product->layout;
		}
		set = tally_metric_set_create(&in, own, list_own(d, by, own),
					      by->config->counters);
	}
	free(counters);
	free(constants);
	free(own);
	return set;
}

static bool
list_metrics(struct tally_annotated *d, const struct tally_device_record *info,
	     const struct tally_annotate_by *by)
{
	struct tally_metric_set *set = bind_metrics(d, info, by);
	uint32_t n = set ? tally_metric_set_size(set) : 0;
	struct tally_metric_info *infos = calloc(n + 1, sizeof(*infos));
	struct tally_metric_frame *sums = n ? tally_metric_frame_create(info) : NULL;
	if (!infos || (n && !sums)) {
		tally_metric_set_destroy(set);
		free(sums);
		free(infos);
		return false;
	}
	if (n == 0) {
		tally_metric_set_destroy(set);
		set = NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		infos[i] = tally_metric_set_info(set, i);
	tally_metric_set_destroy(d->metrics);
	free(d->sums);
	free(d->infos);
	d->metrics = set;
	d->sums = sums;
	d->infos = infos;
	d->line.metrics = infos;
	d->line.n_metrics = n;
	return true;
}

bool
tally_annotated_describe(struct tally_annotated *d, const struct tally_device_record *info,
			 const struct tally_annotate_by *by)
{
	d->line = *info;
	bool ok = add_accounts(d, by->sampler);
	ok &= name_counters(d, info);
	ok &= list_sources(d, info, by->sampler);
	ok &= list_counters(d, info);
	ok &= say_serialized(d, info, by->config);
	if (list_metrics(d, info, by))
		return ok;
	/* The metrics of the previous line were bound to the contents of that line. */
	tally_metric_set_destroy(d->metrics);
	free(d->sums);
	d->metrics = NULL;
	d->sums = NULL;
	return false;
}
