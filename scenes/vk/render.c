/* SPDX-License-Identifier: MIT */
/* scenes/vk/render.c - scenes of render pass objects, first and second form. */
#include "scenes/vk/scenes.h"

static struct vk_screen screen;
static struct vk_picture depth, second, many, shadow, half;
static VkRenderPass pass, shadow_pass, half_pass;
static VkFramebuffer framebuffer, shadow_framebuffer, half_framebuffer;
static VkPipeline pipeline, other_pipeline, shadow_pipeline, half_pipeline;
static struct vk_buffer out;

void
vk_make_screen_pass(struct vk_stage *s, struct vk_screen *sc)
{
	sc->picture = vk_make_screen(s);
	sc->pass = vk_make_pass(s, &(struct vk_pass_wish){
					   .color = { VK_FORMAT_R8G8B8A8_UNORM },
					   .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
				   });
	sc->framebuffer = vk_make_framebuffer(s, sc->pass, 1,
					      (const struct vk_picture *[]){ &sc->picture });
	sc->pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						   .pass = sc->pass,
						   .colors = 1,
					   });
	sc->out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

void
vk_screen_pass(struct vk_stage *s, VkCommandBuffer commands, const struct vk_screen *sc,
	       float red, uint32_t vertices, uint32_t instances)
{
	vk_begin_pass(commands, sc->pass, sc->framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, sc->pipeline, red, vertices, instances);
	vkCmdEndRenderPass(commands);
}

static void
end_frame(struct vk_stage *s, VkCommandBuffer commands, const struct vk_picture *picture,
	  const struct vk_buffer *buffer)
{
	vk_copy_out(commands, picture, buffer);
	vk_run(s, commands);
	vk_read(s, buffer);
}

/* ---- triangle: one pass, one draw ---- */

static void
triangle_init(struct vk_stage *s)
{
	vk_make_screen_pass(s, &screen);
}

static void
triangle_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	end_frame(s, commands, &screen.picture, &screen.out);
}

static const struct vk_expect triangle_passes[] = { { SCREEN_PASS(3, 1) }, COPY_OUT };

/* ---- pass2: the second form, depth, two draws with instances ---- */

static void
pass2_init(struct vk_stage *s)
{
	screen.picture = vk_make_screen(s);
	depth = vk_make_picture(s, VK_FORMAT_D32_SFLOAT, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
				VK_SAMPLE_COUNT_1_BIT);
	pass = vk_make_pass(s, &(struct vk_pass_wish){
				       .color = { VK_FORMAT_R8G8B8A8_UNORM },
				       .depth = VK_FORMAT_D32_SFLOAT,
				       .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
				       .second = true,
			       });
	framebuffer = vk_make_framebuffer(
		s, pass, 2, (const struct vk_picture *[]){ &screen.picture, &depth });
	pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
					       .pass = pass,
					       .colors = 1,
					       .writes_depth = true,
				       });
	out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

static void
pass2_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	VkClearValue clears[2] = { { .color = { .float32 = { 0, 0, 0, 1 } } } };
	VkRenderPassBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.renderPass = pass,
		.framebuffer = framebuffer,
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
	vk_draw(s, commands, pipeline, 0.1F * (float)number, 6, 2);
	vk_draw(s, commands, pipeline, 0.7F, 3, 1);
	vkCmdEndRenderPass2(commands, &end);
	end_frame(s, commands, &screen.picture, &out);
}

static const struct vk_expect pass2_passes[] = {
	{ .kind = "render",
	  .load = "clear",
	  .store = "store",
	  .draws = 2,
	  .vertices = 15,
	  .instances = 3,
	  .primitives = 5,
	  .shaded = 15,
	  .fragments = 5 * PIXELS,
	  .color = "R8G8B8A8_UNORM",
	  .depth = "D32_SFLOAT",
	  .layers = 1,
	  .samples = 1 },
	COPY_OUT,
};

/* ---- subpasses: three in one pass; it is one pass of the log ---- */

static void
subpasses_init(struct vk_stage *s)
{
	screen.picture = vk_make_screen(s);
	pass = vk_make_pass(s, &(struct vk_pass_wish){
				       .color = { VK_FORMAT_R8G8B8A8_UNORM },
				       .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
				       .subpasses = 2,
			       });
	framebuffer = vk_make_framebuffer(s, pass, 1,
					  (const struct vk_picture *[]){ &screen.picture });
	pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){ .pass = pass, .colors = 1 });
	other_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						     .pass = pass,
						     .subpass = 1,
						     .colors = 1,
					     });
	out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

static void
subpasses_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_pass(commands, pass, framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, pipeline, 0.1F * (float)number, 3, 1);
	vkCmdNextSubpass(commands, VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, other_pipeline, 0.3F, 6, 1);
	vkCmdEndRenderPass(commands);
	end_frame(s, commands, &screen.picture, &out);
}

/* Lavapipe's secondaries cannot inherit queries, so nothing may count across subpasses. */
static const struct vk_expect subpasses_passes[] = {
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
	  .unsure = EXPECT_NO_COUNTERS },
	COPY_OUT,
};

/* ---- msaa: four samples, resolved at the end ---- */

static void
msaa_init(struct vk_stage *s)
{
	screen.picture = vk_make_screen(s);
	many = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
			       VK_SAMPLE_COUNT_4_BIT);
	pass = vk_make_pass(s, &(struct vk_pass_wish){
				       .color = { VK_FORMAT_R8G8B8A8_UNORM },
				       .samples = VK_SAMPLE_COUNT_4_BIT,
				       .resolve = true,
				       .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
				       .store = VK_ATTACHMENT_STORE_OP_DONT_CARE,
			       });
	framebuffer = vk_make_framebuffer(
		s, pass, 2, (const struct vk_picture *[]){ &many, &screen.picture });
	pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
					       .pass = pass,
					       .colors = 1,
					       .samples = VK_SAMPLE_COUNT_4_BIT,
				       });
	out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

static void
msaa_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_pass(commands, pass, framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, pipeline, 0.1F * (float)number, 3, 1);
	vkCmdEndRenderPass(commands);
	end_frame(s, commands, &screen.picture, &out);
}

static const struct vk_expect msaa_passes[] = {
	{ .kind = "render",
	  .load = "clear",
	  .store = "resolve",
	  .draws = 1,
	  .vertices = 3,
	  .instances = 1,
	  .primitives = 1,
	  .shaded = 3,
	  .samples = 4,
	  .color = "R8G8B8A8_UNORM",
	  .unsure = EXPECT_ANY_FRAGMENTS },
	COPY_OUT,
};

/* ---- multiview: one draw, two views ---- */

static void
multiview_init(struct vk_stage *s)
{
	many = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 2,
			       VK_SAMPLE_COUNT_1_BIT);
	pass = vk_make_pass(s, &(struct vk_pass_wish){
				       .color = { VK_FORMAT_R8G8B8A8_UNORM },
				       .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
				       .view_mask = 3,
			       });
	framebuffer = vk_make_framebuffer(s, pass, 1, (const struct vk_picture *[]){ &many });
	pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
					       .pass = pass,
					       .colors = 1,
					       .vertex = VK_SHADER_VIEWS,
				       });
	out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 8);
}

static void
multiview_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_pass(commands, pass, framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, pipeline, 0.1F * (float)number, 3, 1);
	vkCmdEndRenderPass(commands);
	end_frame(s, commands, &many, &out);
}

/* Once a view, says lavapipe. */
static const struct vk_expect multiview_passes[] = {
	{ .kind = "render",
	  .load = "clear",
	  .store = "store",
	  .draws = 1,
	  .vertices = 3,
	  .instances = 1,
	  .primitives = 2,
	  .shaded = 6,
	  .fragments = 2 * PIXELS,
	  .layers = 2,
	  .color = "R8G8B8A8_UNORM" },
	COPY_OUT,
};

/* ---- targets: two colours and depth, kept from the pass before; then nothing but clears ---- */

static void
targets_init(struct vk_stage *s)
{
	struct vk_pass_wish wish = {
		.color = { VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM },
		.depth = VK_FORMAT_D32_SFLOAT,
		.load = VK_ATTACHMENT_LOAD_OP_CLEAR,
	};
	screen.picture = vk_make_screen(s);
	second = vk_make_screen(s);
	depth = vk_make_picture(s, VK_FORMAT_D32_SFLOAT, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
				VK_SAMPLE_COUNT_1_BIT);
	const struct vk_picture *pictures[] = { &screen.picture, &second, &depth };
	pass = vk_make_pass(s, &wish);
	wish.load = VK_ATTACHMENT_LOAD_OP_LOAD;
	half_pass = vk_make_pass(s, &wish);
	framebuffer = vk_make_framebuffer(s, pass, 3, pictures);
	pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
					       .pass = pass,
					       .colors = 2,
					       .fragment = VK_SHADER_TWO,
				       });
	out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

static void
targets_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_pass(commands, pass, framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vkCmdEndRenderPass(commands);
	vk_barrier_all(commands);
	vk_begin_pass(commands, half_pass, framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, pipeline, 0.1F * (float)number, 3, 1);
	VkClearAttachment clear = {
		.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
		.clearValue.color.float32 = { 1, 0, 0, 1 },
	};
	VkClearRect rect = { .rect.extent = { 16, 16 }, .layerCount = 1 };
	vkCmdClearAttachments(commands, 1, &clear, 1, &rect);
	vkCmdEndRenderPass(commands);
	end_frame(s, commands, &second, &out);
}

/* ClearAttachments may count as a draw of the driver's own, and does on lavapipe. */
static const struct vk_expect targets_passes[] = {
	{ .kind = "render",
	  .load = "clear",
	  .store = "store",
	  .color = "R8G8B8A8_UNORM R8G8B8A8_UNORM",
	  .depth = "D32_SFLOAT" },
	{ .kind = "render",
	  .load = "load",
	  .store = "store",
	  .draws = 1,
	  .vertices = 3,
	  .instances = 1,
	  .clears = 1,
	  .color = "R8G8B8A8_UNORM R8G8B8A8_UNORM",
	  .depth = "D32_SFLOAT",
	  .unsure = EXPECT_ANY_COUNTERS },
	COPY_OUT,
};

/* ---- chain: shadow map, half size, screen; without labels, told apart by their targets ---- */

static void
chain_init(struct vk_stage *s)
{
	vk_make_screen_pass(s, &screen);
	shadow = vk_make_picture(s, VK_FORMAT_D32_SFLOAT, 512, 512, 1, VK_SAMPLE_COUNT_1_BIT);
	half = vk_make_picture(s, VK_FORMAT_R16G16B16A16_SFLOAT, VK_STAGE_WIDTH / 2,
			       VK_STAGE_HEIGHT / 2, 1, VK_SAMPLE_COUNT_1_BIT);
	shadow_pass = vk_make_pass(s, &(struct vk_pass_wish){
					      .depth = VK_FORMAT_D32_SFLOAT,
					      .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
				      });
	half_pass = vk_make_pass(s, &(struct vk_pass_wish){
					    .color = { VK_FORMAT_R16G16B16A16_SFLOAT },
					    .load = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
					    .store = VK_ATTACHMENT_STORE_OP_DONT_CARE,
				    });
	shadow_framebuffer = vk_make_framebuffer(s, shadow_pass, 1,
						 (const struct vk_picture *[]){ &shadow });
	half_framebuffer = vk_make_framebuffer(s, half_pass, 1,
					       (const struct vk_picture *[]){ &half });
	shadow_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						      .pass = shadow_pass,
						      .writes_depth = true,
					      });
	half_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						    .pass = half_pass,
						    .colors = 1,
					    });
}

static void
chain_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	for (int i = 0; i < 2; i++) {
		vk_begin_pass(commands, shadow_pass, shadow_framebuffer, 512, 512,
			      VK_SUBPASS_CONTENTS_INLINE);
		vk_prepare_draw(s, commands, shadow_pipeline, 0, 512, 512);
		vkCmdDraw(commands, 30, 1, 0, 0);
		vkCmdEndRenderPass(commands);
	}
	vk_begin_pass(commands, half_pass, half_framebuffer, VK_STAGE_WIDTH / 2,
		      VK_STAGE_HEIGHT / 2, VK_SUBPASS_CONTENTS_INLINE);
	vk_prepare_draw(s, commands, half_pipeline, 0.5F, VK_STAGE_WIDTH / 2,
			VK_STAGE_HEIGHT / 2);
	vkCmdDraw(commands, 3, 1, 0, 0);
	vkCmdEndRenderPass(commands);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 6, 1);
	end_frame(s, commands, &screen.picture, &screen.out);
}

#define SHADOW \
	{ \
		.kind = "render", .load = "clear", .store = "store", .draws = 1, .vertices = 30, \
		.instances = 1, .primitives = 10, .shaded = 30, .width = 512, .height = 512, \
		.depth = "D32_SFLOAT", .color = "", .unsure = EXPECT_ANY_FRAGMENTS \
	}
static const struct vk_expect chain_passes[] = {
	SHADOW,
	SHADOW,
	{ .kind = "render",
	  .load = "dontcare",
	  .store = "discard",
	  .draws = 1,
	  .vertices = 3,
	  .instances = 1,
	  .primitives = 1,
	  .shaded = 3,
	  .fragments = PIXELS / 4,
	  .width = VK_STAGE_WIDTH / 2,
	  .height = VK_STAGE_HEIGHT / 2,
	  .color = "R16G16B16A16_SFLOAT" },
	{ SCREEN_PASS(6, 1) },
	COPY_OUT,
};

const struct vk_scene vk_render_scenes[] = {
	{ "triangle", .init = triangle_init, .frame = triangle_frame,
	  VK_PASSES(triangle_passes) },
	{ "pass2", .init = pass2_init, .frame = pass2_frame, VK_PASSES(pass2_passes) },
	{ "subpasses", .init = subpasses_init, .frame = subpasses_frame,
	  VK_PASSES(subpasses_passes) },
	{ "msaa", .init = msaa_init, .frame = msaa_frame, VK_PASSES(msaa_passes) },
	{ "multiview", .init = multiview_init, .frame = multiview_frame,
	  VK_PASSES(multiview_passes) },
	{ "targets", .init = targets_init, .frame = targets_frame,
	  VK_PASSES(targets_passes) },
	{ "chain", .init = chain_init, .frame = chain_frame, VK_PASSES(chain_passes) },
	{ 0 },
};
