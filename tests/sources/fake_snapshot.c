/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "query/source/noop.h"
#include "tests/sources/test_sources.h"

enum { NS = 0, HALF_NS, US, READS, N_COUNTERS };

struct fake_snapshot {
	struct tally_snapshot_source base;
	uint64_t started_ns, reads, logged;
};

#define COUNTER(suffix, shown, text) \
	{ \
		.key = "fake_total_" suffix, .name = "Fake total, " shown, .unit = "1", \
		.source = "fake-snapshot", .description = text "; for tests.", \
		.kind = TALLY_KIND_EVENT, .storage = TALLY_STORAGE_U64, \
		.scope = TALLY_SCOPE_DEVICE, .width_bits = 64, \
	}
static const struct tally_counter counters[N_COUNTERS] = {
	[NS] = COUNTER("ns", "ns", "Grows by one each ns"),
	[HALF_NS] = COUNTER("half_ns", "half ns", "Grows by one each second ns"),
	[US] = COUNTER("us", "us", "Grows by one each microsecond"),
	[READS] = COUNTER("reads", "readings", "Grows by 1000 each time the totals are read"),
};
static const struct tally_counter *const all_counters[N_COUNTERS] = {
	&counters[NS],
	&counters[HALF_NS],
	&counters[US],
	&counters[READS],
};

static struct fake_snapshot *
fake_of(struct tally_snapshot_source *src)
{
	return (struct fake_snapshot *)src;
}

/* As a driver that takes long to answer. */
static enum tally_status
fake_probe(struct tally_snapshot_source *src)
{
	const char *ms = getenv("FAKE_SNAPSHOT_OPENS_MS");
	(void)src;
	if (ms)
		usleep((useconds_t)atoi(ms) * 1000);
	return TALLY_OK;
}

static enum tally_status
fake_open(struct tally_snapshot_source *src)
{
	struct fake_snapshot *fake = fake_of(src);
	for (uint32_t i = 0; i < N_COUNTERS; i++) {
		if (src->keys && !tally_key_table_reserve(src->keys, all_counters[i]))
			return TALLY_NO_MEMORY;
		if (tally_counter_wanted(src->wanted, all_counters[i], NULL, NULL, true))
			fake->logged |= UINT64_C(1) << i;
	}
	src->counters = all_counters;
	src->n_counters = N_COUNTERS;
	src->logged = &fake->logged;
	return TALLY_OK;
}

static enum tally_status
fake_start(struct tally_snapshot_source *src)
{
	struct fake_snapshot *fake = fake_of(src);
	fake->started_ns = tally_clock_now_ns();
	fake->reads = 0;
	return TALLY_OK;
}

static enum tally_status
fake_sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct fake_snapshot *fake = fake_of(src);
	/* Exact for this moment, so that apportioning by time is exact. */
	out->begin_ns = out->end_ns = tally_clock_now_ns();
	uint64_t since_ns = out->end_ns - fake->started_ns;
	out->totals[NS] = since_ns;
	out->totals[HALF_NS] = since_ns / 2;
	out->totals[US] = since_ns / 1000;
	out->totals[READS] = 1000 * ++fake->reads;
	return TALLY_OK;
}

static const struct tally_snapshot_ops fake_ops = {
	.name = "fake-snapshot",
	.probe = fake_probe,
	.open = fake_open,
	.start = fake_start,
	.sample = fake_sample,
	.stop = tally_snapshot_noop,
	.close = tally_snapshot_noop,
	.abandon = tally_snapshot_noop,
	.destroy = tally_snapshot_free,
};

struct tally_snapshot_source *
tally_fake_snapshot_create(void)
{
	struct fake_snapshot *fake = calloc(1, sizeof(*fake));
	if (!fake)
		return NULL;
	fake->base.ops = &fake_ops;
	return &fake->base;
}
