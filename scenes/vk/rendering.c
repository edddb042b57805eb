/* SPDX-License-Identifier: MIT */
/* scenes/vk/rendering.c - scenes of dynamic rendering. */
#include "scenes/vk/scenes.h"

static struct vk_picture depth;

static void
begin_rendering(VkCommandBuffer commands, VkRenderingFlags flags)
{
	if (!(flags & VK_RENDERING_RESUMING_BIT)) {
		vk_take_picture(commands, &screen.picture);
		vk_take_picture(commands, &depth);
	}
	vk_begin_rendering(commands, &screen.picture, &depth, VK_ATTACHMENT_LOAD_OP_CLEAR, 0,
			   flags);
}

void
vk_rendering_piece(struct vk_stage *s, VkCommandBuffer commands, VkRenderingFlags flags, float red,
		   uint32_t vertices, uint32_t instances)
{
	begin_rendering(commands, flags);
	vk_draw(s, commands, screen.pipeline, red, vertices, instances);
	vkCmdEndRendering(commands);
}

void
vk_rendering_init(struct vk_stage *s)
{
	depth = vk_make_picture(s, VK_FORMAT_D32_SFLOAT, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
				VK_SAMPLE_COUNT_1_BIT);
	screen.pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						      .colors = 1,
						      .color = VK_FORMAT_R8G8B8A8_UNORM,
						      .depth = VK_FORMAT_D32_SFLOAT,
						      .writes_depth = true,
					      });
}

/* ---- rendering: two instances of it, one after the other ---- */

static void
rendering_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	vk_rendering_piece(s, commands, 0, 0.1F * (float)number, 6, 1);
	vk_rendering_piece(s, commands, 0, 0.9F, 3, 3);
	vk_finish(s, commands);
}

static const struct expect_pass rendering_passes[] = {
	{ SCREEN_PASS(6, 1), .depth = "D32_SFLOAT" },
	{ SCREEN_PASS(3, 3), .depth = "D32_SFLOAT" },
	COPY_OUT,
};

const struct vk_scene vk_rendering_scenes[] = {
	SCENE(rendering, vk_rendering_init),
	{ 0 },
};
