/* SPDX-License-Identifier: MIT */
#include "layer/event/process_load.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/base/own_threads.h"
#include "layer/base/sandbox.h"
#include "layer/base/small_file.h"

/* In a process with more threads none is listed: reading them would cost too much, and the busiest
 * might be among those that were not read. */
#define MAX_THREADS 256
#define LEAST_SHARE 20 /* a thread is listed that worked a twentieth of the period */
/* Of so many that worked most it is asked how long they had no CPU: each takes a file. */
#define MAX_BUSIEST 12

struct thread {
	pid_t tid;
	bool has_ready;
	uint64_t cpu_ns, ready_ns;
	const struct thread *then; /* as it was last read; NULL: not known */
	uint64_t rank; /* by its work since; 0: what it had no CPU is known, as it did not run */
};

struct list {
	struct thread threads[MAX_THREADS];
	uint32_t n, n_own; /* n_own: our own, as they were known then */
	uint64_t n_all; /* with our own */
	bool whole;
};

struct tally_process_load {
	struct list lists[2]; /* of the last reading, and of this one */
	unsigned last;
	uint64_t read_ns; /* 0: never */
	uint64_t disk_bytes;
	struct tally_thread_record threads[TALLY_LOAD_THREADS];
	char names[TALLY_LOAD_THREADS][16];
};

struct tally_process_load *
tally_process_load_create(uint64_t start_ns)
{
	struct tally_process_load *load = calloc(1, sizeof(*load));
	if (!load)
		return NULL;
	load->read_ns = start_ns;
	load->lists[load->last].whole = start_ns > 0; /* there was no thread */
	return load;
}

void
tally_process_load_destroy(struct tally_process_load *load)
{
	free(load);
}

/* Of schedstat: the time on a CPU, and the time ready to run without one. */
static void
read_schedstat(struct thread *t)
{
	char text[96];
	t->has_ready = tally_small_file_of_thread(t->tid, "schedstat", text, sizeof(text)) &&
		       sscanf(text, "%" SCNu64 " %" SCNu64, &t->cpu_ns, &t->ready_ns) == 2;
}

/* One that was not there before began within the period. */
static const struct thread *
find_thread(const struct list *before, pid_t tid)
{
	static const struct thread none = { .has_ready = true };
	for (uint32_t i = 0; i < before->n; i++)
		if (before->threads[i].tid == tid)
			return &before->threads[i];
	return before->whole ? &none : NULL;
}

/* False: it has ended, or never ran. Otherwise a thread that did not run has not been ready for
 * longer: the kernel adds that when it runs. */
static bool
read_thread(struct thread *t, const struct thread *then, bool filtered)
{
	t->then = then;
	if (filtered)
		read_schedstat(t);
	else
		t->cpu_ns = tally_clock_of_thread(t->tid);
	uint64_t before_ns = then ? then->cpu_ns : 0;
	if (then && then->has_ready && before_ns == t->cpu_ns) {
		t->has_ready = true;
		t->ready_ns = then->ready_ns;
	}
	t->rank = t->cpu_ns - before_ns + !t->has_ready;
	return t->cpu_ns != 0;
}

/* The threads that worked most, the busiest first, that of the frames among them. Where there is
 * room, others are read so that it is known next time how long they had no CPU. */
static uint32_t
find_busiest(struct list *list, pid_t frames, struct thread *busiest[MAX_BUSIEST])
{
	uint32_t n = 0;
	struct thread *last = NULL; /* the frames' thread */
	for (uint32_t i = 0; i < list->n; i++) {
		struct thread *t = &list->threads[i];
		uint32_t at = n;
		while (at > 0 && busiest[at - 1]->rank < t->rank)
			at--;
		n += n < MAX_BUSIEST;
		if (at < n) {
			memmove(busiest + at + 1, busiest + at, (n - 1 - at) * sizeof(*busiest));
			busiest[at] = t;
		}
		last = t->tid == frames ? t : last;
	}
	uint32_t at = 0;
	while (at < n && busiest[at] != last)
		at++;
	if (last && at == n)
		busiest[n - 1] = last;
	return n;
}

/* NULL at the end. The program may have closed the folder, with all other descriptors. */
static struct dirent *
next_entry(DIR *folder, struct list *list)
{
	errno = 0;
	struct dirent *entry = readdir(folder);
	list->whole &= entry || !errno;
	return entry;
}

/* The number in a line of /proc/thread-self/status; 0: there is none. */
static uint64_t
status_number(const char *status, const char *key)
{
	const char *line = strstr(status, key);
	return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

static void
list_threads(struct list *list, const struct list *before, const pid_t *own, uint32_t n_own,
	     bool filtered)
{
	DIR *folder = tally_small_file_list("/proc/self/task");
	struct dirent *entry;
	list->n = 0;
	list->n_own = n_own;
	list->n_all = 0;
	list->whole = folder != NULL;
	while (list->whole && (entry = next_entry(folder, list))) {
		struct thread thread = { .tid = (pid_t)strtol(entry->d_name, NULL, 10) };
		bool ours = tally_own_threads_has(own, n_own, thread.tid);
		bool theirs = thread.tid > 0 && !ours &&
			      read_thread(&thread, find_thread(before, thread.tid), filtered);
		list->n_all += ours || theirs;
		list->whole &= list->n < MAX_THREADS || !theirs;
		if (theirs && list->n < MAX_THREADS)
			list->threads[list->n++] = thread;
	}
	if (folder)
		closedir(folder);
}

/* While there are as many threads as were listed, ours and others, and all of these, they are the
 * same. False: they are to be listed. */
static bool
read_same(struct list *list, const struct list *before, const pid_t *own, uint32_t n_own,
	  bool filtered)
{
	bool same = true;
	list->n_own = n_own;
	list->n_all = before->n_all;
	list->whole = true;
	for (list->n = 0; same && list->n < before->n; list->n++) {
		struct thread *t = &list->threads[list->n];
		const struct thread *then = &before->threads[list->n];
		*t = (struct thread){ .tid = then->tid };
		same = !tally_own_threads_has(own, n_own, t->tid) && read_thread(t, then, filtered);
	}
	return same;
}

static void
read_threads(struct list *list, const struct list *before, const char *status, bool filtered)
{
	pid_t own[TALLY_MAX_OWN_THREADS];
	uint32_t n_own = tally_own_threads_list(own);
	if (!before->whole || n_own != before->n_own ||
	    status_number(status, "\nThreads:") != before->n_all ||
	    !read_same(list, before, own, n_own, filtered))
		list_threads(list, before, own, n_own, filtered);
}

/* What the thread did since it was read as `then`. */
static struct tally_thread_record
since(const struct thread *t, const struct thread *then)
{
	struct tally_thread_record did = { 0 };
	if (t->cpu_ns >= then->cpu_ns)
		did.cpu_ns = t->cpu_ns - then->cpu_ns;
	did.has_ready = t->has_ready && then->has_ready && t->ready_ns >= then->ready_ns;
	if (did.has_ready)
		did.ready_ns = t->ready_ns - then->ready_ns;
	return did;
}

static void
list_thread(struct tally_process_load *load, struct tally_process_record *out, pid_t tid,
	    struct tally_thread_record did)
{
	if (out->n_threads == TALLY_LOAD_THREADS)
		return;
	char *name = load->names[out->n_threads];
	if (!tally_small_file_of_thread(tid, "comm", name, sizeof(load->names[0])))
		return;
	did.name = name;
	load->threads[out->n_threads++] = did;
}

static void
take_thread(struct tally_process_load *load, struct thread *t, bool filtered, pid_t frames,
	    struct tally_process_record *out)
{
	uint64_t cpu_ns = t->cpu_ns;
	if (t->rank && !filtered)
		read_schedstat(t);
	t->cpu_ns = cpu_ns;
	if (!t->then)
		return;
	struct tally_thread_record did = since(t, t->then);
	uint64_t ready_ns = did.ready_ns;
	did.main = t->tid == getpid() && t->tid != frames;
	if (t->tid == frames) {
		out->has_ready = did.has_ready;
		out->ready_ns = ready_ns;
		did.ends_frames = true;
		did.has_ready = false; /* the line has it */
	}
	if (load->lists[0].whole && load->lists[1].whole &&
	    did.cpu_ns + ready_ns >= out->period_ns / LEAST_SHARE)
		list_thread(load, out, t->tid, did);
}

/* Since the last reading. */
static uint64_t
disk_bytes(struct tally_process_load *load, bool filtered)
{
	struct rusage usage;
	uint64_t before = load->disk_bytes;
	if (!filtered && getrusage(RUSAGE_SELF, &usage) == 0)
		load->disk_bytes = (uint64_t)usage.ru_inblock * 512;
	return load->disk_bytes - before;
}

bool
tally_process_load_read(struct tally_process_load *load, uint64_t now_ns, uint64_t frames,
			struct tally_process_record *out)
{
	const struct list *before = &load->lists[load->last];
	struct list *now = &load->lists[!load->last];
	bool first = load->read_ns == 0;
	char status[TALLY_STATUS_SIZE];
	*out = (struct tally_process_record){
		.time_ns = now_ns,
		.period_ns = now_ns - load->read_ns,
		.threads = load->threads,
	};
	bool filtered = tally_status_is_filtered(status, sizeof(status));
	read_threads(now, before, status, filtered);
	out->resident_bytes = status_number(status, "\nVmRSS:") << 10;
	out->disk_bytes = disk_bytes(load, filtered);
	struct thread *busiest[MAX_BUSIEST];
	uint32_t n = find_busiest(now, (pid_t)frames, busiest);
	for (uint32_t i = 0; i < n; i++)
		take_thread(load, busiest[i], filtered, (pid_t)frames, out);
	load->read_ns = now_ns;
	load->last = !load->last;
	return !first;
}
