/* SPDX-License-Identifier: MIT */
/* cli/log/zstd.h - logs that are compressed with zstd.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_LOG_ZSTD_H
#define PASSTALLY_CLI_LOG_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

/* ---- unpack.c: decompresses zstd as it is read.
 *
 * The input is a sequence of frames, which may include skippable ones. The window bounds the
 * memory, at most 128 MiB. */

struct ZSTD_DCtx_s;

struct tally_unpack {
	bool inside; /* the stream is in the middle of a frame */
	/* Private to unpack.c. */
	struct ZSTD_DCtx_s *stream;
	char *why;
};

/* Returns NULL with *why: a sentence that stays valid for the whole run. */
struct tally_unpack *tally_unpack_create(const char **why);
void tally_unpack_destroy(struct tally_unpack *unpack);
/* Unpacks from `in`, of which *taken bytes are consumed already, as much as fits in `to`;
 * returns the number of bytes written. SIZE_MAX: the data is invalid, and *why has the reason.
 * 0 means that more input is needed; if there is none, the stream has ended, or is cut off
 * where it is inside a frame. */
size_t tally_unpack_step(struct tally_unpack *unpack, const char *in, size_t n_in, size_t *taken,
			 char *to, size_t size, const char **why);

/* ---- compress.c: compresses a finished log into PATH.zst.
 *
 * A complete log exists at every moment: the compressed one (cli/shared/result.h) is on the disk
 * before the plain one is removed. A log that another process still writes to is left alone. */

/* `replace`: an existing compressed log of that name is replaced. False after printing an error:
 * PATH stays. */
bool tally_compress_log(const char *command, const char *path, bool replace);

#endif
