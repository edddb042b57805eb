/* SPDX-License-Identifier: MIT */
/* scenes/vk/rendering.c - scenes of dynamic rendering, suspended and resumed too. */
#include "scenes/vk/scenes.h"

static struct vk_picture picture, depth, layered;
static VkPipeline pipeline, view_pipeline;
static struct vk_buffer out;

static void
begin_rendering(VkCommandBuffer commands, VkRenderingFlags flags, bool with_depth)
{
	bool resumes = flags & VK_RENDERING_RESUMING_BIT;
	VkRenderingAttachmentInfo color = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = picture.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.clearValue.color.float32 = { 0, 0.5F, 0, 1 },
	};
	VkRenderingAttachmentInfo far_away = color;
	far_away.imageView = depth.view;
	far_away.clearValue = (VkClearValue){ .depthStencil.depth = 1 };
	VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.flags = flags,
		.renderArea.extent = { VK_STAGE_WIDTH, VK_STAGE_HEIGHT },
		.layerCount = 1,
		.colorAttachmentCount = 1,
		.pColorAttachments = &color,
		.pDepthAttachment = with_depth ? &far_away : NULL,
	};
	if (!resumes) {
		vk_take_picture(commands, &picture);
		if (with_depth)
			vk_take_picture(commands, &depth);
	}
	vkCmdBeginRendering(commands, &info);
}

static void
rendering_init(struct vk_stage *s)
{
	picture = vk_make_screen(s);
	depth = vk_make_picture(s, VK_FORMAT_D32_SFLOAT, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
				VK_SAMPLE_COUNT_1_BIT);
	pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
					       .colors = 1,
					       .color = VK_FORMAT_R8G8B8A8_UNORM,
					       .depth = VK_FORMAT_D32_SFLOAT,
					       .writes_depth = true,
				       });
	out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

static void
end_frame(struct vk_stage *s, VkCommandBuffer commands)
{
	vk_copy_out(commands, &picture, &out);
	vk_run(s, commands);
	vk_read(s, &out);
}

/* ---- rendering: two instances of it, one after the other ---- */

static void
rendering_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	begin_rendering(commands, 0, true);
	vk_draw(s, commands, pipeline, 0.1F * (float)number, 6, 1);
	vkCmdEndRendering(commands);
	begin_rendering(commands, 0, true);
	vk_draw(s, commands, pipeline, 0.9F, 3, 3);
	vkCmdEndRendering(commands);
	end_frame(s, commands);
}

static const struct vk_expect rendering_passes[] = {
	{ SCREEN_PASS(6, 1), .depth = "D32_SFLOAT" },
	{ SCREEN_PASS(3, 3), .depth = "D32_SFLOAT" },
	COPY_OUT,
};

/* ---- suspend: three pieces in one command buffer are one pass ---- */

static void
suspend_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	begin_rendering(commands, VK_RENDERING_SUSPENDING_BIT, true);
	vk_draw(s, commands, pipeline, 0.1F * (float)number, 3, 1);
	vkCmdEndRendering(commands);
	begin_rendering(commands, VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT, true);
	vk_draw(s, commands, pipeline, 0.4F, 6, 1);
	vkCmdEndRendering(commands);
	begin_rendering(commands, VK_RENDERING_RESUMING_BIT, true);
	vk_draw(s, commands, pipeline, 0.5F, 9, 1);
	vkCmdEndRendering(commands);
	end_frame(s, commands);
}

#define SUSPENDED \
	{ \
		.kind = "render", .load = "clear", .store = "store", .draws = 3, .vertices = 18, \
		.instances = 3, .primitives = 6, .shaded = 18, .fragments = 6 * PIXELS, \
		.color = "R8G8B8A8_UNORM", .depth = "D32_SFLOAT", \
		.unsure = EXPECT_NO_COUNTERS | EXPECT_ANY_WORKLOADS \
	}
static const struct vk_expect suspend_passes[] = { SUSPENDED, COPY_OUT };

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
		begin_rendering(commands[i], flags[i], true);
		vk_draw(s, commands[i], pipeline, 0.1F * (float)number, 3 * (i + 1), 1);
		vkCmdEndRendering(commands[i]);
		if (i == 2)
			vk_copy_out(commands[i], &picture, &out);
		vk_end(s, commands[i]);
	}
	vk_submit(s, 3, commands, s->fence);
	vk_wait(s);
	for (int i = 0; i < 3; i++)
		vk_free(s, commands[i]);
	vk_read(s, &out);
}

/* ---- views: dynamic rendering with a view mask ---- */

static void
views_init(struct vk_stage *s)
{
	layered = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, VK_STAGE_WIDTH,
				  VK_STAGE_HEIGHT, 3, VK_SAMPLE_COUNT_1_BIT);
	view_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						    .colors = 1,
						    .color = VK_FORMAT_R8G8B8A8_UNORM,
						    .view_mask = 5,
						    .vertex = VK_SHADER_VIEWS,
					    });
	out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 12);
}

static void
views_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	VkRenderingAttachmentInfo color = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = layered.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
	};
	VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { VK_STAGE_WIDTH, VK_STAGE_HEIGHT },
		.layerCount = 1,
		.viewMask = 5,
		.colorAttachmentCount = 1,
		.pColorAttachments = &color,
	};
	VkClearColorValue grey = { .float32 = { 0.5F, 0.5F, 0.5F, 1 } };
	VkImageSubresourceRange range = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 3 };
	vk_take_picture(commands, &layered);
	vkCmdClearColorImage(commands, layered.image, VK_IMAGE_LAYOUT_GENERAL, &grey, 1, &range);
	vk_barrier_all(commands);
	vkCmdBeginRendering(commands, &info);
	vk_draw(s, commands, view_pipeline, 0.1F * (float)number, 3, 1);
	vk_draw(s, commands, view_pipeline, 0.3F, 6, 1);
	vkCmdEndRendering(commands);
	vk_copy_out(commands, &layered, &out);
	vk_run(s, commands);
	vk_read(s, &out);
}

static const struct vk_expect views_passes[] = {
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

const struct vk_scene vk_rendering_scenes[] = {
	{ "rendering", .init = rendering_init, .frame = rendering_frame,
	  VK_PASSES(rendering_passes) },
	{ "suspend", .init = rendering_init, .frame = suspend_frame, VK_PASSES(suspend_passes) },
	{ "suspend_across", .init = rendering_init, .frame = suspend_across_frame,
	  VK_PASSES(suspend_passes), .uncounted = true },
	{ "views", .init = views_init, .frame = views_frame, VK_PASSES(views_passes) },
	{ 0 },
};
