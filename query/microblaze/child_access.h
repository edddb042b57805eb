/* SPDX-License-Identifier: MIT */
/* query/microblaze/child_access.h - first accesses to device memory that may not answer.
 *
 * A bus error is a SIGBUS, and we must not change the game's signal handlers. So the first
 * accesses are made by a short-lived child that shares our memory but has its own signal
 * handlers; the calling thread waits for it, and no other thread does. Any thread, at the start
 * of a capture.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_CHILD_ACCESS_H
#define PASSTALLY_QUERY_MICROBLAZE_CHILD_ACCESS_H

#include <stdbool.h>

enum tally_child_access {
	TALLY_CHILD_ACCESS_OK = 0,
	TALLY_CHILD_ACCESS_BUS_ERROR, /* a bus error, or any other signal, ended the child */
	TALLY_CHILD_ACCESS_NONE, /* no child could be created: the function did not run */
};

/* Runs the function once. It may read and write memory, and do nothing else: no locks, no
 * allocations. */
enum tally_child_access tally_child_access_run(void (*run)(void *data), void *data);

#endif
