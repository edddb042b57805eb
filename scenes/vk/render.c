/* SPDX-License-Identifier: MIT */
/* scenes/vk/render.c - scenes of render pass objects, first and second form. */
#include "scenes/vk/scenes.h"

static struct vk_screen shadow, half;
static VkRenderPass load_pass;
static VkPipeline other_pipeline;

/* ---- pass2: the second form, depth, two draws with instances ---- */

static void
pass2_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	VkClearValue clears[2] = { { .color = { .float32 = { 0, 0, 0, 1 } } } };
	VkRenderPassBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.renderPass = screen.pass,
		.framebuffer = screen.framebuffer,
		.renderArea.extent = { VK_STAGE_WIDTH, VK_STAGE_HEIGHT },
		.clearValueCount = 2,
		.pClearValues = clears,
	};
	VkSubpassBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO,
		.contents = VK_SUBPASS_CONTENTS_INLINE,
	};
	VkSubpassEndInfo end = { .sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO };
	vkCmdBeginRenderPass2(commands, &info, &begin);
	vk_draw(s, commands, screen.pipeline, 0.1F * (float)number, 6, 2);
	vk_draw(s, commands, screen.pipeline, 0.7F, 3, 1);
	vkCmdEndRenderPass2(commands, &end);
	vk_finish(s, commands);
}

static const struct expect_pass pass2_passes[] = {
	{ COVERED(2, 15, 3), CLEARED, .depth = "D32_SFLOAT", .layers = 1, .samples = 1 },
	COPY_OUT,
};

/* ---- subpasses: three in one pass; it is one pass of the log ---- */

static void
subpasses_init(struct vk_stage *s)
{
	other_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						     .pass = screen.pass,
						     .subpass = 1,
						     .colors = 1,
					     });
}

static void
subpasses_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_screen(commands, &screen);
	vk_draw(s, commands, screen.pipeline, 0.1F * (float)number, 3, 1);
	vkCmdNextSubpass(commands, VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, other_pipeline, 0.3F, 6, 1);
	vkCmdEndRenderPass(commands);
	vk_finish(s, commands);
}

/* Lavapipe's secondaries cannot inherit queries, so nothing may count across subpasses. */
static const struct expect_pass subpasses_passes[] = {
	{ COVERED(2, 9, 2), CLEARED, .unsure = EXPECT_NO_COUNTERS },
	COPY_OUT,
};

/* ---- msaa: four samples, resolved at the end ---- */

static const struct expect_pass msaa_passes[] = {
	{ DRAWN(1, 3), .load = "clear", .store = "resolve", .samples = 4,
	  .color = "R8G8B8A8_UNORM", .unsure = EXPECT_ANY_FRAGMENTS },
	COPY_OUT,
};

/* ---- multiview: one draw, two views ---- */

/* Once per view on lavapipe. */
static const struct expect_pass multiview_passes[] = {
	{ .kind = "render", CLEARED, .draws = 1, .vertices = 3, .instances = 1, .primitives = 2,
	  .shaded = 6, .fragments = 2 * PIXELS, .layers = 2 },
	COPY_OUT,
};

/* ---- targets: two colors and depth, kept from the previous pass; then only clears ---- */

static void
targets_init(struct vk_stage *s)
{
	struct vk_pass_wish wish = {
		.color = { VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM },
		.depth = VK_FORMAT_D32_SFLOAT,
		.load = VK_ATTACHMENT_LOAD_OP_CLEAR,
	};
	vk_make_target(s, &screen, &wish);
	wish.load = VK_ATTACHMENT_LOAD_OP_LOAD;
	load_pass = vk_make_pass(s, &wish);
}

static void
targets_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_screen(commands, &screen);
	vkCmdEndRenderPass(commands);
	vk_barrier_all(commands);
	vk_begin_pass(commands, load_pass, screen.framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, screen.pipeline, 0.1F * (float)number, 3, 1);
	VkClearAttachment clear = {
		.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
		.clearValue.color.float32 = { 1, 0, 0, 1 },
	};
	VkClearRect rect = { .rect.extent = { 16, 16 }, .layerCount = 1 };
	vkCmdClearAttachments(commands, 1, &clear, 1, &rect);
	vkCmdEndRenderPass(commands);
	vk_finish(s, commands);
}

#define TWO_COLORS .color = "R8G8B8A8_UNORM R8G8B8A8_UNORM", .depth = "D32_SFLOAT"

/* ClearAttachments may count as one of the driver's own draws, and does on lavapipe. */
static const struct expect_pass targets_passes[] = {
	{ .kind = "render", .load = "clear", .store = "store", TWO_COLORS },
	{ DRAWN(1, 3), .load = "load", .store = "store", .clears = 1, TWO_COLORS,
	  .unsure = EXPECT_ANY_COUNTERS },
	COPY_OUT,
};

/* ---- chain: shadow map, half size, screen; without labels, distinguished by their targets
 * ---- */

static void
chain_init(struct vk_stage *s)
{
	vk_make_target(s, &shadow, &(struct vk_pass_wish){
					   .depth = VK_FORMAT_D32_SFLOAT,
					   .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
					   .width = 512,
					   .height = 512,
				   });
	vk_make_target(s, &half, &(struct vk_pass_wish){
					 .color = { VK_FORMAT_R16G16B16A16_SFLOAT },
					 .load = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
					 .store = VK_ATTACHMENT_STORE_OP_DONT_CARE,
					 .width = VK_STAGE_WIDTH / 2,
					 .height = VK_STAGE_HEIGHT / 2,
				 });
}

static void
chain_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_screen_pass(s, commands, &shadow, 0, 30, 1);
	vk_screen_pass(s, commands, &shadow, 0, 30, 1);
	vk_screen_pass(s, commands, &half, 0.5F, 3, 1);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 6, 1);
	vk_finish(s, commands);
}

#define SHADOW \
	DRAWN(1, 30), .load = "clear", .store = "store", .width = 512, .height = 512, \
	.depth = "D32_SFLOAT", .color = "", .unsure = EXPECT_ANY_FRAGMENTS
static const struct expect_pass chain_passes[] = {
	{ SHADOW },
	{ SHADOW },
	{ DRAWN(1, 3), .load = "dontcare", .store = "discard", .fragments = PIXELS / 4,
	  .width = VK_STAGE_WIDTH / 2, .height = VK_STAGE_HEIGHT / 2,
	  .color = "R16G16B16A16_SFLOAT" },
	{ SCREEN_PASS(6, 1) },
	COPY_OUT,
};

const struct vk_scene vk_render_scenes[] = {
	SCENE_PLAIN(triangle, NULL),
	SCENE(pass2, NULL, .target = { RGBA8, .depth = VK_FORMAT_D32_SFLOAT, .second = true }),
	SCENE(subpasses, subpasses_init, .target = { RGBA8, .subpasses = 2 }),
	SCENE_AS(msaa, vk_plain_frame, msaa_passes, NULL,
		 .target = { RGBA8, .samples = VK_SAMPLE_COUNT_4_BIT, .resolve = true,
			     .store = VK_ATTACHMENT_STORE_OP_DONT_CARE }),
	SCENE_AS(multiview, vk_plain_frame, multiview_passes, NULL,
		 .target = { RGBA8, .view_mask = 3 }),
	SCENE(targets, targets_init, .bare = true),
	SCENE(chain, chain_init),
	{ 0 },
};
