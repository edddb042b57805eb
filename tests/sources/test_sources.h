/* SPDX-License-Identifier: MIT */
/* tests/sources/test_sources.h - sources that need no driver.
 *
 * null counts nothing and costs nothing: it measures our own overhead. fake gives the values
 * that a script specifies, so that the code above the sources can be tested to the last bit.
 * fake-snapshot's totals follow the CPU's clock. Owner thread only.
 */
#ifndef PASSTALLY_TESTS_SOURCES_H
#define PASSTALLY_TESTS_SOURCES_H

#include "query/source/snapshot.h"

struct tally_gl_api;

/* open and grow of a source that has no own functions for these. */
static inline enum tally_status
tally_source_noop_slots(struct tally_source *src, uint32_t slots)
{
	(void)src;
	(void)slots;
	return TALLY_OK;
}

/* A source that counts nothing; NULL on OOM. */
struct tally_source *tally_null_create(void);
/* For the registry: created with an api that they do not use. */
struct tally_source *tally_null_of_gl_create(struct tally_gl_api *api);
struct tally_source *tally_fake_of_gl_create(struct tally_gl_api *api);
/* Whether the word is the name of a counter of `fake`, or a pattern that matches one. */
bool tally_fake_may_count(const char *counters);

/* Two counters, or one counter and that of a set, and a clock. All of them are running totals
 * that only begin and end advance, so that an outer interval counts what its inner ones do. */
struct tally_fake_script {
	uint64_t a_step, b_step;  /* added to fake_a and fake_b at every end */
	uint64_t tick_ns;         /* added to the clock at every begin and every end */
	uint64_t start_ns;        /* where the clock starts */
	uint32_t delay;           /* how many reads of a slot first return TALLY_NOT_READY */
	/* Every lose_every-th interval is LOST, starting with the first; 0 = none. */
	uint32_t lose_every;
	uint64_t flags;           /* TALLY_FLAG(...) bits of every sample */
	enum tally_status open_status; /* what open() returns */
	uint32_t max_slots;       /* grow() beyond it returns TALLY_NO_MEMORY; 0 = no limit */
	/* At most 8: "fake set 1" ... count fake_a and fake_set_1 ..., b_step each. */
	uint32_t n_sets;
};

/* Copies the script. NULL on OOM. */
struct tally_source *tally_fake_create(const struct tally_fake_script *script);

/* Running totals from 0 at start(): fake_total_ns is CLOCK_MONOTONIC's delta,
 * fake_total_half_ns and fake_total_us are a half and a thousandth of it, rounded down,
 * fake_total_reads is 1000 per sample. Each sample takes no time: with --snapshot sampled, work
 * that nothing overlaps gets as much of fake_total_ns as it lasted. NULL on OOM. */
struct tally_snapshot_source *tally_fake_snapshot_create(void);

#endif
