/* SPDX-License-Identifier: MIT */
#include "layer/base/clock.h"

#include "layer/base/sandbox.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t
tally_clock_read_ns(clockid_t id)
{
	struct timespec t;
	if (clock_gettime(id, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t
tally_clock_of_thread(pid_t thread)
{
	/* CPUCLOCK_SCHED, CPUCLOCK_PERTHREAD_MASK, as pthread_getcpuclockid() makes it. */
	return tally_clock_read_ns((clockid_t)((~(uint32_t)thread << 3) | 6u));
}

static __thread uint64_t waited_ns __attribute__((tls_model("initial-exec")));
static __thread uint64_t tid __attribute__((tls_model("initial-exec")));
static __thread _Atomic uint64_t *shown __attribute__((tls_model("initial-exec")));
/* This thread was seen in no sandbox. */
static __thread bool was_free __attribute__((tls_model("initial-exec")));

void
tally_clock_forked(void)
{
	tid = 0;
	was_free = false;
}

__attribute__((hot)) uint64_t
tally_clock_now_ns(void)
{
	return tally_clock_read_ns(CLOCK_MONOTONIC);
}

__attribute__((hot)) struct tally_thread_time
tally_clock_thread(void)
{
	struct tally_thread_time t = {
		.ns = tally_clock_read_ns(CLOCK_THREAD_CPUTIME_ID),
		.wait_ns = waited_ns,
	};
	if (!tid)
		tid = (uint64_t)syscall(SYS_gettid);
	if (!was_free)
		was_free = !tally_was_shut_in() && !tally_is_shut_in();
	struct rusage usage;
	if (was_free && !tally_was_shut_in() && getrusage(RUSAGE_THREAD, &usage) == 0) {
		t.kernel_ns = (uint64_t)usage.ru_stime.tv_sec * NS_PER_S +
			      (uint64_t)usage.ru_stime.tv_usec * 1000;
		t.minor_faults = (uint64_t)usage.ru_minflt;
		t.major_faults = (uint64_t)usage.ru_majflt;
		t.disk_bytes = (uint64_t)usage.ru_inblock * 512;
	}
	if (t.ns) /* a sandbox may refuse it */
		t.thread = tid;
	return t;
}

void
tally_clock_show_waiting(_Atomic uint64_t *thread)
{
	shown = thread;
}

__attribute__((hot)) struct tally_clock_wait
tally_clock_wait_begin(void)
{
	struct tally_clock_wait wait = { .before_ns = waited_ns };
	if (shown) {
		wait.shown = atomic_load_explicit(shown, memory_order_relaxed);
		atomic_store_explicit(shown, tid, memory_order_relaxed);
	}
	wait.begin_ns = tally_clock_now_ns();
	return wait;
}

__attribute__((hot)) uint64_t
tally_clock_wait_end(const struct tally_clock_wait *wait)
{
	if (!wait->begin_ns)
		return 0;
	if (shown)
		atomic_store_explicit(shown, wait->shown, memory_order_relaxed);
	uint64_t now_ns = tally_clock_now_ns();
	waited_ns = wait->before_ns + now_ns - wait->begin_ns;
	return now_ns;
}

uint64_t
tally_clock_unix_ns(void)
{
	return tally_clock_read_ns(CLOCK_REALTIME);
}

void
tally_clock_map_feed(struct tally_clock_map *map, uint64_t cpu_before_ns, uint64_t gpu_ns,
		     uint64_t cpu_after_ns)
{
	if (cpu_after_ns < cpu_before_ns)
		return;
	uint64_t width = cpu_after_ns - cpu_before_ns;
	uint64_t error = width / 2 + (width & 1);
	bool fresher = cpu_after_ns > map->taken_ns && cpu_after_ns - map->taken_ns > NS_PER_S;
	if (map->calibrated && !fresher && error >= map->error_ns)
		return;
	map->calibrated = true;
	/* This is modular, and right for every pair of clocks less than 292 years apart. */
	map->offset_ns = (int64_t)(cpu_before_ns + width / 2 - gpu_ns);
	map->error_ns = error;
	map->taken_ns = cpu_after_ns;
}

__attribute__((hot)) uint64_t
tally_clock_map_apply(const struct tally_clock_map *map, uint64_t gpu_ns)
{
	if (!map->calibrated)
		return gpu_ns;
	/* A timestamp from before the CPU clock's zero is clamped, not wrapped into the far
	 * future. */
	if (map->offset_ns < 0 && gpu_ns < 0 - (uint64_t)map->offset_ns)
		return 0;
	return gpu_ns + (uint64_t)map->offset_ns;
}
