#include "query/linux_roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layer/own_threads.h"

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
	r->scanned_ns = 0;
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
		if (r->join(r->data, entry)) {
			r->n++;
			return;
		}
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

void
tally_linux_roster_scan(struct tally_linux_roster *r, uint64_t now_ns)
{
	if (r->scanned_ns && now_ns - r->scanned_ns < TALLY_LINUX_SCAN_NS)
		return;
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
}
