/* query/test_sources.h - two sources that need no driver.
 *
 * null counts nothing and costs nothing: it measures our own overhead. fake gives values that a
 * test dictates through TALLY_FAKE-style scripts: see query/fake.c. Owner thread only.
 */
#ifndef PASSTALLY_QUERY_TEST_SOURCES_H
#define PASSTALLY_QUERY_TEST_SOURCES_H

#include "query/source.h"

struct tally_source *tally_null_create(void);

/* Values: counter `fake_a` grows by `a_step` a begin/end, `fake_b` by b_step; a clock of its own
 * that advances `tick_ns` at every begin and end; results are NOT_READY for the first `delay`
 * reads of a slot; every `lose_every`-th slot is LOST (0 = none). */
struct tally_fake_script {
	uint64_t a_step, b_step, tick_ns, start_ns;
	uint32_t delay;
	uint32_t lose_every;
	enum tally_status open_status;
};
struct tally_source *tally_fake_create(const struct tally_fake_script *script);

#endif
