/* SPDX-License-Identifier: MIT */
/* cli/log/compress.h - compresses a finished log into PATH.zst.
 *
 * A complete log exists at every moment: the compressed one is written next to the plain one,
 * synced to disk and renamed, and only then is the plain one removed. A log that another
 * process still writes to is left alone. Callers block signals: a pending signal that asks
 * the process to end stops the compression and leaves the plain log. One thread. Without
 * libzstd (cli/log/no_zstd.c) every call fails with that reason.
 */
#ifndef PASSTALLY_CLI_COMPRESS_H
#define PASSTALLY_CLI_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#define TALLY_COMPRESS_LEVEL 3 /* zstd's own default */

/* The supported levels; false: built without zstd. */
bool tally_compress_levels(int *least, int *most);
/* `replace`: an existing compressed log of that name is replaced. False: `why` is a
 * sentence, and PATH stays. */
bool tally_compress_log(const char *path, int level, bool replace, char *why, size_t size);

#endif
