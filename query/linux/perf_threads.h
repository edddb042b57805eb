/* query/linux/perf_threads.h - perf events on every thread of this process, summed up.
 *
 * A group of descriptors a thread, one read a group. What a thread counted stays in the totals when
 * it ends; of a thread that began between two looks its CPU time from before is added. One thread
 * at a time; open() allocates.
 */
#ifndef PASSTALLY_QUERY_LINUX_PERF_THREADS_H
#define PASSTALLY_QUERY_LINUX_PERF_THREADS_H

#include "query/linux/event.h"
#include "query/linux/roster.h"

struct tally_linux_perf_threads {
	struct tally_linux_roster roster;
	struct tally_linux_plan plan;
	struct tally_linux_totals *totals; /* where readings are added */
	bool counting; /* since start() */
	int error; /* of the last thread that could not be taken in, or of reading */
	bool broken; /* descriptors are gone: nothing true will come of it */
};

/* Measure what can be had of `asked` in all threads with so many descriptors at most. 0 or an
 * errno, ENOSPC when they do not suffice; close() is then not needed. */
int tally_linux_perf_threads_open(struct tally_linux_perf_threads *t, uint64_t asked,
				  uint32_t descriptors);
void tally_linux_perf_threads_close(struct tally_linux_perf_threads *t);
void tally_linux_perf_threads_start(struct tally_linux_perf_threads *t, uint64_t now_ns,
				    struct tally_linux_totals *totals);
/* False: broken. */
bool tally_linux_perf_threads_sample(struct tally_linux_perf_threads *t, uint64_t now_ns,
				     struct tally_linux_totals *totals);

#endif
