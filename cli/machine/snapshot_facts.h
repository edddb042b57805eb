/* SPDX-License-Identifier: MIT */
/* cli/machine/snapshot_facts.h - what counters depend on: settings and device nodes.
 *
 * It reports who may read which, and the command or the rule that would permit more users.
 * One thread; reads files, and checks the access rights of device nodes without opening
 * them.
 */
#ifndef PASSTALLY_CLI_SNAPSHOT_FACTS_H
#define PASSTALLY_CLI_SNAPSHOT_FACTS_H

#include <stdbool.h>

/* One fact: whether everything is in order, a word for the subject, and a sentence for
 * people. */
typedef void tally_snapshot_report(void *data, bool fine, const char *what, const char *sentence);

/* Reports whether this user may read the GPU's own counters, once for each driver that is loaded:
 * Linux's graphics drivers for Intel restrict them to root unless a kernel setting says otherwise.
 * `root`: the root of the file system, "" outside of tests. */
void tally_snapshot_report_permission(const char *root, bool is_root, tally_snapshot_report *report,
				    void *data);
/* Reports Mali's nodes and render nodes. */
void tally_snapshot_report_nodes(const char *root, tally_snapshot_report *report, void *data);

#endif
