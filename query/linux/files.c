/* SPDX-License-Identifier: MIT */
#include "query/linux/files.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 1024u
/* Above the numbers that select() can use, and those that programs that close "all" usually go
 * through. */
#define HIGH_DESCRIPTOR 2048u

static rlim_t
descriptor_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 256;
	return limit.rlim_cur == RLIM_INFINITY ? INT_MAX : limit.rlim_cur;
}

uint32_t
tally_linux_fd_budget(void)
{
	rlim_t half = descriptor_limit() / 2;
	return half < MOST_DESCRIPTORS ? (uint32_t)half : MOST_DESCRIPTORS;
}

int
tally_linux_lift_fd(int fd)
{
	if (fd < 0)
		return fd;
	rlim_t limit = descriptor_limit();
	rlim_t from = limit >= 2 * HIGH_DESCRIPTOR ? HIGH_DESCRIPTOR : limit / 2;
	if ((rlim_t)fd >= from)
		return fd;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, (int)from);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

int
tally_linux_open(const char *path)
{
	return tally_linux_lift_fd(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
}
