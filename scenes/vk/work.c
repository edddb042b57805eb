/* SPDX-License-Identifier: MIT */
/* scenes/vk/work.c - scenes of work outside render passes: compute and transfers. */
#include "scenes/vk/scenes.h"

#include <string.h>

static struct vk_picture other, many, small, depth;
static struct vk_buffer words, copy, numbers;
static struct vk_compute compute;

static const VkImageSubresourceLayers one_layer = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 };

/* ---- compute: consecutive dispatches are one pass ---- */

static void
compute_init(struct vk_stage *s)
{
	words = vk_make_buffer(s, 4096);
	copy = vk_make_buffer(s, 4096);
	numbers = vk_make_buffer(s, 4096);
	memcpy(numbers.map, &(VkDispatchIndirectCommand){ 4, 1, 1 },
	       sizeof(VkDispatchIndirectCommand));
	compute = vk_make_compute(s, &words);
}

static void
compute_frame(struct vk_stage *s, unsigned number)
{
	VkBufferCopy region = { .size = 4096 };
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_dispatch(commands, &compute, 16);
	vk_barrier_all(commands);
	vk_dispatch(commands, &compute, 8);
	vk_barrier_all(commands);
	vkCmdCopyBuffer(commands, words.handle, copy.handle, 1, &region);
	vk_barrier_all(commands);
	vk_dispatch(commands, &compute, 2);
	vk_barrier_all(commands);
	vkCmdDispatchIndirect(commands, numbers.handle, 0);
	vk_barrier_all(commands);
	vkCmdDispatchBase(commands, 0, 0, 0, 1, 1, 1);
	vk_barrier_all(commands);
	vk_run(s, commands);
	vk_read(s, &words);
	vk_read(s, &copy);
}

static const struct expect_pass compute_passes[] = {
	{ .kind = "compute", .dispatches = 2, .computed = 24 * 64 },
	{ .kind = "transfer", .copies = 1 },
	{ .kind = "compute", .dispatches = 3, .computed = 7 * 64 },
};

/* ---- transfers: consecutive ones are one pass, whatever they write to ---- */

static void
transfers_init(struct vk_stage *s)
{
	other = vk_make_screen(s);
	small = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, 64, 64, 1, VK_SAMPLE_COUNT_1_BIT);
	depth = vk_make_picture(s, VK_FORMAT_D32_SFLOAT, 64, 64, 1, VK_SAMPLE_COUNT_1_BIT);
	many = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
			       VK_SAMPLE_COUNT_4_BIT);
	words = vk_make_buffer(s, 4096);
	copy = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

static void
clear_images(VkCommandBuffer commands)
{
	VkClearColorValue teal = { .float32 = { 0, 0.5F, 0.5F, 1 } };
	VkClearDepthStencilValue near = { .depth = 0.25F };
	VkImageSubresourceRange color = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 };
	VkImageSubresourceRange deep = { VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1 };
	vkCmdClearColorImage(commands, other.image, VK_IMAGE_LAYOUT_GENERAL, &teal, 1, &color);
	vkCmdClearColorImage(commands, many.image, VK_IMAGE_LAYOUT_GENERAL, &teal, 1, &color);
	vkCmdClearDepthStencilImage(commands, depth.image, VK_IMAGE_LAYOUT_GENERAL, &near, 1,
				    &deep);
	vk_barrier_all(commands);
}

static void
blit_and_resolve(VkCommandBuffer commands)
{
	VkImageBlit blit = {
		.srcSubresource = one_layer,
		.srcOffsets = { { 0, 0, 0 }, { VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1 } },
		.dstSubresource = one_layer,
		.dstOffsets = { { 0, 0, 0 }, { 64, 64, 1 } },
	};
	VkImageResolve resolve = {
		.srcSubresource = one_layer,
		.dstSubresource = one_layer,
		.extent = { VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1 },
	};
	vkCmdResolveImage(commands, many.image, VK_IMAGE_LAYOUT_GENERAL, other.image,
			  VK_IMAGE_LAYOUT_GENERAL, 1, &resolve);
	vk_barrier_all(commands);
	vkCmdBlitImage(commands, other.image, VK_IMAGE_LAYOUT_GENERAL, small.image,
		       VK_IMAGE_LAYOUT_GENERAL, 1, &blit, VK_FILTER_NEAREST);
	vk_barrier_all(commands);
}

static void
copy_images(VkCommandBuffer commands)
{
	VkImageCopy image = {
		.srcSubresource = one_layer,
		.dstSubresource = one_layer,
		.dstOffset = { 32, 32, 0 },
		.extent = { 64, 64, 1 },
	};
	VkBufferImageCopy from = { .imageSubresource = one_layer, .imageExtent = { 16, 16, 1 } };
	vkCmdCopyImage(commands, small.image, VK_IMAGE_LAYOUT_GENERAL, other.image,
		       VK_IMAGE_LAYOUT_GENERAL, 1, &image);
	vk_barrier_all(commands);
	vkCmdCopyBufferToImage(commands, words.handle, other.image, VK_IMAGE_LAYOUT_GENERAL, 1,
			       &from);
	vk_barrier_all(commands);
}

static void
fill_buffers(VkCommandBuffer commands)
{
	static const uint32_t four[4] = { 1, 2, 3, 4 };
	VkBufferCopy region = { .srcOffset = 0, .dstOffset = 2048, .size = 1024 };
	vkCmdFillBuffer(commands, words.handle, 0, 1024, 0x40302010);
	vk_barrier_all(commands);
	vkCmdUpdateBuffer(commands, words.handle, 64, sizeof(four), four);
	vk_barrier_all(commands);
	vkCmdCopyBuffer(commands, words.handle, words.handle, 1, &region);
	vk_barrier_all(commands);
}

static VkCommandBuffer
begin_transfers(struct vk_stage *s)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_take_picture(commands, &other);
	vk_take_picture(commands, &many);
	vk_take_picture(commands, &small);
	vk_take_picture(commands, &depth);
	return commands;
}

static void
transfers_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = begin_transfers(s);
	clear_images(commands);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	blit_and_resolve(commands);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	fill_buffers(commands);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	copy_images(commands);
	vk_copy_out(commands, &other, &copy);
	vk_run(s, commands);
	vk_read(s, &copy);
	vk_read(s, &words);
}

static const struct expect_pass transfers_passes[] = {
	{ .kind = "transfer", .clears = 3 },
	{ SCREEN_PASS(3, 1) },
	{ .kind = "transfer", .flags = "resolve", .copies = 2, .unsure = EXPECT_ANY_FRAGMENTS },
	{ SCREEN_PASS(3, 1) },
	{ .kind = "transfer", .copies = 2, .clears = 1 },
	{ SCREEN_PASS(3, 1) },
	{ .kind = "transfer", .copies = 3 },
};

/* ---- one_target: transfers to one image are a pass with that target ---- */

static void
one_target_frame(struct vk_stage *s, unsigned number)
{
	VkImageSubresourceRange color = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 };
	VkClearColorValue value = { .float32 = { 0.1F * (float)number, 0, 0, 1 } };
	VkBufferImageCopy from = { .imageSubresource = one_layer, .imageExtent = { 16, 16, 1 } };
	VkCommandBuffer commands = begin_transfers(s);
	vkCmdClearColorImage(commands, small.image, VK_IMAGE_LAYOUT_GENERAL, &value, 1, &color);
	vk_barrier_all(commands);
	vkCmdCopyBufferToImage(commands, words.handle, small.image, VK_IMAGE_LAYOUT_GENERAL, 1,
			       &from);
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
	VkCommandBuffer commands = begin_transfers(s);
	clear_images(commands);
	VkImageResolve2 resolve = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2,
		.srcSubresource = one_layer,
		.dstSubresource = one_layer,
		.extent = { VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1 },
	};
	VkResolveImageInfo2 resolves = {
		.sType = VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2,
		.srcImage = many.image,
		.srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.dstImage = other.image,
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
		.dstImage = other.image,
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
	vk_copy_out(commands, &other, &copy);
	vk_run(s, commands);
	vk_read(s, &copy);
}

static const struct expect_pass transfers2_passes[] = {
	{ .kind = "transfer", .flags = "resolve", .copies = 1, .clears = 3,
	  .unsure = EXPECT_ANY_FRAGMENTS },
	{ SCREEN_PASS(3, 1) },
	{ .kind = "transfer", .copies = 2 },
};

const struct vk_scene vk_work_scenes[] = {
	SCENE(compute, compute_init, .bare = true),
	SCENE(transfers, transfers_init),
	SCENE(one_target, transfers_init),
	SCENE(transfers2, transfers_init),
	{ 0 },
};
