/* SPDX-License-Identifier: MIT */
#include "query/attribute/annotate_metrics.h"

#include "query/metric/set.h"

#include <stdlib.h>
#include <string.h>

/* One counter of the device, summed over a frame. */
struct sum {
	const char *key;
	struct tally_value value;
	uint32_t n; /* number of passes that have it */
	bool adds_up, bad, estimated;
};

struct tally_metric_frame {
	struct tally_keyed_value *values; /* as many as sums */
	uint32_t n;
	struct sum sums[];
};

struct tally_metric_frame *
tally_metric_frame_create(const struct tally_device_record *line)
{
	uint32_t n = line->n_counters;
	struct tally_metric_frame *f = calloc(1, sizeof(*f) + n * (sizeof(f->sums[0]) +
								   sizeof(f->values[0])));
	if (!f)
		return NULL;
	f->values = (struct tally_keyed_value *)(f->sums + n);
	for (uint32_t i = 0; i < n; i++) {
		f->sums[i].key = line->counters[i]->key;
		f->sums[i].value.storage = line->counters[i]->storage;
		f->sums[i].adds_up = tally_counter_adds_up(line->counters[i]);
	}
	f->n = n;
	return f;
}

/* Values have the order of the line's counters, so the one after the last match is tried
 * first. */
static struct sum *
find_sum(struct tally_metric_frame *f, const char *key, uint32_t *guess)
{
	for (uint32_t i = 0; i < f->n; i++, ++*guess) {
		*guess = *guess < f->n ? *guess : 0;
		if (f->sums[*guess].key == key)
			return &f->sums[(*guess)++];
	}
	for (uint32_t i = 0; i < f->n; i++)
		if (strcmp(f->sums[i].key, key) == 0)
			return &f->sums[i];
	return NULL;
}

static void
add(struct sum *sum, const struct tally_keyed_value *v)
{
	sum->estimated |= v->estimated;
	sum->bad |= !tally_value_add(&sum->value, v->value);
}

static void
reset_sums(struct tally_metric_frame *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct sum *sum = &f->sums[i];
		sum->value = (struct tally_value){ .storage = sum->value.storage };
		sum->n = 0;
		sum->bad = !sum->adds_up;
		sum->estimated = false;
	}
}

/* A counter that some passes lack has no sum; one that all passes have does. */
static uint32_t
sum_counters(struct tally_metric_frame *f, const struct tally_frame_record *frame,
	     const uint32_t *n_own, uint32_t n_unattributed)
{
	reset_sums(f);
	for (uint32_t p = 0; p < frame->n_passes; p++) {
		const struct tally_pass_record *pass = &frame->passes[p];
		uint32_t n = n_own[p], guess = 0;
		for (uint32_t i = 0; i < n; i++) {
			struct sum *sum = find_sum(f, pass->counters[i].key, &guess);
			if (!sum)
				continue;
			sum->n++;
			add(sum, &pass->counters[i]);
		}
	}
	uint32_t guess = 0, n = 0;
	for (uint32_t i = 0; i < n_unattributed; i++) {
		struct sum *sum = find_sum(f, frame->unattributed[i].key, &guess);
		if (sum)
			add(sum, &frame->unattributed[i]);
	}
	for (uint32_t i = 0; i < f->n; i++) {
		const struct sum *sum = &f->sums[i];
		if (sum->bad || sum->n == 0 || sum->n != frame->n_passes)
			continue;
		f->values[n++] = (struct tally_keyed_value){
			.key = sum->key,
			.value = sum->value,
			.estimated = sum->estimated,
		};
	}
	return n;
}

uint32_t
tally_metric_frame_evaluate(struct tally_metric_frame *f, struct tally_metric_set *set,
			    const struct tally_frame_record *frame, const uint32_t *n_own,
			    uint32_t n_unattributed, const struct tally_keyed_value *more,
			    uint32_t n_more, struct tally_keyed_value *out)
{
	struct tally_call_counts call_counts = { 0 };
	struct tally_metric_values in = {
		.counters = f->values,
		.n_counters = sum_counters(f, frame, n_own, n_unattributed),
		.more = more,
		.n_more = n_more,
		.call_counts = &call_counts,
		.has_gpu = frame->has_gpu,
		.gpu_ns = frame->gpu_ns,
	};
	/* The target of an interrupted pass is counted only once. */
	bool all_pixels = true;
	for (uint32_t p = 0; p < frame->n_passes; p++) {
		const struct tally_pass_record *pass = &frame->passes[p];
		tally_call_counts_add(&call_counts, &pass->call_counts);
		in.unknown |= pass->unknown;
		if (pass->segment == 0)
			in.pixels += pass->pixels;
		all_pixels &= pass->pixels > 0 || pass->kind != TALLY_PASS_RENDER;
	}
	if (!all_pixels)
		in.pixels = 0;
	return tally_metric_set_evaluate(set, &in, out);
}

uint32_t
tally_metric_pass_evaluate(struct tally_metric_set *set, const struct tally_pass_record *pass,
			   const struct tally_keyed_value *more, uint32_t n_more,
			   struct tally_keyed_value *out)
{
	struct tally_metric_values in = {
		.counters = pass->counters,
		.n_counters = pass->n_counters,
		.more = more,
		.n_more = n_more,
		.call_counts = &pass->call_counts,
		.unknown = pass->unknown,
		.has_gpu = pass->has_gpu,
		.gpu_ns = pass->gpu_ns,
		.pixels = pass->pixels,
	};
	return tally_metric_set_evaluate(set, &in, out);
}
