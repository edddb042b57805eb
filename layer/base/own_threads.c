/* SPDX-License-Identifier: MIT */
#include "layer/base/own_threads.h"

#include "layer/base/clock.h"
#include "layer/base/sandbox.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Process << 32 | thread, 0 = free. A forked child sees its parent's numbers, which are not its
 * own, so nothing needs to be cleared. */
static _Atomic uint64_t slots[TALLY_MAX_OWN_THREADS];

/* The sums of the process that `pid` names. */
static struct {
	_Atomic uint32_t pid;
	_Atomic uint64_t cpu_ns, minor_faults, major_faults, switches;
} gone;

static uint64_t
slot_of(pid_t tid)
{
	return (uint64_t)(uint32_t)getpid() << 32 | (uint32_t)tid;
}

static pid_t
own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

void
tally_own_threads_enter(void)
{
	uint64_t mine = slot_of(own_tid());
	for (unsigned i = 0; i < TALLY_MAX_OWN_THREADS; i++) {
		uint64_t there = atomic_load(&slots[i]);
		if (there == mine)
			return;
		if (there >> 32 != mine >> 32 &&
		    atomic_compare_exchange_strong(&slots[i], &there, mine))
			return;
	}
}

static void
add_usage(void)
{
	struct rusage used = { 0 };
	uint64_t cpu_ns = tally_clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!cpu_ns || (!tally_is_shut_in() && getrusage(RUSAGE_THREAD, &used) != 0))
		return;
	/* The first thread to leave in a forked child finds its parent's sums. Our threads
	 * leave one at a time there: a child captures again only after all of its parent's
	 * threads were forgotten. */
	if (atomic_exchange(&gone.pid, (uint32_t)getpid()) != (uint32_t)getpid()) {
		atomic_store(&gone.cpu_ns, 0);
		atomic_store(&gone.minor_faults, 0);
		atomic_store(&gone.major_faults, 0);
		atomic_store(&gone.switches, 0);
	}
	atomic_fetch_add(&gone.cpu_ns, cpu_ns);
	atomic_fetch_add(&gone.minor_faults, (uint64_t)used.ru_minflt);
	atomic_fetch_add(&gone.major_faults, (uint64_t)used.ru_majflt);
	atomic_fetch_add(&gone.switches, (uint64_t)used.ru_nvcsw + (uint64_t)used.ru_nivcsw);
}

void
tally_own_threads_leave(void)
{
	int saved_errno = errno;
	uint64_t mine = slot_of(own_tid());
	for (unsigned i = 0; i < TALLY_MAX_OWN_THREADS; i++) {
		if (atomic_load(&slots[i]) != mine)
			continue;
		/* In this order the thread is counted twice for a moment, and readers never let
		 * their totals decrease. In the other order its work would count as the
		 * game's. */
		add_usage();
		atomic_store(&slots[i], 0);
		break;
	}
	errno = saved_errno;
}

uint32_t
tally_own_threads_list(pid_t tids[TALLY_MAX_OWN_THREADS])
{
	uint32_t n = 0;
	uint32_t pid = (uint32_t)getpid();
	for (unsigned i = 0; i < TALLY_MAX_OWN_THREADS; i++) {
		uint64_t slot = atomic_load(&slots[i]);
		if (slot >> 32 == pid)
			tids[n++] = (pid_t)(uint32_t)slot;
	}
	return n;
}

void
tally_own_threads_gone(struct tally_own_usage *out)
{
	*out = (struct tally_own_usage){ 0 };
	if (atomic_load(&gone.pid) != (uint32_t)getpid())
		return;
	out->cpu_ns = atomic_load(&gone.cpu_ns);
	out->minor_faults = atomic_load(&gone.minor_faults);
	out->major_faults = atomic_load(&gone.major_faults);
	out->switches = atomic_load(&gone.switches);
}
