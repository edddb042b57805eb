/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_stage.h - what tests alone make on a stage of scenes/vk: their own queries, and
 * commands of extensions.
 *
 * As in scenes/vk/stage.h, what fails ends the program with 99.
 */
#ifndef PASSTALLY_TESTS_SCENES_VK_STAGE_H
#define PASSTALLY_TESTS_SCENES_VK_STAGE_H

#include "scenes/vk/stage.h"

#include <stdio.h>
#include <stdlib.h>

static inline PFN_vkVoidFunction
vk_device_command(const struct vk_stage *s, const char *name)
{
	PFN_vkVoidFunction command = vkGetDeviceProcAddr(s->device, name);
	if (!command) {
		fprintf(stderr, "the device has no %s\n", name);
		exit(99);
	}
	return command;
}
#define VK_DEVICE_COMMAND(s, name) ((PFN_##name)vk_device_command(s, #name))

static inline VkQueryPool
vk_make_queries(struct vk_stage *s, VkQueryType type, uint32_t n,
		VkQueryPipelineStatisticFlags statistics)
{
	VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = type,
		.queryCount = n,
		.pipelineStatistics = statistics,
	};
	VkQueryPool queries;
	VK_STAGE_MAKE(s, QueryPool, &info, &queries);
	return queries;
}

#endif
