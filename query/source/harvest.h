/* SPDX-License-Identifier: MIT */
/* query/source/harvest.h - all interval sources of one context or queue, begun, ended and
 * read together.
 *
 * Order at a boundary: timestamps outermost, counters inside, so that the cost of one counter
 * query is not counted by another. Slots come from a pool that grows by doubling up to a
 * ceiling; when it is reached, a pass is not measured and is marked accordingly. Owner thread
 * only; never waits for the GPU.
 */
#ifndef PASSTALLY_QUERY_HARVEST_H
#define PASSTALLY_QUERY_HARVEST_H

#include "query/source/source.h"

#define TALLY_NO_SLOT UINT32_MAX
#define TALLY_MAX_SOURCES 16
#define TALLY_MAX_SLOTS (UINT32_C(1) << 20)

struct tally_harvest;

/* Takes the n sources (at most TALLY_MAX_SOURCES, unopened, in log order) and opens them; a
 * NULL entry, a source that could not be created, is skipped. Sources that cannot open stay
 * listed with their reason. `slots` is the initial number, never more than `max_slots`, which
 * is at most TALLY_MAX_SLOTS. NULL only on OOM, and then the sources are destroyed too. Opening
 * makes the driver calls of a probe: the context must be current. */
struct tally_harvest *tally_harvest_create(struct tally_source *const *sources, uint32_t n,
					   uint32_t slots, uint32_t max_slots);
/* Calls close() or abandon() for each source, depending on `context_current`, then destroys it:
 * pointers to the sources become invalid here. Accepts NULL. */
void tally_harvest_destroy(struct tally_harvest *h, bool context_current);

/* The counters of all open sources, each once, for the description of the device. Lives as long
 * as the harvest. */
const struct tally_counter *const *tally_harvest_counters(const struct tally_harvest *h,
							 uint32_t *n);
/* Each source's state for the log's device line; valid until the next call. */
const struct tally_source_info *tally_harvest_sources(struct tally_harvest *h, uint32_t *n);
/* What can be counted at once, one layout for each set of any source: first the counters of all
 * sources without sets, then the set's, under the set's name. Without any set there is one
 * layout, without a name. The layouts live as long as the process, the array until the next
 * tally_harvest_select(). */
const struct tally_counter_set *const *tally_harvest_sets(const struct tally_harvest *h,
							  uint32_t *n);
/* From the next begin on, counts that index of tally_harvest_sets(), or only what is always
 * counted (TALLY_NO_SET). Initially 0 is counted. Sets of a source that gave up are removed
 * by this call. */
void tally_harvest_select(struct tally_harvest *h, uint32_t set);
/* From here on tally_harvest_frame() selects the set that is pinned (--set, a string that
 * outlives h), or if that is NULL the sets in turn, one for `every` frames from `first_frame` on
 * (more where a source wants to). Without this call each has one frame. */
void tally_harvest_rotate(struct tally_harvest *h, const char *pinned, uint64_t first_frame,
			  uint64_t every);
/* Before a begin in that frame: the layout of what is counted in it. */
const struct tally_layout *tally_harvest_frame(struct tally_harvest *h, uint64_t frame);
/* What is counted in a slot that is in use; it defines its values. */
const struct tally_counter_set *
tally_harvest_layout(const struct tally_harvest *h, uint32_t slot);
/* The largest number of values that a slot can have. */
uint32_t tally_harvest_max_values(const struct tally_harvest *h);
/* The number of sources, and of their sets, that gave up since they were opened. */
uint32_t tally_harvest_n_off(const struct tally_harvest *h);

/* The game is about to use `what` itself: calls each source's yield(). True when a
 * source gave up. */
bool tally_harvest_yield(struct tally_harvest *h, unsigned what);
/* What the driver serializes because of the sources that count, in words; "" = nothing
 * known. */
void tally_harvest_serialized_by(const struct tally_harvest *h, char *out, size_t size);
/* Warns, through layer/log.h, about each source with sets that by now has
 * something to report. */
void tally_harvest_warn(const struct tally_harvest *h);

/* Whether any source is open. If none is, a slot has nothing to deliver. Constant, like the
 * next. */
bool tally_harvest_counts(const struct tally_harvest *h);
/* Whether any open source is a source of time. */
bool tally_harvest_has_time(const struct tally_harvest *h);

/* Begins all sources; TALLY_NO_SLOT when the pool is at its ceiling, or there was no memory to
 * grow it: then it keeps its size. Intervals may nest: exclusive counters stay with the outer
 * interval and are absent from the inner one. */
uint32_t tally_harvest_begin(struct tally_harvest *h);
void tally_harvest_end(struct tally_harvest *h, uint32_t slot);
/* No further interval follows immediately: the next begin takes a new timestamp. */
void tally_harvest_gap(struct tally_harvest *h);
void tally_harvest_resume(struct tally_harvest *h);

/* What ended so far was submitted to the GPU, or is to be asked for all the same: until then a
 * read of it is not ready and asks no source, because a driver may submit what it has gathered
 * just to answer. A harvest for which this is never called asks at once. */
void tally_harvest_submitted(struct tally_harvest *h);

/* The available results of an ended slot, in the order of tally_harvest_layout(); never blocks.
 * Sources of time answer first: until they have, the GPU may have lost the interval's work, and
 * no other source is asked. `out->values` and `out->valid` have room for that many values,
 * `valid` and `flags` start cleared and each call passes the same `out`: sources that are ready
 * are written once, TALLY_NOT_READY means that others are not ready yet. TALLY_OK or
 * TALLY_LOST: all sources answered, the slot is free. LOST: at least one source will never
 * deliver (out->flags contains LOST too); the remaining values in `out` are valid. */
enum tally_status tally_harvest_read(struct tally_harvest *h, uint32_t slot,
				     struct tally_sample *out);
/* The slot's results are no longer awaited: `out`, as for tally_harvest_read(), has none and is
 * flagged LOST. An active slot is ended. The driver may still write to its queries, so the slot
 * is not reused until every source has answered. */
void tally_harvest_give_up(struct tally_harvest *h, uint32_t slot, struct tally_sample *out);
/* Polls a few of the slots that were given up; those that were answered become free. False: none
 * is left. */
bool tally_harvest_retry(struct tally_harvest *h);
/* A frame ended, and the available results are read. */
void tally_harvest_frame_end(struct tally_harvest *h);

#endif
