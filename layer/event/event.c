/* SPDX-License-Identifier: MIT */
#include "layer/event/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

#define LONG_NS UINT64_C(200000)

/* On lines of their own: many threads may compile at once. */
struct sum {
	_Alignas(64) _Atomic uint64_t n;
	_Atomic uint64_t ns, own_ns, bytes, cached, uncached;
};

static struct sum sums[TALLY_N_EVENTS];
/* Of the thread that ended the last frame: two that take turns have no time of their own. */
static _Atomic pthread_t ends_frames;
static atomic_bool any; /* of the sums, or of the calls */
static _Atomic uint64_t live; /* bytes of memory */
static atomic_bool live_changed;

/* Guards the long calls; held over no call. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t heap_used, heap_budget; /* of the fullest one; 0: not since the last frame */
static uint32_t n_calls;
static struct tally_event_call_record calls[TALLY_EVENT_CALLS];
static char threads[TALLY_EVENT_CALLS][16];

void
tally_events_around_fork(bool begins)
{
	(begins ? pthread_mutex_lock : pthread_mutex_unlock)(&lock);
}

/* Where a call of this length goes; TALLY_EVENT_CALLS: longer ones fill the list. */
static uint32_t
find_place(uint64_t ns)
{
	uint32_t shortest = 0;
	if (n_calls < TALLY_EVENT_CALLS)
		return n_calls++;
	for (uint32_t i = 1; i < TALLY_EVENT_CALLS; i++)
		if (calls[i].ns < calls[shortest].ns)
			shortest = i;
	return calls[shortest].ns < ns ? shortest : TALLY_EVENT_CALLS;
}

static __attribute__((noinline)) void
keep(const struct tally_event *event, uint64_t ns)
{
	char thread[16] = "";
	prctl(PR_GET_NAME, thread);
	pthread_mutex_lock(&lock);
	uint32_t i = find_place(ns);
	if (i < TALLY_EVENT_CALLS) {
		calls[i] = (struct tally_event_call_record){
			.kind = event->kind,
			.call = event->call,
			.start_ns = event->begin_ns,
			.ns = ns,
			.bytes = event->bytes,
			.object = event->object,
			.cached = event->n && event->cached == event->n,
		};
		memcpy(threads[i], thread, sizeof(thread));
	}
	pthread_mutex_unlock(&lock);
}

static inline void
add(_Atomic uint64_t *to, uint64_t n)
{
	if (n)
		atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

void
tally_event_end_at(const struct tally_event *event, uint64_t end_ns)
{
	/* A clock that went back gives no time. */
	uint64_t ns = end_ns > event->begin_ns ? end_ns - event->begin_ns : 0;
	struct sum *s = &sums[event->kind];
	if (!event->begin_ns)
		return;
	add(&s->n, event->n);
	add(&s->ns, ns);
	if (event->kind < TALLY_EVENT_FENCE &&
	    atomic_load_explicit(&ends_frames, memory_order_relaxed) == pthread_self())
		add(&s->own_ns, ns);
	add(&s->bytes, event->bytes);
	add(&s->cached, event->cached);
	add(&s->uncached, event->uncached);
	if (ns >= LONG_NS && event->kind < TALLY_EVENT_FENCE)
		keep(event, ns);
	if (!atomic_load(&any))
		atomic_store(&any, true);
}

void
tally_event_end(const struct tally_event *event)
{
	if (event->begin_ns)
		tally_event_end_at(event, tally_clock_now_ns());
}

uint64_t
tally_event_wait_end(enum tally_event_kind kind, const char *call,
		     const struct tally_clock_wait *wait)
{
	const struct tally_event event = {
		.kind = kind,
		.call = call,
		.begin_ns = wait->begin_ns,
		.n = 1,
	};
	uint64_t now_ns = tally_clock_wait_end(wait);
	tally_event_end_at(&event, now_ns);
	return now_ns;
}

void
tally_event_memory(int64_t bytes)
{
	atomic_fetch_add_explicit(&live, (uint64_t)bytes, memory_order_relaxed);
	atomic_store_explicit(&live_changed, true, memory_order_relaxed);
	atomic_store_explicit(&any, true, memory_order_release);
}

void
tally_event_budget(uint64_t used, uint64_t budget)
{
	pthread_mutex_lock(&lock);
	if (!heap_budget ||
	    (double)used * (double)heap_budget > (double)heap_used * (double)budget) {
		heap_used = used;
		heap_budget = budget;
	}
	pthread_mutex_unlock(&lock);
	atomic_store_explicit(&any, true, memory_order_release);
}

static inline uint64_t
take(_Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed)
		       ? atomic_exchange_explicit(from, 0, memory_order_relaxed)
		       : 0;
}

void
tally_events_take(struct tally_events *out)
{
	struct tally_events nobody;
	atomic_store_explicit(&ends_frames, pthread_self(), memory_order_relaxed);
	if (!out)
		out = &nobody;
	out->any = atomic_load(&any);
	out->n_calls = 0;
	if (!out->any)
		return;
	atomic_store(&any, false); /* before the sums are read: none is left behind */
	for (unsigned kind = 0; kind < TALLY_N_EVENTS; kind++) {
		struct sum *s = &sums[kind];
		out->sums[kind] = (struct tally_event_record){
			.kind = (enum tally_event_kind)kind,
			.n = take(&s->n),
			.ns = take(&s->ns),
			.own_ns = take(&s->own_ns),
			.bytes = take(&s->bytes),
			.cached = take(&s->cached),
			.uncached = take(&s->uncached),
		};
	}
	if (atomic_exchange_explicit(&live_changed, false, memory_order_relaxed))
		out->sums[TALLY_EVENT_MEMORY].live =
			atomic_load_explicit(&live, memory_order_relaxed);
	pthread_mutex_lock(&lock);
	out->sums[TALLY_EVENT_MEMORY].used = heap_used;
	out->sums[TALLY_EVENT_MEMORY].budget = heap_budget;
	heap_used = heap_budget = 0;
	out->n_calls = n_calls;
	memcpy(out->calls, calls, n_calls * sizeof(*calls));
	memcpy(out->threads, threads, n_calls * sizeof(*threads));
	n_calls = 0;
	pthread_mutex_unlock(&lock);
	for (uint32_t i = 0; i < out->n_calls; i++) {
		out->threads[i][sizeof(out->threads[i]) - 1] = '\0';
		out->calls[i].thread = out->threads[i];
	}
}
