/* SPDX-License-Identifier: MIT */
/* cli/machine/doctor_sets.h - the rows of `doctor` about the GPU's own counters: sets,
 * rotations, and what is measured without them.
 *
 * Rows go to standard output through tally_doctor_row(). One thread.
 */
#ifndef PASSTALLY_CLI_DOCTOR_SETS_H
#define PASSTALLY_CLI_DOCTOR_SETS_H

#include "cli/machine/probe.h"

#include <glib.h>

/* Prints a row for each set of the source, up to a dozen. */
void tally_doctor_sets(const struct tally_probe_found *found, const char *source);
/* Prints how long a full rotation takes; nothing if there are no sets. */
void tally_doctor_rotation(const struct tally_probe_found *found);
/* What is measured on a device, for example "the program's calls, GPU times"; free with
 * g_free(). */
char *tally_doctor_gives(const struct tally_device_record *device);
/* What is still measured when a source of the GPU's own counters is off; NULL: it is not
 * such a source. Free with g_free(). */
char *tally_doctor_remains(const struct tally_device_record *device, const char *source);
/* Prints the kernel settings. */
void tally_doctor_permission(void);

#endif
