/* query/sampler/sampler.h - the snapshot sources of a capture, and the thread that reads them.
 *
 * `sampled`: a thread of ours reads every period, on the CPU's own time; nothing in the game waits.
 * `exact`: the game's threads ask for a sample at each boundary that they made a real one, and the
 * thread reads only as often as a source needs it. Samples have numbers that go up from 1; each
 * source has its readings in a history (query/sampler/history.h) of bounded size.
 * Any thread may call take(); everything else is the collector's, but create() and abandon().
 */
#ifndef PASSTALLY_QUERY_SAMPLER_H
#define PASSTALLY_QUERY_SAMPLER_H

#include "layer/config/config.h"
#include "query/sampler/history.h"
#include "query/source/snapshot.h"
#include "query/sources.h"

#define TALLY_NO_SNAPSHOT UINT64_C(0)

struct tally_sampler;

/* Probe and open what --sources and --counters ask for, take the first sample, start the thread.
 * NULL on OOM or with --snapshot off. At most one at a time. */
struct tally_sampler *tally_sampler_create(const struct tally_config *config);
/* One last sample, then stop; the thread is gone when it returns (waits at most 1 s for it, and
 * then leaves a source that does not answer alone for good). Sources and histories stay for
 * reading. */
void tally_sampler_stop(struct tally_sampler *s);
void tally_sampler_destroy(struct tally_sampler *s); /* accepts NULL */
void tally_sampler_abandon(struct tally_sampler *s); /* see annotator.h */

/* Rows for the device line: each source that was looked for, on or off with its reason. */
uint32_t tally_sampler_n_rows(const struct tally_sampler *s);
struct tally_source_info tally_sampler_row(const struct tally_sampler *s, uint32_t i);

/* The sources that count, with their readings. */
uint32_t tally_sampler_n_sources(const struct tally_sampler *s);
const struct tally_snapshot_source *tally_sampler_source(const struct tally_sampler *s, uint32_t i);
struct tally_history *tally_sampler_history(struct tally_sampler *s, uint32_t i);

/* Between these two the histories do not change. Held by the collector while it attributes:
 * short. No other function of the sampler may be called meanwhile but those above. */
void tally_sampler_lock(struct tally_sampler *s);
void tally_sampler_unlock(struct tally_sampler *s);

/* Make sure that every source that still counts has a reading at or after that time: takes one if
 * need be. What grew after a source's last reading is not known (tally_history_doubts()). */
void tally_sampler_cover(struct tally_sampler *s, uint64_t time_ns);

/* For front ends, any thread. Is `exact` asked for, and is there a source to read? Constant for the
 * length of a capture, false outside. */
bool tally_snapshot_exact(void);
/* Read all sources now. The sample's number, TALLY_NO_SNAPSHOT when there is no capture or none
 * could be read. Waits for another thread's reading (microseconds), not for the GPU. */
uint64_t tally_snapshot_take(void);

#endif
