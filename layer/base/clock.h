/* SPDX-License-Identifier: MIT */
/* layer/base/clock.h - the CPU clock, and the conversion of GPU ticks to its nanoseconds.
 *
 * The only place where raw GPU ticks become time. Any thread; nothing here blocks or allocates.
 */
#ifndef PASSTALLY_LAYER_BASE_CLOCK_H
#define PASSTALLY_LAYER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Any clock, ns; 0: the system does not have it. */
uint64_t tally_clock_read_ns(clockid_t id);
/* CLOCK_MONOTONIC, ns. */
uint64_t tally_clock_now_ns(void);
/* CPU time of another thread of the process, by the kernel's number; 0: it has ended. A sandbox may
 * end a process that asks (layer/base/sandbox.h). */
uint64_t tally_clock_of_thread(pid_t tid);
/* The state of a thread at one moment. */
struct tally_thread_time {
	uint64_t thread; /* its number in the kernel; 0 = the other members could not be read */
	uint64_t ns; /* CPU time that it has used so far */
	uint64_t kernel_ns; /* of it in the kernel, to a few ms */
	uint64_t wait_ns; /* time between tally_clock_wait_begin() and _end() so far */
	uint64_t minor_faults, major_faults;
	uint64_t disk_bytes; /* that were fetched from a disk for it */
};
/* The calling thread; two system calls. */
struct tally_thread_time tally_clock_thread(void);
/* In a forked child, whose thread has another number. */
void tally_clock_forked(void);
/* The thread's number is stored there while it is in such a call as follows, from now on. */
void tally_clock_show_waiting(_Atomic uint64_t *thread);
/* Surrounds a call in which a driver may wait; nested calls count once. */
struct tally_clock_wait {
	uint64_t begin_ns, before_ns; /* all 0: nothing is added */
	uint64_t shown; /* 0, or the thread's number: it is within another one */
};
struct tally_clock_wait tally_clock_wait_begin(void);
/* Returns CLOCK_MONOTONIC; 0 if nothing was surrounded. */
uint64_t tally_clock_wait_end(const struct tally_clock_wait *wait);
/* CLOCK_REALTIME, ns since 1970. */
uint64_t tally_clock_unix_ns(void);

/* The ticks between two readings of a counter that is `valid_bits` wide (1 to 64; 0 gives 0):
 * bits above are noise, and one wrap is undone. */
static inline uint64_t
tally_ticks_elapsed(uint64_t begin, uint64_t end, unsigned valid_bits)
{
	if (valid_bits == 0)
		return 0;
	uint64_t mask = valid_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << valid_bits) - 1;
	return (end - begin) & mask;
}

/* How GPU time maps to CLOCK_MONOTONIC: cpu = gpu_ns + offset_ns, accurate to +-error_ns. */
struct tally_clock_map {
	bool calibrated;
	int64_t offset_ns;
	uint64_t error_ns;
	uint64_t taken_ns; /* CPU time of the calibration in force */
};

/* Adds one reading: the GPU's `gpu_ns` was taken between two CPU readings. A reading with a
 * shorter interval, or one newer by more than a second, replaces the map in force. */
void tally_clock_map_feed(struct tally_clock_map *map, uint64_t cpu_before_ns, uint64_t gpu_ns,
			  uint64_t cpu_after_ns);
/* GPU time on CLOCK_MONOTONIC; unchanged when not calibrated. */
uint64_t tally_clock_map_apply(const struct tally_clock_map *map, uint64_t gpu_ns);

#endif
