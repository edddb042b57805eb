/* SPDX-License-Identifier: MIT */
/* cli/machine/doctor_snapshot.h - the rows of `doctor` about counters that the CPU reads:
 * Mali's and the CPU's own.
 *
 * Each source is reported as on, or as off with the reason, together with what it depends on
 * (cli/machine/snapshot_facts.h). Rows go to standard output. One thread; opens and closes
 * the sources.
 */
#ifndef PASSTALLY_CLI_DOCTOR_SNAPSHOT_H
#define PASSTALLY_CLI_DOCTOR_SNAPSHOT_H

void tally_doctor_snapshots(void);

#endif
