/* SPDX-License-Identifier: MIT */
#include "layer/base/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
tally_small_file_lift(int fd)
{
	int error = errno;
	/* Above the numbers that select() can use, and those that programs that close "all" usually
	 * go through; half of that where the process may have no such numbers. */
	for (int from = 2048; fd >= 0 && fd < from && from >= 128; from /= 2) {
		int high = fcntl(fd, F_DUPFD_CLOEXEC, from);
		if (high < 0)
			continue;
		close(fd);
		fd = high;
	}
	errno = error;
	return fd;
}

void
tally_small_file_make_room(void)
{
	int error = errno;
	struct stat threads; /* two links more than there are */
	/* Only calls that opening a file makes, too: a filter may end the process at others. */
	int fd = open("/proc/self/task", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 && fstat(fd, &threads) == 0 && threads.st_nlink == 3)
		fd = tally_small_file_lift(fd);
	if (fd >= 0)
		close(fd);
	errno = error;
}

int
tally_small_file_open(const char *path)
{
	return tally_small_file_lift(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
}

DIR *
tally_small_file_list(const char *path)
{
	int fd = tally_small_file_open(path);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

size_t
tally_small_file_reread(int fd, char *out, size_t size)
{
	/* The files of /proc and /sys that are read are given whole. */
	ssize_t n = -1;
	while (fd >= 0 && (n = pread(fd, out, size - 1, 0)) < 0 && errno == EINTR)
		;
	size_t len = n > 0 ? (size_t)n : 0;
	out[len] = '\0';
	return len;
}

size_t
tally_small_file_read(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t len = tally_small_file_reread(fd, out, size);
	if (fd >= 0)
		close(fd);
	return len;
}

size_t
tally_small_file_of_thread(pid_t tid, const char *name, char *out, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
	size_t len = tally_small_file_read(path, out, size);
	out[strcspn(out, "\n")] = '\0';
	return len;
}

bool
tally_small_file_number(const char *path, long long *out)
{
	char text[64], *end;
	tally_small_file_read(path, text, sizeof(text));
	errno = 0;
	*out = strtoll(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
	return end > text && errno == 0 && strchr(" \n", *end);
}
