/* query/source/harvest.h - all interval sources of one context or queue, begun, ended and read
 * together.
 *
 * Order at a boundary: time stamps outermost, counters inside, so that what a counter query costs
 * is not counted by another. Slots come from a pool that grows by doubling up to a ceiling; when
 * it is reached a pass goes unmeasured and says so. Owner thread only; never waits for the GPU.
 */
#ifndef PASSTALLY_QUERY_HARVEST_H
#define PASSTALLY_QUERY_HARVEST_H

#include "query/source/source.h"

#define TALLY_NO_SLOT UINT32_MAX
#define TALLY_MAX_SOURCES 16
#define TALLY_MAX_SLOTS (UINT32_C(1) << 20)

struct tally_harvest;

/* Takes the n sources (at most TALLY_MAX_SOURCES, unopened, in log order) and opens them; a NULL
 * entry, one that could not be created, is passed over. Sources that cannot open stay listed with
 * their reason. `slots` to begin with, never more than `max_slots`, itself at most
 * TALLY_MAX_SLOTS. NULL only on OOM, and then the sources are destroyed too. Opening makes the
 * driver calls of a probe: the context is current. */
struct tally_harvest *tally_harvest_create(struct tally_source *const *sources, uint32_t n,
					   uint32_t slots, uint32_t max_slots);
/* close() or abandon() each source, as `context_current` says, then destroy it: pointers to the
 * sources die here. Accepts NULL. */
void tally_harvest_destroy(struct tally_harvest *h, bool context_current);

/* Counters of all open sources, each once: for what describes the device. Lives as long as the
 * harvest. */
const struct tally_counter *const *tally_harvest_counters(const struct tally_harvest *h,
							 uint32_t *n);
/* Each source's state for the log's device line; valid until the next call. */
const struct tally_source_info *tally_harvest_sources(struct tally_harvest *h, uint32_t *n);
/* What can be counted at once, one for each set of any source: the counters of all sources without
 * sets first, then the set's, under the set's name. Without any set one layout, of no name. They
 * live as long as the process, the array until the next tally_harvest_select(). */
const struct tally_counter_set *const *tally_harvest_sets(const struct tally_harvest *h,
							  uint32_t *n);
/* From the next begin on count that one of tally_harvest_sets(), or only what is always counted
 * (TALLY_NO_SET). At first 0 is counted. Sets of a source that gave up are gone afterwards. */
void tally_harvest_select(struct tally_harvest *h, uint32_t set);
/* Whose turn it is when `turn` frames were captured before (tally_session_rotation()), or the set
 * that is pinned (--set, or NULL): for tally_harvest_select(). */
uint32_t tally_harvest_turn(const struct tally_harvest *h, const char *pinned, uint64_t turn);
/* What is counted now; what the values of a slot that is in use mean. */
const struct tally_counter_set *tally_harvest_selected(const struct tally_harvest *h);
const struct tally_counter_set *tally_harvest_layout(const struct tally_harvest *h, uint32_t slot);
/* The most values that a slot can have. */
uint32_t tally_harvest_max_values(const struct tally_harvest *h);
/* How many sources, and sets of them, gave up since they were opened. */
uint32_t tally_harvest_n_off(const struct tally_harvest *h);

/* The game is about to use `what` itself: each source's yield(). True when a source gave up. */
bool tally_harvest_yield(struct tally_harvest *h, unsigned what);
/* What the driver serialises because of the sources that count, in words; "" = nothing known. */
void tally_harvest_serialized_by(const struct tally_harvest *h, char *out, size_t size);
/* Warn, through layer/log.h, of each source with sets that has something to say by now. */
void tally_harvest_warn(const struct tally_harvest *h);

/* Is any open source a source of time? */
bool tally_harvest_has_time(const struct tally_harvest *h);

/* Begin all sources; TALLY_NO_SLOT when the pool is at its ceiling, or no memory was left to grow
 * it: then it stays as large as it is. Intervals may nest: exclusive counters stay with the outer
 * one and are absent from the inner. */
uint32_t tally_harvest_begin(struct tally_harvest *h);
void tally_harvest_end(struct tally_harvest *h, uint32_t slot);
/* Nothing of ours follows at once: the next begin takes a stamp of its own. */
void tally_harvest_gap(struct tally_harvest *h);
void tally_harvest_resume(struct tally_harvest *h);

/* What is ready of an ended slot, in the order of tally_harvest_layout(); never blocks. Sources of
 * time answer first: until they have, the interval's work may be one that the GPU lost, and no
 * other is asked. `out->values` and `out->valid` have room for that many, `valid` and `flags` start
 * cleared and the same `out` comes back each time: sources that are ready are written once,
 * TALLY_NOT_READY says that others are not yet. TALLY_OK or TALLY_LOST: all sources answered, the
 * slot is free. LOST: at least one source will never deliver (out->flags says LOST too); what is
 * left in `out` is true. */
enum tally_status tally_harvest_read(struct tally_harvest *h, uint32_t slot,
				     struct tally_sample *out);
/* Its results are waited for no longer: `out`, as for tally_harvest_read(), has none and is flagged
 * LOST. A slot that runs is ended. The driver may still write to its queries, so nobody has it
 * until every source answered. */
void tally_harvest_give_up(struct tally_harvest *h, uint32_t slot, struct tally_sample *out);
/* A frame ended and what was ready is read: count it, and ask for a few of the slots that were
 * given up; what was answered is free. */
void tally_harvest_frame_end(struct tally_harvest *h);

#endif
