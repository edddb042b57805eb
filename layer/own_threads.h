/* layer/own_threads.h - which threads of the process are ours, and what they used.
 *
 * For who measures the process from outside (query/linux_*.c): our threads' work is not the game's.
 * Each of our threads enters first and leaves last. Any thread may look; nothing here
 * allocates, takes a lock or blocks. In a forked child all of them are gone by themselves.
 */
#ifndef PASSTALLY_LAYER_OWN_THREADS_H
#define PASSTALLY_LAYER_OWN_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TALLY_MAX_OWN_THREADS 8

/* The calling thread is ours. Past TALLY_MAX_OWN_THREADS it counts as the game's. */
void tally_own_threads_enter(void);
/* It ends now: what it used is added to what is gone. */
void tally_own_threads_leave(void);

bool tally_own_threads_has(pid_t tid);
/* Those that run now; returns how many. */
uint32_t tally_own_threads_list(pid_t tids[TALLY_MAX_OWN_THREADS]);

/* What threads that left have used, since the process began or was forked. */
struct tally_own_usage {
	uint64_t cpu_ns;
	uint64_t minor_faults, major_faults;
	uint64_t switches;
};
void tally_own_threads_gone(struct tally_own_usage *out);

#endif
