/* SPDX-License-Identifier: MIT */
/* cli/log/keys.h - the counters and metrics of a log, each with one column.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_LOG_KEYS_H
#define PASSTALLY_CLI_LOG_KEYS_H

#include "cli/log/aggregate_parts.h"

/* The index of a key among a->keys, added where it is new. */
uint32_t tally_aggregate_key(struct tally_aggregate *a, const char *key, bool metric);

#endif
