#include "query/linux/roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layer/own_threads.h"

#define DEAR_NS UINT64_C(2000000)
#define COST_SHARE 50u
#define MOST_PAUSE_NS UINT64_C(1000000000)

struct tally_linux_thread *
tally_linux_roster_at(const struct tally_linux_roster *r, uint32_t i)
{
	return (struct tally_linux_thread *)(void *)(r->entries + i * r->entry_size);
}

bool
tally_linux_roster_open(struct tally_linux_roster *r, uint32_t room)
{
	r->n = r->n_missing = 0;
	r->room = room;
	r->scanned_ns = r->pause_ns = 0;
	r->tasks.fd = -1;
	r->entries = calloc(room ? room : 1, r->entry_size);
	if (!r->entries) {
		errno = ENOMEM;
		return false;
	}
	if (tally_linux_tasks_open(&r->tasks))
		return true;
	int error = errno;
	free(r->entries);
	r->entries = NULL;
	errno = error;
	return false;
}

bool
tally_linux_roster_overflows(struct tally_linux_roster *r)
{
	pid_t own[TALLY_MAX_OWN_THREADS];
	uint32_t n = 0, n_own = tally_own_threads_list(own);
	if (!tally_linux_tasks_rewind(&r->tasks))
		return false;
	while (n <= r->room + n_own && tally_linux_tasks_next(&r->tasks) > 0)
		n++;
	return n > r->room + n_own;
}

void
tally_linux_roster_close(struct tally_linux_roster *r)
{
	if (!r->entries)
		return;
	for (uint32_t i = 0; i < r->n; i++)
		r->leave(r->data, tally_linux_roster_at(r, i));
	r->n = 0;
	tally_linux_tasks_close(&r->tasks);
	free(r->entries);
	r->entries = NULL;
}

/* The kernel lists threads in the order in which they were made, as we keep them: the next entry is
 * nearly always the one. */
static struct tally_linux_thread *
find(const struct tally_linux_roster *r, uint32_t *cursor, pid_t tid)
{
	for (uint32_t k = 0; k < r->n; k++) {
		uint32_t i = (*cursor + k) % r->n;
		struct tally_linux_thread *entry = tally_linux_roster_at(r, i);
		if (entry->tid == tid) {
			*cursor = i + 1;
			return entry;
		}
	}
	return NULL;
}

static bool
is_alive(pid_t tid)
{
	uint64_t ns;
	return tally_linux_thread_cpu_ns(tid, &ns);
}

static void
take_in(struct tally_linux_roster *r, pid_t tid)
{
	if (r->n < r->room) {
		struct tally_linux_thread *entry = tally_linux_roster_at(r, r->n);
		memset(entry, 0, r->entry_size);
		entry->tid = tid;
		entry->seen = true;
		errno = 0;
		if (r->join(r->data, entry)) {
			r->n++;
			return;
		}
		if (errno == ESRCH)
			return;
	}
	r->n_missing += is_alive(tid);
}

/* The kernel's list may skip a thread when others end while it is read: those not seen go only when
 * they are gone, or ours. (A number that a new thread takes over within one scan's time would go
 * unnoticed; the kernel hands numbers out in a circle of 32768 at least.) */
static void
drop_unseen(struct tally_linux_roster *r, const pid_t *own, uint32_t n_own)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		struct tally_linux_thread *entry = tally_linux_roster_at(r, i);
		bool ours = false;
		for (uint32_t k = 0; k < n_own; k++)
			ours |= own[k] == entry->tid;
		if (!entry->seen && (ours || !is_alive(entry->tid))) {
			r->leave(r->data, entry);
			continue;
		}
		if (kept != i)
			memcpy(tally_linux_roster_at(r, kept), entry, r->entry_size);
		kept++;
	}
	r->n = kept;
}

/* Thousands of threads: a scan may take one part in so many of the time, but not be put off for
 * longer than a second. What takes less is the sampler's to see. */
static uint64_t
pause_after(uint64_t cost_ns)
{
	if (cost_ns <= DEAR_NS)
		return TALLY_LINUX_SCAN_NS;
	return cost_ns < MOST_PAUSE_NS / COST_SHARE ? cost_ns * COST_SHARE : MOST_PAUSE_NS;
}

static uint64_t
own_cpu_ns(void)
{
	struct timespec t = { 0 };
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

void
tally_linux_roster_scan(struct tally_linux_roster *r, uint64_t now_ns)
{
	if (r->scanned_ns && now_ns - r->scanned_ns < r->pause_ns)
		return;
	/* Not the time that passed: the machine may be busy. */
	uint64_t begin_ns = own_cpu_ns();
	if (!tally_linux_tasks_rewind(&r->tasks)) {
		/* The program closed our descriptor: who came since is in no entry. */
		r->n_missing = r->n_missing ? r->n_missing : 1;
		return;
	}
	r->scanned_ns = now_ns;
	pid_t own[TALLY_MAX_OWN_THREADS];
	uint32_t n_own = tally_own_threads_list(own);
	for (uint32_t i = 0; i < r->n; i++)
		tally_linux_roster_at(r, i)->seen = false;
	r->n_missing = 0;
	uint32_t cursor = 0;
	pid_t tid;
	while ((tid = tally_linux_tasks_next(&r->tasks)) > 0) {
		bool ours = false;
		for (uint32_t k = 0; k < n_own; k++)
			ours |= own[k] == tid;
		if (ours)
			continue;
		struct tally_linux_thread *entry = find(r, &cursor, tid);
		if (entry)
			entry->seen = true;
		else
			take_in(r, tid);
	}
	drop_unseen(r, own, n_own);
	r->pause_ns = pause_after(own_cpu_ns() - begin_ns);
}
