/* SPDX-License-Identifier: MIT */
/* scenes/vk/render.c - scenes of render pass objects, first and second form. */
#include "scenes/vk/scenes.h"

static struct vk_screen shadow, half;

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
	SCENE(pass2, NULL,
	      .target = { RGBA8, .depth = VK_FORMAT_D32_SFLOAT, .second = true }),
	SCENE(chain, chain_init),
	{ 0 },
};
