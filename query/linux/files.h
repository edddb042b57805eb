/* query/linux/files.h - reading /proc inside a game: descriptors out of its way, no allocation.
 *
 * Descriptors are close-on-exec and numbered high, so that the game gets the numbers it would get
 * without us, and one that closes "everything" and opens anew does not meet ours again. One thread
 * at a time for each object.
 */
#ifndef PASSTALLY_QUERY_LINUX_FILES_H
#define PASSTALLY_QUERY_LINUX_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How many descriptors we may take: half of the limit, 1024 at most. */
uint32_t tally_linux_fd_budget(void);
/* The same file under a high number; `fd` itself is closed. A negative one comes back as it is,
 * errno kept; so does `fd` where there is no such number left. */
int tally_linux_lift_fd(int fd);

/* open(2) for reading, lifted; -1 with errno. */
int tally_linux_open(const char *path);
/* The file from its beginning, NUL behind it; what does not fit is cut off. False with *out "" when
 * it cannot be read or is empty. */
bool tally_linux_reread(int fd, char *out, size_t size);
bool tally_linux_read_path(const char *path, char *out, size_t size);

/* The next decimal number in the text, which is moved behind it; false: there is none. */
bool tally_linux_next_number(const char **text, uint64_t *out);

/* The threads of this process, in the order in which they were made. */
struct tally_linux_tasks {
	int fd; /* /proc/self/task */
	uint32_t at, len;
	_Alignas(8) char buffer[4096];
};
bool tally_linux_tasks_open(struct tally_linux_tasks *tasks); /* false with errno */
void tally_linux_tasks_close(struct tally_linux_tasks *tasks);
/* Begin anew; then next() until it says 0. -1: the folder can not be read. */
bool tally_linux_tasks_rewind(struct tally_linux_tasks *tasks);
pid_t tally_linux_tasks_next(struct tally_linux_tasks *tasks);

/* What a thread has run so far, in ns; false: there is no such thread. */
bool tally_linux_thread_cpu_ns(pid_t tid, uint64_t *out);

#endif
