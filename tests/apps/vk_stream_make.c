/* SPDX-License-Identifier: MIT */
#include "tests/apps/vk_stream.h"

VkCommandBuffer
stream_buffer(struct stream *s, uint32_t family, bool secondary)
{
	VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = s->pools[family],
		.level = secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY
				   : VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	VkCommandBuffer cb = VK_NULL_HANDLE;
	CHECK(vkAllocateCommandBuffers(s->device, &info, &cb));
	return cb;
}

void
stream_begin(struct stream *s, VkCommandBuffer cb, VkCommandBufferUsageFlags flags)
{
	VkCommandBufferInheritanceInfo inherited = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
	};
	VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = flags,
		.pInheritanceInfo = &inherited,
	};
	CHECK(vkBeginCommandBuffer(cb, &info));
}

void
stream_begin_inside(struct stream *s, VkCommandBuffer cb, VkRenderPass pass,
		    VkFramebuffer framebuffer, VkCommandBufferUsageFlags flags)
{
	static const VkFormat format = COLOUR;
	VkCommandBufferInheritanceRenderingInfo dynamic = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
		.colorAttachmentCount = 1,
		.pColorAttachmentFormats = &format,
		.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
	};
	VkCommandBufferInheritanceInfo inherited = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.pNext = pass ? NULL : &dynamic,
		.renderPass = pass,
		.framebuffer = framebuffer,
	};
	VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = flags | VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
		.pInheritanceInfo = &inherited,
	};
	CHECK(vkBeginCommandBuffer(cb, &info));
}

void
stream_end(struct stream *s, VkCommandBuffer cb)
{
	CHECK(vkEndCommandBuffer(cb));
}

void
stream_submit(struct stream *s, VkQueue queue, const VkSubmitInfo *info, VkFence fence)
{
	CHECK(vkQueueSubmit(queue, 1, info, fence));
}

void
stream_wait(struct stream *s, VkFence fence)
{
	CHECK(vkWaitForFences(s->device, 1, &fence, VK_TRUE, UINT64_MAX));
	CHECK(vkResetFences(s->device, 1, &fence));
}

void
stream_run(struct stream *s, VkQueue queue, uint32_t n, const VkCommandBuffer *buffers)
{
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = n,
		.pCommandBuffers = buffers,
	};
	stream_submit(s, queue, &info, s->fence);
	stream_wait(s, s->fence);
}

VkFence
stream_fence(struct stream *s)
{
	VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VkFence fence = VK_NULL_HANDLE;
	CHECK(vkCreateFence(s->device, &info, allocator, &fence));
	KEEP(KEPT_FENCE, fence);
	return fence;
}

VkSemaphore
stream_semaphore(struct stream *s, bool timeline)
{
	if (timeline && s->version == 10)
		stream_skip(s, "no timelines");
	VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
		.pNext = timeline ? &type : NULL,
	};
	VkSemaphore semaphore = VK_NULL_HANDLE;
	CHECK(vkCreateSemaphore(s->device, &info, allocator, &semaphore));
	KEEP(KEPT_SEMAPHORE, semaphore);
	return semaphore;
}

VkQueryPool
stream_queries(struct stream *s, VkQueryType type, uint32_t n)
{
	VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = type,
		.queryCount = n,
		.pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT,
	};
	VkQueryPool pool = VK_NULL_HANDLE;
	CHECK(vkCreateQueryPool(s->device, &info, allocator, &pool));
	KEEP(KEPT_QUERIES, pool);
	return pool;
}

VkBuffer
stream_make_buffer(struct stream *s, VkDeviceSize size, VkDeviceMemory *memory)
{
	VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
	};
	VkBuffer buffer = VK_NULL_HANDLE;
	CHECK(vkCreateBuffer(s->device, &info, allocator, &buffer));
	KEEP(KEPT_BUFFER, buffer);
	VkMemoryRequirements needs;
	vkGetBufferMemoryRequirements(s->device, buffer, &needs);
	VkMemoryAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = needs.size,
	};
	VkDeviceMemory mine = VK_NULL_HANDLE;
	CHECK(vkAllocateMemory(s->device, &allocate, allocator, &mine));
	KEEP(KEPT_MEMORY, mine);
	CHECK(vkBindBufferMemory(s->device, buffer, mine, 0));
	if (memory)
		*memory = mine;
	return buffer;
}

VkImage
stream_image(struct stream *s, uint32_t width, uint32_t height)
{
	VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = COLOUR,
		.extent = { width, height, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	VkImage image = VK_NULL_HANDLE;
	CHECK(vkCreateImage(s->device, &info, allocator, &image));
	KEEP(KEPT_IMAGE, image);
	VkMemoryAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = 4096,
	};
	VkDeviceMemory memory = VK_NULL_HANDLE;
	CHECK(vkAllocateMemory(s->device, &allocate, allocator, &memory));
	KEEP(KEPT_MEMORY, memory);
	CHECK(vkBindImageMemory(s->device, image, memory, 0));
	return image;
}

VkImageView
stream_view(struct stream *s, VkImage image)
{
	VkImageViewCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = image,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = COLOUR,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};
	VkImageView view = VK_NULL_HANDLE;
	CHECK(vkCreateImageView(s->device, &info, allocator, &view));
	KEEP(KEPT_VIEW, view);
	return view;
}

static VkRenderPass
make_pass(struct stream *s, uint32_t n_subpasses, const uint32_t *masks)
{
	VkAttachmentDescription attachment = {
		.format = COLOUR,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.finalLayout = VK_IMAGE_LAYOUT_GENERAL,
	};
	VkAttachmentReference reference = { 0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL };
	VkSubpassDescription subpasses[4];
	for (uint32_t i = 0; i < n_subpasses; i++)
		subpasses[i] = (VkSubpassDescription){
			.colorAttachmentCount = 1,
			.pColorAttachments = &reference,
		};
	if (masks && s->version == 10)
		stream_skip(s, "no views");
	VkRenderPassMultiviewCreateInfo views = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO,
		.subpassCount = n_subpasses,
		.pViewMasks = masks,
	};
	VkRenderPassCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
		.pNext = masks ? &views : NULL,
		.attachmentCount = 1,
		.pAttachments = &attachment,
		.subpassCount = n_subpasses,
		.pSubpasses = subpasses,
	};
	VkRenderPass pass = VK_NULL_HANDLE;
	CHECK(vkCreateRenderPass(s->device, &info, allocator, &pass));
	KEEP(KEPT_PASS, pass);
	return pass;
}

struct target
stream_target(struct stream *s, uint32_t n_subpasses, const uint32_t *masks)
{
	struct target t = { .width = 64, .height = 32 };
	t.view = stream_view(s, stream_image(s, t.width, t.height));
	t.pass = make_pass(s, n_subpasses, masks);
	VkFramebufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
		.renderPass = t.pass,
		.attachmentCount = 1,
		.pAttachments = &t.view,
		.width = t.width,
		.height = t.height,
		.layers = 1,
	};
	CHECK(vkCreateFramebuffer(s->device, &info, allocator, &t.framebuffer));
	KEEP(KEPT_FRAMEBUFFER, t.framebuffer);
	return t;
}

void
stream_begin_pass(VkCommandBuffer cb, const struct target *t, VkSubpassContents contents)
{
	VkClearValue clear = { 0 };
	VkRenderPassBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.renderPass = t->pass,
		.framebuffer = t->framebuffer,
		.renderArea = { { 0, 0 }, { t->width, t->height } },
		.clearValueCount = 1,
		.pClearValues = &clear,
	};
	vkCmdBeginRenderPass(cb, &info, contents);
}

void
stream_begin_rendering(VkCommandBuffer cb, const struct target *t, VkRenderingFlags flags,
		       uint32_t mask)
{
	VkRenderingAttachmentInfo colour = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = t->view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
	};
	VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.flags = flags,
		.renderArea = { { 0, 0 }, { t->width, t->height } },
		.layerCount = 1,
		.viewMask = mask,
		.colorAttachmentCount = 1,
		.pColorAttachments = &colour,
	};
	vkCmdBeginRendering(cb, &info);
}

void
stream_draw_pass(VkCommandBuffer cb, const struct target *t, uint32_t draws)
{
	stream_begin_pass(cb, t, VK_SUBPASS_CONTENTS_INLINE);
	for (uint32_t i = 0; i < draws; i++)
		vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndRenderPass(cb);
}
