/* SPDX-License-Identifier: MIT */
/* cli/machine/counters.h - the parts of `passtally counters`.
 * One thread.
 */
#ifndef PASSTALLY_CLI_COUNTERS_H
#define PASSTALLY_CLI_COUNTERS_H

#include "layer/record.h"

#include <stdbool.h>

/* ---- counters_table.c ---- */

/* Prints those of the source as a table. Returns false if there are none. */
bool tally_counters_print(const struct tally_device_record *device, const char *source);

#endif
