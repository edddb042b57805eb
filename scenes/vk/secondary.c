/* SPDX-License-Identifier: MIT */
/* scenes/vk/secondary.c - scenes of secondary command buffers. */
#include "scenes/vk/scenes.h"

static struct vk_screen screen;
static struct vk_buffer words;
static struct vk_compute compute;
static VkPipeline rendering_pipeline;
static VkCommandBuffer kept[2];

/* Inside `pass` when there is one. */
static VkCommandBuffer
begin_secondary(struct vk_stage *s, VkRenderPass pass, VkCommandBufferUsageFlags flags)
{
	VkCommandBufferAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = s->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
		.commandBufferCount = 1,
	};
	VkCommandBuffer commands;
	vk_check(vkAllocateCommandBuffers(s->device, &allocate, &commands),
		 "vkAllocateCommandBuffers");
	VkCommandBufferInheritanceInfo inherits = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.renderPass = pass,
	};
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = flags | (pass ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT : 0U),
		.pInheritanceInfo = &inherits,
	};
	vk_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
	return commands;
}

static VkCommandBuffer
draw_secondary(struct vk_stage *s, VkCommandBufferUsageFlags flags, float red, uint32_t vertices)
{
	VkCommandBuffer commands = begin_secondary(s, screen.pass, flags);
	vk_draw(s, commands, screen.pipeline, red, vertices, 1);
	vk_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
	return commands;
}

/* A pass made of `n` secondaries, copied out, run. */
static void
execute_pass(struct vk_stage *s, uint32_t n, const VkCommandBuffer *secondaries)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_pass(commands, screen.pass, screen.framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
	vkCmdExecuteCommands(commands, n, secondaries);
	vkCmdEndRenderPass(commands);
	vk_copy_out(commands, &screen.picture, &screen.out);
	vk_run(s, commands);
	vk_read(s, &screen.out);
}

static void
inside_init(struct vk_stage *s)
{
	vk_make_screen_pass(s, &screen);
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

static const struct vk_expect inside_passes[] = {
	{ .kind = "render",
	  .load = "clear",
	  .store = "store",
	  .draws = 2,
	  .vertices = 9,
	  .instances = 2,
	  .primitives = 3,
	  .shaded = 9,
	  .fragments = 3 * PIXELS,
	  .color = "R8G8B8A8_UNORM",
	  .unsure = EXPECT_ANY_WORKLOADS },
	COPY_OUT,
};

/* ---- secondaries_kept: recorded once, executed in every frame ---- */

static void
kept_init(struct vk_stage *s)
{
	vk_make_screen_pass(s, &screen);
	kept[0] = draw_secondary(s, 0, 0.2F, 3);
	kept[1] = draw_secondary(s, 0, 0.4F, 6);
}

static void
kept_frame(struct vk_stage *s, unsigned number)
{
	(void)number;
	execute_pass(s, 2, kept);
}

/* ---- secondary_twice: for simultaneous use, so executed twice in one pass ---- */

static void
twice_init(struct vk_stage *s)
{
	vk_make_screen_pass(s, &screen);
	kept[0] = draw_secondary(s, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, 0.2F, 3);
	kept[1] = kept[0];
}

/* Nothing may be counted in a secondary that may run twice at once. */
static const struct vk_expect twice_passes[] = {
	{ .kind = "render",
	  .load = "clear",
	  .store = "store",
	  .draws = 2,
	  .vertices = 6,
	  .instances = 2,
	  .color = "R8G8B8A8_UNORM",
	  .unsure = EXPECT_NO_COUNTERS | EXPECT_ANY_WORKLOADS },
	COPY_OUT,
};

/* ---- secondary_work: passes of a secondary's own, outside any of the primary's ---- */

static void
work_init(struct vk_stage *s)
{
	vk_make_screen_pass(s, &screen);
	words = vk_make_buffer(s, 4096);
	compute = vk_make_compute(s, &words);
	rendering_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
							 .colors = 1,
							 .color = VK_FORMAT_R8G8B8A8_UNORM,
						 });
}

static void
record_rendering(struct vk_stage *s, VkCommandBuffer commands, VkRenderingFlags flags)
{
	VkRenderingAttachmentInfo color = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = screen.picture.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
	};
	VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.flags = flags,
		.renderArea.extent = { VK_STAGE_WIDTH, VK_STAGE_HEIGHT },
		.layerCount = 1,
		.colorAttachmentCount = 1,
		.pColorAttachments = &color,
	};
	vkCmdBeginRendering(commands, &info);
	if (!flags) {
		vk_draw(s, commands, rendering_pipeline, 0.6F, 3, 1);
		vkCmdEndRendering(commands);
	}
}

static void
work_frame(struct vk_stage *s, unsigned number)
{
	(void)number;
	VkCommandBuffer secondary = begin_secondary(s, VK_NULL_HANDLE, 0);
	vk_dispatch(secondary, &compute, 4);
	vk_barrier_all(secondary);
	record_rendering(s, secondary, 0);
	vk_check(vkEndCommandBuffer(secondary), "vkEndCommandBuffer");
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_take_picture(commands, &screen.picture);
	vk_dispatch(commands, &compute, 2);
	vk_barrier_all(commands);
	vkCmdExecuteCommands(commands, 1, &secondary);
	vk_copy_out(commands, &screen.picture, &screen.out);
	vk_run(s, commands);
	vk_free(s, secondary);
	vk_read(s, &screen.out);
	vk_read(s, &words);
}

static const struct vk_expect work_passes[] = {
	{ .kind = "compute", .dispatches = 1, .computed = 128 },
	{ .kind = "compute", .dispatches = 1, .computed = 256 },
	{ SCREEN_PASS(3, 1) },
	COPY_OUT,
};

/* ---- secondary_rendering: inside dynamic rendering ---- */

static void
rendering_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBufferAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = s->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
		.commandBufferCount = 1,
	};
	VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
	VkCommandBufferInheritanceRenderingInfo rendering = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
		.colorAttachmentCount = 1,
		.pColorAttachmentFormats = &format,
		.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
	};
	VkCommandBufferInheritanceInfo inherits = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.pNext = &rendering,
	};
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
		.pInheritanceInfo = &inherits,
	};
	VkCommandBuffer secondary;
	vk_check(vkAllocateCommandBuffers(s->device, &allocate, &secondary),
		 "vkAllocateCommandBuffers");
	vk_check(vkBeginCommandBuffer(secondary, &begin), "vkBeginCommandBuffer");
	vk_draw(s, secondary, rendering_pipeline, 0.1F * (float)number, 12, 1);
	vk_check(vkEndCommandBuffer(secondary), "vkEndCommandBuffer");
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_take_picture(commands, &screen.picture);
	record_rendering(s, commands, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
	vkCmdExecuteCommands(commands, 1, &secondary);
	vkCmdEndRendering(commands);
	vk_copy_out(commands, &screen.picture, &screen.out);
	vk_run(s, commands);
	vk_free(s, secondary);
	vk_read(s, &screen.out);
}

static const struct vk_expect rendering_passes[] = {
	{ SCREEN_PASS(12, 1), .unsure = EXPECT_ANY_WORKLOADS },
	COPY_OUT,
};

const struct vk_scene vk_secondary_scenes[] = {
	{ "secondaries", .init = inside_init, .frame = inside_frame, VK_PASSES(inside_passes),
	  .uncounted = true },
	{ "secondaries_kept", .init = kept_init, .frame = kept_frame, VK_PASSES(inside_passes),
	  .uncounted = true },
	{ "secondary_twice", .init = twice_init, .frame = kept_frame, VK_PASSES(twice_passes),
	  .uncounted = true },
	{ "secondary_work", .init = work_init, .frame = work_frame, VK_PASSES(work_passes),
	  .uncounted = true },
	{ "secondary_rendering", .init = work_init, .frame = rendering_frame,
	  VK_PASSES(rendering_passes), .uncounted = true },
	{ 0 },
};
