/* SPDX-License-Identifier: MIT */
/* query/linux/linux.h - the snapshot sources of the CPU's work, for the registry
 * (query/sources.c).
 *
 * linux-perf counts with perf_event_open(2), linux-proc with what any process may read about
 * itself. Any thread; creating a source opens nothing.
 */
#ifndef PASSTALLY_QUERY_LINUX_LINUX_H
#define PASSTALLY_QUERY_LINUX_LINUX_H

#include "query/source/snapshot.h"

/* The new source is not probed yet; NULL on OOM. */
struct tally_snapshot_source *tally_linux_perf_create(void);
struct tally_snapshot_source *tally_linux_proc_create(void);

/* Whether this is the name or key of one of their counters, or a pattern that matches one. */
bool tally_linux_may_count(const char *counters);

/* Whether a --counters list names one of their counters. An item that begins with "cpu" does,
 * as do all of their keys and names; `all`, `overview` and globs with other beginnings do
 * not. */
bool tally_linux_named(const char *list);

#endif
