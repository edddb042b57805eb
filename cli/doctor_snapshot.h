/* cli/doctor_snapshot.h - what `doctor` says of counters that the CPU reads: of Mali GPUs, of
 * its own.
 *
 * Each source, on or why not; and what stands behind it: the kernel, the device nodes and who
 * may open them, the settings of perf and panfrost and the commands that change them. One
 * thread; reads files and opens device nodes.
 */
#ifndef PASSTALLY_CLI_DOCTOR_SNAPSHOT_H
#define PASSTALLY_CLI_DOCTOR_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

void tally_doctor_snapshots(void);

/* For tests: what is told of a setting or a node. `fine`: nothing needs to be done. */
typedef void tally_doctor_told(void *data, bool fine, const char *what, const char *sentence);
/* kernel.perf_event_paranoid, of which `text` is the file's content or NULL. */
void tally_doctor_tell_perf(const char *text, bool is_root, tally_doctor_told *told, void *data);
/* Mali's device nodes, render nodes, and the modules behind them, below `root` ("" outside of
 * tests). */
void tally_doctor_tell_nodes(const char *root, tally_doctor_told *told, void *data);

#endif
