/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_draws.c - draws under a condition, captured vertices, draws whose number a buffer
 * has, several at once, the scene's own queries. */
#include "scenes/vk/scenes.h"
#include "tests/scenes/vk_stage.h"

#include <string.h>

static struct vk_buffer numbers, indices;
static VkPipeline feedback_pipeline;
static VkQueryPool queries;
static VkPipelineLayout all_stages;
static VkPhysicalDeviceConditionalRenderingFeaturesEXT conditional_feature = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT,
	.conditionalRendering = VK_TRUE,
};
static VkPhysicalDeviceTransformFeedbackFeaturesEXT feedback_feature = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT,
	.transformFeedback = VK_TRUE,
};

static VkPhysicalDeviceMultiDrawFeaturesEXT multi_draw_feature = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT,
	.multiDraw = VK_TRUE,
};

/* ---- conditional: requested draws count, executed ones appear in the counters ---- */

static void
conditional_init(struct vk_stage *s)
{
	numbers = vk_make_buffer_for(s, 16,
				     VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT);
}

static void
conditional_frame(struct vk_stage *s, unsigned number)
{
	PFN_vkCmdBeginConditionalRenderingEXT begin = VK_DEVICE_COMMAND(
		s, vkCmdBeginConditionalRenderingEXT);
	PFN_vkCmdEndConditionalRenderingEXT end = VK_DEVICE_COMMAND(
		s, vkCmdEndConditionalRenderingEXT);
	VkConditionalRenderingBeginInfoEXT never = {
		.sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
		.buffer = numbers.handle,
	};
	VkCommandBuffer commands = vk_open_pass(s, number);
	vkCmdDraw(commands, 3, 1, 0, 0);
	begin(commands, &never);
	vkCmdDraw(commands, 30, 1, 0, 0);
	end(commands);
	vkCmdDraw(commands, 6, 1, 0, 0);
	vk_close_pass(s, commands);
}

static const struct expect_pass conditional_passes[] = {
	{ .kind = "render",
	  CLEARED,
	  .flags = "conditional",
	  .draws = 3,
	  .vertices = 39,
	  .instances = 3,
	  .primitives = 3,
	  .shaded = 9,
	  .fragments = 3 * PIXELS },
	COPY_OUT,
};

/* ---- feedback: transform feedback ---- */

static void
feedback_init(struct vk_stage *s)
{
	feedback_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
							.pass = screen.pass,
							.colors = 1,
							.vertex = VK_SHADER_FEEDBACK,
						});
	numbers = vk_make_buffer_for(s, 4096,
				     VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT);
}

static void
feedback_frame(struct vk_stage *s, unsigned number)
{
	PFN_vkCmdBindTransformFeedbackBuffersEXT bind = VK_DEVICE_COMMAND(
		s, vkCmdBindTransformFeedbackBuffersEXT);
	PFN_vkCmdBeginTransformFeedbackEXT begin = VK_DEVICE_COMMAND(
		s, vkCmdBeginTransformFeedbackEXT);
	PFN_vkCmdEndTransformFeedbackEXT end = VK_DEVICE_COMMAND(
		s, vkCmdEndTransformFeedbackEXT);
	VkDeviceSize zero = 0, whole = 4096;
	VkCommandBuffer commands = vk_open_pass(s, number);
	vk_prepare_draw(s, commands, feedback_pipeline, 0.1F * (float)number,
			VK_STAGE_WIDTH, VK_STAGE_HEIGHT);
	bind(commands, 0, 1, &numbers.handle, &zero, &whole);
	begin(commands, 0, 0, NULL, NULL);
	vkCmdDraw(commands, 6, 1, 0, 0);
	end(commands, 0, 0, NULL, NULL);
	vk_close_pass(s, commands);
}

static const struct expect_pass feedback_passes[] = {
	{ COVERED(1, 6, 1), CLEARED, .flags = "transform_feedback" },
	COPY_OUT,
};

/* ---- occlusion: the scene's own query, which never conflicts with passtally's ---- */

static void
occlusion_init(struct vk_stage *s)
{
	queries = vk_make_queries(s, VK_QUERY_TYPE_OCCLUSION, 2, 0);
}

static void
occlusion_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vkCmdResetQueryPool(commands, queries, 0, 2);
	vk_begin_screen(commands, &screen);
	vkCmdBeginQuery(commands, queries, 0, 0);
	vk_draw(s, commands, screen.pipeline, 0.1F * (float)number, 3, 1);
	vkCmdEndQuery(commands, queries, 0);
	vk_close_pass(s, commands);
	uint64_t samples;
	vk_check(vkGetQueryPoolResults(s->device, queries, 0, 1, sizeof(samples),
				       &samples, sizeof(samples), VK_QUERY_RESULT_64_BIT),
		 "vkGetQueryPoolResults");
	s->checksum += samples != 0;
}

/* ---- push_early: constants for all stages before any pipeline is bound. Lavapipe 22.3 crashes
 * in a statistics query that begins then, which the game did not request. ---- */

static void
push_early_init(struct vk_stage *s)
{
	all_stages = vk_make_layout(s, VK_SHADER_STAGE_ALL, VK_NULL_HANDLE);
}

static void
push_early_frame(struct vk_stage *s, unsigned number)
{
	float nothing[4] = { 0 };
	VkCommandBuffer commands = vk_begin(s, 0);
	vkCmdPushConstants(commands, all_stages, VK_SHADER_STAGE_ALL, 0, sizeof(nothing),
			   nothing);
	vk_begin_screen(commands, &screen);
	vk_draw(s, commands, screen.pipeline, 0.1F * (float)number, 3, 1);
	vk_close_pass(s, commands);
}

/* ---- indirect_count: counts in a buffer, and how many ---- */

static void
indirect_count_init(struct vk_stage *s)
{
	static const VkDrawIndirectCommand draws[2] = { { 3, 1, 0, 0 }, { 6, 1, 0, 0 } };
	numbers = vk_make_buffer(s, 4096);
	memcpy(numbers.map, draws, sizeof(draws));
	((uint32_t *)numbers.map)[512 / 4] = 1;
}

static void
indirect_count_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_open_pass(s, number);
	vkCmdDraw(commands, 3, 1, 0, 0);
	vkCmdDrawIndirectCount(commands, numbers.handle, 0, numbers.handle, 512, 2,
			       sizeof(VkDrawIndirectCommand));
	vk_close_pass(s, commands);
}

static const struct expect_pass indirect_count_passes[] = {
	{ COVERED(2, 6, 2), CLEARED, .flags = "indirect", .workloads = 2,
	  .unsure = EXPECT_NO_DRAWS | EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES },
	COPY_OUT,
};

/* ---- multi_draw: VK_EXT_multi_draw, each draw counts ---- */

static void
multi_draw_init(struct vk_stage *s)
{
	indices = vk_make_indices(s);
}

static void
multi_draw_frame(struct vk_stage *s, unsigned number)
{
	static const VkMultiDrawInfoEXT draws[3] = { { 0, 3 }, { 0, 6 }, { 3, 3 } };
	static const VkMultiDrawIndexedInfoEXT indexed[2] = { { 0, 6, 0 }, { 6, 3, 0 } };
	PFN_vkCmdDrawMultiEXT draw_multi = VK_DEVICE_COMMAND(s, vkCmdDrawMultiEXT);
	PFN_vkCmdDrawMultiIndexedEXT draw_indexed =
		VK_DEVICE_COMMAND(s, vkCmdDrawMultiIndexedEXT);
	VkCommandBuffer commands = vk_open_pass(s, number);
	vkCmdBindIndexBuffer(commands, indices.handle, 0, VK_INDEX_TYPE_UINT32);
	draw_multi(commands, 3, draws, 2, 0, sizeof(draws[0]));
	draw_indexed(commands, 2, indexed, 1, 0, sizeof(indexed[0]), NULL);
	vk_close_pass(s, commands);
}

static const struct expect_pass multi_draw_passes[] = {
	{ COVERED(5, 33, 8), CLEARED, .workloads = 2, .unsure = EXPECT_ANY_SHADED },
	COPY_OUT,
};

#define OFFERED(name, feature) \
	.wish = { .device_extensions = { name }, .extra = (feature) }

const struct vk_scene vk_more_draw_scenes[] = {
	SCENE(conditional, conditional_init,
	      OFFERED("VK_EXT_conditional_rendering", &conditional_feature)),
	SCENE(feedback, feedback_init,
	      OFFERED("VK_EXT_transform_feedback", &feedback_feature)),
	SCENE(indirect_count, indirect_count_init),
	SCENE(multi_draw, multi_draw_init,
	      OFFERED("VK_EXT_multi_draw", &multi_draw_feature)),
	SCENE_AS(occlusion, occlusion_frame, vk_plain_passes, occlusion_init),
	SCENE_AS(push_early, push_early_frame, vk_plain_passes, push_early_init),
	{ 0 },
};
