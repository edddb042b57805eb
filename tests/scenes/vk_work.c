/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_work.c - transfers of buffers alone or to one image, by newer commands,
 * copied results, many passes, a secondary of its own passes. */
#include "scenes/vk/scenes.h"
#include "tests/scenes/vk_stage.h"

static struct vk_buffer words, copy;
static struct vk_compute compute;
static VkPipeline rendering_pipeline;
static VkQueryPool queries;

static const VkImageSubresourceLayers one_layer = VK_ONE_LAYER;

/* ---- buffers: only commands that a transfer queue supports too ---- */

static void
buffers_init(struct vk_stage *s)
{
	words = vk_make_buffer(s, 4096);
	copy = vk_make_buffer(s, 4096);
}

static void
buffers_frame(struct vk_stage *s, unsigned number)
{
	VkBufferCopy region = { .size = 4096 };
	VkCommandBuffer commands = vk_begin(s, 0);
	vkCmdFillBuffer(commands, words.handle, 0, 4096, number);
	vk_barrier_all(commands);
	vkCmdCopyBuffer(commands, words.handle, copy.handle, 1, &region);
	vk_barrier_all(commands);
	vk_run(s, commands);
	vk_read(s, &copy);
}

static const struct expect_pass buffers_passes[] = {
	{ .kind = "transfer", .copies = 1, .clears = 1 },
};

/* ---- copy_results: the scene's own timestamps, copied on the GPU ---- */

static void
copy_results_init(struct vk_stage *s)
{
	words = vk_make_buffer(s, 4096);
	queries = vk_make_queries(s, VK_QUERY_TYPE_TIMESTAMP, 2, 0);
}

static void
copy_results_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vkCmdResetQueryPool(commands, queries, 0, 2);
	vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries, 0);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 1);
	vkCmdCopyQueryPoolResults(commands, queries, 0, 2, words.handle, 0, 8,
				  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
	vk_run(s, commands);
	const uint64_t *stamps = words.map;
	s->checksum += stamps[1] >= stamps[0] && stamps[0];
}

static const struct expect_pass copy_results_passes[] = {
	{ SCREEN_PASS(3, 1) },
	{ .kind = "transfer", .flags = "readback", .copies = 1 },
};

/* ---- two_dozen: passes in one command buffer ---- */

static void
two_dozen_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	for (int i = 0; i < 24; i++)
		vk_screen_pass(s, commands, &screen, 0.01F * (float)i, 3, 1);
	vk_finish(s, commands);
}

#define ONE \
	{ \
		SCREEN_PASS(3, 1) \
	}
#define FOUR ONE, ONE, ONE, ONE
static const struct expect_pass two_dozen_passes[] = {
	FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, COPY_OUT,
};

/* ---- secondary_work: a secondary's own passes, outside any of the primary's ---- */

static void
secondary_work_init(struct vk_stage *s)
{
	words = vk_make_buffer(s, 4096);
	compute = vk_make_compute(s, &words);
	rendering_pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
							 .colors = 1,
							 .color = VK_FORMAT_R8G8B8A8_UNORM,
						 });
}

static void
secondary_work_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer secondary = vk_begin_secondary(s, VK_NULL_HANDLE, NULL, 0);
	vk_dispatch(secondary, &compute, 4);
	vk_barrier_all(secondary);
	vk_begin_rendering(secondary, &screen.picture, NULL, VK_ATTACHMENT_LOAD_OP_CLEAR, 0, 0);
	vk_draw(s, secondary, rendering_pipeline, 0.6F, 3, 1);
	vkCmdEndRendering(secondary);
	vk_end(secondary);
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_take_picture(commands, &screen.picture);
	vk_dispatch(commands, &compute, 2);
	vk_barrier_all(commands);
	vkCmdExecuteCommands(commands, 1, &secondary);
	vk_finish(s, commands);
	vk_free(s, secondary);
	vk_read(s, &words);
}

static const struct expect_pass secondary_work_passes[] = {
	{ .kind = "compute", .dispatches = 1, .computed = 128 },
	{ .kind = "compute", .dispatches = 1, .computed = 256 },
	{ SCREEN_PASS(3, 1) },
	COPY_OUT,
};

/* ---- one_target: transfers to one image are a pass with that target ---- */

static void
one_target_frame(struct vk_stage *s, unsigned number)
{
	VkImageSubresourceRange color = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 };
	VkClearColorValue value = { .float32 = { 0.1F * (float)number, 0, 0, 1 } };
	VkBufferImageCopy from = { .imageSubresource = one_layer, .imageExtent = { 16, 16, 1 } };
	VkCommandBuffer commands = vk_begin_transfers(s);
	vkCmdClearColorImage(commands, vk_small.image, VK_IMAGE_LAYOUT_GENERAL, &value, 1, &color);
	vk_barrier_all(commands);
	vkCmdCopyBufferToImage(commands, vk_words.handle, vk_small.image, VK_IMAGE_LAYOUT_GENERAL,
			       1, &from);
	vk_run(s, commands);
}

static const struct expect_pass one_target_passes[] = {
	{ .kind = "transfer", .copies = 1, .clears = 1, .width = 64, .height = 64,
	  .color = "R8G8B8A8_UNORM" },
};

/* ---- transfers2: the same with the newer commands ---- */

static void
transfers2_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin_transfers(s);
	vk_clear_images(commands);
	VkImageResolve2 resolve = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2,
		.srcSubresource = one_layer,
		.dstSubresource = one_layer,
		.extent = { VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1 },
	};
	VkResolveImageInfo2 resolves = {
		.sType = VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2,
		.srcImage = vk_many.image,
		.srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.dstImage = vk_other.image,
		.dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.regionCount = 1,
		.pRegions = &resolve,
	};
	vkCmdResolveImage2(commands, &resolves);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	VkImageCopy2 region = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_COPY_2,
		.srcSubresource = one_layer,
		.dstSubresource = one_layer,
		.extent = { 64, 64, 1 },
	};
	VkCopyImageInfo2 copies = {
		.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2,
		.srcImage = screen.picture.image,
		.srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.dstImage = vk_other.image,
		.dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.regionCount = 1,
		.pRegions = &region,
	};
	vk_barrier_all(commands);
	vkCmdCopyImage2(commands, &copies);
	VkMemoryBarrier2 barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
		.srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
		.srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
		.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
		.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
	};
	VkDependencyInfo dependency = {
		.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
		.memoryBarrierCount = 1,
		.pMemoryBarriers = &barrier,
	};
	vkCmdPipelineBarrier2(commands, &dependency);
	vk_copy_out(commands, &vk_other, &vk_copy);
	vk_run(s, commands);
	vk_read(s, &vk_copy);
}

static const struct expect_pass transfers2_passes[] = {
	{ .kind = "transfer", .flags = "resolve", .copies = 1, .clears = 3,
	  .unsure = EXPECT_ANY_FRAGMENTS },
	{ SCREEN_PASS(3, 1) },
	{ .kind = "transfer", .copies = 2 },
};

const struct vk_scene vk_more_work_scenes[] = {
	SCENE(buffers, buffers_init, .bare = true),
	SCENE(copy_results, copy_results_init),
	SCENE(two_dozen, NULL),
	SCENE(one_target, vk_transfers_init),
	SCENE(transfers2, vk_transfers_init),
	SCENE(secondary_work, secondary_work_init),
	{ 0 },
};
