/* SPDX-License-Identifier: MIT */
#include "query/linux/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/base/sandbox.h"
#include "layer/base/small_file.h"

#define FAULTS \
	(TALLY_LINUX_BIT(TALLY_LINUX_PAGE_FAULTS) | TALLY_LINUX_BIT(TALLY_LINUX_MINOR_FAULTS) | \
	 TALLY_LINUX_BIT(TALLY_LINUX_MAJOR_FAULTS))
#define SWITCHES TALLY_LINUX_BIT(TALLY_LINUX_CONTEXT_SWITCHES)
#define CLOCK TALLY_LINUX_BIT(TALLY_LINUX_TASK_CLOCK)

/* ---- our own threads ---- */

static void
forget_own(struct tally_linux_own *own)
{
	if (own->stat >= 0)
		close(own->stat);
	if (own->schedstat >= 0)
		close(own->schedstat);
	*own = (struct tally_linux_own){ .stat = -1, .schedstat = -1 };
}

static int
open_book(pid_t tid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
	return tally_small_file_open(path);
}

static void
meet_own(struct tally_linux_own *own, pid_t tid, uint64_t wanted)
{
	own->tid = tid;
	own->stat = wanted & FAULTS ? open_book(tid, "stat") : -1;
	own->schedstat = wanted & (CLOCK | SWITCHES) ? open_book(tid, "schedstat") : -1;
}

/* Fields 10 and 12: minflt, majflt. The name, field 2, may contain anything, so fields are
 * read from its end. */
static void
read_faults(struct tally_linux_own *own)
{
	char text[512];
	if (own->stat < 0 || !tally_small_file_reread(own->stat, text, sizeof(text)))
		return;
	const char *p = strrchr(text, ')');
	uint64_t minor = 0, major = 0;
	if (p)
		(void)sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64,
			     &minor, &major);
	own->used.minor_faults = minor;
	own->used.major_faults = major;
}

/* The text of schedstat has the time run, the time waited, and how often the thread was given a
 * CPU, which is its number of context switches, or one more. 0 of them: the kernel keeps none. */
static bool
parse_schedstat(const char *text, uint64_t *cpu_ns, uint64_t *times)
{
	return sscanf(text, "%" SCNu64 " %*u %" SCNu64, cpu_ns, times) == 2 && *times > 0;
}

/* A kernel that keeps no schedstat is asked for the clock, where a sandbox cannot end the program
 * for it. */
static void
read_time_and_switches(struct tally_linux_usage *u, struct tally_linux_own *own)
{
	char text[96];
	uint64_t cpu_ns = 0;
	if (own->schedstat >= 0 && tally_small_file_reread(own->schedstat, text, sizeof(text)) &&
	    parse_schedstat(text, &cpu_ns, &own->used.switches))
		own->used.cpu_ns = cpu_ns;
	else if (u->wanted & CLOCK && !tally_is_filtered() &&
		 (cpu_ns = tally_clock_of_thread(own->tid)))
		own->used.cpu_ns = cpu_ns;
}

/* Forgets those of our threads that have ended, and adds those that began. */
static void
follow_own(struct tally_linux_usage *u, pid_t *tids, uint32_t n)
{
	for (unsigned i = 0; i < TALLY_MAX_OWN_THREADS; i++) {
		struct tally_linux_own *own = &u->own[i];
		uint32_t at = 0;
		while (at < n && tids[at] != own->tid)
			at++;
		if (at < n)
			tids[at] = 0;
		else if (own->tid != 0)
			forget_own(own);
	}
	for (unsigned i = 0, at = 0; i < TALLY_MAX_OWN_THREADS; i++) {
		while (at < n && tids[at] == 0)
			at++;
		if (u->own[i].tid == 0 && at < n)
			meet_own(&u->own[i], tids[at++], u->wanted);
	}
}

static void
add_usage(struct tally_own_usage *sum, const struct tally_own_usage *used)
{
	sum->cpu_ns += used->cpu_ns;
	sum->minor_faults += used->minor_faults;
	sum->major_faults += used->major_faults;
	sum->switches += used->switches;
}

/* The sum of what all of our own threads have used so far. Their faults are a long text of the
 * kernel's, and as before unless the process `faulted`. */
static struct tally_own_usage
own_usage(struct tally_linux_usage *u, bool faulted)
{
	pid_t tids[TALLY_MAX_OWN_THREADS];
	struct tally_own_usage sum = { 0 }, gone;
	uint32_t n = tally_own_threads_list(tids);
	/* The kernel updates a thread's accounts when it sleeps, at a tick, and when it reads its
	 * own clock: so this thread's work until now is among ours. */
	(void)tally_clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	follow_own(u, tids, n);
	for (unsigned i = 0; i < TALLY_MAX_OWN_THREADS; i++) {
		struct tally_linux_own *own = &u->own[i];
		if (own->tid == 0)
			continue;
		if (faulted || !own->used.minor_faults)
			read_faults(own);
		read_time_and_switches(u, own);
		add_usage(&sum, &own->used);
	}
	/* Last: one that leaves meanwhile is counted twice for a moment, not left out for good. */
	tally_own_threads_gone(&gone);
	add_usage(&sum, &gone);
	return sum;
}

/* ---- the process ---- */

static uint64_t
less(uint64_t all, uint64_t ours)
{
	return all > ours ? all - ours : 0;
}

/* Returns which of the wanted ones are known. What our own threads use during the read is missing
 * from the game's until the next, and their CPU time, about a microsecond, is counted as the
 * game's. */
static uint64_t
read_used(struct tally_linux_usage *u, uint64_t used[TALLY_LINUX_N_OF_USAGE])
{
	struct rusage usage = { 0 };
	bool all = u->wanted & ~CLOCK && !tally_is_shut_in() &&
		   getrusage(RUSAGE_SELF, &usage) == 0;
	uint64_t faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
	struct tally_own_usage ours = own_usage(u, faults != u->faults);
	u->faults = faults;
	uint64_t cpu_ns = tally_clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!cpu_ns)
		return 0;
	used[TALLY_LINUX_TASK_CLOCK] = less(cpu_ns, ours.cpu_ns);
	if (!all)
		return u->wanted & CLOCK;
	uint64_t minor = less((uint64_t)usage.ru_minflt, ours.minor_faults);
	uint64_t major = less((uint64_t)usage.ru_majflt, ours.major_faults);
	used[TALLY_LINUX_PAGE_FAULTS] = minor + major;
	used[TALLY_LINUX_MINOR_FAULTS] = minor;
	used[TALLY_LINUX_MAJOR_FAULTS] = major;
	used[TALLY_LINUX_CONTEXT_SWITCHES] = less(
		(uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw, ours.switches);
	return u->wanted;
}

/* Needs CONFIG_SCHED_INFO. */
static bool
has_schedstat(void)
{
	char text[96];
	uint64_t cpu_ns, times;
	return tally_small_file_read("/proc/thread-self/schedstat", text, sizeof(text)) &&
	       parse_schedstat(text, &cpu_ns, &times);
}

void
tally_linux_usage_open(struct tally_linux_usage *u, uint64_t wanted)
{
	*u = (struct tally_linux_usage){ .wanted = wanted & TALLY_LINUX_OF_USAGE };
	/* Our threads switch at every sample, and could not be distinguished from the
	 * game's. */
	if (wanted & SWITCHES && !has_schedstat())
		u->wanted &= ~SWITCHES;
	if (u->wanted & ~CLOCK && tally_is_shut_in())
		u->wanted &= CLOCK;
	for (unsigned i = 0; i < TALLY_MAX_OWN_THREADS; i++)
		u->own[i].stat = u->own[i].schedstat = -1;
}

void
tally_linux_usage_close(struct tally_linux_usage *u)
{
	for (unsigned i = 0; i < TALLY_MAX_OWN_THREADS; i++)
		forget_own(&u->own[i]);
}

void
tally_linux_usage_start(struct tally_linux_usage *u)
{
	if (u->wanted)
		(void)read_used(u, u->base);
}

void
tally_linux_usage_sample(struct tally_linux_usage *u, struct tally_linux_totals *totals)
{
	uint64_t used[TALLY_LINUX_N_OF_USAGE];
	uint64_t known = u->wanted ? read_used(u, used) : 0;
	totals->unknown |= u->wanted & ~known;
	for (unsigned i = 0; i < TALLY_LINUX_N_OF_USAGE; i++) {
		uint64_t total = less(used[i], u->base[i]);
		if (known & TALLY_LINUX_BIT(i) && total > totals->total[i])
			totals->total[i] = total;
	}
}
