/* SPDX-License-Identifier: MIT */
/* vk_layer/record/workloads.h - intervals of single draws, dispatches and copies (granularity
 * draw).
 */
#ifndef PASSTALLY_VK_LAYER_RECORD_WORKLOADS_H
#define PASSTALLY_VK_LAYER_RECORD_WORKLOADS_H

#include "vk_layer/record/command.h"
#include "vk_layer/record/passes.h"

void vk_workload_end(struct vk_command *c); /* does nothing if none is open */

/* `what`: VK_MEASURE_ bits that it may have. */
void vk_workload_begin(struct vk_command *c, const char *command, unsigned what);

#endif
