/* SPDX-License-Identifier: MIT */
/* scenes/vk/secondary.c - scenes of secondary command buffers. */
#include "scenes/vk/scenes.h"

static VkPipeline rendering_pipeline;
static VkCommandBuffer kept[2];

static VkCommandBuffer
draw_secondary(struct vk_stage *s, VkCommandBufferUsageFlags flags, float red, uint32_t vertices)
{
	VkCommandBuffer commands = vk_begin_secondary(s, screen.pass, NULL, flags);
	vk_draw(s, commands, screen.pipeline, red, vertices, 1);
	vk_end(commands);
	return commands;
}

/* A pass made of `n` secondaries, copied out and run. */
static void
execute_pass(struct vk_stage *s, uint32_t n, const VkCommandBuffer *secondaries)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_pass(commands, screen.pass, screen.framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
	vkCmdExecuteCommands(commands, n, secondaries);
	vkCmdEndRenderPass(commands);
	vk_finish(s, commands);
}

/* ---- secondaries: two inside a pass; their counts are the pass's ---- */

static void
inside_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer secondaries[2] = {
		draw_secondary(s, 0, 0.1F * (float)number, 3),
		draw_secondary(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, 0.5F, 6),
	};
	execute_pass(s, 2, secondaries);
	vkFreeCommandBuffers(s->device, s->pool, 2, secondaries);
}

static const struct expect_pass inside_passes[] = {
	{ COVERED(2, 9, 2), CLEARED, .unsure = EXPECT_ANY_WORKLOADS },
	COPY_OUT,
};

/* ---- secondaries_kept: recorded once, executed in every frame ---- */

static void
kept_init(struct vk_stage *s)
{
	kept[0] = draw_secondary(s, 0, 0.2F, 3);
	kept[1] = draw_secondary(s, 0, 0.4F, 6);
}

static void
kept_frame(struct vk_stage *s, unsigned number)
{
	execute_pass(s, 2, kept);
}

/* ---- secondary_twice: for simultaneous use, so executed twice in one pass ---- */

static void
twice_init(struct vk_stage *s)
{
	kept[0] = draw_secondary(s, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, 0.2F, 3);
	kept[1] = kept[0];
}

/* Nothing may be counted in a secondary that may run twice at once. */
static const struct expect_pass twice_passes[] = {
	{ .kind = "render", CLEARED, .draws = 2, .vertices = 6, .instances = 2,
	  .unsure = EXPECT_NO_COUNTERS | EXPECT_ANY_WORKLOADS },
	COPY_OUT,
};

/* ---- secondary_rendering: inside dynamic rendering ---- */

static void
rendering_init(struct vk_stage *s)
{
	rendering_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
							 .colors = 1,
							 .color = VK_FORMAT_R8G8B8A8_UNORM,
						 });
}

static void
rendering_frame(struct vk_stage *s, unsigned number)
{
	VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
	VkCommandBufferInheritanceRenderingInfo rendering = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
		.colorAttachmentCount = 1,
		.pColorAttachmentFormats = &format,
		.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
	};
	VkCommandBuffer secondary = vk_begin_secondary(s, VK_NULL_HANDLE, &rendering, 0);
	vk_draw(s, secondary, rendering_pipeline, 0.1F * (float)number, 12, 1);
	vk_end(secondary);
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_take_picture(commands, &screen.picture);
	vk_begin_rendering(commands, &screen.picture, NULL, VK_ATTACHMENT_LOAD_OP_CLEAR, 0,
			   VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
	vkCmdExecuteCommands(commands, 1, &secondary);
	vkCmdEndRendering(commands);
	vk_finish(s, commands);
	vk_free(s, secondary);
}

static const struct expect_pass rendering_passes[] = {
	{ SCREEN_PASS(12, 1), .unsure = EXPECT_ANY_WORKLOADS },
	COPY_OUT,
};

const struct vk_scene vk_secondary_scenes[] = {
	SCENE_AS(secondaries, inside_frame, inside_passes, NULL),
	SCENE_AS(secondaries_kept, kept_frame, inside_passes, kept_init),
	SCENE_AS(secondary_twice, kept_frame, twice_passes, twice_init),
	SCENE_AS(secondary_rendering, rendering_frame, rendering_passes, rendering_init),
	{ 0 },
};
