/* query/mali/mali.h - the snapshot sources of Arm Mali GPUs, for the registry (query/sources.c).
 *
 * mali-kbase reads Arm's own kernel driver, mali-panfrost the mainline one. Any thread; creating
 * one asks the kernel nothing.
 */
#ifndef PASSTALLY_QUERY_MALI_MALI_H
#define PASSTALLY_QUERY_MALI_MALI_H

#include "query/source/snapshot.h"

/* Not probed yet; NULL on OOM. */
struct tally_snapshot_source *tally_mali_kbase_create(void);
struct tally_snapshot_source *tally_mali_panfrost_create(void);

/* Is this the name, key or alias of a counter of any Mali, perhaps with ".mean", or a pattern that
 * such a name matches? */
bool tally_mali_may_count(const char *counters);

#endif
