/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_rendering.c - dynamic rendering with a view mask, with several samples, and
 * suspended and resumed. */
#include "scenes/vk/scenes.h"

/* ---- views: dynamic rendering with a view mask ---- */

static void
views_init(struct vk_stage *s)
{
	screen.picture = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, VK_STAGE_WIDTH,
					 VK_STAGE_HEIGHT, 3, VK_SAMPLE_COUNT_1_BIT);
	screen.pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						      .colors = 1,
						      .color = VK_FORMAT_R8G8B8A8_UNORM,
						      .view_mask = 5,
						      .vertex = VK_SHADER_VIEWS,
					      });
	screen.out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 12);
}

static void
views_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	VkClearColorValue grey = { .float32 = { 0.5F, 0.5F, 0.5F, 1 } };
	VkImageSubresourceRange range = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 3 };
	vk_take_picture(commands, &screen.picture);
	vkCmdClearColorImage(commands, screen.picture.image, VK_IMAGE_LAYOUT_GENERAL,
			     &grey, 1, &range);
	vk_barrier_all(commands);
	vk_begin_rendering(commands, &screen.picture, NULL, VK_ATTACHMENT_LOAD_OP_LOAD, 5,
			   0);
	vk_draw(s, commands, screen.pipeline, 0.1F * (float)number, 3, 1);
	vk_draw(s, commands, screen.pipeline, 0.3F, 6, 1);
	vkCmdEndRendering(commands);
	vk_finish(s, commands);
}

static const struct expect_pass views_passes[] = {
	{ .kind = "transfer",
	  .clears = 1,
	  .color = "R8G8B8A8_UNORM",
	  .width = VK_STAGE_WIDTH,
	  .height = VK_STAGE_HEIGHT },
	{ .kind = "render",
	  .load = "load",
	  .store = "store",
	  .draws = 2,
	  .vertices = 9,
	  .instances = 2,
	  .primitives = 6,
	  .shaded = 18,
	  .fragments = 6 * PIXELS,
	  .color = "R8G8B8A8_UNORM" },
	COPY_OUT,
};

/* ---- secondary_samples: all of it in a secondary, with depth of four samples ---- */

static struct vk_picture depth;

static void
secondary_samples_init(struct vk_stage *s)
{
	const VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_4_BIT;
	screen.picture = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, VK_STAGE_WIDTH,
					 VK_STAGE_HEIGHT, 1, samples);
	depth = vk_make_picture(s, VK_FORMAT_D32_SFLOAT, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
				samples);
	screen.pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						      .colors = 1,
						      .color = VK_FORMAT_R8G8B8A8_UNORM,
						      .depth = VK_FORMAT_D32_SFLOAT,
						      .samples = samples,
						      .writes_depth = true,
					      });
}

static void
secondary_samples_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer secondary = vk_begin_secondary(s, VK_NULL_HANDLE, NULL, 0);
	vk_take_picture(secondary, &screen.picture);
	vk_take_picture(secondary, &depth);
	vk_begin_rendering(secondary, &screen.picture, &depth, VK_ATTACHMENT_LOAD_OP_CLEAR, 0, 0);
	vk_draw(s, secondary, screen.pipeline, 0.1F * (float)number, 3, 1);
	vkCmdEndRendering(secondary);
	vk_end(secondary);
	VkCommandBuffer commands = vk_begin(s, 0);
	vkCmdExecuteCommands(commands, 1, &secondary);
	vk_run(s, commands);
	vk_free(s, secondary);
}

static const struct expect_pass secondary_samples_passes[] = {
	{ DRAWN(1, 3), CLEARED, .samples = 4, .depth = "D32_SFLOAT",
	  .unsure = EXPECT_ANY_COUNTERS },
};

/* ---- suspend: three parts in one command buffer are one pass ---- */

static void
suspend_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_rendering_piece(s, commands, VK_RENDERING_SUSPENDING_BIT, 0.1F * (float)number, 3, 1);
	vk_rendering_piece(s, commands,
			   VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT, 0.4F, 6, 1);
	vk_rendering_piece(s, commands, VK_RENDERING_RESUMING_BIT, 0.5F, 9, 1);
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
		vk_rendering_piece(s, commands[i], flags[i], 0.1F * (float)number, 3 * (i + 1), 1);
		if (i == 2)
			vk_copy_out(commands[i], &screen.picture, &screen.out);
		vk_end(commands[i]);
	}
	vk_submit(s, 3, commands, s->fence);
	vk_end_frame(s, 3, commands);
}

const struct vk_scene vk_more_rendering_scenes[] = {
	SCENE(views, views_init, .bare = true),
	SCENE(secondary_samples, secondary_samples_init, .bare = true),
	SCENE(suspend, vk_rendering_init),
	SCENE_AS(suspend_across, suspend_across_frame, suspend_passes, vk_rendering_init),
	{ 0 },
};
