/* SPDX-License-Identifier: MIT */
/* What Vulkan sources have in common. */
#include "query/vk/source.h"

#include <stdlib.h>

enum tally_status
tally_vk_create_pool(struct tally_vk_source *src, const VkQueryPoolCreateInfo *info,
		     VkQueryPool *out)
{
	VkResult result = src->api->CreateQueryPool(src->api->device, info, NULL, out);
	return result == VK_SUCCESS ? TALLY_OK : TALLY_NO_MEMORY;
}

void
tally_vk_reset_slots(struct tally_vk_source *src, VkQueryPool pool, uint32_t first, uint32_t n)
{
	src->api->ResetQueryPool(src->api->device, pool, first, n);
}

void
tally_vk_begin_slots(struct tally_vk_source *src, VkCommandBuffer cb, VkQueryPool pool,
		     uint32_t slot, uint32_t views)
{
	(void)views;
	src->api->CmdBeginQuery(cb, pool, slot, 0);
}

void
tally_vk_end_slots(struct tally_vk_source *src, VkCommandBuffer cb, VkQueryPool pool,
		   uint32_t slot, uint32_t views)
{
	(void)views;
	src->api->CmdEndQuery(cb, pool, slot);
}

void
tally_vk_no_tick(struct tally_vk_source *src, uint64_t now_ns)
{
	(void)src;
	(void)now_ns;
}

void
tally_vk_source_destroy(struct tally_vk_source *src)
{
	free(src);
}
