/* query/linux/roster.h - a table that follows the threads of this process, less our own.
 *
 * Whoever measures each thread keeps an entry a thread here; a scan tells it who came and who is
 * gone. Room is fixed when it opens: a scan allocates nothing. One thread at a time.
 */
#ifndef PASSTALLY_QUERY_LINUX_ROSTER_H
#define PASSTALLY_QUERY_LINUX_ROSTER_H

#include "query/linux/files.h"

/* Threads are looked for no more often; more seldom where there are so many that a look is dear. */
#define TALLY_LINUX_SCAN_NS UINT64_C(4000000)

/* What every entry begins with. */
struct tally_linux_thread {
	pid_t tid;
	bool seen;
};

struct tally_linux_roster {
	struct tally_linux_tasks tasks;
	char *entries; /* room of them, entry_size bytes each; in order of joining */
	size_t entry_size;
	uint32_t n, room;
	/* At the last scan: threads that are in no entry; at least 1 when it could not look. */
	uint32_t n_missing;
	uint64_t scanned_ns, pause_ns; /* when the last scan was, how long it is good for */
	/* A new thread, in a zeroed entry. False: it could not be taken in; it counts as missing
	 * unless it is gone, or errno is ESRCH: the kernel lists it still, but it is ending. */
	bool (*join)(void *data, struct tally_linux_thread *entry);
	/* The thread ended: read it a last time, give everything back. */
	void (*leave)(void *data, struct tally_linux_thread *entry);
	void *data;
};

/* entry_size, join, leave and data are set. False with errno. */
bool tally_linux_roster_open(struct tally_linux_roster *r, uint32_t room);
/* Before the first scan: are there so many threads that some will be missing? */
bool tally_linux_roster_overflows(struct tally_linux_roster *r);
/* Every entry is told to leave. Accepts what failed to open or was closed. */
void tally_linux_roster_close(struct tally_linux_roster *r);
/* Follow the process, unless that was done just now. */
void tally_linux_roster_scan(struct tally_linux_roster *r, uint64_t now_ns);
struct tally_linux_thread *tally_linux_roster_at(const struct tally_linux_roster *r, uint32_t i);

#endif
