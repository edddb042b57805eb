/* SPDX-License-Identifier: MIT */
/* scenes/vk/rendering.c - scenes of dynamic rendering, also suspended and resumed. */
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

/* A part of the rendering, with one draw. */
static void
rendering_piece(struct vk_stage *s, VkCommandBuffer commands, VkRenderingFlags flags, float red,
		uint32_t vertices, uint32_t instances)
{
	begin_rendering(commands, flags);
	vk_draw(s, commands, screen.pipeline, red, vertices, instances);
	vkCmdEndRendering(commands);
}

static void
rendering_init(struct vk_stage *s)
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
	rendering_piece(s, commands, 0, 0.1F * (float)number, 6, 1);
	rendering_piece(s, commands, 0, 0.9F, 3, 3);
	vk_finish(s, commands);
}

static const struct expect_pass rendering_passes[] = {
	{ SCREEN_PASS(6, 1), .depth = "D32_SFLOAT" },
	{ SCREEN_PASS(3, 3), .depth = "D32_SFLOAT" },
	COPY_OUT,
};

/* ---- suspend: three parts in one command buffer are one pass ---- */

static void
suspend_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	rendering_piece(s, commands, VK_RENDERING_SUSPENDING_BIT, 0.1F * (float)number, 3, 1);
	rendering_piece(s, commands,
			VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT, 0.4F, 6, 1);
	rendering_piece(s, commands, VK_RENDERING_RESUMING_BIT, 0.5F, 9, 1);
	vk_finish(s, commands);
}

static const struct expect_pass suspend_passes[] = {
	{ COVERED(3, 18, 3), CLEARED, .depth = "D32_SFLOAT",
	  .unsure = EXPECT_NO_COUNTERS | EXPECT_ANY_WORKLOADS },
	COPY_OUT,
};

/* ---- suspend_across: the same over three command buffers of one batch ---- */

static void
suspend_across_frame(struct vk_stage *s, unsigned number)
{
	static const VkRenderingFlags flags[3] = {
		VK_RENDERING_SUSPENDING_BIT,
		VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT,
		VK_RENDERING_RESUMING_BIT,
	};
	VkCommandBuffer commands[3];
	for (uint32_t i = 0; i < 3; i++) {
		commands[i] = vk_begin(s, 0);
		rendering_piece(s, commands[i], flags[i], 0.1F * (float)number, 3 * (i + 1), 1);
		if (i == 2)
			vk_copy_out(commands[i], &screen.picture, &screen.out);
		vk_end(commands[i]);
	}
	vk_submit(s, 3, commands, s->fence);
	vk_end_frame(s, 3, commands);
}

const struct vk_scene vk_rendering_scenes[] = {
	SCENE(rendering, rendering_init),
	SCENE(suspend, rendering_init),
	SCENE_AS(suspend_across, suspend_across_frame, suspend_passes, rendering_init),
	{ 0 },
};
