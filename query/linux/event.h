/* SPDX-License-Identifier: MIT */
/* query/linux/event.h - perf_event_open(2): available events, opening them on threads, and the
 * meaning of errors.
 *
 * An event on a thread also counts every thread that this one and its children start later
 * (attr.inherit, attr.inherit_thread: Linux 5.13), even after they have ended. Nothing here
 * waits or allocates.
 */
#ifndef PASSTALLY_QUERY_LINUX_EVENT_H
#define PASSTALLY_QUERY_LINUX_EVENT_H

#include "query/linux/counters.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TALLY_LINUX_MAX_EVENTS 40
/* The counters that need perf: getrusage() reports faults and context switches equally well. */
#define TALLY_LINUX_OF_PERF \
	(TALLY_LINUX_BIT(TALLY_LINUX_TASK_CLOCK) | TALLY_LINUX_BIT(TALLY_LINUX_MIGRATIONS) | \
	 TALLY_LINUX_OF_HARDWARE)
/* The hardware events of CPUs; one counter may consist of several, one for each kind of
 * core. */
#define TALLY_LINUX_OF_HARDWARE \
	(TALLY_LINUX_BIT(TALLY_LINUX_N) - TALLY_LINUX_BIT(TALLY_LINUX_CYCLES))

struct tally_linux_event {
	uint8_t which; /* enum tally_linux_count */
	uint32_t type;
	uint64_t config;
};

/* The events of a source; the task clock always comes first. */
struct tally_linux_plan {
	bool user_only; /* the kernel only permits measuring user mode */
	uint32_t n;
	struct tally_linux_event events[TALLY_LINUX_MAX_EVENTS];
	uint64_t counted; /* bits: enum tally_linux_count */
};

/* Whether threads of this process can be measured: 0 or an errno; *user_only as in a plan. */
int tally_linux_event_try(bool *user_only);
/* Plans those of `asked` that are available, as tried on the calling thread. Returns 0 or an
 * errno. */
int tally_linux_plan_make(struct tally_linux_plan *plan, uint64_t asked);

/* Opens all events of a plan on one thread, as fds[n]. Returns 0 or an errno; on error none is
 * open. */
int tally_linux_plan_open(const struct tally_linux_plan *plan, pid_t tid, int *fds);

/* The reading of one event on one thread and those that it started; times as the kernel gives
 * them. */
struct tally_linux_reading {
	uint64_t value, enabled, running;
};
/* Returns 0 or an errno. */
int tally_linux_event_read(int fd, struct tally_linux_reading *out);

/* Adds a thread's deltas from `before` to `after` (n each), scaled up where the kernel
 * multiplexed events; where an event never ran, its delta is unknown. */
void tally_linux_plan_add(const struct tally_linux_plan *plan,
			  const struct tally_linux_reading *before,
			  const struct tally_linux_reading *after,
			  struct tally_linux_totals *totals);
/* value * enabled / running, rounded down. */
uint64_t tally_linux_scale(uint64_t value, uint64_t enabled, uint64_t running);

/* The value of kernel.perf_event_paranoid; INT32_MAX: not known. */
int32_t tally_linux_event_paranoid(void);
/* Explains an errno of opening, and what helps; returns the corresponding status. */
enum tally_status tally_linux_event_explain(int error, int32_t paranoid, char *reason);

#endif
