/* SPDX-License-Identifier: MIT */
#include "layer/event/process_load.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/base/own_threads.h"
#include "layer/base/sandbox.h"
#include "layer/base/small_file.h"

/* In a process with more threads none is listed: reading them would cost too much, and the busiest
 * might be among those that were not read. */
#define MAX_THREADS 256
#define LEAST_SHARE 20 /* a thread is listed that worked a twentieth of the period */

struct thread {
	pid_t tid;
	uint64_t cpu_ns;
};

struct list {
	struct thread threads[MAX_THREADS];
	uint32_t n;
	bool whole;
};

struct tally_process_load {
	struct list lists[2]; /* of the last reading, and of this one */
	unsigned last;
	uint64_t read_ns; /* 0: never */
	pid_t ready_tid;
	uint64_t ready_ns; /* of ready_tid */
	struct tally_thread_record threads[TALLY_LOAD_THREADS];
	char names[TALLY_LOAD_THREADS][16];
};

struct tally_process_load *
tally_process_load_create(void)
{
	return calloc(1, sizeof(struct tally_process_load));
}

void
tally_process_load_destroy(struct tally_process_load *load)
{
	free(load);
}

/* Of schedstat: the time on a CPU, and the time ready to run without one. */
static bool
read_schedstat(pid_t tid, uint64_t *cpu_ns, uint64_t *ready_ns)
{
	char path[64], text[96];
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)tid);
	return tally_small_file_read(path, text, sizeof(text)) &&
	       sscanf(text, "%" SCNu64 " %" SCNu64, cpu_ns, ready_ns) == 2;
}

/* 0: it has ended. */
static uint64_t
cpu_ns_of(pid_t tid, bool filtered)
{
	uint64_t cpu_ns = 0, ready_ns;
	if (!filtered)
		return tally_clock_of_thread(tid);
	return read_schedstat(tid, &cpu_ns, &ready_ns) ? cpu_ns : 0;
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

static void
read_threads(struct list *list)
{
	pid_t own[TALLY_MAX_OWN_THREADS];
	uint32_t n_own = tally_own_threads_list(own);
	DIR *folder = tally_small_file_list("/proc/self/task");
	struct dirent *entry;
	const bool filtered = tally_is_filtered();
	list->n = 0;
	list->whole = folder != NULL;
	while (folder && (entry = next_entry(folder, list))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		bool theirs = tid > 0 && !tally_own_threads_has(own, n_own, tid);
		uint64_t cpu_ns = theirs ? cpu_ns_of(tid, filtered) : 0;
		list->whole &= list->n < MAX_THREADS || !cpu_ns;
		if (cpu_ns && list->n < MAX_THREADS)
			list->threads[list->n++] = (struct thread){ tid, cpu_ns };
	}
	if (folder)
		closedir(folder);
}

/* A thread that was not there before began within the period. */
static uint64_t
cpu_ns_before(const struct list *list, pid_t tid)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->threads[i].tid == tid)
			return list->threads[i].cpu_ns;
	return 0;
}

/* Puts the thread into the list of the busiest. */
static void
offer(struct tally_process_load *load, struct tally_process_record *out, pid_t tid, uint64_t ns,
      bool ends_frames)
{
	uint32_t at = out->n_threads;
	char path[64], name[32];
	while (at > 0 && load->threads[at - 1].cpu_ns < ns)
		at--;
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
	if (at == TALLY_LOAD_THREADS || !tally_small_file_read(path, name, sizeof(name)))
		return;
	if (out->n_threads < TALLY_LOAD_THREADS)
		out->n_threads++;
	for (uint32_t i = out->n_threads - 1; i > at; i--) {
		load->threads[i] = load->threads[i - 1];
		memcpy(load->names[i], load->names[i - 1], sizeof(load->names[i]));
	}
	snprintf(load->names[at], sizeof(load->names[at]), "%.*s", (int)strcspn(name, "\n"), name);
	load->threads[at] = (struct tally_thread_record){ .cpu_ns = ns,
							  .ends_frames = ends_frames };
}

static void
take_ready(struct tally_process_load *load, pid_t tid, struct tally_process_record *out)
{
	uint64_t ns, cpu_ns;
	bool known = tid && read_schedstat(tid, &cpu_ns, &ns);
	if (known && load->ready_tid == tid && ns >= load->ready_ns) {
		out->has_ready = true;
		out->ready_ns = ns - load->ready_ns;
	}
	load->ready_tid = known ? tid : 0;
	load->ready_ns = known ? ns : 0;
}

static uint64_t
resident_bytes(void)
{
	char text[96];
	uint64_t pages;
	return tally_small_file_read("/proc/self/statm", text, sizeof(text)) &&
			       sscanf(text, "%*u %" SCNu64, &pages) == 1
		       ? pages * (uint64_t)sysconf(_SC_PAGESIZE)
		       : 0;
}

bool
tally_process_load_read(struct tally_process_load *load, uint64_t now_ns, uint64_t frames,
			struct tally_process_record *out)
{
	const struct list *before = &load->lists[load->last];
	struct list *now = &load->lists[!load->last];
	bool first = load->read_ns == 0;
	*out = (struct tally_process_record){
		.time_ns = now_ns,
		.period_ns = now_ns - load->read_ns,
		.threads = load->threads,
	};
	read_threads(now);
	take_ready(load, (pid_t)frames, out);
	out->resident_bytes = resident_bytes();
	for (uint32_t i = 0; before->whole && now->whole && i < now->n; i++) {
		const struct thread *t = &now->threads[i];
		uint64_t ns = t->cpu_ns - cpu_ns_before(before, t->tid);
		if (t->cpu_ns >= ns && ns >= out->period_ns / LEAST_SHARE)
			offer(load, out, t->tid, ns, t->tid == (pid_t)frames);
	}
	for (uint32_t i = 0; i < out->n_threads; i++)
		load->threads[i].name = load->names[i];
	load->read_ns = now_ns;
	load->last = !load->last;
	return !first;
}
