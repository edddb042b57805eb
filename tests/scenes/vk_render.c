/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_render.c - subpasses, samples that are resolved, views, several targets. */
#include "scenes/vk/scenes.h"

static VkRenderPass load_pass;
static VkPipeline other_pipeline;

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
	{ .kind = "render",
	  CLEARED,
	  .draws = 1,
	  .vertices = 3,
	  .instances = 1,
	  .primitives = 2,
	  .shaded = 6,
	  .fragments = 2 * PIXELS,
	  .layers = 2 },
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
	vk_begin_pass(commands, load_pass, screen.framebuffer, VK_STAGE_WIDTH,
		      VK_STAGE_HEIGHT, VK_SUBPASS_CONTENTS_INLINE);
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

/* ---- samples: depth of four samples, kept; its upper left is nearer ---- */

static void
samples_frame(struct vk_stage *s, unsigned number)
{
	(void)number;
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_screen(commands, &screen);
	vk_draw(s, commands, screen.pipeline, 0, 3, 1);
	VkClearAttachment clear = {
		.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT,
		.clearValue.depthStencil.depth = 0.25F,
	};
	VkClearRect rect = { .rect.extent = { 16, 16 }, .layerCount = 1 };
	vkCmdClearAttachments(commands, 1, &clear, 1, &rect);
	vkCmdEndRenderPass(commands);
	vk_run(s, commands);
}

static const struct expect_pass samples_passes[] = {
	{ DRAWN(1, 3), .load = "clear", .store = "store", .clears = 1, .samples = 4,
	  .depth = "D32_SFLOAT", .color = "", .unsure = EXPECT_ANY_COUNTERS },
};

const struct vk_scene vk_more_render_scenes[] = {
	SCENE(subpasses, subpasses_init, .target = { RGBA8, .subpasses = 2 }),
	SCENE_AS(msaa, vk_plain_frame, msaa_passes, NULL,
		 .target = { RGBA8, .samples = VK_SAMPLE_COUNT_4_BIT, .resolve = true,
			     .store = VK_ATTACHMENT_STORE_OP_DONT_CARE }),
	SCENE_AS(multiview, vk_plain_frame, multiview_passes, NULL,
		 .target = { RGBA8, .view_mask = 3 }),
	SCENE(targets, targets_init, .bare = true),
	SCENE(samples, NULL,
	      .target = { .depth = VK_FORMAT_D32_SFLOAT, .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
			  .samples = VK_SAMPLE_COUNT_4_BIT }),
	{ 0 },
};
