/* query/sampler/internal.h - the sampler's parts among themselves, and its seam for tests.
 *
 * sampler.c has the sources and their readings, thread.c when to read. Threads as in
 * query/sampler/sampler.h; what a mutex guards says so.
 */
#ifndef PASSTALLY_QUERY_SAMPLER_INTERNAL_H
#define PASSTALLY_QUERY_SAMPLER_INTERNAL_H

#include "query/sampler/sampler.h"
#include "query/sources.h"

/* tally_sampler_create() with other sources than the product's; at most
 * TALLY_MAX_SNAPSHOT_SOURCES are looked at. */
struct tally_sampler *
tally_sampler_create_of(const struct tally_config *config,
			const struct tally_snapshot_source_row *kinds, uint32_t n);

/* ---- thread.c ---- */

/* Reads all sources, as tally_snapshot_take() does, and says how long that took. */
typedef uint64_t tally_sampler_read(uint64_t *cost_ns);

/* How often to read, in ns: at first, and the most that it may become when reading is dear. */
struct tally_sampler_pace {
	uint64_t period_ns, most_ns;
	const int *due_fd; /* read when it can be read from, too; NULL: none */
};
/* What config and sources allow. */
struct tally_sampler_pace
tally_sampler_pace_of(const struct tally_sampler *s, const struct tally_config *config);

/* False: no thread could be had. */
bool tally_sampler_thread_start(struct tally_sampler_pace pace, tally_sampler_read *read);
/* False: it did not end in that time. True also where there is none. */
bool tally_sampler_thread_stop(uint64_t timeout_ns);
/* In a forked child, where it is no more. */
void tally_sampler_thread_forget(void);
/* The period in force. */
uint64_t tally_sampler_period_ns(void);

#endif
