/* SPDX-License-Identifier: MIT */
/* cli/log/unpack.h - decompresses zstd as it is read.
 *
 * The input is a sequence of frames, which may include skippable ones. The window bounds the
 * memory, at most 128 MiB. One thread. Without libzstd (cli/log/no_zstd.c)
 * tally_unpack_create() fails with that reason.
 */
#ifndef PASSTALLY_CLI_UNPACK_H
#define PASSTALLY_CLI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
