/* SPDX-License-Identifier: MIT */
/* cli/bisect/tree.h - checked-out revisions, and the search between two of them: git does both, in
 * worktrees of its own, so that the user's is left alone. One thread; blocks.
 */
#ifndef PASSTALLY_CLI_BISECT_TREE_H
#define PASSTALLY_CLI_BISECT_TREE_H

#include <stdbool.h>

/* Checks a revision out as a new folder, and removes it. False after an error on standard error. */
bool tally_tree_add(const char *folder, const char *revision);
void tally_tree_remove(const char *folder);

/* Runs a script in the folder, through the shell. Returns whether it ended with 0. */
bool tally_tree_build(const char *folder, const char *script);

/* What the revision is, as "1a2b3c4 its subject"; the caller frees it. */
char *tally_tree_name(const char *folder, const char *revision);

enum tally_tree_mark { TALLY_TREE_GOOD = 0, TALLY_TREE_BAD, TALLY_TREE_SKIP };
enum tally_tree_state {
	TALLY_TREE_NEXT = 0, /* another revision is checked out */
	TALLY_TREE_FOUND, /* `found` is the first bad one; the caller frees it */
	TALLY_TREE_LEFT, /* only skipped ones are left */
	TALLY_TREE_FAILED, /* after an error on standard error */
};
enum tally_tree_state
tally_tree_start(const char *folder, const char *good, const char *bad, char **found);
enum tally_tree_state tally_tree_mark(const char *folder, enum tally_tree_mark mark, char **found);

#endif
