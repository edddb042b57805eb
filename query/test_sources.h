/* query/test_sources.h - two sources that need no driver.
 *
 * null counts nothing and costs nothing: it measures our own overhead. fake gives the values that
 * a script dictates, so that what lies above the sources can be tested to the last bit. Owner
 * thread only.
 */
#ifndef PASSTALLY_QUERY_TEST_SOURCES_H
#define PASSTALLY_QUERY_TEST_SOURCES_H

#include "query/source.h"

struct tally_source *tally_null_create(void);

/* Two counters, or one and that of a set, and a clock, all of them running totals that only begin
 * and end move, so that an outer interval counts what its inner ones do. */
struct tally_fake_script {
	uint64_t a_step, b_step;  /* fake_a and fake_b grow by this at every end */
	uint64_t tick_ns;         /* the clock grows by this at every begin and every end */
	uint64_t start_ns;        /* where the clock starts */
	uint32_t delay;           /* reads of a slot that say TALLY_NOT_READY first */
	uint32_t lose_every;      /* every so many-th interval is LOST, from the first; 0 = none */
	uint64_t flags;           /* TALLY_FLAG(...) bits of every sample */
	enum tally_status open_status; /* what open() answers */
	uint32_t max_slots;       /* grow() past it answers TALLY_NO_MEMORY; 0 = no limit */
	/* At most 8: "fake set 1" ... count fake_a and fake_set_1 ..., b_step each. */
	uint32_t n_sets;
};

/* Copies the script. NULL on OOM. */
struct tally_source *tally_fake_create(const struct tally_fake_script *script);

#endif
