/* SPDX-License-Identifier: MIT */
#include "layer/event/late.h"

#include "layer/base/clock.h"
#include "layer/base/sandbox.h"
#include "layer/base/small_file.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)
#define MAX_THREADS 4 /* that end frames */
#define LEAST_ENDED 16 /* frames, before it is known what is usual */
#define MAX_SLEEPS 64 /* of all threads, the newest */
#define MAX_LISTED 8 /* of a frame */
/* Apart between two looks at threads that are not late, and end many frames, and at one that is:
 * that grows with the time that it has been late, and ends. */
#define LOOK_NS (8 * NS_PER_MS)
#define LATE_LOOK_NS (2 * NS_PER_MS)
#define LATE_LOOKS 16
#define MISSED_NS (100 * NS_PER_MS) /* so late a look says nothing of before: all was stopped */
#define LONGEST_NS (30000 * NS_PER_MS) /* as long as there are process lines */
#define LATE_NS (4 * NS_PER_MS) /* after a usual frame */
/* After so many in succession that took longer than half of them do, by so much and an eighth, so
 * many are looked at from their beginning: they may be so from now on, and are usual then. */
#define SLOWER 3
#define SLOWER_NS (2 * NS_PER_MS)
#define LOOKED_AT 12

/* A thread that ends frames. It alone stores, but for the thread that takes its place after it has
 * ended none for a second. */
static struct watched {
	_Atomic uint64_t tid; /* 0: free */
	_Atomic uint64_t ended_ns, usual_ns, n_ended; /* ended_ns 0: the next is not watched */
	_Atomic uint64_t half_ns, n_slower, look_until; /* n_slower: in succession */
	_Atomic uint64_t waiting; /* tid: in a call in which drivers wait */
	struct sleep *last; /* the collector's: in which the last look found it */
} threads[MAX_THREADS];

/* What a thread is in: a system call, or none. */
enum { IN_FAULT = -1, IN_NONE = -2, NOT_KNOWN = -3, REFUSED = -4 };

struct place {
	long call;
	uint64_t argument; /* its first: which lock, which file */
	uint32_t other; /* the thread for which it waits; 0: not known */
	uint64_t asked_ns; /* how long it is to sleep; 0: not known */
};

/* From the first of consecutive looks that found it there to where the next one is due, or found it
 * elsewhere; the frame may end before. */
static struct sleep {
	uint64_t tid, frame_ns, late_ns, begin_ns, end_ns;
	struct place at;
	const char *of;
	uint32_t n;
	char thread[16];
	/* What the other thread was in, found so much more often than all else: the one for which
	 * it waits, or, in a lock of which none is known, the main thread. */
	long other_call;
	const char *other_of;
	uint32_t n_other;
} sleeps[MAX_SLEEPS]; /* a ring */
static uint64_t n_sleeps;
static bool is_refused; /* a security module forbids it, and may log each attempt */

static struct tally_asleep_record found[MAX_LISTED];
static char found_names[MAX_LISTED][32], found_other_names[MAX_LISTED][32];

/* What the arguments of a system call say. */
enum says {
	SAYS_NOTHING = 0,
	SAYS_FILE, /* the first: a descriptor */
	SAYS_WATCHED, /* the first: descriptors, or how many; 0: it is a sleep */
	SAYS_LOCK, /* futex(): its word, the operation and a value */
	SAYS_LENGTH, /* the first: of the sleep */
	SAYS_LENGTH_OR_TIME, /* the third, by flags in the second */
};

/* The system calls in which programs sleep. */
static const struct call {
	long number;
	enum says says;
	char name[16]; /* no pointer, which the loader would have to set */
} calls[] = {
#define CALL(name) { SYS_##name, SAYS_NOTHING, #name }
#define OF_FILE(name) { SYS_##name, SAYS_FILE, #name }
#define WATCHING(name) { SYS_##name, SAYS_WATCHED, #name }
	{ SYS_clock_nanosleep, SAYS_LENGTH_OR_TIME, "clock_nanosleep" },
	{ SYS_nanosleep, SAYS_LENGTH, "nanosleep" },
#ifdef SYS_futex
	{ SYS_futex, SAYS_LOCK, "futex" },
#endif
#ifdef SYS_poll
	WATCHING(poll),
	CALL(epoll_wait),
	CALL(open),
	CALL(unlink),
	CALL(rename),
	CALL(vfork),
#endif
#ifdef SYS_select
	WATCHING(select),
#endif
	WATCHING(ppoll),
	WATCHING(pselect6),
	CALL(epoll_pwait),
	OF_FILE(read),
	OF_FILE(readv),
	OF_FILE(pread64),
	OF_FILE(write),
	OF_FILE(writev),
	OF_FILE(pwrite64),
	OF_FILE(recvmsg),
	OF_FILE(recvfrom),
	OF_FILE(sendmsg),
	OF_FILE(sendto),
	OF_FILE(fsync),
	OF_FILE(fdatasync),
	OF_FILE(ftruncate),
	OF_FILE(fallocate),
	OF_FILE(sendfile),
	OF_FILE(flock),
	OF_FILE(fcntl),
	CALL(close), /* its descriptor is free then */
	OF_FILE(connect),
	OF_FILE(accept4),
	OF_FILE(ioctl),
	CALL(openat),
	CALL(statx),
	CALL(getdents64),
	CALL(msync),
	CALL(sync),
	CALL(wait4),
	CALL(waitid),
	CALL(clone), /* until the child runs another program */
#ifdef SYS_clone3
	CALL(clone3),
#endif
	CALL(unlinkat),
	CALL(renameat2),
#ifdef SYS_mmap
	CALL(mmap),
#endif
	CALL(munmap),
	CALL(mprotect),
	CALL(madvise),
	CALL(io_uring_enter),
	{ 449, SAYS_NOTHING, "futex_waitv" }, /* Wine; newer than some headers */
#ifdef SYS_futex_time64 /* 32-bit: what its C library calls since it has a long time */
#define TIME64(name, says) { SYS_##name##_time64, says, #name }
	TIME64(futex, SAYS_LOCK),
	TIME64(clock_nanosleep, SAYS_LENGTH_OR_TIME),
	TIME64(ppoll, SAYS_WATCHED),
	TIME64(pselect6, SAYS_WATCHED),
#endif
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct call *
find_call(long number)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

static enum says
says_of(long number)
{
	const struct call *call = find_call(number);
	return call ? call->says : SAYS_NOTHING;
}

/* ---- the threads that end frames ---- */

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A thread that has no place takes a free one, else that of one that has ended no frame for a
 * second. */
static void
take_place(uint64_t tid, uint64_t now_ns)
{
	for (unsigned i = 0; i < 2 * MAX_THREADS; i++) {
		struct watched *w = &threads[i % MAX_THREADS];
		uint64_t there = atomic_load(&w->tid), ended_ns = atomic_load(&w->ended_ns);
		bool is_left = i >= MAX_THREADS && now_ns > ended_ns + 1000 * NS_PER_MS;
		if ((there && !is_left) || !atomic_compare_exchange_strong(&w->tid, &there, tid))
			continue;
		atomic_store(&w->usual_ns, 0);
		atomic_store(&w->n_ended, 0);
		atomic_store(&w->half_ns, 0);
		atomic_store(&w->n_slower, 0);
		atomic_store(&w->look_until, 0);
		atomic_store(&w->ended_ns, now_ns);
		return;
	}
}

/* What most of its frames take at most: a frame may have two ends, of two devices. One of twice
 * that is late, and hardly changes it. */
static uint64_t
usual_after(uint64_t usual_ns, uint64_t ns)
{
	if (!usual_ns)
		return ns;
	if (ns >= 2 * usual_ns)
		return usual_ns + usual_ns / 8;
	return ns > usual_ns ? usual_ns + (ns - usual_ns) / 4 : usual_ns - (usual_ns - ns) / 32;
}

/* What half of its frames take at most: the first ones may have been far longer. */
static uint64_t
half_after(uint64_t half_ns, uint64_t ns)
{
	if (!half_ns)
		return ns;
	return ns > half_ns ? half_ns + half_ns / 64
			    : half_ns - half_ns / (2 * ns < half_ns ? 8 : 64);
}

/* Its frame number `n` took so long. */
static void
count_slower(struct watched *w, uint64_t ns, uint64_t n)
{
	uint64_t half_ns = atomic_load_explicit(&w->half_ns, memory_order_relaxed);
	uint64_t so_far = atomic_load_explicit(&w->n_slower, memory_order_relaxed);
	bool is_slower = half_ns && ns > half_ns + larger(SLOWER_NS, half_ns / 8);
	if (is_slower && so_far + 1 == SLOWER)
		atomic_store_explicit(&w->look_until, n + LOOKED_AT, memory_order_relaxed);
	atomic_store_explicit(&w->n_slower, is_slower ? so_far + 1 : 0, memory_order_relaxed);
	atomic_store_explicit(&w->half_ns, half_after(half_ns, ns), memory_order_relaxed);
}

__attribute__((hot)) void
tally_late_frame_ended(uint64_t tid, uint64_t now_ns, bool watch_next)
{
	if (!tid)
		return;
	for (unsigned i = 0; i < MAX_THREADS; i++) {
		struct watched *w = &threads[i];
		if (atomic_load_explicit(&w->tid, memory_order_relaxed) != tid)
			continue;
		uint64_t began_ns = atomic_load_explicit(&w->ended_ns, memory_order_relaxed);
		uint64_t usual_ns = atomic_load_explicit(&w->usual_ns, memory_order_relaxed);
		uint64_t n = atomic_load_explicit(&w->n_ended, memory_order_relaxed) + 1;
		if (began_ns) {
			usual_ns = usual_after(usual_ns, now_ns - began_ns);
			count_slower(w, now_ns - began_ns, n);
		}
		atomic_store_explicit(&w->usual_ns, usual_ns, memory_order_relaxed);
		atomic_store_explicit(&w->n_ended, n, memory_order_relaxed);
		atomic_store_explicit(&w->ended_ns, watch_next ? now_ns : 0, memory_order_release);
		tally_clock_show_waiting(&w->waiting);
		return;
	}
	take_place(tid, now_ns);
}

/* ---- looking ---- */

/* Outside a system call it is a fault, or stopped by a debugger. */
static bool
waits_for_page(uint64_t tid)
{
	char text[256];
	tally_small_file_of_thread((pid_t)tid, "stat", text, sizeof(text));
	const char *name_end = strrchr(text, ')');
	return name_end && strncmp(name_end, ") D", 3) == 0;
}

static const char *
kind_of_file(uint64_t fd)
{
	static const struct {
		char begin[10], kind[7];
	} kinds[] = {
		{ "/dev/shm/", "file" }, { "/dev/", "device" },   { "/", "file" },
		{ "pipe:", "pipe" },     { "socket:", "socket" },
	};
	char path[64], target[16] = "";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)fd);
	/* Of a file of a server that hangs fstat() would hang. */
	if (readlink(path, target, sizeof(target) - 1) > 0)
		for (size_t i = 0; i < COUNT(kinds); i++)
			if (strncmp(target, kinds[i].begin, strlen(kinds[i].begin)) == 0)
				return kinds[i].kind;
	return NULL;
}

/* Reads memory of the program that may be gone. */
static bool
read_memory(uint64_t address, void *to, size_t size)
{
	struct iovec own = { to, size }, from = { (void *)(uintptr_t)address, size };
	return !tally_is_filtered() &&
	       syscall(SYS_process_vm_readv, (long)getpid(), &own, 1L, &from, 1L, 0L) == (long)size;
}

/* The owner of a locked mutex of glibc with waiters; 0: it is none, or not known. Others too have
 * locks that say 2, and any number after it. */
static uint32_t
read_owner(uint64_t mutex)
{
	enum { LOCK, DEPTH, OWNER, N_WORDS = 5 };
	const unsigned kind = sizeof(long) == 8 ? 4 : 3, users = sizeof(long) == 8 ? 3 : 4;
	uint32_t words[N_WORDS] = { 0 };
	bool is_mutex = read_memory(mutex, words, sizeof(words)) && words[LOCK] == 2 &&
			words[users] && words[kind] < 1024 && !(words[kind] & 0x7c);
	return is_mutex ? words[OWNER] : 0;
}

/* How long a call is to sleep; 0: not known, or to a time. */
static uint64_t
read_asked(enum says says, const uint64_t arguments[3])
{
	bool first = says == SAYS_LENGTH;
	bool third = says == SAYS_LENGTH_OR_TIME && arguments[1] != TIMER_ABSTIME;
	struct {
		uint64_t seconds, ns;
	} time;
	if (sizeof(long) != 8 || (!first && !third) ||
	    !read_memory(arguments[first ? 0 : 2], &time, sizeof(time)) || time.seconds > 3600)
		return 0;
	return time.seconds * 1000 * NS_PER_MS + time.ns;
}

/* The thread for which it waits in futex(): that holds a lock, or is to end. */
static uint32_t
awaited(uint64_t word, uint64_t operation, uint64_t value)
{
	/* pthread_join() waits for the number to go. */
	if (operation == (FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME))
		return (uint32_t)value;
	return (operation | FUTEX_PRIVATE_FLAG) == FUTEX_WAIT_PRIVATE && value == 2
		       ? read_owner(word)
		       : 0;
}

/* The system call in which a thread is, and its arguments. */
static long
read_call(uint64_t tid, uint64_t arguments[3])
{
	char text[256];
	long call;
	errno = 0;
	tally_small_file_of_thread((pid_t)tid, "syscall", text, sizeof(text));
	if (errno == EACCES || errno == EPERM)
		return REFUSED;
	if (strncmp(text, "running", strlen("running")) == 0)
		return IN_NONE;
	if (sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64, &call, &arguments[0],
		   &arguments[1], &arguments[2]) < 1)
		return NOT_KNOWN;
	return call >= 0 || waits_for_page(tid) ? call : NOT_KNOWN;
}

/* False: it runs, or is in a call in which drivers wait, or it is not known. */
static bool
read_place(const struct watched *w, uint64_t tid, struct place *out)
{
	uint64_t arguments[3] = { 0 };
	if (atomic_load(&w->waiting) == tid)
		return false;
	out->call = read_call(tid, arguments);
	is_refused = out->call == REFUSED;
	if (out->call < IN_FAULT || atomic_load(&w->waiting) == tid)
		return false;
	out->argument = arguments[0];
	if (says_of(out->call) == SAYS_LOCK)
		out->other = awaited(arguments[0], arguments[1], arguments[2]);
	out->asked_ns = read_asked(says_of(out->call), arguments);
	return true;
}

static bool
is_same_place(const struct place *a, const struct place *b)
{
	return a->call == b->call && a->argument == b->argument && a->other == b->other;
}

/* Of what it is, by its first argument. */
static const char *
kind_of_call(long number, uint64_t argument)
{
	enum says says = says_of(number);
	if (says == SAYS_FILE)
		return kind_of_file(argument);
	return says == SAYS_WATCHED && !argument ? "sleep" : NULL;
}

static struct sleep *
note_sleep(const struct sleep *since, const struct place *at)
{
	struct sleep *s = &sleeps[n_sleeps++ % MAX_SLEEPS];
	*s = *since;
	s->at = *at;
	s->of = kind_of_call(at->call, at->argument);
	if (at->other) /* the name stays empty if the process has no such thread */
		tally_small_file_of_thread((pid_t)at->other, "comm", s->thread, sizeof(s->thread));
	return s;
}

static void
look_at_other(struct sleep *s)
{
	uint64_t arguments[3] = { 0 };
	uint64_t tid = s->thread[0] ? s->at.other : (uint64_t)getpid();
	if (says_of(s->at.call) != SAYS_LOCK || tid == s->tid)
		return;
	long call = read_call(tid, arguments);
	if (s->n_other && call != s->other_call) {
		s->n_other--;
	} else {
		if (!s->n_other)
			s->other_of = kind_of_call(call, arguments[0]);
		s->other_call = call;
		s->n_other++;
	}
}

static void
look_at(struct watched *w, const struct sleep *since, uint64_t next_ns)
{
	const uint64_t tid = since->tid, frame_ns = since->frame_ns, now_ns = since->begin_ns;
	struct place at = { 0 };
	bool sleeps_now = read_place(w, tid, &at);
	if (atomic_load(&w->tid) != tid || atomic_load(&w->ended_ns) != frame_ns)
		return; /* it may be in the next frame */
	struct sleep *s = w->last;
	bool goes_on = s && s->tid == tid && s->frame_ns == frame_ns &&
		       now_ns < s->end_ns + MISSED_NS;
	if (goes_on)
		s->end_ns = now_ns;
	w->last = NULL;
	if (!sleeps_now)
		return;
	if (!goes_on || !is_same_place(&s->at, &at))
		s = note_sleep(since, &at);
	look_at_other(s);
	s->n++;
	s->end_ns = next_ns;
	w->last = s;
}

/* Looks at it if that is due; returns when the next look is. */
static uint64_t
look_when_due(struct watched *w, struct sleep since, uint64_t usual_ns)
{
	const uint64_t now_ns = since.begin_ns, ended_ns = since.frame_ns;
	const uint64_t n = atomic_load(&w->n_ended);
	bool all = n < atomic_load(&w->look_until);
	since.late_ns = ended_ns + usual_ns + LATE_NS;
	uint64_t first_ns = all ? ended_ns + (1 + n % 2) * LATE_LOOK_NS : since.late_ns;
	if (now_ns < first_ns)
		return all || usual_ns >= LOOK_NS ? first_ns : larger(first_ns, now_ns + LOOK_NS);
	uint64_t next_ns =
		now_ns + larger((now_ns - ended_ns) / LATE_LOOKS, (1 + all) * LATE_LOOK_NS);
	look_at(w, &since, next_ns);
	return next_ns;
}

uint64_t
tally_late_look(uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;
	for (unsigned i = 0; i < MAX_THREADS; i++) {
		struct watched *w = &threads[i];
		uint64_t ended_ns = atomic_load_explicit(&w->ended_ns, memory_order_acquire);
		uint64_t usual_ns = atomic_load_explicit(&w->usual_ns, memory_order_relaxed);
		uint64_t tid = atomic_load_explicit(&w->tid, memory_order_relaxed);
		if (!tid || !ended_ns || is_refused || atomic_load(&w->n_ended) < LEAST_ENDED ||
		    now_ns > ended_ns + LONGEST_NS)
			continue;
		struct sleep since = { .tid = tid, .frame_ns = ended_ns, .begin_ns = now_ns };
		uint64_t at_ns = look_when_due(w, since, usual_ns);
		next_ns = at_ns < next_ns ? at_ns : next_ns;
	}
	return next_ns;
}

/* ---- what was found ---- */

static bool
is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *
name_call(long number, char buffer[32])
{
	const struct call *call = find_call(number);
	if (call)
		return call->name;
	if (number < 0)
		return number == IN_FAULT ? "fault" : number == IN_NONE ? "running" : NULL;
	snprintf(buffer, 32, "syscall %ld", number);
	return buffer;
}

/* Adds it to that of the same place among the first n; returns their number then. */
static uint32_t
list_sleep(const struct sleep *s, uint64_t ns, uint32_t n)
{
	struct tally_asleep_record next = {
		.in = name_call(s->at.call, found_names[n]),
		.of = s->of,
		.thread = s->thread[0] ? s->thread : NULL,
	};
	if (s->n_other) {
		next.other_in = name_call(s->other_call, found_other_names[n]);
		next.other_of = s->other_of;
	}
	uint32_t at = 0;
	while (at < n && !(is_same_text(found[at].in, next.in) && found[at].of == next.of &&
			   is_same_text(found[at].thread, next.thread)))
		at++;
	if (at == n)
		found[n++] = next;
	found[at].ns += ns;
	found[at].n += s->n;
	found[at].asked_ns = larger(found[at].asked_ns, s->at.asked_ns);
	return n;
}

uint32_t
tally_late_find(uint64_t tid, uint64_t begin_ns, uint64_t end_ns,
		const struct tally_asleep_record **out)
{
	uint32_t n = 0;
	*out = found;
	for (uint64_t i = n_sleeps > MAX_SLEEPS ? n_sleeps - MAX_SLEEPS : 0; i < n_sleeps; i++) {
		const struct sleep *s = &sleeps[i % MAX_SLEEPS];
		uint64_t to_ns = s->end_ns < end_ns ? s->end_ns : end_ns;
		/* Of a frame that is late what it slept in then. */
		uint64_t from_ns = end_ns > s->late_ns ? larger(s->begin_ns, s->late_ns)
						       : s->begin_ns;
		/* One that began in an earlier frame ended there. */
		if (s->tid == tid && s->begin_ns >= begin_ns && from_ns < to_ns && n < MAX_LISTED)
			n = list_sleep(s, to_ns - from_ns, n);
	}
	return n;
}

uint32_t
tally_late_find_unended(uint64_t tid, uint64_t now_ns, const struct tally_asleep_record **out)
{
	const struct watched *w = threads, *end = threads + MAX_THREADS;
	while (w < end && atomic_load(&w->tid) != tid)
		w++;
	/* 0 while its frames are not captured: what it slept in before is no news. */
	uint64_t ended_ns = tid && w < end ? atomic_load(&w->ended_ns) : 0;
	return ended_ns ? tally_late_find(tid, ended_ns, now_ns, out) : 0;
}

void
tally_late_forget(void)
{
	n_sleeps = 0;
	is_refused = false;
	for (unsigned i = 0; i < MAX_THREADS; i++) {
		atomic_store(&threads[i].tid, 0);
		threads[i].last = NULL;
	}
}
