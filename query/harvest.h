/* query/harvest.h - all interval sources of one context or queue, begun, ended and read together.
 *
 * Order at a boundary: time stamps outermost, counters inside, so that what a counter query costs
 * is not counted by another. Slots come from a pool that grows by doubling up to a ceiling; when
 * it is reached a pass goes unmeasured and says so. Owner thread only; never waits for the GPU.
 */
#ifndef PASSTALLY_QUERY_HARVEST_H
#define PASSTALLY_QUERY_HARVEST_H

#include "query/source.h"

#define TALLY_NO_SLOT UINT32_MAX
#define TALLY_MAX_SOURCES 16

struct tally_harvest;

/* Takes the opened-or-not sources (n of them, in log order) and opens them. Sources that cannot
 * open stay listed with their reason. NULL only on OOM, and then the sources are abandoned. */
struct tally_harvest *tally_harvest_create(struct tally_source *const *sources, uint32_t n,
					   uint32_t slots, uint32_t max_slots);
/* close() or abandon() each source, as `context_current` says. Accepts NULL. */
void tally_harvest_destroy(struct tally_harvest *h, bool context_current);

/* Counters of all open sources, in value order; lives as long as the harvest. */
const struct tally_counter *const *tally_harvest_counters(const struct tally_harvest *h, uint32_t *n);
/* Each source's state for the log's device line; valid until the next call. */
const struct tally_source_info *tally_harvest_sources(struct tally_harvest *h, uint32_t *n);
/* Is any open source a source of time? */
bool tally_harvest_has_time(const struct tally_harvest *h);

/* Begin all sources; TALLY_NO_SLOT when the pool is at its ceiling. */
uint32_t tally_harvest_begin(struct tally_harvest *h);
void tally_harvest_end(struct tally_harvest *h, uint32_t slot);
void tally_harvest_gap(struct tally_harvest *h);

/* What is ready of an ended slot. `out->values` and `out->valid` have room for all counters of
 * tally_harvest_counters(); sources that are ready are written once, the others keep
 * TALLY_NOT_READY. TALLY_OK or TALLY_LOST: all sources answered, the slot is free. */
enum tally_status tally_harvest_read(struct tally_harvest *h, uint32_t slot, struct tally_sample *out);
void tally_harvest_discard(struct tally_harvest *h, uint32_t slot);

#endif
