/* SPDX-License-Identifier: MIT */
/* layer/event/event.h - calls that cost microseconds by themselves: shaders and pipelines made,
 * memory allocated, uploads, read-backs, waits.
 *
 * A front end surrounds such a call, on whatever thread it comes; the sums of a kind are taken by
 * the frame that ends next, of whichever device. Calls of 0.2 ms and more, but waits, are also kept
 * one by one. A new kind is a word of json/log.fields and a value of enum tally_event_kind; a draw
 * is never surrounded, unless its program has never drawn. Nothing here waits for more than another
 * event's few instructions, allocates, or calls a driver.
 */
#ifndef PASSTALLY_LAYER_EVENT_H
#define PASSTALLY_LAYER_EVENT_H

#include "layer/base/clock.h"
#include "layer/record.h"

/* One call. */
struct tally_event {
	enum tally_event_kind kind;
	const char *call; /* static: its name */
	uint64_t begin_ns; /* CLOCK_MONOTONIC, before it; 0: it was not surrounded */
	uint64_t n; /* of what it made: the pipelines of one call */
	uint64_t bytes; /* uploaded, read back, allocated, of shader code */
	uint64_t cached; /* of n: those that a cache had */
	uint64_t object; /* OpenGL's name of the shader or program; 0: none */
	uint64_t uncached; /* of n: those that no cache of the program had */
};

/* After the call; any thread. */
void tally_event_end(const struct tally_event *event);
/* The same where the time after the call is known. */
void tally_event_end_at(const struct tally_event *event, uint64_t end_ns);

/* tally_clock_wait_end() of a wait that is an event, too; returns what that does. */
uint64_t tally_event_wait_end(enum tally_event_kind kind, const char *call,
			      const struct tally_clock_wait *wait);
/* Memory of the GPU was allocated, or freed (negative): the events of kind MEMORY say how much is
 * allocated now, by the whole process. */
void tally_event_memory(int64_t bytes);
/* After an allocation: what the process uses of a heap, and what the driver says that it may
 * (VK_EXT_memory_budget). A frame keeps the heap that is closest to its budget, or farthest above
 * it, of all devices. budget 0: nothing is known. */
void tally_event_budget(uint64_t used, uint64_t budget);

#define TALLY_EVENT_CALLS 16 /* that a frame keeps, the longest */

/* What ended since the last time, of all threads. */
struct tally_events {
	uint32_t n_calls;
	bool any; /* a sum is not 0 */
	struct tally_event_record sums[TALLY_N_EVENTS];
	struct tally_event_call_record calls[TALLY_EVENT_CALLS];
	char threads[TALLY_EVENT_CALLS][16]; /* of the calls */
};
/* For the thread that ends a frame. NULL: what happened is forgotten, since nothing is captured. */
void tally_events_take(struct tally_events *out);

/* Around a fork: no other thread holds the lock in the child. */
void tally_events_around_fork(bool begins);

#endif
