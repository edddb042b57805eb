/* SPDX-License-Identifier: MIT */
/* What snapshots cost. Prints one JSON object.
 *
 *	bench_snapshot sample SOURCE
 *		ns that one reading of the source takes; status 77: it is off
 *	bench_snapshot cut PASSES COUNTERS OVERLAP
 *		ns a pass to cut a frame of so many, of which OVERLAP run at any time
 */
#include <string.h>

#include "layer/config/config.h"
#include "query/attribute/attribute.h"
#include "query/sampler/sampler.h"
#include "query/sources.h"
#include "tests/bench/bench.h"

#define N_SAMPLES 4000
#define PERIOD_NS 1000000u
#define PASS_NS 10000u

static struct tally_snapshot_source *
open_source(const char *name, const struct tally_config *config)
{
	struct tally_snapshot_source *src = NULL;
	for (uint32_t i = 0; i < tally_n_snapshot_sources; i++)
		if (strcmp(tally_snapshot_sources[i].row.name, name) == 0)
			src = tally_snapshot_sources[i].create();
	if (!src)
		return NULL;
	src->config = config;
	src->metrics_wanted = true;
	if (src->ops->probe(src) == TALLY_OK && src->ops->open(src) == TALLY_OK &&
	    src->ops->start(src) == TALLY_OK)
		return src;
	fprintf(stderr, "bench_snapshot: %s: %s\n", name, src->reason);
	return NULL;
}

static int
measure_sample(const char *source)
{
	struct tally_config config;
	tally_config_init(&config);
	config.snapshot = TALLY_SNAPSHOT_EXACT;
	struct tally_snapshot_source *src = open_source(source, &config);
	if (!src)
		return 77;
	static uint64_t costs[N_SAMPLES], totals[4096], unknown[64];
	bool on = src->n_counters <= 4096;
	for (int i = 0; i < N_SAMPLES && on; i++) {
		struct tally_totals now = { .totals = totals, .unknown = unknown };
		uint64_t begin_ns = bench_clock_ns(CLOCK_MONOTONIC);
		enum tally_status status = src->ops->sample(src, &now);
		costs[i] = bench_clock_ns(CLOCK_MONOTONIC) - begin_ns;
		on = status == TALLY_OK || status == TALLY_NOT_READY;
	}
	qsort(costs, N_SAMPLES, sizeof(costs[0]), bench_compare_u64);
	printf("{\"sample_ns\": %llu, \"sample_ns_99\": %llu, \"counters\": %u}\n",
	       (unsigned long long)costs[N_SAMPLES / 2],
	       (unsigned long long)costs[N_SAMPLES / 100 * 99], src->n_counters);
	src->ops->stop(src);
	src->ops->close(src);
	src->ops->destroy(src);
	return on ? 0 : 1;
}

/* Everything that one call needs, for the given numbers of passes and counters. */
struct frame {
	struct tally_attributor *attributor;
	struct tally_history *history;
	struct tally_work *work;
	struct tally_share *shares;
	struct tally_window window;
	uint64_t *totals, *unknown, *numbers;
	uint32_t n, n_counters, words;
	uint64_t number;
};

static uint64_t *
numbers(size_t n)
{
	uint64_t *array = calloc(n ? n : 1, sizeof(*array));
	if (!array) {
		fprintf(stderr, "bench_snapshot: out of memory\n");
		exit(1);
	}
	return array;
}

static void
read_up_to(struct frame *f, uint64_t time_ns)
{
	struct tally_reading last;
	uint64_t next_ns = tally_history_last(f->history, &last) ? last.time_ns + PERIOD_NS : 0;
	for (; next_ns < time_ns + PERIOD_NS; next_ns += PERIOD_NS) {
		for (uint32_t i = 0; i < f->n_counters; i++)
			f->totals[i] += 1000003u * (i % 17u);
		struct tally_reading reading = {
			.first = f->number + 1,
			.number = ++f->number,
			.time_ns = next_ns,
			.totals = f->totals,
			.unknown = f->unknown,
		};
		tally_history_add(f->history, &reading);
	}
}

static void
make_frame(struct frame *f)
{
	f->words = (f->n_counters + 63) / 64;
	f->attributor = tally_attributor_create(f->n_counters);
	f->history = tally_history_create(f->n_counters, (size_t)8 << 20);
	f->work = calloc(f->n, sizeof(*f->work));
	f->shares = calloc(f->n, sizeof(*f->shares));
	f->totals = numbers(f->n_counters);
	f->unknown = numbers(f->words);
	f->numbers = numbers((size_t)f->n * (f->n_counters + f->words));
	if (!f->attributor || !f->history || !f->work || !f->shares) {
		fprintf(stderr, "bench_snapshot: out of memory\n");
		exit(1);
	}
	for (uint32_t i = 0; i < f->n; i++) {
		f->shares[i].delta = f->numbers + (size_t)i * (f->n_counters + f->words);
		f->shares[i].unknown = f->shares[i].delta + f->n_counters;
	}
	f->window.unattributed = numbers(f->n_counters);
	f->window.unattributed_unknown = numbers(f->words);
	f->window.unlogged = numbers(f->n_counters);
	f->window.delta = numbers(f->n_counters);
}

static void
free_frame(struct frame *f)
{
	tally_attributor_destroy(f->attributor);
	tally_history_destroy(f->history);
	free(f->work);
	free(f->shares);
	free(f->totals);
	free(f->unknown);
	free(f->numbers);
	free(f->window.unattributed);
	free(f->window.unattributed_unknown);
	free(f->window.unlogged);
	free(f->window.delta);
}

/* Passes of PASS_NS that follow each other, `overlap` of them at any time. */
static uint64_t
cut_next(struct frame *f, uint32_t overlap)
{
	uint64_t begin_ns = f->window.end_ns;
	for (uint32_t i = 0; i < f->n; i++) {
		f->work[i].begin_ns = begin_ns + (uint64_t)i * PASS_NS / overlap;
		f->work[i].end_ns = f->work[i].begin_ns + PASS_NS - (overlap == 1);
	}
	f->window.begin_ns = begin_ns;
	f->window.end_ns = f->work[f->n - 1].end_ns + 1;
	read_up_to(f, f->window.end_ns);
	uint64_t from_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!tally_attribute(f->attributor, f->history, false, f->work, f->shares, f->n,
			     &f->window))
		exit(1);
	uint64_t took_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns;
	tally_history_trim(f->history, f->window.end_ns);
	return took_ns;
}

static int
measure_cut(uint32_t n, uint32_t n_counters, uint32_t overlap)
{
	struct frame f = { .n = n, .n_counters = n_counters };
	make_frame(&f);
	uint64_t least_ns = UINT64_MAX;
	for (uint32_t i = 0; i < 20 + 20000 / n; i++) {
		uint64_t took_ns = cut_next(&f, overlap);
		if (took_ns < least_ns)
			least_ns = took_ns;
	}
	printf("{\"pass_ns\": %.1f}\n", (double)least_ns / n);
	free_frame(&f);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "sample") == 0)
		return measure_sample(argv[2]);
	if (argc == 5 && strcmp(argv[1], "cut") == 0)
		return measure_cut(bench_number(argv[0], "PASSES", argv[2], 1, 100000),
				   bench_number(argv[0], "COUNTERS", argv[3], 1, 1000),
				   bench_number(argv[0], "OVERLAP", argv[4], 1, 1000));
	fprintf(stderr, "usage: bench_snapshot sample SOURCE | cut PASSES COUNTERS OVERLAP\n");
	return 2;
}
