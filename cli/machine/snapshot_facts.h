/* cli/machine/snapshot_facts.h - what snapshot sources depend on: settings, device nodes,
 * drivers.
 *
 * Who may read which, and the command or the rule that lets more people. One thread; reads
 * files, and asks for the rights to device nodes without opening them.
 */
#ifndef PASSTALLY_CLI_SNAPSHOT_FACTS_H
#define PASSTALLY_CLI_SNAPSHOT_FACTS_H

#include <stdbool.h>

/* One fact: whether nothing needs to be done, a word for what it is about, and a sentence for
 * people. */
typedef void tally_snapshot_told(void *data, bool fine, const char *what, const char *sentence);

/* `root`: where the file system begins, "" outside of tests. */
void
tally_snapshot_tell_perf(const char *root, bool is_root, tally_snapshot_told *told, void *data);
/* Mali's nodes, render nodes, and their modules. */
void tally_snapshot_tell_nodes(const char *root, tally_snapshot_told *told, void *data);

#endif
