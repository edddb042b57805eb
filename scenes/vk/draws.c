/* SPDX-License-Identifier: MIT */
/* scenes/vk/draws.c - scenes of every kind of draw, and of state that changes the effect of
 * draws. */
#include "scenes/vk/scenes.h"

#include <string.h>

static struct vk_buffer numbers, indices;

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

struct vk_buffer
vk_make_indices(struct vk_stage *s)
{
	struct vk_buffer made = vk_make_buffer(s, 4096);
	for (uint32_t i = 0; i < 1024; i++)
		((uint32_t *)made.map)[i] = i % 6;
	return made;
}

static void
indexed_init(struct vk_stage *s)
{
	indices = vk_make_indices(s);
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

const struct vk_scene vk_draw_scenes[] = {
	SCENE(indexed, indexed_init),
	SCENE(indirect, indirect_init),
	{ 0 },
};
