#include "query/linux/perf_threads.h"

#include <errno.h>
#include <string.h>

struct measured {
	struct tally_linux_thread base;
	int fds[TALLY_LINUX_MAX_EVENTS];
	struct tally_linux_reading last;
};

static struct measured *
measured_of(struct tally_linux_thread *entry)
{
	return (struct measured *)(void *)entry;
}

/* Adds what it grew by since it was read last. */
static void
read_thread(struct tally_linux_perf_threads *t, struct measured *m)
{
	struct tally_linux_reading now;
	int error = tally_linux_plan_read(&t->plan, m->fds, &now);
	if (error) {
		t->error = error;
		t->broken = true;
		return;
	}
	if (t->counting)
		tally_linux_plan_add(&t->plan, &m->last, &now, t->totals);
	m->last = now;
}

static bool
join(void *data, struct tally_linux_thread *entry)
{
	struct tally_linux_perf_threads *t = data;
	struct measured *m = measured_of(entry);
	int error = tally_linux_plan_open(&t->plan, entry->tid, m->fds);
	if (error) {
		if (error != ESRCH)
			t->error = error;
		errno = error;
		return false;
	}
	/* It began after the look before this one. */
	uint64_t cpu_ns;
	if (t->counting && tally_linux_thread_cpu_ns(entry->tid, &cpu_ns)) {
		uint64_t before = t->totals->total[TALLY_LINUX_TASK_CLOCK];
		read_thread(t, m);
		uint64_t counted = t->totals->total[TALLY_LINUX_TASK_CLOCK] - before;
		if (cpu_ns > counted)
			t->totals->total[TALLY_LINUX_TASK_CLOCK] = before + cpu_ns;
	}
	return true;
}

static void
leave(void *data, struct tally_linux_thread *entry)
{
	struct tally_linux_perf_threads *t = data;
	struct measured *m = measured_of(entry);
	if (t->counting && !t->broken)
		read_thread(t, m);
	tally_linux_plan_close(&t->plan, m->fds);
}

int
tally_linux_perf_threads_open(struct tally_linux_perf_threads *t, uint64_t asked,
			      uint32_t descriptors)
{
	struct tally_linux_totals none;
	memset(t, 0, sizeof(*t));
	int error = tally_linux_plan_make(&t->plan, asked);
	if (error)
		return error;
	t->roster.entry_size = sizeof(struct measured);
	t->roster.join = join;
	t->roster.leave = leave;
	t->roster.data = t;
	t->totals = &none;
	if (!tally_linux_roster_open(&t->roster, descriptors / t->plan.n_events))
		return errno;
	/* Opening hundreds of events in vain takes a tenth of a second, in the game's thread. */
	if (tally_linux_roster_overflows(&t->roster)) {
		tally_linux_perf_threads_close(t);
		return ENOSPC;
	}
	tally_linux_roster_scan(&t->roster, 1);
	if (t->roster.n && !t->roster.n_missing)
		return 0;
	error = t->error ? t->error : ENOSPC;
	tally_linux_perf_threads_close(t);
	return error;
}

void
tally_linux_perf_threads_close(struct tally_linux_perf_threads *t)
{
	t->counting = false;
	tally_linux_roster_close(&t->roster);
}

static void
read_all(struct tally_linux_perf_threads *t, uint64_t now_ns, struct tally_linux_totals *totals)
{
	t->totals = totals;
	tally_linux_roster_scan(&t->roster, now_ns);
	for (uint32_t i = 0; i < t->roster.n && !t->broken; i++)
		read_thread(t, measured_of(tally_linux_roster_at(&t->roster, i)));
}

void
tally_linux_perf_threads_start(struct tally_linux_perf_threads *t, uint64_t now_ns,
			       struct tally_linux_totals *totals)
{
	t->roster.scanned_ns = 0;
	read_all(t, now_ns, totals);
	for (unsigned i = 0; i < TALLY_LINUX_N_OF_PROCESS; i++)
		if (t->plan.counted & TALLY_LINUX_BIT(i))
			totals->total[i] = 0;
	t->counting = true;
}

bool
tally_linux_perf_threads_sample(struct tally_linux_perf_threads *t, uint64_t now_ns,
				struct tally_linux_totals *totals)
{
	read_all(t, now_ns, totals);
	/* Some threads are not measured: what the others did is not what the process did. */
	if (t->roster.n_missing)
		totals->unknown |= t->plan.counted;
	return !t->broken;
}
