/* SPDX-License-Identifier: MIT */
#include "query/attribute/annotate_values.h"

#include <stdlib.h>

#include "layer/base/array.h"
#include "query/attribute/annotate_metrics.h"

/* Limit for the shares of one frame's passes; the values made from them are four times as
 * large. Above it the whole frame is unattributed. */
#define MAX_SHARE_BYTES ((size_t)16 << 20)

/* ---- room for a frame ---- */

static bool
fit(void *array, size_t *max, size_t n, size_t size)
{
	if (n <= *max)
		return true;
	if (!tally_array_resize(array, n + n / 4, size))
		return false;
	*max = n + n / 4;
	return true;
}

static void
lay_out_shares(struct tally_scratch *scratch, const struct tally_annotated *d)
{
	uint64_t *numbers = scratch->numbers;
	uint32_t n = scratch->n_shared;
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		uint32_t n_counters = d->accounts[s].src->n_counters;
		for (uint32_t i = 0; i < n; i++) {
			scratch->shares[(size_t)s * n + i] = (struct tally_share){
				.delta = numbers,
				.unknown = numbers + n_counters,
			};
			numbers += n_counters + tally_bit_words(n_counters);
		}
	}
}

bool
tally_scratch_reserve(struct tally_scratch *scratch, const struct tally_annotated *d,
		      const struct tally_frame_record *frame)
{
	size_t numbers = 0, n = frame->n_passes;
	for (uint32_t s = 0; s < d->n_accounts; s++)
		numbers += d->accounts[s].src->n_counters +
			   tally_bit_words(d->accounts[s].src->n_counters);
	if (numbers && n > MAX_SHARE_BYTES / sizeof(uint64_t) / numbers)
		n = 0;
	uint32_t n_metrics = d->line.n_metrics;
	size_t values = (n + 1) * d->n_logged + ((size_t)frame->n_passes + 1) * n_metrics +
			d->n_logged + d->n_hidden + frame->n_unattributed + 1;
	for (uint32_t i = 0; n && d->n_logged && i < frame->n_passes; i++)
		values += frame->passes[i].n_counters;
	scratch->n_values = 0;
	bool ok = fit(&scratch->work, &scratch->max_work, n, sizeof(*scratch->work)) &&
		  fit(&scratch->shares, &scratch->max_shares, n * d->n_accounts,
		      sizeof(*scratch->shares)) &&
		  fit(&scratch->numbers, &scratch->max_numbers, n * numbers,
		      sizeof(*scratch->numbers)) &&
		  fit(&scratch->n_own, &scratch->max_own, frame->n_passes,
		      sizeof(*scratch->n_own)) &&
		  fit(&scratch->values, &scratch->max_values, values, sizeof(*scratch->values));
	scratch->n_shared = ok ? (uint32_t)n : 0;
	if (ok)
		lay_out_shares(scratch, d);
	return ok;
}

void
tally_scratch_finish(struct tally_scratch *scratch)
{
	free(scratch->work);
	free(scratch->shares);
	free(scratch->numbers);
	free(scratch->values);
	free(scratch->n_own);
}

/* ---- values ---- */

static void
put(struct tally_scratch *scratch, const char *key, uint64_t v, bool estimated)
{
	scratch->values[scratch->n_values++] = (struct tally_keyed_value){
		.key = key,
		.value = { .storage = TALLY_STORAGE_U64, .u64 = v },
		.estimated = estimated,
	};
}

/* Adds the counters of all sources for one pass: those that are logged, or those that are not.
 * Returns how many there were. */
static uint32_t
put_shares(struct tally_scratch *scratch, const struct tally_annotated *d, uint32_t pass,
	   bool logged)
{
	size_t before = scratch->n_values;
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_account *account = &d->accounts[s];
		const struct tally_share *share =
			&scratch->shares[(size_t)s * scratch->n_shared + pass];
		if (!account->reported || !share->known)
			continue;
		for (uint32_t i = 0; i < account->src->n_counters; i++)
			if (tally_bit(account->src->logged, i) == logged &&
			    !tally_bit(share->unknown, i))
				put(scratch, account->counters[i]->key, share->delta[i],
				    share->estimated);
	}
	return (uint32_t)(scratch->n_values - before);
}

/* Adds the pass's own counters, followed by those of the snapshots. */
static void
add_shares(struct tally_scratch *scratch, const struct tally_annotated *d,
	   struct tally_pass_record *pass, uint32_t index)
{
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_share *share =
			&scratch->shares[(size_t)s * scratch->n_shared + index];
		if (!d->accounts[s].shown)
			continue;
		pass->flags |= d->accounts[s].reported ? share->flags
						       : TALLY_FLAG(UNSAMPLED);
		/* The pass ran before the source's first reading, which came within this
		 * frame. */
		if (d->accounts[s].reported && !share->known && !share->flags &&
		    pass->has_gpu)
			pass->flags |= TALLY_FLAG(UNSAMPLED);
	}
	if (d->n_logged == 0)
		return;
	struct tally_keyed_value *values = scratch->values + scratch->n_values;
	for (uint32_t i = 0; i < pass->n_counters; i++)
		scratch->values[scratch->n_values++] = pass->counters[i];
	uint32_t added = put_shares(scratch, d, index, true);
	pass->counters = values;
	pass->n_counters += added;
}

static void
add_unattributed(struct tally_scratch *scratch, const struct tally_annotated *d,
		 struct tally_frame_record *frame, bool exact)
{
	struct tally_keyed_value *values = scratch->values + scratch->n_values;
	for (uint32_t i = 0; i < frame->n_unattributed; i++)
		scratch->values[scratch->n_values++] = frame->unattributed[i];
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_account *account = &d->accounts[s];
		if (!account->reported)
			continue;
		frame->flags |= account->shown ? account->window.flags : 0;
		for (uint32_t i = 0; i < account->src->n_counters; i++)
			if (tally_bit(account->src->logged, i) &&
			    !tally_bit(account->window.unattributed_unknown, i))
				put(scratch, account->counters[i]->key,
				    account->window.unattributed[i], !exact);
	}
	frame->unattributed = values;
	frame->n_unattributed = (uint32_t)(scratch->values + scratch->n_values - values);
}

/* Adds the deltas of the frame as a whole, where they are completely known, and the levels,
 * which are values since the start. */
static uint32_t
put_growth(struct tally_scratch *scratch, const struct tally_annotated *d, bool exact)
{
	size_t before = scratch->n_values;
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_account *account = &d->accounts[s];
		for (uint32_t i = 0; account->reported && i < account->src->n_counters;
		     i++)
			if (account->window.unlogged[i] == 0 &&
			    !tally_bit(account->window.unattributed_unknown, i))
				put(scratch, account->counters[i]->key,
				    account->window.delta[i], !exact);
		for (uint32_t i = 0; account->reported && i < account->src->n_levels; i++)
			if (account->levels[i].known)
				put(scratch, account->levels[i].counter->key,
				    account->levels[i].value, false);
	}
	return (uint32_t)(scratch->n_values - before);
}

static void
add_metrics(struct tally_scratch *scratch, struct tally_annotated *d,
	    struct tally_frame_record *frame, struct tally_pass_record *passes,
	    uint32_t n_unattributed, bool exact)
{
	for (uint32_t i = 0; i < frame->n_passes; i++) {
		struct tally_keyed_value *out = scratch->values + scratch->n_values;
		scratch->n_values += d->line.n_metrics;
		/* Counters that are not logged are stored after these; the next values
		 * overwrite them. */
		struct tally_keyed_value *more = scratch->values + scratch->n_values;
		uint32_t n_more = i < scratch->n_shared && d->n_hidden
					  ? put_shares(scratch, d, i, false)
					  : 0;
		scratch->n_values -= n_more;
		passes[i].n_metrics = tally_metric_pass_evaluate(d->metrics, &passes[i], more,
								 n_more, out);
		passes[i].metrics = out;
		scratch->n_values -= d->line.n_metrics - passes[i].n_metrics;
	}
	struct tally_keyed_value *out = scratch->values + scratch->n_values;
	scratch->n_values += d->line.n_metrics;
	struct tally_keyed_value *more = scratch->values + scratch->n_values;
	uint32_t n_more = put_growth(scratch, d, exact);
	frame->n_metrics = tally_metric_frame_evaluate(d->sums, d->metrics, frame,
						       scratch->n_own, n_unattributed,
						       more, n_more, out);
	frame->metrics = out;
}

void
tally_scratch_add_values(struct tally_scratch *scratch, struct tally_annotated *d,
			 struct tally_frame_record *frame, struct tally_pass_record *passes,
			 bool exact)
{
	uint32_t n_unattributed = frame->n_unattributed;
	for (uint32_t i = 0; i < frame->n_passes; i++)
		scratch->n_own[i] = passes[i].n_counters;
	for (uint32_t i = 0; d->n_accounts && i < scratch->n_shared; i++)
		add_shares(scratch, d, &passes[i], i);
	if (d->n_accounts)
		add_unattributed(scratch, d, frame, exact);
	if (d->metrics)
		add_metrics(scratch, d, frame, passes, n_unattributed, exact);
}
