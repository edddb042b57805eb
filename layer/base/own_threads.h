/* SPDX-License-Identifier: MIT */
/* layer/base/own_threads.h - which threads of the process are passtally's, and the CPU time
 * that they used.
 *
 * For code that measures the process from outside (query/linux_*.c): our threads' work is not
 * the game's. Each of our threads calls enter() first and leave() last. Any thread may read;
 * nothing here allocates, takes a lock or blocks. In a forked child the list is empty without
 * any action.
 */
#ifndef PASSTALLY_LAYER_BASE_OWN_THREADS_H
#define PASSTALLY_LAYER_BASE_OWN_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TALLY_MAX_OWN_THREADS 8

/* The calling thread is passtally's. Past TALLY_MAX_OWN_THREADS it counts as the game's. */
void tally_own_threads_enter(void);
/* The calling thread ends now: its usage is added to that of the threads that have left. */
void tally_own_threads_leave(void);

/* Lists those that run now; returns how many. */
uint32_t tally_own_threads_list(pid_t tids[TALLY_MAX_OWN_THREADS]);
/* Whether the thread is in a list of n. */
static inline bool
tally_own_threads_has(const pid_t *tids, uint32_t n, pid_t tid)
{
	while (n > 0 && tids[n - 1] != tid)
		n--;
	return n > 0;
}

/* The usage of the threads that have left since the process began or was forked. */
struct tally_own_usage {
	uint64_t cpu_ns;
	uint64_t minor_faults, major_faults;
	uint64_t switches;
};
void tally_own_threads_gone(struct tally_own_usage *out);

#endif
