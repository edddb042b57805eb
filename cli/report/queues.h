/* SPDX-License-Identifier: MIT */
/* cli/report/queues.h - how long each queue worked, and what ran beside others.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_QUEUES_H
#define PASSTALLY_CLI_REPORT_QUEUES_H

#include "cli/log/aggregate.h"

#include <stdio.h>

/* How long each queue worked, and which passes ran beside others; nothing where no
 * frame had passes on several queues. */
void tally_queues_print(FILE *out, const struct tally_aggregate *a,
			const struct tally_device_summary *d);

#endif
