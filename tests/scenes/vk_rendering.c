/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_rendering.c - dynamic rendering with a view mask. */
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

const struct vk_scene vk_more_rendering_scenes[] = {
	SCENE(views, views_init, .bare = true),
	{ 0 },
};
