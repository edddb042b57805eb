/* SPDX-License-Identifier: MIT */
/* cli/log/compress.h - compresses a finished log into PATH.zst.
 *
 * A complete log exists at every moment: the compressed one (cli/shared/result.h) is on the disk
 * before the plain one is removed. A log that another process still writes to is left alone. One
 * thread.
 */
#ifndef PASSTALLY_CLI_LOG_COMPRESS_H
#define PASSTALLY_CLI_LOG_COMPRESS_H

#include <stdbool.h>

/* `replace`: an existing compressed log of that name is replaced. False after printing an error:
 * PATH stays. */
bool tally_compress_log(const char *command, const char *path, bool replace);

#endif
