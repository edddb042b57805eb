/* SPDX-License-Identifier: MIT */
/* tests/example_source/interrupts.h - the worked example of docs/adding-a-source.md: a snapshot
 * source of one counter, the interrupts that the machine has served (/proc/stat).
 *
 * Any thread; creating one opens nothing.
 */
#ifndef PASSTALLY_TESTS_EXAMPLE_SOURCE_INTERRUPTS_H
#define PASSTALLY_TESTS_EXAMPLE_SOURCE_INTERRUPTS_H

#include "query/source/snapshot.h"

/* Not probed yet; NULL on OOM. */
struct tally_snapshot_source *tally_interrupts_create(void);
/* Is it the name of its counter, or a pattern that it matches? */
bool tally_interrupts_may_count(const char *counters);

#endif
