/* SPDX-License-Identifier: MIT */
/* query/linux/files.h - reading /proc inside a game without disturbing its descriptors; no
 * allocation.
 *
 * Descriptors are close-on-exec and have high numbers, so that the game gets the numbers it
 * would get without us, and a game that closes "everything" and opens new files does not get
 * ours again. One thread at a time for each object.
 */
#ifndef PASSTALLY_QUERY_LINUX_FILES_H
#define PASSTALLY_QUERY_LINUX_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The number of descriptors that we may use: half of the limit, 1024 at most. */
uint32_t tally_linux_fd_budget(void);
/* Moves `fd` to a high number and closes the original. A negative `fd` is returned unchanged,
 * with errno kept; if no high number is left, `fd` itself is returned. */
int tally_linux_lift_fd(int fd);

/* open(2) for reading, moved to a high number; -1 with errno. */
int tally_linux_open(const char *path);
/* Reads the file from its beginning, and adds a NUL; what does not fit is cut off. False with
 * *out "" when it cannot be read or is empty. */
bool tally_linux_reread(int fd, char *out, size_t size);

/* The next decimal number in the text; *text is advanced past it. False: there is none. */
bool tally_linux_next_number(const char **text, uint64_t *out);

/* The threads of this process, in the order of their creation. */
struct tally_linux_tasks {
	int fd; /* /proc/self/task */
	uint32_t at, len;
	_Alignas(8) char buffer[4096];
};
bool tally_linux_tasks_open(struct tally_linux_tasks *tasks); /* false with errno */
void tally_linux_tasks_close(struct tally_linux_tasks *tasks);
/* Rewinds; then call next() until it returns 0. -1: the folder cannot be read. */
bool tally_linux_tasks_rewind(struct tally_linux_tasks *tasks);
pid_t tally_linux_tasks_next(struct tally_linux_tasks *tasks);

/* The CPU time that a thread has used so far, in ns; false: there is no such thread. */
bool tally_linux_thread_cpu_ns(pid_t tid, uint64_t *out);

#endif
