/* SPDX-License-Identifier: MIT */
/* query/linux/files.h - reading /proc inside a game without disturbing its descriptors.
 *
 * Descriptors are close-on-exec and have high numbers, so that the game gets the numbers that
 * it would get without passtally, and a game that closes "everything" and opens new files does
 * not get passtally's again. Nothing allocates. Any thread.
 */
#ifndef PASSTALLY_QUERY_LINUX_FILES_H
#define PASSTALLY_QUERY_LINUX_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The number of descriptors that we may use: half of the limit, 1024 at most. */
uint32_t tally_linux_fd_budget(void);
/* Moves `fd` to a high number and closes the original. A negative `fd` is returned unchanged,
 * with errno kept; if no high number is left, `fd` itself is returned. */
int tally_linux_lift_fd(int fd);

/* open(2) for reading, moved to a high number; -1 with errno. */
int tally_linux_open(const char *path);

#endif
