/* SPDX-License-Identifier: MIT */
/* layer/base/small_file.h - files of /proc, /sys and the like, read whole, and descriptors
 * of files that stay open in a game.
 *
 * Any thread; but for a folder nothing is allocated, and errno may change. A FIFO in a read file's
 * place does not block.
 */
#ifndef PASSTALLY_LAYER_BASE_SMALL_FILE_H
#define PASSTALLY_LAYER_BASE_SMALL_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads at most size - 1 bytes from the beginning of the file and adds a NUL. Returns their
 * number; 0 with an empty text when the file cannot be read or is empty. */
size_t tally_small_file_read(const char *path, char *out, size_t size);
/* The same for an open file. A pipe or socket that reused the number loses no data. */
size_t tally_small_file_reread(int fd, char *out, size_t size);
/* The same for the first line of a file about a thread of this process, without its end: "comm". */
size_t tally_small_file_of_thread(pid_t tid, const char *name, char *out, size_t size);
/* The number with which the file begins, decimal or after 0x; a blank, a line's end or nothing
 * follows it. False: there is none, or it does not fit. */
bool tally_small_file_number(const char *path, long long *out);

/* Moves a descriptor that stays open to a high number, close-on-exec: the game gets the
 * numbers that it would get without passtally, and one that closes "everything" and opens new
 * files does not get passtally's. A negative one is returned unchanged; where no high number is
 * free, `fd` itself. errno is kept. */
int tally_small_file_lift(int fd);
/* Lets the kernel's table of descriptors grow to where they are moved, if the process has one
 * thread. With more of them whoever makes it grow waits for all processors, 5 to 30 ms. errno is
 * kept. */
void tally_small_file_make_room(void);
/* open(2) for reading, moved to a high number; -1 with errno. */
int tally_small_file_open(const char *path);
/* opendir(3), moved to a high number; NULL with errno. Allocates. */
DIR *tally_small_file_list(const char *path);

#endif
