/* SPDX-License-Identifier: MIT */
/* The calls of libc that reach a kernel, for the simulated device nodes; all other calls go on
 * to libc. */
#undef _FILE_OFFSET_BITS /* open() and open64() are both replaced, and are two functions */
#undef _FORTIFY_SOURCE

#include "tests/fake_kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OURS __attribute__((visibility("default")))
#define MAX_FILES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all other state */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fake_file *files[MAX_FILES];
static _Atomic int n_files; /* most programs never have one: then nothing takes the lock */

/* The next function of that name, looked up once. */
#define NEXT(name) \
	static __typeof__(&name) next_##name; \
	if (!next_##name) { \
		void *symbol_ = dlsym(RTLD_NEXT, #name); \
		memcpy(&next_##name, &symbol_, sizeof(symbol_)); \
	}

static void
read_configuration(void)
{
	const char *text = getenv("FAKE_KERNEL");
	if (text)
		fake_configure(text);
}

static bool
is_on(void)
{
	pthread_once(&once, read_configuration);
	return fake_config.kind != FAKE_NOTHING;
}

static void
enter(uint64_t *begin_ns)
{
	pthread_mutex_lock(&lock);
	*begin_ns = fake_raw_ns();
}

static void
leave(uint64_t begin_ns)
{
	fake_kernel_get_state()->kernel_ns += fake_raw_ns() - begin_ns;
	pthread_mutex_unlock(&lock);
	if (fake_hang_ms)
		usleep(fake_hang_ms * 1000);
	fake_hang_ms = 0;
}

static int
answer(int result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

static struct fake_file *
find(int fd)
{
	for (int i = 0; i < MAX_FILES; i++) {
		if (files[i] && files[i]->fd == fd)
			return files[i];
	}
	return NULL;
}

/* Files are /dev/null to the real kernel: they have their own descriptor, which is of a
 * character device. */
int
fake_file_add(struct fake_file *file)
{
	for (int i = 0; i < MAX_FILES; i++) {
		if (files[i])
			continue;
		int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -EMFILE;
		file->fd = fd;
		files[i] = file;
		n_files++;
		fake_trace("open %d %s", fd, file->what);
		return fd;
	}
	return -EMFILE;
}

static void
forget(struct fake_file *file)
{
	for (int i = 0; i < MAX_FILES; i++) {
		if (files[i] != file)
			continue;
		fake_trace("close %d %s", file->fd, file->what);
		files[i] = NULL;
		n_files--;
		file->ops->release(file);
	}
}

int
fake_memory(size_t bytes, void **out)
{
	int fd = (int)syscall(SYS_memfd_create, "fake_kernel", 1 /* close on exec */);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
		return -1;
	*out = (void *)syscall(
#ifdef SYS_mmap2
		SYS_mmap2,
#else
		SYS_mmap,
#endif
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
	return *out == MAP_FAILED ? -1 : fd;
}

void
fake_memory_free(int fd, void *at, size_t bytes)
{
	syscall(SYS_munmap, at, bytes);
	syscall(SYS_close, fd);
}

/* ---- open ---- */

/* Opens a small file to read. */
static int
text_file(const char *text)
{
	int fd = (int)syscall(SYS_memfd_create, "fake_text", 1);
	if (fd < 0 || syscall(SYS_write, fd, text, strlen(text)) < 0 ||
	    lseek(fd, 0, SEEK_SET) != 0)
		return -EIO;
	return fd;
}

static int
open_node(const char *path, int flags)
{
	struct fake_file *file = NULL;
	int error = fake_fault("open");
	if (error)
		return -error;
	if (!(flags & O_CLOEXEC))
		fake_misuse(0, "%s is open in what the program starts", path);
	if (fake_config.regular)
		return text_file("no device");
	switch (fake_config.kind) {
	case FAKE_KBASE:
		file = fake_kbase_open();
		break;
	case FAKE_KBASE_OLD:
		file = fake_kbase_old_open();
		break;
	case FAKE_PANFROST:
		/* The node before the simulated one is another GPU's. */
		file = fake_panfrost_open(fake_config.decoy && strstr(path, "renderD128")
						  ? "i915"
						  : "panfrost");
		break;
	default:
		file = fake_panfrost_open("panthor");
		break;
	}
	return file ? fake_file_add(file) : -ENOMEM;
}

/* What a path is to the simulated kernel. */
enum { NOT_OURS, IS_NODE, IS_PARAMETER, IS_ABSENT };

static int
whose(const char *path)
{
	char own[64];
	bool kbase;
	if (!path || !is_on())
		return NOT_OURS;
	kbase = fake_config.kind == FAKE_KBASE || fake_config.kind == FAKE_KBASE_OLD;
	uint32_t node = fake_config.node + (fake_config.decoy && !kbase);
	snprintf(own, sizeof(own), kbase ? "/dev/mali%u" : "/dev/dri/renderD%u",
		 kbase ? node : 128 + node);
	if (strcmp(path, own) == 0)
		return IS_NODE;
	if (fake_config.decoy && strcmp(path, "/dev/dri/renderD128") == 0)
		return IS_NODE;
	/* The nodes of the real machine must not be found. */
	if (strncmp(path, "/dev/mali", 9) == 0 || strncmp(path, "/dev/dri/renderD", 16) == 0)
		return IS_ABSENT;
	if (strcmp(path, "/sys/module/panfrost/parameters/unstable_ioctls") == 0)
		return fake_config.kind == FAKE_PANFROST ? IS_PARAMETER : IS_ABSENT;
	return NOT_OURS;
}

static int
open_ours(const char *path, int what, int flags)
{
	uint64_t began;
	int result;
	if (what == IS_ABSENT)
		return answer(-ENOENT);
	enter(&began);
	result = what == IS_NODE ? open_node(path, flags)
	       : fake_fault("parameter") ? -EACCES
				      : text_file(fake_config.unstable ? "Y\n" : "N\n");
	leave(began);
	return answer(result);
}

#define OPEN(name) \
	OURS int name(const char *path, int flags, ...) \
	{ \
		va_list args; \
		int what = whose(path); \
		NEXT(name) \
		va_start(args, flags); \
		mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; \
		va_end(args); \
		return what ? open_ours(path, what, flags) : next_##name(path, flags, mode); \
	}
#define OPENAT(name) \
	OURS int name(int at, const char *path, int flags, ...) \
	{ \
		va_list args; \
		int what = whose(path); \
		NEXT(name) \
		va_start(args, flags); \
		mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; \
		va_end(args); \
		return what ? open_ours(path, what, flags) : next_##name(at, path, flags, mode); \
	}
#define FOPEN(name) \
	OURS FILE *name(const char *restrict path, const char *restrict mode) \
	{ \
		int what = whose(path); \
		NEXT(name) \
		if (!what) \
			return next_##name(path, mode); \
		int fd = open_ours(path, what, O_RDONLY | O_CLOEXEC); \
		return fd < 0 ? NULL : fdopen(fd, "r"); \
	}
#define STAT(name, type) \
	OURS int name(const char *restrict path, struct type *restrict out) \
	{ \
		int what = whose(path); \
		NEXT(name) \
		if (what == IS_ABSENT) \
			return answer(-ENOENT); \
		return next_##name(what ? "/dev/null" : path, out); \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

OURS int
access(const char *path, int mode)
{
	int what = whose(path);
	NEXT(access)
	if (what == IS_ABSENT)
		return answer(-ENOENT);
	if (what && fake_rule("unreadable", -1, -1, 0))
		return answer(-EACCES);
	return next_access(what ? "/dev/null" : path, mode);
}

/* ---- on descriptors ---- */

OURS int
ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	uint64_t began;
	NEXT(ioctl)
	va_start(args, command);
	void *argument = va_arg(args, void *);
	va_end(args);
	if (n_files == 0)
		return next_ioctl(fd, command, argument);
	enter(&began);
	struct fake_file *file = find(fd);
	int result = file ? file->ops->ioctl(file, (unsigned)command, argument) : 0;
	leave(began);
	return file ? answer(result) : next_ioctl(fd, command, argument);
}

/* passtally moves its descriptors to high numbers: the file goes with the duplicate. */
static int
duplicated(int fd, int result)
{
	if (result < 0 || n_files == 0)
		return result;
	pthread_mutex_lock(&lock);
	struct fake_file *file = find(fd);
	if (file)
		file->fd = result;
	pthread_mutex_unlock(&lock);
	return result;
}

OURS int
fcntl(int fd, int command, ...)
{
	va_list args;
	NEXT(fcntl)
	va_start(args, command);
	void *argument = va_arg(args, void *);
	va_end(args);
	int result = next_fcntl(fd, command, argument);
	return command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}

OURS int
fcntl64(int fd, int command, ...)
{
	va_list args;
	NEXT(fcntl64)
	va_start(args, command);
	void *argument = va_arg(args, void *);
	va_end(args);
	int result = next_fcntl64(fd, command, argument);
	return command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}

OURS int
close(int fd)
{
	NEXT(close)
	if (n_files > 0) {
		pthread_mutex_lock(&lock);
		struct fake_file *file = find(fd);
		if (file)
			forget(file);
		pthread_mutex_unlock(&lock);
	}
	return next_close(fd);
}

OURS ssize_t
read(int fd, void *buffer, size_t n)
{
	NEXT(read)
	if (n_files > 0) {
		pthread_mutex_lock(&lock);
		struct fake_file *file = find(fd);
		pthread_mutex_unlock(&lock);
		if (file)
			return answer(-EINVAL);
	}
	return next_read(fd, buffer, n);
}

/* Returns the memory file of fd; 0: fd is not simulated; negative: it cannot be mapped like
 * this. */
static int
check_mapping(int fd, size_t bytes, int protection, int flags, int64_t offset)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = 0;
	struct fake_file *file = fd >= 0 && n_files > 0 ? find(fd) : NULL;
	if (!file)
		return 0;
	int error = fake_fault("mmap");
	if (error)
		return -error;
	int memory = file->ops->map ? file->ops->map(file, &whole) : -1;
	if (memory < 0)
		return fake_misuse(ENODEV, "%s is mapped", file->what);
	if (protection & (PROT_WRITE | PROT_EXEC))
		return fake_misuse(EPERM, "%s is mapped to write", file->what);
	if (offset != 0 || (bytes + page - 1) / page != (whole + page - 1) / page)
		return fake_misuse(EINVAL, "%zu bytes of %zu are mapped at %lld", bytes, whole,
				   (long long)offset);
	if (!(flags & MAP_PRIVATE))
		fake_misuse(0, "%s is not mapped private", file->what);
	fake_trace("map %d %s", fd, file->what);
	return memory;
}

#define MMAP(name, type) \
	OURS void *name(void *at, size_t bytes, int protection, int flags, int fd, type offset) \
	{ \
		NEXT(name) \
		pthread_mutex_lock(&lock); \
		int memory = check_mapping(fd, bytes, protection, flags, offset); \
		pthread_mutex_unlock(&lock); \
		if (memory < 0) { \
			errno = -memory; \
			return MAP_FAILED; \
		} \
		return next_##name(at, bytes, protection, flags, memory ? memory : fd, offset); \
	}
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

/* ---- poll ---- */

/* How many of the simulated files are ready; those are marked, and the other descriptors are
 * left to libc. */
static int
poll_ours(const struct pollfd *in, struct pollfd *rest, nfds_t n, short *events)
{
	int n_ours = 0;
	for (nfds_t i = 0; i < n; i++) {
		struct fake_file *file = find(in[i].fd);
		rest[i] = in[i];
		events[i] = 0;
		if (!file)
			continue;
		rest[i].fd = -1;
		int ready = file->ops->ready ? file->ops->ready(file) : 0;
		if (ready < 0)
			events[i] = POLLHUP | POLLERR;
		else if (ready > 0)
			events[i] = in[i].events & (POLLIN | POLLRDNORM);
		n_ours += events[i] != 0;
	}
	return n_ours;
}

static bool
any_ours(const struct pollfd *fds, nfds_t n)
{
	bool found = false;
	pthread_mutex_lock(&lock);
	for (nfds_t i = 0; n_files > 0 && i < n; i++)
		found = found || find(fds[i].fd);
	pthread_mutex_unlock(&lock);
	return found;
}

/* In slices of a millisecond, because a sample can become due. */
static int
poll_until(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
	struct pollfd rest[16];
	short events[16];
	uint64_t began_ns = fake_raw_ns(), lock_ns;
	if (n > 16)
		return answer(-EINVAL);
	for (;;) {
		enter(&lock_ns);
		int error = fake_fault("poll");
		int n_ready = error ? 0 : poll_ours(fds, rest, n, events);
		leave(lock_ns);
		if (error)
			return answer(-error);
		bool over = timeout_ns >= 0 &&
			    fake_raw_ns() - began_ns >= (uint64_t)timeout_ns;
		struct timespec slice = { .tv_nsec = n_ready || over ? 0 : 1000000 };
		int n_rest = (int)syscall(SYS_ppoll, rest, n, &slice, NULL, 8);
		if (n_rest < 0)
			return -1;
		for (nfds_t i = 0; i < n; i++)
			fds[i].revents = rest[i].fd < 0 ? events[i] : rest[i].revents;
		if (n_ready + n_rest > 0 || over)
			return n_ready + n_rest;
	}
}

OURS int
poll(struct pollfd *fds, nfds_t n, int timeout)
{
	NEXT(poll)
	if (!any_ours(fds, n))
		return next_poll(fds, n, timeout);
	return poll_until(fds, n, (int64_t)timeout * 1000000);
}

OURS int
ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	NEXT(ppoll)
	if (!any_ours(fds, n))
		return next_ppoll(fds, n, timeout, mask);
	return poll_until(
		fds, n,
		timeout ? (int64_t)timeout->tv_sec * 1000000000 + timeout->tv_nsec : -1);
}

/* Releases what is still open when the program ends. */
static __attribute__((destructor)) void
tell_what_is_left(void)
{
	if (!is_on())
		return;
	for (int i = 0; i < MAX_FILES; i++) {
		if (files[i])
			fake_trace("left open: %d %s", files[i]->fd, files[i]->what);
	}
	fake_trace("end");
}
