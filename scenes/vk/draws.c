/* SPDX-License-Identifier: MIT */
/* scenes/vk/draws.c - scenes of every kind of draw, and of state that changes the effect of
 * draws. */
#include "scenes/vk/scenes.h"

#include <string.h>

static struct vk_buffer numbers, indices;
static VkPhysicalDeviceMultiDrawFeaturesEXT multi_draw_feature = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT,
	.multiDraw = VK_TRUE,
};

VkCommandBuffer
vk_open_pass(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_screen(commands, &screen);
	vk_prepare_draw(s, commands, screen.pipeline, 0.1F * (float)number, VK_STAGE_WIDTH,
			VK_STAGE_HEIGHT);
	return commands;
}

void
vk_close_pass(struct vk_stage *s, VkCommandBuffer commands)
{
	vkCmdEndRenderPass(commands);
	vk_finish(s, commands);
}

/* ---- indexed ---- */

static void
indexed_init(struct vk_stage *s)
{
	indices = vk_make_buffer(s, 4096);
	for (uint32_t i = 0; i < 1024; i++)
		((uint32_t *)indices.map)[i] = i % 6;
}

static void
indexed_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_open_pass(s, number);
	vkCmdBindIndexBuffer(commands, indices.handle, 0, VK_INDEX_TYPE_UINT32);
	vkCmdDrawIndexed(commands, 12, 1, 0, 0, 0);
	vkCmdDrawIndexed(commands, 6, 2, 6, 0, 0);
	vk_close_pass(s, commands);
}

static const struct expect_pass indexed_passes[] = {
	{ COVERED(2, 24, 3), CLEARED, .unsure = EXPECT_ANY_SHADED },
	COPY_OUT,
};

/* ---- indirect: counts in a buffer ---- */

static void
indirect_init(struct vk_stage *s)
{
	static const VkDrawIndirectCommand draws[2] = { { 3, 1, 0, 0 }, { 6, 1, 0, 0 } };
	static const VkDrawIndexedIndirectCommand indexed = { 6, 1, 0, 0, 0 };
	indexed_init(s);
	numbers = vk_make_buffer(s, 4096);
	memcpy(numbers.map, draws, sizeof(draws));
	memcpy((char *)numbers.map + 256, &indexed, sizeof(indexed));
	((uint32_t *)numbers.map)[512 / 4] = 1;
}

static void
indirect_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_open_pass(s, number);
	vkCmdBindIndexBuffer(commands, indices.handle, 0, VK_INDEX_TYPE_UINT32);
	vkCmdDrawIndirect(commands, numbers.handle, 0, 2, sizeof(VkDrawIndirectCommand));
	vkCmdDrawIndexedIndirect(commands, numbers.handle, 256, 1, 0);
	vk_close_pass(s, commands);
}

static const struct expect_pass indirect_passes[] = {
	{ COVERED(3, 15, 3), CLEARED, .flags = "indirect", .workloads = 2,
	  .unsure = EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES | EXPECT_ANY_SHADED },
	COPY_OUT,
};

/* ---- indirect_count: also their number ---- */

static void
indirect_count_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_open_pass(s, number);
	vkCmdDraw(commands, 3, 1, 0, 0);
	vkCmdDrawIndirectCount(commands, numbers.handle, 0, numbers.handle, 512, 2,
			       sizeof(VkDrawIndirectCommand));
	vk_close_pass(s, commands);
}

static const struct expect_pass indirect_count_passes[] = {
	{ COVERED(2, 6, 2), CLEARED, .flags = "indirect", .workloads = 2,
	  .unsure = EXPECT_NO_DRAWS | EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES },
	COPY_OUT,
};

/* ---- multi_draw: VK_EXT_multi_draw, each draw counts ---- */

static void
multi_draw_frame(struct vk_stage *s, unsigned number)
{
	static const VkMultiDrawInfoEXT draws[3] = { { 0, 3 }, { 0, 6 }, { 3, 3 } };
	static const VkMultiDrawIndexedInfoEXT indexed[2] = { { 0, 6, 0 }, { 6, 3, 0 } };
	PFN_vkCmdDrawMultiEXT draw_multi = VK_DEVICE_COMMAND(s, vkCmdDrawMultiEXT);
	PFN_vkCmdDrawMultiIndexedEXT draw_indexed =
		VK_DEVICE_COMMAND(s, vkCmdDrawMultiIndexedEXT);
	VkCommandBuffer commands = vk_open_pass(s, number);
	vkCmdBindIndexBuffer(commands, indices.handle, 0, VK_INDEX_TYPE_UINT32);
	draw_multi(commands, 3, draws, 2, 0, sizeof(draws[0]));
	draw_indexed(commands, 2, indexed, 1, 0, sizeof(indexed[0]), NULL);
	vk_close_pass(s, commands);
}

static const struct expect_pass multi_draw_passes[] = {
	{ COVERED(5, 33, 8), CLEARED, .workloads = 2, .unsure = EXPECT_ANY_SHADED },
	COPY_OUT,
};

#define OFFERED(name, feature) .wish = { .device_extensions = { name }, .extra = (feature) }

const struct vk_scene vk_draw_scenes[] = {
	SCENE(indexed, indexed_init),
	SCENE(indirect, indirect_init),
	SCENE(indirect_count, indirect_init),
	SCENE(multi_draw, indexed_init,
	      OFFERED("VK_EXT_multi_draw", &multi_draw_feature)),
	{ 0 },
};
