/* SPDX-License-Identifier: MIT */
#include "query/linux/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
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

bool
tally_linux_reread(int fd, char *out, size_t size)
{
	size_t len = 0;
	/* With pread(), a pipe or socket that reused our number gives an error and loses no
	 * data. */
	while (len + 1 < size) {
		ssize_t n = pread(fd, out + len, size - 1 - len, (off_t)len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	out[len] = '\0';
	return len > 0;
}

bool
tally_linux_next_number(const char **text, uint64_t *out)
{
	const char *p = *text;
	while (*p && (*p < '0' || *p > '9'))
		p++;
	if (!*p)
		return false;
	uint64_t value = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');
		value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
	}
	*text = p;
	*out = value;
	return true;
}

/* ---- threads ---- */

/* The layout that getdents64(2) uses. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

bool
tally_linux_tasks_open(struct tally_linux_tasks *tasks)
{
	tasks->at = tasks->len = 0;
	tasks->fd = tally_linux_lift_fd(
		open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return tasks->fd >= 0;
}

void
tally_linux_tasks_close(struct tally_linux_tasks *tasks)
{
	if (tasks->fd >= 0)
		close(tasks->fd);
	tasks->fd = -1;
}

bool
tally_linux_tasks_rewind(struct tally_linux_tasks *tasks)
{
	tasks->at = tasks->len = 0;
	return lseek(tasks->fd, 0, SEEK_SET) == 0;
}

pid_t
tally_linux_tasks_next(struct tally_linux_tasks *tasks)
{
	for (;;) {
		if (tasks->at + offsetof(struct entry, name) >= tasks->len) {
			long n = syscall(SYS_getdents64, tasks->fd, tasks->buffer,
					 sizeof(tasks->buffer));
			if (n <= 0)
				return n < 0 ? -1 : 0;
			tasks->at = 0;
			tasks->len = (uint32_t)n;
		}
		const char *at = tasks->buffer + tasks->at;
		uint16_t length;
		memcpy(&length, at + offsetof(struct entry, length), sizeof(length));
		const char *name = at + offsetof(struct entry, name);
		uint64_t tid;
		/* An entry can be invalid only if the game closed our descriptor and reused its
		 * number. */
		if (length == 0 || tasks->at + length > tasks->len)
			return -1;
		tasks->at += length;
		if (*name >= '1' && *name <= '9' && tally_linux_next_number(&name, &tid) &&
		    tid <= INT_MAX)
			return (pid_t)tid;
	}
}

bool
tally_linux_thread_cpu_ns(pid_t tid, uint64_t *out)
{
	/* The kernel's number for the clock of a thread: CPUCLOCK_SCHED,
	 * CPUCLOCK_PERTHREAD_MASK. */
	clockid_t clock = (clockid_t)((~(uint32_t)tid << 3) | 6u);
	struct timespec t;
	if (clock_gettime(clock, &t) != 0)
		return false;
	*out = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
	return true;
}
