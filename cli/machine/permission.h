/* cli/machine/permission.h - may this user read the GPU's own counters, and what would let
 * them.
 *
 * Linux's graphics drivers for Intel keep them for root unless a setting of the kernel says
 * otherwise. One thread; reads files in /proc only.
 */
#ifndef PASSTALLY_CLI_PERMISSION_H
#define PASSTALLY_CLI_PERMISSION_H

#include <stdbool.h>

/* `allowed`, and a sentence for people. */
typedef void tally_permission_told(void *data, bool allowed, const char *sentence);

/* Tells of each driver that is loaded. `root`: where the file system begins, "" outside of
 * tests. */
void tally_permission_tell(const char *root, bool is_root, tally_permission_told *told,
			   void *data);

#endif
