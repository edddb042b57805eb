/* query/linux/delay.h - how long the threads of this process waited for a CPU, by their schedstat.
 *
 * A descriptor and a read a thread, so only for who asks. One thread at a time; open() allocates.
 */
#ifndef PASSTALLY_QUERY_LINUX_DELAY_H
#define PASSTALLY_QUERY_LINUX_DELAY_H

#include "query/linux/counters.h"
#include "query/linux/roster.h"

struct tally_linux_delay {
	struct tally_linux_roster roster;
	uint64_t total; /* of all threads since open() */
	uint64_t base;
	bool on;
};

/* Does the kernel keep these books (CONFIG_SCHED_INFO)? */
bool tally_linux_has_schedstat(void);

/* At most so many descriptors. False with errno; close() is then not needed, but allowed. */
bool tally_linux_delay_open(struct tally_linux_delay *d, uint32_t descriptors);
void tally_linux_delay_close(struct tally_linux_delay *d);
void tally_linux_delay_start(struct tally_linux_delay *d, uint64_t now_ns,
			     struct tally_linux_totals *totals);
void tally_linux_delay_sample(struct tally_linux_delay *d, uint64_t now_ns,
			      struct tally_linux_totals *totals);

#endif
