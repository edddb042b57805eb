/* SPDX-License-Identifier: MIT */
/* tests/live/count_ioctls.c - count what a program's driver asks of the kernel's i915.
 *
 * Preloaded before the emulated GPU (../shared/intel_gpu), whose ioctl() it calls.
 * COUNT_IOCTLS_FILE names a file of 64-bit counts, mapped so that they survive any end: batches
 * submitted, and waits that may block; how often the program made the request COUNT_IOCTLS_MARK,
 * and both counts as they were at the first and at the second. Any thread.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "count_ioctls.h"

#define PUBLIC __attribute__((visibility("default")))
#define N_COUNTS 2
#define N_MARKS 2
#define OF_DRM 'd'
#define GEM_EXECBUFFER2 0x69
#define GEM_WAIT 0x6c
#define SYNCOBJ_WAIT 0xc3
#define SYNCOBJ_TIMELINE_WAIT 0xca

static _Atomic uint64_t fallback[N_COUNTS + 1 + N_MARKS * N_COUNTS];
static _Atomic uint64_t *counts = fallback;
static int (*next)(int, unsigned long, ...);

__attribute__((constructor)) static void
prepare(void)
{
	const char *path = getenv("COUNT_IOCTLS_FILE");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	if (ftruncate(fd, sizeof(fallback)) == 0) {
		void *page = mmap(NULL, sizeof(fallback), PROT_READ | PROT_WRITE, MAP_SHARED,
				  fd, 0);
		if (page != MAP_FAILED)
			counts = page;
	}
	close(fd);
}

/* The timeout is the second 64-bit member of the structures, but a timeline's third. Of a buffer it
 * is a length, of a syncobj a moment of CLOCK_MONOTONIC: Mesa polls with that of the call. */
static unsigned
may_block(const void *argument, unsigned number)
{
	struct timespec now;
	int64_t timeout, since = 0;
	memcpy(&timeout, (const char *)argument + (number == SYNCOBJ_TIMELINE_WAIT ? 16 : 8),
	       sizeof(timeout));
	if (number != GEM_WAIT && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
		since = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	return timeout < 0 ? number == GEM_WAIT : timeout > since;
}

PUBLIC int ioctl(int fd, unsigned long request, ...);

PUBLIC int
ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	va_start(rest, request);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "ioctl");
	if (request == COUNT_IOCTLS_MARK) {
		uint64_t mark = counts[N_COUNTS]++;
		for (unsigned i = 0; mark < N_MARKS && i < N_COUNTS; i++)
			counts[N_COUNTS + 1 + mark * N_COUNTS + i] = counts[i];
		return 0;
	}
	unsigned number = request & 0xff;
	if ((request >> 8 & 0xff) == OF_DRM) {
		counts[0] += number == GEM_EXECBUFFER2;
		if (number == GEM_WAIT || number == SYNCOBJ_WAIT || number == SYNCOBJ_TIMELINE_WAIT)
			counts[1] += may_block(argument, number);
	}
	return next(fd, request, argument);
}
