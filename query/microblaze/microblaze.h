/* SPDX-License-Identifier: MIT */
/* query/microblaze/microblaze.h - the snapshot source of a MicroBlaze core, for the registry
 * (query/sources.c).
 *
 * Any thread; creating a source opens nothing.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_MICROBLAZE_H
#define PASSTALLY_QUERY_MICROBLAZE_MICROBLAZE_H

#include "query/source/snapshot.h"

/* The new source is not probed yet; NULL on OOM. */
struct tally_snapshot_source *tally_microblaze_create(void);

#endif
