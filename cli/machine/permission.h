/* SPDX-License-Identifier: MIT */
/* cli/machine/permission.h - whether this user may read the GPU's own counters, and what
 * would permit it.
 *
 * Linux's graphics drivers for Intel restrict them to root unless a kernel setting says
 * otherwise. One thread; reads files in /proc only.
 */
#ifndef PASSTALLY_CLI_PERMISSION_H
#define PASSTALLY_CLI_PERMISSION_H

#include <stdbool.h>

/* Receives `allowed` and a sentence for people. */
typedef void tally_permission_told(void *data, bool allowed, const char *sentence);

/* Calls back once for each driver that is loaded. `root`: the root of the file system, ""
 * outside of tests. */
void tally_permission_tell(const char *root, bool is_root, tally_permission_told *told,
			   void *data);

#endif
