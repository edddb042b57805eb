/* query/linux/linux.h - the snapshot sources of the CPU's work, for the registry
 * (query/sources.c).
 *
 * linux-perf counts by perf_event_open(2), linux-proc by what any process may read of itself. Any
 * thread; creating one opens nothing.
 */
#ifndef PASSTALLY_QUERY_LINUX_LINUX_H
#define PASSTALLY_QUERY_LINUX_LINUX_H

#include "query/source/snapshot.h"

/* Not probed yet; NULL on OOM. */
struct tally_snapshot_source *tally_linux_perf_create(void);
struct tally_snapshot_source *tally_linux_proc_create(void);

/* Is this the name or key of a counter of theirs, or a pattern that one matches? */
bool tally_linux_may_count(const char *counters);

/* Does a --counters list name one of their counters? An item that begins with "cpu" does, as do all
 * of their keys and names; `all`, `overview` and globs of other beginnings do not. */
bool tally_linux_named(const char *list);

#endif
