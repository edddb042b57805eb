/* SPDX-License-Identifier: MIT */
/* scenes/vk/commands.c - recording and submitting, as most scenes need it. */
#include "scenes/vk/stage.h"

#include <sched.h>

static VkCommandBuffer
allocate(struct vk_stage *s, VkCommandBufferLevel level)
{
	VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = s->pool,
		.level = level,
		.commandBufferCount = 1,
	};
	VkCommandBuffer commands;
	vk_check(vkAllocateCommandBuffers(s->device, &info, &commands),
		 "vkAllocateCommandBuffers");
	return commands;
}

VkCommandBuffer
vk_begin_secondary(struct vk_stage *s, VkRenderPass pass, const void *next,
		   VkCommandBufferUsageFlags flags)
{
	VkCommandBuffer commands = allocate(s, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
	VkCommandBufferInheritanceInfo inherits = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.pNext = next,
		.renderPass = pass,
	};
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = flags |
			 (pass || next ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT : 0U),
		.pInheritanceInfo = &inherits,
	};
	vk_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
	return commands;
}

VkCommandBuffer
vk_begin(struct vk_stage *s, VkCommandBufferUsageFlags flags)
{
	VkCommandBuffer commands = allocate(s, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = flags,
	};
	vk_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
	return commands;
}

void
vk_end(VkCommandBuffer commands)
{
	vk_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

void
vk_free(struct vk_stage *s, VkCommandBuffer commands)
{
	vkFreeCommandBuffers(s->device, s->pool, 1, &commands);
}

void
vk_submit(struct vk_stage *s, uint32_t n, const VkCommandBuffer *commands, VkFence fence)
{
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = n,
		.pCommandBuffers = commands,
	};
	vk_check(vkQueueSubmit(s->queue, 1, &info, fence), "vkQueueSubmit");
}

void
vk_wait(struct vk_stage *s)
{
	vk_check(vkWaitForFences(s->device, 1, &s->fence, VK_TRUE, UINT64_C(60000000000)),
		 "vkWaitForFences");
	vk_check(vkResetFences(s->device, 1, &s->fence), "vkResetFences");
}

void
vk_poll(struct vk_stage *s)
{
	while (vkGetFenceStatus(s->device, s->fence) == VK_NOT_READY)
		sched_yield();
	vk_check(vkResetFences(s->device, 1, &s->fence), "vkResetFences");
}

void
vk_run(struct vk_stage *s, VkCommandBuffer commands)
{
	vk_end(commands);
	vk_submit(s, 1, &commands, s->fence);
	vk_wait(s);
	vk_free(s, commands);
}

void
vk_change_layout(VkCommandBuffer commands, const struct vk_picture *picture, VkImageLayout from,
		 VkImageLayout to)
{
	VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.oldLayout = from,
		.newLayout = to,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = picture->image,
		.subresourceRange = { picture->aspect, 0, 1, 0, picture->layers },
	};
	vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
			     &barrier);
}

void
vk_take_picture(VkCommandBuffer commands, const struct vk_picture *picture)
{
	vk_change_layout(commands, picture, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
}

void
vk_barrier_all(VkCommandBuffer commands)
{
	VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
	};
	vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
				     VK_PIPELINE_STAGE_HOST_BIT,
			     0, 1, &barrier, 0, NULL, 0, NULL);
}

void
vk_begin_pass(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer framebuffer,
	      uint32_t width, uint32_t height, VkSubpassContents contents)
{
	VkClearValue clears[8] = { { .color = { .float32 = { 0.1F, 0.2F, 0.3F, 1 } } } };
	for (int i = 1; i < 8; i++)
		clears[i].color.float32[0] = 1;
	VkRenderPassBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.renderPass = pass,
		.framebuffer = framebuffer,
		.renderArea.extent = { width, height },
		.clearValueCount = 8,
		.pClearValues = clears,
	};
	vkCmdBeginRenderPass(commands, &info, contents);
}

void
vk_begin_rendering(VkCommandBuffer commands, const struct vk_picture *color,
		   const struct vk_picture *depth, VkAttachmentLoadOp load, uint32_t view_mask,
		   VkRenderingFlags flags)
{
	VkRenderingAttachmentInfo attachments[2] = { {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = color->view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = load,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.clearValue.color.float32 = { 0, 0.5F, 0, 1 },
	} };
	if (depth) {
		attachments[1] = attachments[0];
		attachments[1].imageView = depth->view;
		attachments[1].clearValue = (VkClearValue){ .depthStencil.depth = 1 };
	}
	VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.flags = flags,
		.renderArea.extent = { color->width, color->height },
		.layerCount = 1,
		.viewMask = view_mask,
		.colorAttachmentCount = 1,
		.pColorAttachments = attachments,
		.pDepthAttachment = depth ? &attachments[1] : NULL,
	};
	vkCmdBeginRendering(commands, &info);
}

void
vk_prepare_draw(struct vk_stage *s, VkCommandBuffer commands, VkPipeline pipeline, float red,
		uint32_t width, uint32_t height)
{
	/* Four times the target: cover.vert says why. */
	VkViewport viewport = { .width = 4 * (float)width,
				.height = 4 * (float)height,
				.maxDepth = 1 };
	VkRect2D scissor = { .extent = { width, height } };
	float colour[4] = { red, 0.25F, 0.5F, 1 };
	vkCmdSetViewport(commands, 0, 1, &viewport);
	vkCmdSetScissor(commands, 0, 1, &scissor);
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdPushConstants(commands, s->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(colour),
			   colour);
}

void
vk_draw(struct vk_stage *s, VkCommandBuffer commands, VkPipeline pipeline, float red,
	uint32_t vertices, uint32_t instances)
{
	vk_prepare_draw(s, commands, pipeline, red, VK_STAGE_WIDTH, VK_STAGE_HEIGHT);
	vkCmdDraw(commands, vertices, instances, 0, 0);
}

void
vk_dispatch(VkCommandBuffer commands, const struct vk_compute *compute, uint32_t groups)
{
	float colour[4] = { 0.5F, 0, 0, 0 };
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->pipeline);
	vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->layout, 0, 1,
				&compute->set, 0, NULL);
	vkCmdPushConstants(commands, compute->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
			   sizeof(colour), colour);
	vkCmdDispatch(commands, groups, 1, 1);
}

void
vk_copy_out(VkCommandBuffer commands, const struct vk_picture *picture,
	    const struct vk_buffer *buffer)
{
	vk_barrier_all(commands);
	VkBufferImageCopy region = {
		.imageSubresource = { picture->aspect, 0, 0, picture->layers },
		.imageExtent = { picture->width, picture->height, 1 },
	};
	vkCmdCopyImageToBuffer(commands, picture->image, VK_IMAGE_LAYOUT_GENERAL,
			       buffer->handle, 1, &region);
	vk_barrier_all(commands);
}
