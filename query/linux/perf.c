/* SPDX-License-Identifier: MIT */
/* CPU work of the game's process. linux-perf: perf events on its threads and on those that they
 * start, and what getrusage() and the process's CPU clock report. linux-proc, where perf is
 * denied: the same without events, so that its plan is empty and it has no threads to read. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/base/sandbox.h"
#include "layer/base/small_file.h"
#include "layer/log.h"
#include "query/linux/event.h"
#include "query/linux/linux.h"
#include "query/linux/usage.h"
#include "query/source/noop.h"

#define MOST_DESCRIPTORS 1024u
#define SPARED_DESCRIPTORS 32u /* of the budget: files for our own threads */
/* Maximum number of attempts to open the events, while threads keep starting. */
#define MAX_ROUNDS 8
/* Some threads may not be covered by any event. So perf's task clock is compared with the
 * process's CPU clock, which covers all of them but lags by a tick for threads that are
 * running. These are the minimum time, and CPU time, between two comparisons. */
#define CHECK_NS UINT64_C(500000000)
#define CHECK_CPU_NS UINT64_C(100000000)
#define MAX_MISSED 5 /* as a fraction: 1 / MAX_MISSED */
/* While no thread in perf's events runs, accounts are read for others, at least this often. */
#define STILL_NS UINT64_C(50000000)
/* Most of a reading is its wake-up: 85 a second take 3.8 ms of CPU, 125 take 4.4. */
#define PERIOD_NS UINT64_C(12000000)

struct linux_cpu {
	struct tally_snapshot_source base;
	enum tally_linux_source kind;
	struct tally_linux_choice choice;
	struct tally_linux_plan plan;
	/* Threads of the game, then those of our own threads that began later. The events of
	 * the game's thread that started them count those too, so they are subtracted. */
	uint32_t n_threads, n_late;
	pid_t own[TALLY_MAX_OWN_THREADS], late[TALLY_MAX_OWN_THREADS];
	uint32_t n_own; /* our threads when events were opened: none counts them */
	int *fds; /* plan.n per thread */
	struct tally_linux_reading *last; /* the same number of entries */
	struct tally_linux_usage usage;
	struct tally_linux_totals by_perf, by_late, by_usage, totals;
	/* When the clocks were last compared, and their values then. */
	uint64_t checked_ns, checked_perf_ns, checked_clock_ns;
	bool missing; /* perf counted too little then */
	/* When the kernel's accounts were last read, and what perf had counted by then. */
	uint64_t used_ns, used_perf_ns;
};

static enum tally_status
probe_proc(struct tally_snapshot_source *src)
{
	src->reason[0] = '\0';
	if (tally_clock_read_ns(CLOCK_PROCESS_CPUTIME_ID))
		return TALLY_OK;
	return tally_unsupported(src->reason,
				 "the kernel has no clock of the process' CPU time");
}

static enum tally_status
probe_perf(struct tally_snapshot_source *src)
{
	bool user_only;
	int error = tally_linux_event_try(&user_only);
	src->reason[0] = '\0';
	if (!error)
		return TALLY_OK;
	return tally_linux_event_explain(error, tally_linux_event_paranoid(),
					 src->reason);
}

static void
close_events(struct linux_cpu *p)
{
	for (uint32_t i = 0; i < (p->n_threads + p->n_late) * p->plan.n; i++)
		close(p->fds[i]);
	free(p->fds);
	free(p->last);
	p->fds = NULL;
	p->last = NULL;
	p->n_threads = p->n_late = 0;
}

/* Lists the game's threads, at most `room` of them; returns how many there are. */
static uint32_t
list_threads(struct linux_cpu *p, DIR *tasks, pid_t *tids, uint32_t room)
{
	uint32_t n = 0;
	const struct dirent *entry;
	rewinddir(tasks);
	while ((entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0 && !tally_own_threads_has(p->own, p->n_own, tid) && n++ < room)
			tids[n - 1] = tid;
	}
	return n;
}

static int
open_threads(struct linux_cpu *p, const pid_t *tids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int error = tally_linux_plan_open(&p->plan, tids[i],
						  p->fds + p->n_threads * p->plan.n);
		if (error && error != ESRCH)
			return error;
		p->n_threads += !error;
	}
	return 0;
}

/* A thread that starts while events are opened is counted only if its parent already was, and
 * there is no way to find out. So this repeats until no thread starts meanwhile. */
static int
open_all(struct linux_cpu *p, DIR *tasks, pid_t *tids, uint32_t room)
{
	int error = 0;
	p->n_own = tally_own_threads_list(p->own);
	uint32_t n = list_threads(p, tasks, tids, room);
	for (unsigned round = 0; round < MAX_ROUNDS && !error; round++) {
		if (n == 0 || n > room)
			return ENOSPC;
		size_t n_fds = ((size_t)n + TALLY_MAX_OWN_THREADS) * p->plan.n;
		p->fds = calloc(n_fds, sizeof(*p->fds));
		p->last = calloc(n_fds, sizeof(*p->last));
		error = p->fds && p->last ? open_threads(p, tids, n) : ENOMEM;
		pid_t newest = tids[n - 1];
		n = error ? 0 : list_threads(p, tasks, tids, room);
		if (!error && n > 0 && n <= room && tids[n - 1] == newest)
			return 0;
		if (error || round + 1 < MAX_ROUNDS)
			close_events(p);
	}
	return error;
}

/* The number of descriptors that passtally may use: half of the limit, MOST_DESCRIPTORS at most. */
static uint32_t
descriptor_budget(void)
{
	struct rlimit limit;
	rlim_t half = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / 2 : 128;
	return half < MOST_DESCRIPTORS ? (uint32_t)half : MOST_DESCRIPTORS;
}

static int
open_events(struct linux_cpu *p, uint64_t asked)
{
	int error = tally_linux_plan_make(&p->plan, asked & TALLY_LINUX_OF_PERF);
	if (error)
		return error;
	uint32_t budget = descriptor_budget();
	uint32_t room = budget > SPARED_DESCRIPTORS ? (budget - SPARED_DESCRIPTORS) / p->plan.n : 0;
	pid_t *tids = calloc(room ? room : 1, sizeof(*tids));
	if (!tids)
		return ENOMEM;
	DIR *tasks = tally_small_file_list("/proc/self/task");
	error = tasks ? open_all(p, tasks, tids, room) : errno;
	if (tasks)
		closedir(tasks);
	free(tids);
	return error;
}

/* Opens fewer counters where there are not enough descriptors for the hidden ones. */
static int
open_what_fits(struct linux_cpu *p, uint64_t asked, uint64_t *hidden)
{
	int error = open_events(p, asked | *hidden);
	if ((error != ENOSPC && error != EMFILE) || !*hidden)
		return error;
	*hidden = 0;
	return open_events(p, asked);
}

static void
close_source(struct tally_snapshot_source *src)
{
	struct linux_cpu *p = (struct linux_cpu *)src;
	close_events(p);
	tally_linux_usage_close(&p->usage);
}

/* Adds to the reason what is not counted. */
static void
report_missing_events(struct linux_cpu *p, uint64_t asked)
{
	uint64_t missing = asked & TALLY_LINUX_OF_PERF & ~p->plan.counted;
	bool no_migrations = missing & TALLY_LINUX_BIT(TALLY_LINUX_MIGRATIONS);
	bool has_hardware = p->plan.counted & TALLY_LINUX_OF_HARDWARE;
	if (p->plan.user_only && (has_hardware || no_migrations))
		tally_reason_add(p->base.reason, "kernel.perf_event_paranoid is %d: %s%s%s",
				 (int)tally_linux_event_paranoid(),
				 has_hardware ? "hardware events of user mode alone" : "",
				 has_hardware && no_migrations ? ", " : "",
				 no_migrations ? "no cpu_migrations" : "");
	if (missing & TALLY_LINUX_OF_HARDWARE && !has_hardware)
		tally_reason_add(p->base.reason,
				 "no hardware events on this machine (virtual ones "
				 "often have none)");
}

static void
report_missing_usage(struct linux_cpu *p, uint64_t asked)
{
	uint64_t missing = asked & ~p->usage.wanted & TALLY_LINUX_OF_USAGE;
	if (missing & ~TALLY_LINUX_BIT(TALLY_LINUX_CONTEXT_SWITCHES))
		tally_reason_add(p->base.reason,
				 "no page faults or context switches in this sandbox");
	else if (missing)
		tally_reason_add(p->base.reason,
				 "no cpu_context_switches: the kernel keeps no "
				 "schedstat");
	if (asked & ~TALLY_LINUX_OF_USAGE)
		tally_reason_add(p->base.reason,
				 "the processor's own events and migrations only perf "
				 "can count");
}

static enum tally_status
open_source(struct tally_snapshot_source *src)
{
	struct linux_cpu *p = (struct linux_cpu *)src;
	bool by_perf = p->kind == TALLY_LINUX_PERF;
	uint64_t hidden;
	uint64_t asked = tally_linux_wanted(src, p->kind, &hidden);

	src->reason[0] = '\0';
	src->least_period_ns = PERIOD_NS;
	tally_linux_usage_open(&p->usage, 0);
	if (!(asked | hidden))
		return tally_unsupported(src->reason,
					 "--counters asks for none of its counters");
	int error = by_perf ? open_what_fits(p, asked, &hidden) : 0;
	if (error) {
		close_source(src);
		return tally_linux_event_explain(error, tally_linux_event_paranoid(),
						 src->reason);
	}
	/* The CPU clock is always needed: perf is checked against it. */
	tally_linux_usage_open(&p->usage, by_perf ? ((asked | hidden) & ~TALLY_LINUX_OF_PERF) |
							    TALLY_LINUX_BIT(TALLY_LINUX_TASK_CLOCK)
						  : asked | hidden);
	(by_perf ? report_missing_events : report_missing_usage)(p, asked);
	if (tally_linux_choose(src, p->kind, asked, hidden, p->plan.counted | p->usage.wanted,
			       &p->choice))
		return TALLY_OK;
	close_source(src);
	if (by_perf || !src->reason[0])
		tally_reason_add(src->reason,
				 "none of the counters that are asked for is there");
	return TALLY_UNSUPPORTED;
}

/* Opens events on our own threads that began since events were opened. */
static void
meet_late_threads(struct linux_cpu *p)
{
	pid_t tids[TALLY_MAX_OWN_THREADS];
	uint32_t n = tally_own_threads_list(tids);
	for (uint32_t i = 0; i < n && p->n_late < TALLY_MAX_OWN_THREADS; i++) {
		size_t at = (size_t)(p->n_threads + p->n_late) * p->plan.n;
		if (tally_own_threads_has(p->own, p->n_own, tids[i]) ||
		    tally_own_threads_has(p->late, p->n_late, tids[i]) || tally_is_filtered() ||
		    tally_linux_plan_open(&p->plan, tids[i], p->fds + at) != 0)
			continue;
		memset(p->last + at, 0, p->plan.n * sizeof(*p->last));
		p->late[p->n_late++] = tids[i];
	}
}

/* False: descriptors were closed. */
static bool
read_thread(struct linux_cpu *p, uint32_t t, struct tally_linux_totals *totals)
{
	struct tally_linux_reading now[TALLY_LINUX_MAX_EVENTS];
	struct tally_linux_reading *last = p->last + (size_t)t * p->plan.n;
	for (uint32_t i = 0; i < p->plan.n; i++) {
		if (tally_linux_event_read(p->fds[t * p->plan.n + i], &now[i]) != 0)
			return false;
		/* While a thread ends, its counts may be in transit to its parent. */
		if (now[i].value < last[i].value || now[i].enabled < last[i].enabled ||
		    now[i].running < last[i].running)
			now[i] = last[i];
	}
	tally_linux_plan_add(&p->plan, last, now, totals);
	memcpy(last, now, p->plan.n * sizeof(*last));
	return true;
}

static bool
read_events(struct linux_cpu *p)
{
	bool ok = true;
	if (p->plan.n)
		meet_late_threads(p);
	for (uint32_t t = 0; t < p->n_threads && ok; t++)
		ok = read_thread(p, t, &p->by_perf);
	for (uint32_t t = 0; t < p->n_late && ok; t++)
		ok = read_thread(p, p->n_threads + t, &p->by_late);
	p->by_perf.unknown |= p->by_late.unknown;
	return ok;
}

/* The counts of perf for the game's threads. */
static uint64_t
perf_total(const struct linux_cpu *p, unsigned which)
{
	uint64_t all = p->by_perf.total[which], ours = p->by_late.total[which];
	return all > ours ? all - ours : 0;
}

static enum tally_status
start(struct tally_snapshot_source *src)
{
	struct linux_cpu *p = (struct linux_cpu *)src;
	bool ok = read_events(p);
	p->totals = p->by_perf = p->by_late = p->by_usage = (struct tally_linux_totals){ 0 };
	tally_linux_usage_start(&p->usage);
	p->checked_perf_ns = p->checked_clock_ns = p->used_ns = 0;
	p->checked_ns = tally_clock_now_ns();
	p->missing = false;
	return ok ? TALLY_OK : TALLY_LOST;
}

/* Checks whether perf's events miss some work. */
static void
compare_clocks(struct linux_cpu *p, uint64_t now_ns)
{
	uint64_t perf_ns = perf_total(p, TALLY_LINUX_TASK_CLOCK);
	uint64_t clock_ns = p->by_usage.total[TALLY_LINUX_TASK_CLOCK];
	uint64_t clock = clock_ns - p->checked_clock_ns, perf = perf_ns - p->checked_perf_ns;
	if (!p->plan.n || now_ns - p->checked_ns < CHECK_NS || clock < CHECK_CPU_NS)
		return;
	p->checked_ns = now_ns;
	p->checked_clock_ns = clock_ns;
	p->checked_perf_ns = perf_ns;
	p->missing = perf < clock - clock / MAX_MISSED;
	if (p->missing)
		tally_log_say(TALLY_LEVEL_WARNING, "linux-perf",
			      "some threads are in no perf event: migrations and the "
			      "processor's own events are left out while they run");
}

/* Each total is the greater of the two; a delta that perf does not know is not added later
 * either. */
static void
join_totals(struct linux_cpu *p, struct tally_totals *out)
{
	const uint64_t clock = TALLY_LINUX_BIT(TALLY_LINUX_TASK_CLOCK);
	struct tally_linux_totals before = p->totals;
	p->totals.unknown = p->by_usage.unknown | (p->by_perf.unknown & ~clock);
	if (p->missing)
		p->totals.unknown |= p->plan.counted & ~clock;
	for (unsigned i = 0; i < TALLY_LINUX_N; i++) {
		if (p->by_usage.total[i] > p->totals.total[i])
			p->totals.total[i] = p->by_usage.total[i];
		if (perf_total(p, i) > p->totals.total[i])
			p->totals.total[i] = perf_total(p, i);
	}
	tally_linux_deliver(&p->choice, &before, &p->totals, out);
	for (unsigned i = 0; i < TALLY_LINUX_N; i++)
		if (p->totals.unknown & TALLY_LINUX_BIT(i))
			p->by_perf.total[i] = p->totals.total[i] + p->by_late.total[i];
}

static void
sample_usage(struct linux_cpu *p, uint64_t now_ns)
{
	uint64_t perf_ns = perf_total(p, TALLY_LINUX_TASK_CLOCK);
	if (p->plan.n && !p->missing && perf_ns == p->used_perf_ns &&
	    now_ns - p->used_ns < STILL_NS)
		return;
	p->used_ns = now_ns;
	p->used_perf_ns = perf_ns;
	p->by_usage.unknown = 0;
	tally_linux_usage_sample(&p->usage, &p->by_usage);
}

static enum tally_status
sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct linux_cpu *p = (struct linux_cpu *)src;
	p->by_perf.unknown = p->by_late.unknown = 0;
	out->begin_ns = tally_clock_now_ns();
	bool ok = read_events(p);
	sample_usage(p, out->begin_ns);
	out->end_ns = tally_clock_now_ns();
	compare_clocks(p, out->end_ns);
	join_totals(p, out);
	if (ok)
		return TALLY_OK;
	src->reason[0] = '\0';
	tally_reason_add(src->reason, "its file descriptors were closed by the program");
	return TALLY_LOST;
}

/* The events count until they are closed, the kernel's accounts always: there is nothing to
 * stop. */
#define OPS(name_, probe_) \
	{ \
		.name = name_, .probe = probe_, .open = open_source, .start = start, \
		.sample = sample, .stop = tally_snapshot_noop, .close = close_source, \
		.abandon = close_source, .destroy = tally_snapshot_free, \
	}
static const struct tally_snapshot_ops all_ops[] = {
	[TALLY_LINUX_PERF] = OPS("linux-perf", probe_perf),
	[TALLY_LINUX_PROC] = OPS("linux-proc", probe_proc),
};

static struct tally_snapshot_source *
create(enum tally_linux_source kind)
{
	struct linux_cpu *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->base.ops = &all_ops[kind];
	p->kind = kind;
	return &p->base;
}

struct tally_snapshot_source *
tally_linux_perf_create(void)
{
	return create(TALLY_LINUX_PERF);
}

struct tally_snapshot_source *
tally_linux_proc_create(void)
{
	return create(TALLY_LINUX_PROC);
}
