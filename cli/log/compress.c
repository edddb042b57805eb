/* SPDX-License-Identifier: MIT */
#include "cli/log/zstd.h"

#include "cli/log/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

struct job {
	const char *path;
	int from, to;
	char *temporary, *name;
	struct stat before; /* state of the log before it was read */
	uint64_t taken; /* bytes of it read so far */
	ZSTD_CCtx *zstd;
	char *in, *out;
	size_t in_size, out_size;
	char *why;
	size_t why_size;
};

static bool G_GNUC_PRINTF(2, 3) fail(struct job *j, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_vsnprintf(j->why, (gulong)j->why_size, format, args);
	va_end(args);
	return false;
}

static bool
fail_errno(struct job *j, const char *what, const char *path)
{
	return fail(j, "%s %s: %s", path, what, g_strerror(errno));
}

static bool
open_files(struct job *j)
{
	j->from = open(j->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (j->from < 0)
		return fail_errno(j, "cannot be opened", j->path);
	if (fstat(j->from, &j->before) < 0 || !S_ISREG(j->before.st_mode))
		return fail(j, "%s is no regular file", j->path);
	/* Where that is unknown, is_unchanged() must suffice. */
	if (tally_file_is_written(j->from) > 0)
		return fail(j,
			    "a process that the program started still writes to %s; when it "
			    "has ended: zstd --rm %s",
			    j->path, j->path);
	char *temporary = g_strconcat(j->name, ".XXXXXX", NULL);
	j->to = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0600);
	if (j->to < 0) {
		fail_errno(j, "cannot be made", temporary);
		g_free(temporary);
		return false;
	}
	j->temporary = temporary;
	return true;
}

static bool
set_up(struct job *j)
{
	j->zstd = ZSTD_createCCtx();
	if (!j->zstd)
		return fail(j, "out of memory");
	ZSTD_CCtx_setParameter(j->zstd, ZSTD_c_checksumFlag, 1);
	j->in_size = 4 * ZSTD_CStreamInSize();
	j->out_size = ZSTD_CStreamOutSize();
	j->in = g_malloc(j->in_size);
	j->out = g_malloc(j->out_size);
	return true;
}

/* A write beyond the limit on file sizes also raises a signal, which would end the process
 * later. */
static void
take_size_signal(void)
{
	const struct timespec none = { 0 };
	sigset_t xfsz;
	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	sigtimedwait(&xfsz, NULL, &none);
}

static bool
write_all(struct job *j, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t some = write(j->to, j->out + done, n - done);
		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0) {
			errno = some == 0 ? ENOSPC : errno;
			bool too_large = some < 0 && errno == EFBIG;
			fail_errno(j, "cannot be written", j->temporary);
			if (too_large)
				take_size_signal();
			return false;
		}
		done += (size_t)some;
	}
	return true;
}

static bool
pack_some(struct job *j, size_t n)
{
	ZSTD_EndDirective how = n ? ZSTD_e_continue : ZSTD_e_end;
	ZSTD_inBuffer in = { .src = j->in, .size = n };
	size_t left;
	do {
		ZSTD_outBuffer out = { .dst = j->out, .size = j->out_size };
		left = ZSTD_compressStream2(j->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return fail(j, "zstd says \"%s\"", ZSTD_getErrorName(left));
		if (!write_all(j, out.pos))
			return false;
	} while (n ? in.pos < in.size : left > 0);
	return true;
}

static bool
is_asked_to_end(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	sigset_t pending;
	bool asked = false;
	sigpending(&pending);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		asked |= sigismember(&pending, signals[i]) == 1;
	return asked;
}

static bool
pack(struct job *j)
{
	ssize_t n;
	do {
		if (is_asked_to_end())
			return fail(j, "a signal interrupted it");
		do
			n = read(j->from, j->in, j->in_size);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return fail_errno(j, "cannot be read", j->path);
		j->taken += (uint64_t)n;
		if (!pack_some(j, (size_t)n))
			return false;
	} while (n > 0);
	return true;
}

/* Whether the bytes read are the whole log, and the log is still the file of that name. */
static bool
is_unchanged(struct job *j)
{
	struct stat open, named;
	if (fstat(j->from, &open) < 0 || lstat(j->path, &named) < 0)
		return fail_errno(j, "is gone", j->path);
	if ((uint64_t)open.st_size != j->taken || named.st_ino != open.st_ino ||
	    named.st_dev != open.st_dev || open.st_mtim.tv_sec != j->before.st_mtim.tv_sec ||
	    open.st_mtim.tv_nsec != j->before.st_mtim.tv_nsec)
		return fail(j, "%s changed meanwhile", j->path);
	return true;
}

static void
sync_folder(const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

/* Never replaces another file. */
static int
rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	return link(from, to) == 0 ? unlink(from) : -1;
}

/* From here on the compressed file is the log. */
static bool
publish(struct job *j, bool replace)
{
	const struct timespec times[2] = { j->before.st_atim, j->before.st_mtim };
	/* Copies permissions and times as far as the file system allows. */
	if (fchmod(j->to, j->before.st_mode & 0777) == 0)
		futimens(j->to, times);
	if (fsync(j->to) < 0)
		return fail_errno(j, "cannot be written to the disk", j->temporary);
	if (!is_unchanged(j))
		return false;
	if (replace ? rename(j->temporary, j->name) : rename_new(j->temporary, j->name))
		return fail_errno(j, "cannot be made", j->name);
	g_clear_pointer(&j->temporary, g_free);
	sync_folder(j->name);
	if (unlink(j->path) == 0)
		return true;
	fail_errno(j, "is compressed, but cannot be removed", j->path);
	return false;
}

bool
tally_compress_log(const char *path, bool replace, char *why, size_t size)
{
	struct job j = { .path = path, .from = -1, .to = -1, .why = why, .why_size = size };
	j.name = g_strconcat(path, ".zst", NULL);
	bool done = open_files(&j) && set_up(&j) && pack(&j) && publish(&j, replace);
	if (j.temporary)
		g_unlink(j.temporary);
	if (j.from >= 0)
		close(j.from);
	if (j.to >= 0)
		close(j.to);
	ZSTD_freeCCtx(j.zstd);
	g_free(j.in);
	g_free(j.out);
	g_free(j.temporary);
	g_free(j.name);
	return done;
}
