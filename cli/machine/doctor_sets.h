/* cli/machine/doctor_sets.h - what `doctor` says of the GPU's own counters: sets, turns, what
 * remains.
 *
 * Rows go to standard output through tally_doctor_row(). One thread.
 */
#ifndef PASSTALLY_CLI_DOCTOR_SETS_H
#define PASSTALLY_CLI_DOCTOR_SETS_H

#include "cli/machine/probe.h"

#include <glib.h>

/* A row for each set of the source, up to a dozen. */
void tally_doctor_sets(const struct tally_probe_found *found, const char *source);
/* How long a full rotation takes; nothing where there is no set. */
void tally_doctor_rotation(const struct tally_probe_found *found);
/* What is measured where a source of the GPU's own counters is off; NULL: it is no such source.
 * g_free(). */
char *tally_doctor_remains(const struct tally_device_record *device, const char *source);
/* The kernel's settings. */
void tally_doctor_permission(void);

#endif
