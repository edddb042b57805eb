/* SPDX-License-Identifier: MIT */
/* cli/machine/snapshot_facts.h - the rows of doctor about the kernel, and about who may read the
 * counters of GPUs.
 */
#ifndef PASSTALLY_CLI_MACHINE_SNAPSHOT_FACTS_H
#define PASSTALLY_CLI_MACHINE_SNAPSHOT_FACTS_H

#include "cli/machine/doctor_rows.h"

/* The kernel. */
void tally_doctor_kernel(void);
/* Whether this user may read the GPU's own counters, for each driver that is loaded: Linux's
 * graphics drivers for Intel restrict them to root unless a kernel setting says otherwise. `root`:
 * the root of the file system, "" outside of tests. */
void tally_doctor_permission(const char *root, bool is_root);
/* Whether this user may open Mali's nodes and render nodes, without opening them. */
void tally_doctor_nodes(const char *root);

#endif
