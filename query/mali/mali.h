/* SPDX-License-Identifier: MIT */
/* query/mali/mali.h - the snapshot sources of Arm Mali GPUs, for the registry
 * (query/sources.c).
 *
 * mali-kbase reads Arm's own kernel driver, mali-panfrost the mainline one. Any thread;
 * creating a source makes no request to the kernel.
 */
#ifndef PASSTALLY_QUERY_MALI_MALI_H
#define PASSTALLY_QUERY_MALI_MALI_H

#include "query/source/snapshot.h"

/* The new source is not probed yet; NULL on OOM. */
struct tally_snapshot_source *tally_mali_kbase_create(void);
struct tally_snapshot_source *tally_mali_panfrost_create(void);

/* Whether this is the name, key or alias of a counter of any Mali GPU, optionally with ".mean",
 * or a pattern that matches such a name. */
bool tally_mali_may_count(const char *counters);

#endif
