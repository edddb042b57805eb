/* query/linux/event.h - perf_event_open(2): opening events, reading groups, and what errors mean.
 *
 * The events of one source are laid out in groups, once, on the calling thread: the first holds the
 * software events, led by the task clock, which always works; hardware events follow in as few
 * groups as the processor takes. Every thread is then measured by that plan. Nothing here waits;
 * tally_linux_plan_make() alone allocates.
 */
#ifndef PASSTALLY_QUERY_LINUX_EVENT_H
#define PASSTALLY_QUERY_LINUX_EVENT_H

#include "query/linux/counters.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TALLY_LINUX_MAX_EVENTS 32
#define TALLY_LINUX_MAX_GROUPS 10
/* The events of CPUs, several of which may be one counter: one a kind of cores. */
#define TALLY_LINUX_OF_HARDWARE \
	(TALLY_LINUX_BIT(TALLY_LINUX_N_OF_PROCESS) - TALLY_LINUX_BIT(TALLY_LINUX_CYCLES))

struct tally_linux_event {
	uint8_t which; /* enum tally_linux_count */
	uint8_t group;
	uint32_t type;
	uint64_t config;
};

struct tally_linux_plan {
	bool user_only; /* the kernel lets user mode alone be watched */
	bool has_hardware;
	uint32_t n_events, n_groups;
	struct tally_linux_event events[TALLY_LINUX_MAX_EVENTS]; /* by group */
	uint8_t first[TALLY_LINUX_MAX_GROUPS + 1]; /* of each group, and n_events */
	uint64_t counted; /* bits: enum tally_linux_count */
};

/* Can threads of this process be measured at all? 0 or an errno; *user_only as in a plan. */
int tally_linux_event_try(bool *user_only);
/* Lay out what can be had of `asked`. 0 or an errno. */
int tally_linux_plan_make(struct tally_linux_plan *plan, uint64_t asked);

/* All events of a plan on one thread; 0 or an errno, and then none is open. */
int tally_linux_plan_open(const struct tally_linux_plan *plan, pid_t tid,
			  int fds[TALLY_LINUX_MAX_EVENTS]);
void tally_linux_plan_close(const struct tally_linux_plan *plan, int fds[TALLY_LINUX_MAX_EVENTS]);

struct tally_linux_group_times {
	uint64_t enabled, running;
};
struct tally_linux_reading {
	uint64_t values[TALLY_LINUX_MAX_EVENTS];
	struct tally_linux_group_times times[TALLY_LINUX_MAX_GROUPS];
};
/* 0 or an errno: EBADF, EPROTO: the descriptor is not ours any more. */
int tally_linux_plan_read(const struct tally_linux_plan *plan,
			  const int fds[TALLY_LINUX_MAX_EVENTS], struct tally_linux_reading *out);

/* Add to `totals` what one thread's counters grew by between two readings. An event that ran for a
 * part of the time only is scaled up, rounding down, so that no total falls; one that did not run
 * at all while its thread did is unknown. */
void
tally_linux_plan_add(const struct tally_linux_plan *plan, const struct tally_linux_reading *before,
		     const struct tally_linux_reading *after, struct tally_linux_totals *totals);

/* value * enabled / running, rounded down; `value` where it ran all the time. running > 0 unless
 * enabled is 0. */
uint64_t tally_linux_scale(uint64_t value, uint64_t enabled, uint64_t running);

/* Cycles of one CPU, of all processes; a descriptor or -1 with errno. */
int tally_linux_event_open_cpu_cycles(unsigned cpu);
/* False: nothing was read. */
bool tally_linux_event_read_scaled(int fd, uint64_t *value, struct tally_linux_group_times *times);

/* What an errno of perf_event_open means and what to do, for people; `paranoid`: the setting of
 * that name, INT32_MAX where it can not be read. */
enum tally_status tally_linux_event_explain(int error, int32_t paranoid, char *out, size_t size);
int32_t tally_linux_event_paranoid(void);

#endif
