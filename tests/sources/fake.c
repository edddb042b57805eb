/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/config/config.h"
#include "layer/config/list.h"
#include "query/source/noop.h"
#include "tests/sources/test_sources.h"

#define MAX_SETS 8

struct fake_totals {
	uint64_t a, b, clock_ns;
};

struct fake_slot {
	struct fake_totals begin, end;
	uint32_t reads;
	bool lost, counts;
};

struct fake {
	struct tally_source base;
	struct tally_fake_script script;
	struct fake_totals now;
	uint64_t begun;
	struct fake_slot *slots;
};

static const struct tally_counter counter_a = {
	.key = "fake_a",
	.name = "Fake counter A",
	.unit = "1",
	.source = "fake",
	.description = "Grows by a scripted step in every measured interval; for tests.",
	.kind = TALLY_KIND_EVENT,
	.storage = TALLY_STORAGE_U64,
	.scope = TALLY_SCOPE_PASS,
	.width_bits = 64,
};

static const struct tally_counter counter_b = {
	.key = "fake_b",
	.name = "Fake counter B",
	.unit = "bytes",
	.source = "fake",
	.description = "Grows by a scripted step in every measured interval; for tests.",
	.kind = TALLY_KIND_THROUGHPUT,
	.storage = TALLY_STORAGE_U64,
	.scope = TALLY_SCOPE_PASS,
	.width_bits = 64,
};

static const struct tally_counter *const fake_counters[] = { &counter_a, &counter_b };

#define SET_COUNTER(n) \
	{ \
		.key = "fake_set_" #n, \
		.name = "Fake counter of set " #n, \
		.unit = "1", \
		.source = "fake", \
		.description = "Grows by a scripted step in every measured interval; for tests.", \
		.kind = TALLY_KIND_EVENT, \
		.storage = TALLY_STORAGE_U64, \
		.scope = TALLY_SCOPE_PASS, \
		.width_bits = 64, \
	}
static const struct tally_counter set_counters[MAX_SETS] = {
	SET_COUNTER(1), SET_COUNTER(2), SET_COUNTER(3), SET_COUNTER(4),
	SET_COUNTER(5), SET_COUNTER(6), SET_COUNTER(7), SET_COUNTER(8),
};

/* The counters that all sets have together. */
static const struct tally_counter *const of_sets[1 + MAX_SETS] = {
	&counter_a,	  &set_counters[0], &set_counters[1], &set_counters[2], &set_counters[3],
	&set_counters[4], &set_counters[5], &set_counters[6], &set_counters[7],
};

#define SET(n) \
	{ \
		.layout = { "fake set " #n, set_layouts[(n) - 1], 2 }, .category = "fake" \
	}
static const struct tally_counter *const set_layouts[MAX_SETS][2] = {
	{ &counter_a, &set_counters[0] }, { &counter_a, &set_counters[1] },
	{ &counter_a, &set_counters[2] }, { &counter_a, &set_counters[3] },
	{ &counter_a, &set_counters[4] }, { &counter_a, &set_counters[5] },
	{ &counter_a, &set_counters[6] }, { &counter_a, &set_counters[7] },
};
static const struct tally_counter_set sets[MAX_SETS] = {
	SET(1), SET(2), SET(3), SET(4), SET(5), SET(6), SET(7), SET(8),
};
static const struct tally_counter_set *const fake_sets[MAX_SETS] = {
	&sets[0], &sets[1], &sets[2], &sets[3], &sets[4], &sets[5], &sets[6], &sets[7],
};

static struct fake *
fake_of(struct tally_source *src)
{
	return (struct fake *)src;
}

static enum tally_status
fake_grow(struct tally_source *src, uint32_t slots)
{
	struct fake *fake = fake_of(src);

	if (fake->script.max_slots && slots > fake->script.max_slots)
		return TALLY_NO_MEMORY;
	struct fake_slot *grown = realloc(fake->slots, slots * sizeof(*grown));
	if (!grown)
		return TALLY_NO_MEMORY;
	fake->slots = grown;
	return TALLY_OK;
}

static enum tally_status
fake_open(struct tally_source *src, uint32_t slots)
{
	struct fake *fake = fake_of(src);
	enum tally_status status = fake->script.open_status;

	if (status == TALLY_OK)
		status = fake_grow(src, slots);
	if (status != TALLY_OK) {
		snprintf(src->reason, sizeof(src->reason),
			 "the script of the fake source forbids it");
		return status;
	}
	src->counters = fake_counters;
	src->n_counters = 2;
	if (fake->script.n_sets) {
		src->n_sets = fake->script.n_sets < MAX_SETS ? fake->script.n_sets : MAX_SETS;
		src->sets = fake_sets;
		src->counters = of_sets;
		src->n_counters = 1 + src->n_sets;
	}
	src->set = 0;
	fake->now = (struct fake_totals){ .clock_ns = fake->script.start_ns };
	fake->begun = 0;
	return TALLY_OK;
}

static void
fake_close(struct tally_source *src)
{
	struct fake *fake = fake_of(src);

	free(fake->slots);
	fake->slots = NULL;
}

static void
fake_begin(struct tally_source *src, uint32_t slot)
{
	struct fake *fake = fake_of(src);
	uint32_t every = fake->script.lose_every;

	fake->now.clock_ns += fake->script.tick_ns;
	fake->begun++;
	fake->slots[slot] = (struct fake_slot){
		.begin = fake->now,
		.lost = every && fake->begun % every == 0,
		.counts = src->set != TALLY_NO_SET,
	};
}

static void
fake_end(struct tally_source *src, uint32_t slot)
{
	struct fake *fake = fake_of(src);

	fake->now.a += fake->script.a_step;
	fake->now.b += fake->script.b_step;
	fake->now.clock_ns += fake->script.tick_ns;
	fake->slots[slot].end = fake->now;
}

static enum tally_status
fake_read(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	struct fake *fake = fake_of(src);
	struct fake_slot *s = &fake->slots[slot];

	if (s->reads < fake->script.delay) {
		s->reads++;
		return TALLY_NOT_READY;
	}
	out->flags |= fake->script.flags;
	if (s->lost)
		return TALLY_LOST;
	out->has_time = true;
	out->begin_ns = s->begin.clock_ns;
	out->end_ns = s->end.clock_ns;
	if (!s->counts)
		return TALLY_OK;
	out->values[0] = (struct tally_value){ .storage = TALLY_STORAGE_U64,
					       .u64 = s->end.a - s->begin.a };
	out->values[1] = (struct tally_value){ .storage = TALLY_STORAGE_U64,
					       .u64 = s->end.b - s->begin.b };
	out->valid[0] |= 3;
	return TALLY_OK;
}

static const struct tally_source_ops fake_ops = {
	.name = "fake",
	.delivers_time = true,
	.open = fake_open,
	.grow = fake_grow,
	.close = fake_close,
	.abandon = fake_close,
	.begin = fake_begin,
	.end = fake_end,
	.gap = tally_source_noop,
	.resume = tally_source_noop,
	.read = fake_read,
	.yield = tally_source_noop_yield,
	.serialized_by = tally_source_noop_serialized_by,
};

struct tally_source *
tally_fake_create(const struct tally_fake_script *script)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	if (!fake)
		return NULL;
	fake->base.ops = &fake_ops;
	fake->script = *script;
	return &fake->base;
}

struct tally_source *
tally_fake_of_gl_create(struct tally_gl_api *api)
{
	static const struct tally_fake_script script = {
		.a_step = 1, .b_step = 2, .tick_ns = 1000, .start_ns = 1000000
	};
	(void)api;
	return tally_fake_create(&script);
}

bool
tally_fake_may_count(const char *counters)
{
	return tally_list_matches(counters, "fake_a", "fake_a") ||
	       tally_list_matches(counters, "fake_b", "fake_b");
}
