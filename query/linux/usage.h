/* SPDX-License-Identifier: MIT */
/* query/linux/usage.h - the resources that a process used, by the kernel's accounting: its CPU
 * time, page faults and context switches, without those of our own threads.
 *
 * Belongs to one source; one thread at a time. Totals begin at 0 with start() and never
 * decrease. open() uses descriptors, nothing allocates, and a sample is a handful of system
 * calls.
 */
#ifndef PASSTALLY_QUERY_LINUX_USAGE_H
#define PASSTALLY_QUERY_LINUX_USAGE_H

#include "layer/base/own_threads.h"
#include "query/linux/counters.h"

#include <stdint.h>
#include <sys/types.h>

#define TALLY_LINUX_OF_USAGE \
	(TALLY_LINUX_BIT(TALLY_LINUX_TASK_CLOCK) | TALLY_LINUX_BIT(TALLY_LINUX_PAGE_FAULTS) | \
	 TALLY_LINUX_BIT(TALLY_LINUX_MINOR_FAULTS) | TALLY_LINUX_BIT(TALLY_LINUX_MAJOR_FAULTS) | \
	 TALLY_LINUX_BIT(TALLY_LINUX_CONTEXT_SWITCHES))
#define TALLY_LINUX_N_OF_USAGE (TALLY_LINUX_CONTEXT_SWITCHES + 1)

/* One of our own threads that is running, and its last known usage. */
struct tally_linux_own {
	pid_t tid; /* 0: free */
	int stat, schedstat; /* -1: not open */
	struct tally_own_usage used;
};

struct tally_linux_usage {
	uint64_t wanted; /* TALLY_LINUX_OF_USAGE at most */
	struct tally_linux_own own[TALLY_MAX_OWN_THREADS];
	uint64_t base[TALLY_LINUX_N_OF_USAGE];
	uint64_t faults; /* of the process, when ours were last read */
};

/* Sets u->wanted to what is available: the CPU's time alone in a sandbox; no context switches
 * where the kernel has no schedstat. */
void tally_linux_usage_open(struct tally_linux_usage *u, uint64_t wanted);
void tally_linux_usage_close(struct tally_linux_usage *u);
/* What was used until now becomes the base: totals begin at 0. */
void tally_linux_usage_start(struct tally_linux_usage *u);
void tally_linux_usage_sample(struct tally_linux_usage *u, struct tally_linux_totals *totals);

#endif
