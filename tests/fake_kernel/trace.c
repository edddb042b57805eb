/* SPDX-License-Identifier: MIT */
#include "tests/fake_kernel/kernel.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Files are opened by system call: the simulated kernel replaces open(). */
static void
write_line(const char *begin, const char *format, va_list args)
{
	static int fd = -2;
	char line[512];
	int n = snprintf(line, sizeof(line), "%s", begin);
	if (fd == -2) {
		const char *path = getenv("FAKE_KERNEL_TRACE");
		fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path,
					 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
			  : -1;
	}
	if (fd < 0)
		return;
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n] = '\n';
	if (syscall(SYS_write, fd, line, (size_t)n + 1) < 0)
		fd = -1;
}

void
fake_trace(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	write_line("", format, args);
	va_end(args);
}

int
fake_misuse(int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	write_line("misuse: ", format, args);
	va_end(args);
	fake_kernel_get_state()->n_misuses++;
	return -error;
}
