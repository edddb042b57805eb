/* SPDX-License-Identifier: MIT */
#include "layer/base/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SYS_futex takes the kernel's native timespec, which is two longs whatever time_t is. If only
 * the newer call exists, that takes two 64-bit numbers. */
#ifdef SYS_futex
#define FUTEX_CALL SYS_futex
typedef long futex_word;
#else
#define FUTEX_CALL SYS_futex_time64
typedef int64_t futex_word;
#endif

#define NS_PER_S UINT64_C(1000000000)

void
tally_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	struct {
		futex_word seconds, ns;
	} timeout = { (futex_word)(timeout_ns / NS_PER_S), (futex_word)(timeout_ns % NS_PER_S) };
	/* A relative timeout is on CLOCK_MONOTONIC. */
	syscall(FUTEX_CALL, word, FUTEX_WAIT_PRIVATE, value,
		timeout_ns == TALLY_FOREVER ? NULL : &timeout, NULL, 0);
}

void
tally_futex_wake_all(_Atomic uint32_t *word)
{
	int saved_errno = errno;
	syscall(FUTEX_CALL, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	errno = saved_errno;
}
