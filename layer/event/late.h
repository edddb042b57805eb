/* SPDX-License-Identifier: MIT */
/* layer/event/late.h - what the thread that ends frames sleeps in while a frame is late: the
 * system call, and of a lock the thread that holds it.
 *
 * The thread that ends a frame says so, which stores three numbers. The collector's thread wakes
 * when the next end is overdue, and asks the kernel every few milliseconds where the thread is
 * (/proc/self/task/TID/syscall), until the frame ends. It finds nothing that sleeps for less, or
 * earlier in the frame; after three frames in succession that took longer than most the next ones
 * are looked at from their beginning, as they may be so from now on. Of one that is late after all
 * what came before is not told. In a sandbox that opens no files nothing is found at all.
 */
#ifndef PASSTALLY_LAYER_EVENT_LATE_H
#define PASSTALLY_LAYER_EVENT_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "layer/record.h"

/* The calling thread, of that number in the kernel, has ended a frame. Any thread; some
 * nanoseconds. Of more than a few threads that end frames not all are watched. The next frame is
 * only if `watch_next`. */
void tally_late_frame_ended(uint64_t tid, uint64_t now_ns, bool watch_next);

/* The rest is for the collector's thread alone. Looks at each thread whose frame is late; returns
 * when it has to look again, CLOCK_MONOTONIC. Opens files while a frame is late, else costs some
 * nanoseconds. */
uint64_t tally_late_look(uint64_t now_ns);
/* What was found of the thread between those times, valid until the next call of either. */
uint32_t tally_late_find(uint64_t tid, uint64_t begin_ns, uint64_t end_ns,
			 const struct tally_asleep_record **out);
/* The same since the thread last ended a frame. */
uint32_t tally_late_find_unended(uint64_t tid, uint64_t now_ns,
				 const struct tally_asleep_record **out);
/* Nothing is known of any thread: a capture begins, maybe in a forked child. */
void tally_late_forget(void);

#endif
