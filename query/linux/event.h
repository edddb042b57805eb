/* query/linux/event.h - perf_event_open(2): which events there are, opening them on threads, and
 * what errors mean.
 *
 * An event on a thread counts, too, in every thread that this one and its children start later
 * (attr.inherit, attr.inherit_thread: Linux 5.13), also after they ended. Nothing here waits or
 * allocates.
 */
#ifndef PASSTALLY_QUERY_LINUX_EVENT_H
#define PASSTALLY_QUERY_LINUX_EVENT_H

#include "query/linux/counters.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TALLY_LINUX_MAX_EVENTS 40
/* What perf counts: of faults and context switches getrusage() knows as much. */
#define TALLY_LINUX_OF_PERF \
	(TALLY_LINUX_BIT(TALLY_LINUX_TASK_CLOCK) | TALLY_LINUX_BIT(TALLY_LINUX_MIGRATIONS) | \
	 TALLY_LINUX_OF_HARDWARE)
/* The events of CPUs, several of which may be one counter: one a kind of cores. */
#define TALLY_LINUX_OF_HARDWARE \
	(TALLY_LINUX_BIT(TALLY_LINUX_N) - TALLY_LINUX_BIT(TALLY_LINUX_CYCLES))

struct tally_linux_event {
	uint8_t which; /* enum tally_linux_count */
	uint32_t type;
	uint64_t config;
};

/* The events of a source; the task clock is always the first. */
struct tally_linux_plan {
	bool user_only; /* the kernel lets user mode alone be watched */
	uint32_t n;
	struct tally_linux_event events[TALLY_LINUX_MAX_EVENTS];
	uint64_t counted; /* bits: enum tally_linux_count */
};

/* Can threads of this process be measured at all? 0 or an errno; *user_only as in a plan. */
int tally_linux_event_try(bool *user_only);
/* What can be had of `asked`, tried on the calling thread. 0 or an errno. */
int tally_linux_plan_make(struct tally_linux_plan *plan, uint64_t asked);

/* All events of a plan on one thread, fds[n]; 0 or an errno, and then none is open. */
int tally_linux_plan_open(const struct tally_linux_plan *plan, pid_t tid, int *fds);

/* Of one event on one thread and its heirs; times as the kernel gives them. */
struct tally_linux_reading {
	uint64_t value, enabled, running;
};
/* 0 or an errno. */
int tally_linux_event_read(int fd, struct tally_linux_reading *out);

/* A thread's growth from `before` to `after` (n each), scaled up where events took turns; unknown
 * where one had none. */
void tally_linux_plan_add(const struct tally_linux_plan *plan,
			  const struct tally_linux_reading *before,
			  const struct tally_linux_reading *after,
			  struct tally_linux_totals *totals);
/* value * enabled / running, rounded down. */
uint64_t tally_linux_scale(uint64_t value, uint64_t enabled, uint64_t running);

/* kernel.perf_event_paranoid; INT32_MAX: not known. */
int32_t tally_linux_event_paranoid(void);
/* What an errno of opening means and what helps; returns the status that goes with it. */
enum tally_status tally_linux_event_explain(int error, int32_t paranoid, char *out, size_t size);

#endif
