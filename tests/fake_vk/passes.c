/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#define CB(h) (&FAKE_OBJECT(h)->cb)

extern const struct fake_info info_vkCmdBeginRenderPass, info_vkCmdBeginRenderPass2,
	info_vkCmdNextSubpass, info_vkCmdNextSubpass2, info_vkCmdEndRenderPass,
	info_vkCmdEndRenderPass2, info_vkCmdBeginRendering, info_vkCmdEndRendering,
	info_vkCmdEndRendering2KHR, info_vkCmdEndRendering2EXT,
	info_vkCmdBeginVideoCodingKHR, info_vkCmdEndVideoCodingKHR,
	info_vkCmdSetDeviceMask, info_vkCmdBeginPerTileExecutionQCOM,
	info_vkCmdEndPerTileExecutionQCOM;

static VkResult
create_pass(const char *name, const VkAllocationCallbacks *allocator, VkRenderPass *out,
	    uint32_t number, size_t size, const void *info, struct fake_object **made)
{
	VkResult result = fake_enter(name, !allocator);
	*made = NULL;
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_line_begin(name);
	fake_put_array(FAKE_STRUCT, number, size, info, 1);
	fake_put_word(allocator ? "allocator" : "-");
	fake_line_end();
	*made = FAKE_OBJECT(fake_new(FAKE_VkRenderPass, !allocator));
	*out = (VkRenderPass)(uintptr_t)*made;
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateRenderPass(VkDevice device, const VkRenderPassCreateInfo *pCreateInfo,
			const VkAllocationCallbacks *pAllocator, VkRenderPass *pRenderPass)
{
	(void)device;
	struct fake_object *o;
	VkResult result = create_pass("vkCreateRenderPass", pAllocator, pRenderPass,
				      FAKE_S_VkRenderPassCreateInfo, sizeof(*pCreateInfo),
				      pCreateInfo, &o);
	for (const VkBaseInStructure *s = pCreateInfo->pNext; o && s; s = s->pNext)
		if (s->sType == VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO) {
			const VkRenderPassMultiviewCreateInfo *m = (const void *)s;
			for (uint32_t i = 0; i < m->subpassCount && i < FAKE_MAX_VIEWS; i++)
				o->pass.masks[i] = m->pViewMasks[i];
		}
	return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateRenderPass2(VkDevice device, const VkRenderPassCreateInfo2 *pCreateInfo,
			 const VkAllocationCallbacks *pAllocator, VkRenderPass *pRenderPass)
{
	(void)device;
	struct fake_object *o;
	VkResult result = create_pass("vkCreateRenderPass2", pAllocator, pRenderPass,
				      FAKE_S_VkRenderPassCreateInfo2, sizeof(*pCreateInfo),
				      pCreateInfo, &o);
	for (uint32_t i = 0; o && i < pCreateInfo->subpassCount && i < FAKE_MAX_VIEWS; i++)
		o->pass.masks[i] = pCreateInfo->pSubpasses[i].viewMask;
	return result;
}

static void
set_views(struct fake_buffer *b, uint32_t mask)
{
	b->views = mask ? (uint32_t)__builtin_popcount(mask) : 1;
}

static void
enter_pass(VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo *info)
{
	struct fake_buffer *b = CB(commandBuffer);
	fake_put_array(FAKE_STRUCT, FAKE_S_VkRenderPassBeginInfo, sizeof(*info), info, 1);
	b->render = 1;
	b->pass = FAKE_OBJECT(info->renderPass);
	b->subpass = 0;
	b->scope = ++b->next_scope;
	set_views(b, b->pass->pass.masks[0]);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdBeginRenderPass(VkCommandBuffer commandBuffer,
			  const VkRenderPassBeginInfo *pRenderPassBegin,
			  VkSubpassContents contents)
{
	fake_cmd_begin(commandBuffer, &info_vkCmdBeginRenderPass);
	enter_pass(commandBuffer, pRenderPassBegin);
	fake_put_int(contents);
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdBeginRenderPass2(VkCommandBuffer commandBuffer,
			   const VkRenderPassBeginInfo *pRenderPassBegin,
			   const VkSubpassBeginInfo *pSubpassBeginInfo)
{
	fake_cmd_begin(commandBuffer, &info_vkCmdBeginRenderPass2);
	enter_pass(commandBuffer, pRenderPassBegin);
	fake_put_int(pSubpassBeginInfo->contents);
	fake_cmd_end();
}

/* A query that begins in a subpass ends in it. */
static void
leave_scope(struct fake_buffer *b)
{
	for (uint32_t i = 0; i < b->n_active; i++)
		if (b->active[i].scope == b->scope && b->scope)
			fake_rule("VUID-vkCmdEndQuery-None-07007",
				  "a query outlives its subpass");
}

static void
next_subpass(VkCommandBuffer commandBuffer)
{
	struct fake_buffer *b = CB(commandBuffer);
	leave_scope(b);
	b->scope = ++b->next_scope;
	b->subpass++;
	if (b->pass && b->subpass < FAKE_MAX_VIEWS)
		set_views(b, b->pass->pass.masks[b->subpass]);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdNextSubpass(VkCommandBuffer commandBuffer, VkSubpassContents contents)
{
	fake_cmd_begin(commandBuffer, &info_vkCmdNextSubpass);
	fake_put_int(contents);
	next_subpass(commandBuffer);
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdNextSubpass2(VkCommandBuffer commandBuffer,
		       const VkSubpassBeginInfo *pSubpassBeginInfo,
		       const VkSubpassEndInfo *pSubpassEndInfo)
{
	(void)pSubpassEndInfo;
	fake_cmd_begin(commandBuffer, &info_vkCmdNextSubpass2);
	fake_put_int(pSubpassBeginInfo->contents);
	next_subpass(commandBuffer);
	fake_cmd_end();
}

static void
leave(VkCommandBuffer commandBuffer, const struct fake_info *info, uint32_t render)
{
	struct fake_buffer *b = CB(commandBuffer);
	fake_cmd_begin(commandBuffer, info);
	if (b->render != render)
		fake_rule("VUID-any-renderpass", "%s ends another kind", info->name);
	leave_scope(b);
	if (render == 2) {
		struct fake_op *op = fake_last_op(commandBuffer);
		op->kind = FAKE_OP_END_RENDERING;
		op->flags = b->rendering_flags;
	}
	b->render = b->scope = 0;
	b->views = 1;
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndRenderPass(VkCommandBuffer commandBuffer)
{
	leave(commandBuffer, &info_vkCmdEndRenderPass, 1);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndRenderPass2(VkCommandBuffer commandBuffer, const VkSubpassEndInfo *pSubpassEndInfo)
{
	(void)pSubpassEndInfo;
	leave(commandBuffer, &info_vkCmdEndRenderPass2, 1);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdBeginRendering(VkCommandBuffer commandBuffer, const VkRenderingInfo *pRenderingInfo)
{
	struct fake_buffer *b = CB(commandBuffer);
	fake_cmd_begin(commandBuffer, &info_vkCmdBeginRendering);
	fake_put_array(FAKE_STRUCT, FAKE_S_VkRenderingInfo, sizeof(*pRenderingInfo),
		       pRenderingInfo, 1);
	struct fake_op *op = fake_last_op(commandBuffer);
	op->kind = FAKE_OP_RENDERING;
	op->flags = pRenderingInfo->flags;
	b->render = 2;
	b->rendering_flags = pRenderingInfo->flags;
	b->scope = ++b->next_scope;
	set_views(b, pRenderingInfo->viewMask);
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndRendering(VkCommandBuffer commandBuffer)
{
	leave(commandBuffer, &info_vkCmdEndRendering, 2);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndRendering2KHR(VkCommandBuffer commandBuffer, const void *p0)
{
	(void)p0;
	leave(commandBuffer, &info_vkCmdEndRendering2KHR, 2);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndRendering2EXT(VkCommandBuffer commandBuffer, const void *p0)
{
	(void)p0;
	leave(commandBuffer, &info_vkCmdEndRendering2EXT, 2);
}

/* Queries and timestamps are forbidden while it is active: query.c checks that. */
VKAPI_ATTR void VKAPI_CALL
fake_vkCmdBeginPerTileExecutionQCOM(VkCommandBuffer commandBuffer, const void *p0)
{
	(void)p0;
	fake_cmd_begin(commandBuffer, &info_vkCmdBeginPerTileExecutionQCOM);
	CB(commandBuffer)->per_tile = true;
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndPerTileExecutionQCOM(VkCommandBuffer commandBuffer, const void *p0)
{
	(void)p0;
	fake_cmd_begin(commandBuffer, &info_vkCmdEndPerTileExecutionQCOM);
	CB(commandBuffer)->per_tile = false;
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdBeginVideoCodingKHR(VkCommandBuffer commandBuffer,
			      const VkVideoBeginCodingInfoKHR *pBeginInfo)
{
	fake_cmd_begin(commandBuffer, &info_vkCmdBeginVideoCodingKHR);
	fake_put_array(FAKE_STRUCT, FAKE_S_VkVideoBeginCodingInfoKHR, sizeof(*pBeginInfo),
		       pBeginInfo, 1);
	if (CB(commandBuffer)->n_active)
		fake_rule("VUID-vkCmdBeginVideoCodingKHR-None-07127", "a query is active");
	CB(commandBuffer)->video = true;
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndVideoCodingKHR(VkCommandBuffer commandBuffer,
			    const VkVideoEndCodingInfoKHR *pEndCodingInfo)
{
	(void)pEndCodingInfo;
	fake_cmd_begin(commandBuffer, &info_vkCmdEndVideoCodingKHR);
	CB(commandBuffer)->video = false;
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdSetDeviceMask(VkCommandBuffer commandBuffer, uint32_t deviceMask)
{
	fake_cmd_begin(commandBuffer, &info_vkCmdSetDeviceMask);
	fake_put_int(deviceMask);
	CB(commandBuffer)->device_mask = deviceMask;
	fake_cmd_end();
}
