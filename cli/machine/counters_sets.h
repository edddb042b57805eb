/* SPDX-License-Identifier: MIT */
/* cli/machine/counters_sets.h - the counters of a device as a list, and the sets that group them,
 * for people and for programs.
 *
 * Counters that cannot be counted at the same time are rotated, one set per captured frame.
 */
#ifndef PASSTALLY_CLI_MACHINE_COUNTERS_SETS_H
#define PASSTALLY_CLI_MACHINE_COUNTERS_SETS_H

#include "layer/record.h"

#include <stdbool.h>

/* Number of captured frames until every counter was counted; `pinned`: the --set of a run,
 * or NULL. 0: no set is counted, because there is none or none of that name. */
uint32_t tally_sets_rotation(const struct tally_device_record *device, const char *pinned);
/* For example "38 counters, 216 bytes"; free with g_free(). */
char *tally_set_size(const struct tally_device_record *device, const struct tally_set_info *set);
/* The number of frames in a rotation, as a sentence; free with g_free(). */
char *tally_sets_rotation_text(const struct tally_device_record *device, const char *pinned);

/* Prints the counters of the source, each with its description below it. Returns false if there
 * are none. */
bool tally_counters_print(const struct tally_device_record *device, const char *source);

#endif
