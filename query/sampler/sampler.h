/* SPDX-License-Identifier: MIT */
/* query/sampler/sampler.h - the snapshot sources of a capture, and the threads that read them.
 *
 * Each source has its own thread (query/sampler/reader.h), and only that makes calls into the
 * source: a kernel that does not answer delays neither the collector nor the game nor the exit,
 * and the other sources continue to count.
 *
 * `sampled`: the threads read once per period, on the CPU's own time; nothing in the game
 * waits. `exact`: the game's threads ask for a sample at each boundary that they turned into a
 * real one, and sources are read by time only as often as they need it.
 *
 * Samples have numbers that increase from 1; each source has its readings in a history
 * (query/sampler/history.h) of bounded size. While frames pass and none is captured, the
 * threads sleep; those of sources that are slow to read also sleep while no frame passes.
 *
 * Any thread may call tally_snapshot_*() and frame_begins(); only the collector may call the
 * other functions, except for create() and abandon().
 */
#ifndef PASSTALLY_QUERY_SAMPLER_H
#define PASSTALLY_QUERY_SAMPLER_H

#include "layer/config/config.h"
#include "query/sampler/history.h"
#include "query/source/snapshot.h"
#include "query/sources.h"

#define TALLY_NO_SNAPSHOT UINT64_C(0)

struct tally_sampler;

/* Begins to open the sources that --sources and --counters select, in other threads; `exact`
 * waits for them as ready() does. NULL with --snapshot off, and while a source of an earlier
 * capture hangs. At most one sampler at a time. */
struct tally_sampler *tally_sampler_create(const struct tally_config *config);
/* Waits until all sources are open and have been read once: for opening until 500 ms after
 * create(), when a source is left out, and as long as for a sample. Until then there is no row and
 * no source; from then on they are final. */
void tally_sampler_ready(struct tally_sampler *s);
/* Whether they are; waits until 100 ms after create(). */
bool tally_sampler_is_ready(struct tally_sampler *s);
/* Takes one last sample, then stops. Waits for at most 250 ms; a source that does not answer by
 * then is abandoned permanently, with its thread. Sources and histories remain readable. */
void tally_sampler_stop(struct tally_sampler *s);
void tally_sampler_destroy(struct tally_sampler *s); /* accepts NULL */
void tally_sampler_abandon(struct tally_sampler *s); /* see annotator.h */

/* Rows for the device line: each source that was looked for, on or off with its reason. */
uint32_t tally_sampler_n_rows(const struct tally_sampler *s);
struct tally_source_info tally_sampler_row(const struct tally_sampler *s, uint32_t i);

/* The sources that count, with their readings. */
uint32_t tally_sampler_n_sources(const struct tally_sampler *s);
const struct tally_snapshot_source *
tally_sampler_source(const struct tally_sampler *s, uint32_t i);
struct tally_history *tally_sampler_history(struct tally_sampler *s, uint32_t i);
/* As of the source's last reading; as many as the source's n_levels. The lock must be held. */
const struct tally_snapshot_level *
tally_sampler_levels(const struct tally_sampler *s, uint32_t i);

/* Tells the sources on which GPU the captured frames are: see tally_snapshot_source.gpu. */
void tally_sampler_use_gpu(struct tally_sampler *s, uint64_t pci_number);

/* Between these two calls the histories do not change. The collector holds the lock while it
 * attributes: for a short time, and no thread holds it during a call into a source. No other
 * function of the sampler may be called meanwhile, except for those above. */
void tally_sampler_lock(struct tally_sampler *s);
void tally_sampler_unlock(struct tally_sampler *s);

/* Ensures that every source that still counts and answers has a reading at or after that time:
 * asks for one if necessary and waits for it for at most 100 ms. The delta after a source's
 * last reading is unknown (tally_history_invalid()). */
void tally_sampler_cover(struct tally_sampler *s, uint64_t time_ns);

/* For front ends, any thread: whether `exact` is requested and there is a source to read.
 * Constant for the duration of a capture, false outside one. */
bool tally_snapshot_exact(void);
/* Makes all sources read now. Returns the sample's number, TALLY_NO_SNAPSHOT when there is
 * no capture or no source could be read. Waits for the sources' threads (tens of
 * microseconds; 100 ms and mali-delay for one that does not answer, and then not again
 * until it does), not for the GPU. */
uint64_t tally_snapshot_take(void);
/* Reports that a frame begins, captured or not: to be called once for each frame.
 * Never waits. */
void tally_sampler_frame_begins(bool captured);

#endif
