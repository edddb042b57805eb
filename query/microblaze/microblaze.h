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

/* Notes that the device tree names a debug module which the options do not use. Reads the
 * device tree. See `look_closer` in query/sources.h. */
void tally_microblaze_look_closer(const struct tally_config *config, char *out, uint32_t size);

#endif
