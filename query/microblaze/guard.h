/* query/microblaze/guard.h - first steps into a device's memory that may not answer.
 *
 * A bus error is a SIGBUS, and the game's signal handlers are not ours to change. So the first
 * accesses are made by a short-lived child that shares our memory but has signal handlers of its
 * own; the calling thread waits for it, nobody else does. Any thread, at the start of a capture.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_GUARD_H
#define PASSTALLY_QUERY_MICROBLAZE_GUARD_H

#include <stdbool.h>

enum tally_guard {
	TALLY_GUARD_OK = 0,
	TALLY_GUARD_BUS_ERROR, /* it ended by a bus error, or by any other signal */
	TALLY_GUARD_NONE, /* no child could be had: it did not run */
};

/* Runs it, once. It may read and write memory, and do nothing else: no locks, no allocations. */
enum tally_guard tally_guard_run(void (*run)(void *data), void *data);

#endif
