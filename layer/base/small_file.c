/* SPDX-License-Identifier: MIT */
#include "layer/base/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

size_t
tally_small_file_read(const char *path, char *out, size_t size)
{
	size_t len = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	while (fd >= 0 && len + 1 < size) {
		ssize_t n = read(fd, out + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	out[len] = '\0';
	if (fd >= 0)
		close(fd);
	return len;
}
