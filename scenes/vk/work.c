/* SPDX-License-Identifier: MIT */
/* scenes/vk/work.c - scenes of work outside render passes: compute and transfers. */
#include "scenes/vk/scenes.h"

#include <string.h>

struct vk_picture vk_other, vk_many, vk_small;
struct vk_buffer vk_words, vk_copy;
static struct vk_picture depth;
static struct vk_buffer numbers;
static struct vk_compute compute;

static const VkImageSubresourceLayers one_layer = VK_ONE_LAYER;

/* ---- compute: consecutive dispatches are one pass ---- */

static void
compute_init(struct vk_stage *s)
{
	vk_words = vk_make_buffer(s, 4096);
	vk_copy = vk_make_buffer(s, 4096);
	numbers = vk_make_buffer(s, 4096);
	memcpy(numbers.map, &(VkDispatchIndirectCommand){ 4, 1, 1 },
	       sizeof(VkDispatchIndirectCommand));
	compute = vk_make_compute(s, &vk_words);
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
	vkCmdCopyBuffer(commands, vk_words.handle, vk_copy.handle, 1, &region);
	vk_barrier_all(commands);
	vk_dispatch(commands, &compute, 2);
	vk_barrier_all(commands);
	vkCmdDispatchIndirect(commands, numbers.handle, 0);
	vk_barrier_all(commands);
	vkCmdDispatchBase(commands, 0, 0, 0, 1, 1, 1);
	vk_barrier_all(commands);
	vk_run(s, commands);
	vk_read(s, &vk_words);
	vk_read(s, &vk_copy);
}

static const struct expect_pass compute_passes[] = {
	{ .kind = "compute", .dispatches = 2, .computed = 24 * 64 },
	{ .kind = "transfer", .copies = 1 },
	{ .kind = "compute", .dispatches = 3, .computed = 7 * 64 },
};

/* ---- transfers: consecutive ones are one pass, whatever they write to ---- */

void
vk_transfers_init(struct vk_stage *s)
{
	vk_other = vk_make_screen(s);
	vk_small = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, 64, 64, 1, VK_SAMPLE_COUNT_1_BIT);
	depth = vk_make_picture(s, VK_FORMAT_D32_SFLOAT, 64, 64, 1, VK_SAMPLE_COUNT_1_BIT);
	vk_many = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
				  VK_SAMPLE_COUNT_4_BIT);
	vk_words = vk_make_buffer(s, 4096);
	vk_copy = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

void
vk_clear_images(VkCommandBuffer commands)
{
	VkClearColorValue teal = { .float32 = { 0, 0.5F, 0.5F, 1 } };
	VkClearDepthStencilValue near = { .depth = 0.25F };
	VkImageSubresourceRange color = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 };
	VkImageSubresourceRange deep = { VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1 };
	vkCmdClearColorImage(commands, vk_other.image, VK_IMAGE_LAYOUT_GENERAL, &teal, 1, &color);
	vkCmdClearColorImage(commands, vk_many.image, VK_IMAGE_LAYOUT_GENERAL, &teal, 1, &color);
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
	vkCmdResolveImage(commands, vk_many.image, VK_IMAGE_LAYOUT_GENERAL, vk_other.image,
			  VK_IMAGE_LAYOUT_GENERAL, 1, &resolve);
	vk_barrier_all(commands);
	vkCmdBlitImage(commands, vk_other.image, VK_IMAGE_LAYOUT_GENERAL, vk_small.image,
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
	vkCmdCopyImage(commands, vk_small.image, VK_IMAGE_LAYOUT_GENERAL, vk_other.image,
		       VK_IMAGE_LAYOUT_GENERAL, 1, &image);
	vk_barrier_all(commands);
	vkCmdCopyBufferToImage(commands, vk_words.handle, vk_other.image, VK_IMAGE_LAYOUT_GENERAL,
			       1, &from);
	vk_barrier_all(commands);
}

static void
fill_buffers(VkCommandBuffer commands)
{
	static const uint32_t four[4] = { 1, 2, 3, 4 };
	VkBufferCopy region = { .srcOffset = 0, .dstOffset = 2048, .size = 1024 };
	vkCmdFillBuffer(commands, vk_words.handle, 0, 1024, 0x40302010);
	vk_barrier_all(commands);
	vkCmdUpdateBuffer(commands, vk_words.handle, 64, sizeof(four), four);
	vk_barrier_all(commands);
	vkCmdCopyBuffer(commands, vk_words.handle, vk_words.handle, 1, &region);
	vk_barrier_all(commands);
}

VkCommandBuffer
vk_begin_transfers(struct vk_stage *s)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_take_picture(commands, &vk_other);
	vk_take_picture(commands, &vk_many);
	vk_take_picture(commands, &vk_small);
	vk_take_picture(commands, &depth);
	return commands;
}

static void
transfers_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin_transfers(s);
	vk_clear_images(commands);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	blit_and_resolve(commands);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	fill_buffers(commands);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	copy_images(commands);
	vk_copy_out(commands, &vk_other, &vk_copy);
	vk_run(s, commands);
	vk_read(s, &vk_copy);
	vk_read(s, &vk_words);
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

const struct vk_scene vk_work_scenes[] = {
	SCENE(compute, compute_init, .bare = true),
	SCENE(transfers, vk_transfers_init),
	{ 0 },
};
