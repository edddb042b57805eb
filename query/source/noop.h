/* SPDX-License-Identifier: MIT */
/* query/source/noop.h - members of an ops table that do nothing, or next to nothing.
 *
 * An ops table is complete: a source that needs no close or has no use for gap names one of
 * these functions instead of leaving NULL. Any thread; they make no call and cannot fail.
 */
#ifndef PASSTALLY_QUERY_SOURCE_NOOP_H
#define PASSTALLY_QUERY_SOURCE_NOOP_H

#include <stdlib.h>

#include "query/source/snapshot.h"
#include "query/source/source.h"

/* close, abandon, gap and resume. */
static inline void
tally_source_noop(struct tally_source *src)
{
	(void)src;
}

/* For begin and end. */
static inline void
tally_source_noop_slot(struct tally_source *src, uint32_t slot)
{
	(void)src;
	(void)slot;
}

/* yield: the source holds nothing that the game needs. */
static inline bool
tally_source_noop_yield(struct tally_source *src, unsigned what)
{
	(void)src;
	(void)what;
	return false;
}

/* serialized_by: nothing known. */
static inline const char *
tally_source_noop_serialized_by(const struct tally_source *src)
{
	(void)src;
	return NULL;
}

/* For snapshot sources: stop and abandon. */
static inline void
tally_snapshot_noop(struct tally_snapshot_source *src)
{
	(void)src;
}

/* destroy, where the source is one allocation that begins with its
 * struct tally_snapshot_source. */
static inline void
tally_snapshot_free(struct tally_snapshot_source *src)
{
	free(src);
}

#endif
