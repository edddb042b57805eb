/* SPDX-License-Identifier: MIT */
/* query/source/noop.h - members of an ops table that have nothing to do.
 *
 * An ops table is complete: a source that needs no close or has no use for gap names one of
 * these functions instead of leaving NULL. Any thread; they touch nothing and cannot fail.
 */
#ifndef PASSTALLY_QUERY_SOURCE_NOOP_H
#define PASSTALLY_QUERY_SOURCE_NOOP_H

#include "query/source/snapshot.h"
#include "query/source/source.h"

/* open and grow: TALLY_OK. */
enum tally_status tally_source_noop_slots(struct tally_source *src, uint32_t slots);
/* close, abandon, gap and resume. */
void tally_source_noop(struct tally_source *src);
/* begin and end. */
void tally_source_noop_slot(struct tally_source *src, uint32_t slot);
/* select: for a source without sets. */
void tally_source_noop_select(struct tally_source *src, uint32_t set);
/* yield: the source holds nothing that the game needs. */
bool tally_source_noop_yield(struct tally_source *src, unsigned what);
/* serialized_by: nothing known. */
const char *tally_source_noop_serialized_by(const struct tally_source *src);
/* read: TALLY_OK, with no value. */
enum tally_status tally_source_noop_read(struct tally_source *src, uint32_t slot,
					 struct tally_sample *out);

/* For snapshot sources: stop and abandon. */
void tally_snapshot_noop(struct tally_snapshot_source *src);
/* destroy, where the source is one allocation that begins with its
 * struct tally_snapshot_source. */
void tally_snapshot_free(struct tally_snapshot_source *src);

#endif
