/* cli/machine/doctor_snapshot.h - what `doctor` says of counters that the CPU reads: Mali's and
 * its own.
 *
 * Each source, on or why not, and what it depends on (cli/machine/snapshot_facts.h). Rows go
 * to standard output. One thread; opens and closes the sources.
 */
#ifndef PASSTALLY_CLI_DOCTOR_SNAPSHOT_H
#define PASSTALLY_CLI_DOCTOR_SNAPSHOT_H

void tally_doctor_snapshots(void);

#endif
