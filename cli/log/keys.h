/* SPDX-License-Identifier: MIT */
/* cli/log/keys.h - the series of a log: GPU time, calls, and each counter and metric.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_LOG_KEYS_H
#define PASSTALLY_CLI_LOG_KEYS_H

#include "cli/log/aggregate_parts.h"

void tally_keys_init(struct tally_aggregate *a);
/* The series of a counter or metric, which is added where it is new. */
uint32_t tally_aggregate_key(struct tally_aggregate *a, const char *key, bool metric);

#endif
