/* SPDX-License-Identifier: MIT */
#include "cli/log/compress.h"

#include "cli/log/folder.h"
#include "cli/shared/cli.h"
#include "cli/shared/result.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* The file descriptor of a log that nothing writes to; -1 after printing an error. */
static int
open_log(const char *command, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return TALLY_FAIL(-1, command, "%s cannot be opened: %s", path, g_strerror(errno));
	bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (!regular)
		tally_cli_complain(command, "%s is no regular file: it is not compressed", path);
	else if (tally_file_is_written(fd) > 0)
		tally_cli_complain(command,
				   "a process that the program started still writes to "
				   "%s; when it has ended: zstd --rm %s",
				   path, path);
	else
		return fd;
	close(fd);
	return -1;
}

/* Returns how many bytes were read and packed; -1 after an error. */
static int64_t
pack(ZSTD_CCtx *zstd, int from, FILE *to)
{
	static char in[1 << 19], out[1 << 17];
	int64_t taken = 0;
	ssize_t n;
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	do {
		do
			n = read(from, in, sizeof(in));
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -1;
		taken += n;
		ZSTD_inBuffer input = { .src = in, .size = (size_t)n };
		size_t left;
		do {
			ZSTD_outBuffer output = { .dst = out, .size = sizeof(out) };
			left = ZSTD_compressStream2(zstd, &output, &input,
						    n ? ZSTD_e_continue : ZSTD_e_end);
			if (ZSTD_isError(left) || fwrite(out, 1, output.pos, to) != output.pos)
				return -1;
		} while (n ? input.pos < input.size : left > 0);
	} while (n > 0);
	return taken;
}

/* False after printing an error. */
static bool
compress(const char *command, const char *path, const char *name, int from)
{
	struct tally_result result;
	struct stat st;
	if (tally_result_open(&result, command, name, tally_result_mode(path), false, ""))
		return false;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	errno = 0;
	int64_t taken = zstd && result.file ? pack(zstd, from, result.file) : -1;
	result.error = taken < 0 ? errno ? errno : ENOMEM : 0;
	ZSTD_freeCCtx(zstd);
	/* From here on it is the log: a process that wrote to it meanwhile would be cut off. */
	if (!result.error && (fflush(result.file) || fsync(fileno(result.file))))
		result.error = errno;
	bool whole = fstat(from, &st) == 0 && st.st_size == taken;
	if (!whole && !result.error)
		tally_cli_complain(command, "%s changed meanwhile", path);
	return tally_result_close(&result, whole || result.error) && whole;
}

bool
tally_compress_log(const char *command, const char *path, bool replace)
{
	g_autofree char *name = g_strconcat(path, ".zst", NULL);
	int from = open_log(command, path);
	if (from < 0)
		return false;
	if (replace)
		unlink(name);
	bool done = !g_file_test(name, G_FILE_TEST_EXISTS);
	if (!done)
		tally_cli_complain(command, "%s exists: %s is not compressed", name, path);
	done = done && compress(command, path, name, from);
	close(from);
	if (done && unlink(path) < 0)
		return TALLY_FAIL(false, command, "%s is compressed, but cannot be removed: %s",
				  path, g_strerror(errno));
	return done;
}
