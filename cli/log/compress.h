/* cli/log/compress.h - a finished log turned into PATH.zst.
 *
 * At no moment is there less than one whole log: the compressed one is written beside it, brought
 * to the disk, given its name, and only then the plain one goes. A log that somebody still writes
 * to is left alone. Callers block signals: one that asks us to end and is pending makes us stop and
 * leave the plain log. One thread. Without libzstd (cli/log/no_zstd.c) every call fails, saying so.
 */
#ifndef PASSTALLY_CLI_COMPRESS_H
#define PASSTALLY_CLI_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#define TALLY_COMPRESS_LEVEL 3 /* zstd's own default */

/* The levels there are; false: built without zstd. */
bool tally_compress_levels(int *least, int *most);
/* The name that a log gets; the caller's. */
char *tally_compress_name(const char *path);
/* `replace`: a compressed log of that name goes. False: `why` is a sentence, and PATH stays. */
bool tally_compress_log(const char *path, int level, bool replace, char *why, size_t size);

#endif
