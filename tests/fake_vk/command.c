/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <stdlib.h>
#include <string.h>

#define CB(h) (&FAKE_OBJECT(h)->cb)

VkQueueFlags
fake_flags_of(const struct fake_object *cb)
{
	return fake_config.families[cb->cb.pool->pool.family].flags;
}

static struct fake_op *
push(struct fake_buffer *b)
{
	if (b->n_ops == b->room) {
		uint32_t room = b->room ? b->room * 2 : 64;
		struct fake_op *ops = realloc(b->ops, room * sizeof(*ops));
		if (!ops)
			abort();
		b->ops = ops;
		b->room = room;
	}
	struct fake_op *op = &b->ops[b->n_ops++];
	memset(op, 0, sizeof(*op));
	return op;
}

struct fake_op *
fake_last_op(VkCommandBuffer commandBuffer)
{
	return &CB(commandBuffer)->ops[CB(commandBuffer)->n_ops - 1];
}

static void
check_place(struct fake_object *o, const struct fake_info *info)
{
	struct fake_buffer *b = &o->cb;
	VkQueueFlags flags = fake_flags_of(o);
	VkQueueFlags wanted = info->queues;
	if (wanted && !(wanted & flags))
		fake_rule("VUID-any-commandBuffer-cmdpool", "%s: not for this family",
			  info->name);
	if (b->state != 1)
		fake_rule("VUID-any-commandBuffer-recording", "%s", info->name);
	if (info->render_pass == FAKE_OUTSIDE && b->render)
		fake_rule("VUID-any-renderpass", "%s inside a render pass", info->name);
	if (info->render_pass == FAKE_INSIDE && !b->render)
		fake_rule("VUID-any-renderpass", "%s outside a render pass", info->name);
	/* Video scopes allow few commands; a timestamp is formally allowed, but not by every
	 * session. */
	if (info->video == FAKE_OUTSIDE && b->video)
		fake_rule("VUID-any-videocoding", "%s in a video coding scope", info->name);
	if (info->video == FAKE_INSIDE && !b->video)
		fake_rule("VUID-any-videocoding", "%s outside a video coding scope", info->name);
}

void
fake_cmd_begin(VkCommandBuffer commandBuffer, const struct fake_info *info)
{
	struct fake_object *o = FAKE_OBJECT(commandBuffer);
	fake_line_begin(info->name);
	fake_put_handle(FAKE_VkCommandBuffer, (uint64_t)(uintptr_t)commandBuffer);
	check_place(o, info);
	push(&o->cb)->info = info;
}

void
fake_cmd_end(void)
{
	fake_line_end();
}

static void
check_mesh(const struct fake_buffer *b)
{
	const VkQueryPipelineStatisticFlags primitive =
		VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT |
		VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT |
		VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT |
		VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_INVOCATIONS_BIT |
		VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_BIT |
		VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT |
		VK_QUERY_PIPELINE_STATISTIC_CLIPPING_PRIMITIVES_BIT |
		VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_CONTROL_SHADER_PATCHES_BIT |
		VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_EVALUATION_SHADER_INVOCATIONS_BIT;
	for (uint32_t i = 0; i < b->n_active; i++)
		if (b->active[i].pool->queries.bits & primitive)
			fake_rule("VUID-vkCmdDrawMeshTasksEXT-pipelineStatistics-07076",
				  "a query counts vertices");
	if (b->inherited & primitive)
		fake_rule("VUID-vkCmdDrawMeshTasksEXT-pipelineStatistics-07076", "inherited");
}

void
fake_cmd_count(VkCommandBuffer commandBuffer, uint64_t draws, uint64_t vertices, uint64_t groups,
	       bool mesh)
{
	struct fake_op *op = fake_last_op(commandBuffer);
	op->draws = draws;
	op->vertices = vertices;
	op->groups = groups;
	if (mesh)
		check_mesh(CB(commandBuffer));
}

/* ---- pools ---- */

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *pCreateInfo,
			 const VkAllocationCallbacks *pAllocator, VkCommandPool *pCommandPool)
{
	(void)device;
	VkResult result = fake_enter("vkCreateCommandPool", !pAllocator);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	struct fake_object *o = FAKE_OBJECT(fake_new(FAKE_VkCommandPool, !pAllocator));
	o->pool.family = pCreateInfo->queueFamilyIndex;
	o->pool.flags = pCreateInfo->flags;
	*pCommandPool = (VkCommandPool)(uintptr_t)o;
	fake_line_begin("vkCreateCommandPool");
	fake_put_handle(FAKE_VkCommandPool, (uint64_t)(uintptr_t)o);
	fake_put_int(o->pool.flags);
	fake_put_int(o->pool.family);
	fake_put_word(pAllocator ? "allocator" : "-");
	fake_line_end();
	fake_unlock();
	return VK_SUCCESS;
}

static struct fake_object *all_buffers;

static void
forget(struct fake_object *o)
{
	for (struct fake_object **link = &all_buffers; *link; link = &(*link)->next)
		if (*link == o) {
			*link = o->next;
			break;
		}
	fake_free((uint64_t)(uintptr_t)o);
}

static void
not_pending(const struct fake_object *o, const char *id)
{
	if (o->cb.pending && !(fake_current && fake_current->lost))
		fake_rule(id, "a command buffer is pending");
}

static void
line_of_pool(const char *name, VkCommandPool pool)
{
	fake_line_begin(name);
	fake_put_handle(FAKE_VkCommandPool, (uint64_t)(uintptr_t)pool);
	fake_line_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkDestroyCommandPool(VkDevice device, VkCommandPool commandPool,
			  const VkAllocationCallbacks *pAllocator)
{
	(void)device;
	(void)pAllocator;
	if (!commandPool)
		return;
	fake_lock();
	fake_pump();
	line_of_pool("vkDestroyCommandPool", commandPool);
	for (struct fake_object *o = all_buffers, *next; o; o = next) {
		next = o->next;
		if (o->cb.pool != FAKE_OBJECT(commandPool))
			continue;
		not_pending(o, "VUID-vkDestroyCommandPool-commandPool-00041");
		forget(o);
	}
	fake_free((uint64_t)(uintptr_t)commandPool);
	fake_unlock();
}

static void
reset_buffer(struct fake_object *o)
{
	o->cb.n_ops = 0;
	o->cb.state = 0;
	o->cb.n_active = 0;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkResetCommandPool(VkDevice device, VkCommandPool commandPool,
			VkCommandPoolResetFlags flags)
{
	(void)device;
	(void)flags;
	VkResult result = fake_enter("vkResetCommandPool", FAKE_OBJECT(commandPool)->ours);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_pump();
	line_of_pool("vkResetCommandPool", commandPool);
	for (struct fake_object *o = all_buffers; o; o = o->next)
		if (o->cb.pool == FAKE_OBJECT(commandPool)) {
			not_pending(o, "VUID-vkResetCommandPool-commandPool-00040");
			reset_buffer(o);
		}
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkAllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo *pAllocateInfo,
			      VkCommandBuffer *pCommandBuffers)
{
	(void)device;
	struct fake_object *pool = FAKE_OBJECT(pAllocateInfo->commandPool);
	VkResult result = fake_enter("vkAllocateCommandBuffers", pool->ours);
	for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; i++)
		pCommandBuffers[i] = VK_NULL_HANDLE;
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_line_begin("vkAllocateCommandBuffers");
	fake_put_handle(FAKE_VkCommandPool, (uint64_t)(uintptr_t)pAllocateInfo->commandPool);
	fake_put_int(pAllocateInfo->level);
	for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; i++) {
		struct fake_object *o = FAKE_OBJECT(fake_new(FAKE_VkCommandBuffer, pool->ours));
		o->cb.pool = pool;
		o->cb.secondary = pAllocateInfo->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY;
		o->next = all_buffers;
		all_buffers = o;
		pCommandBuffers[i] = (VkCommandBuffer)o;
		fake_put_handle(FAKE_VkCommandBuffer, (uint64_t)(uintptr_t)o);
	}
	fake_line_end();
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkFreeCommandBuffers(VkDevice device, VkCommandPool commandPool,
			  uint32_t commandBufferCount,
			  const VkCommandBuffer *pCommandBuffers)
{
	(void)device;
	fake_lock();
	fake_pump();
	fake_line_begin("vkFreeCommandBuffers");
	fake_put_handle(FAKE_VkCommandPool, (uint64_t)(uintptr_t)commandPool);
	fake_put_array(FAKE_HANDLE, FAKE_VkCommandBuffer, sizeof(VkCommandBuffer),
		       pCommandBuffers, commandBufferCount);
	for (uint32_t i = 0; i < commandBufferCount; i++)
		if (pCommandBuffers[i]) {
			not_pending(FAKE_OBJECT(pCommandBuffers[i]),
				    "VUID-vkFreeCommandBuffers-pCommandBuffers-00047");
			forget(FAKE_OBJECT(pCommandBuffers[i]));
		}
	fake_line_end();
	fake_unlock();
}

/* ---- recording ---- */

static void
put_inheritance(const VkCommandBufferInheritanceInfo *in)
{
	const VkCommandBufferInheritanceRenderingInfo *dynamic = NULL;
	for (const VkBaseInStructure *s = in->pNext; s; s = s->pNext)
		if (s->sType == VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO)
			dynamic = (const void *)s;
	fake_put_handle(FAKE_VkRenderPass, (uint64_t)(uintptr_t)in->renderPass);
	fake_put_int(in->subpass);
	fake_put_handle(FAKE_VkFramebuffer, (uint64_t)(uintptr_t)in->framebuffer);
	fake_put_int(in->occlusionQueryEnable);
	fake_put_int(in->queryFlags);
	fake_put_word("statistics");
	fake_put_int(in->pipelineStatistics);
	if (dynamic)
		fake_put_array(FAKE_STRUCT, FAKE_S_VkCommandBufferInheritanceRenderingInfo,
			       sizeof(*dynamic), dynamic, 1);
}

static uint32_t
views_of(uint32_t mask)
{
	uint32_t n = (uint32_t)__builtin_popcount(mask);
	return n ? n : 1;
}

static void
begin_secondary(struct fake_buffer *b, const VkCommandBufferInheritanceInfo *in)
{
	b->inherited = in->pipelineStatistics;
	b->continues = b->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
	if (b->inherited && !fake_current->inherited)
		fake_rule("VUID-VkCommandBufferInheritanceInfo-pipelineStatistics-00058",
			  "inheritedQueries is not enabled");
	put_inheritance(in);
	if (!b->continues)
		return;
	b->render = 3;
	b->scope = ++b->next_scope;
	if (in->renderPass && in->subpass < FAKE_MAX_VIEWS)
		b->views = views_of(FAKE_OBJECT(in->renderPass)->pass.masks[in->subpass]);
	for (const VkBaseInStructure *s = in->pNext; s && !in->renderPass; s = s->pNext)
		if (s->sType == VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO)
			b->views = views_of(
				((const VkCommandBufferInheritanceRenderingInfo *)s)->viewMask);
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkBeginCommandBuffer(VkCommandBuffer commandBuffer,
			  const VkCommandBufferBeginInfo *pBeginInfo)
{
	struct fake_object *o = FAKE_OBJECT(commandBuffer);
	struct fake_buffer *b = &o->cb;
	if (fake_config.bench)
		return VK_SUCCESS;
	VkResult result = fake_enter("vkBeginCommandBuffer", o->ours);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_pump();
	not_pending(o, "VUID-vkBeginCommandBuffer-commandBuffer-00049");
	if (b->state == 1)
		fake_rule("VUID-vkBeginCommandBuffer-commandBuffer-00049", "recording already");
	reset_buffer(o);
	b->state = 1;
	b->flags = pBeginInfo->flags;
	b->render = b->scope = b->next_scope = b->inherited = 0;
	b->views = 1;
	b->video = b->per_tile = b->continues = false;
	b->device_mask = (1u << fake_current->group_size) - 1;
	for (const VkBaseInStructure *s = pBeginInfo->pNext; s; s = s->pNext)
		if (s->sType == VK_STRUCTURE_TYPE_DEVICE_GROUP_COMMAND_BUFFER_BEGIN_INFO)
			b->device_mask =
				((const VkDeviceGroupCommandBufferBeginInfo *)s)->deviceMask;
	fake_line_begin("vkBeginCommandBuffer");
	fake_put_handle(FAKE_VkCommandBuffer, (uint64_t)(uintptr_t)o);
	fake_put_int(b->flags);
	if (b->secondary)
		begin_secondary(b, pBeginInfo->pInheritanceInfo);
	fake_line_end();
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkEndCommandBuffer(VkCommandBuffer commandBuffer)
{
	struct fake_object *o = FAKE_OBJECT(commandBuffer);
	if (fake_config.bench)
		return VK_SUCCESS;
	VkResult result = fake_enter("vkEndCommandBuffer", o->ours);
	fake_lock();
	fake_line_begin("vkEndCommandBuffer");
	fake_put_handle(FAKE_VkCommandBuffer, (uint64_t)(uintptr_t)o);
	fake_line_end();
	if (o->cb.state != 1)
		fake_rule("VUID-vkEndCommandBuffer-commandBuffer-00059", "not recording");
	if (o->cb.n_active)
		fake_rule("VUID-vkEndCommandBuffer-commandBuffer-00061", "a query is active");
	if (o->cb.render && o->cb.render != 3)
		fake_rule("VUID-vkEndCommandBuffer-commandBuffer-00060", "in a render pass");
	if (o->cb.video)
		fake_rule("VUID-vkEndCommandBuffer-None-06991", "in a video coding scope");
	o->cb.state = result == VK_SUCCESS ? 2 : 3;
	fake_unlock();
	return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkResetCommandBuffer(VkCommandBuffer commandBuffer, VkCommandBufferResetFlags flags)
{
	struct fake_object *o = FAKE_OBJECT(commandBuffer);
	VkResult result = fake_enter("vkResetCommandBuffer", o->ours);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_pump();
	fake_line_begin("vkResetCommandBuffer");
	fake_put_handle(FAKE_VkCommandBuffer, (uint64_t)(uintptr_t)o);
	fake_put_int(flags);
	not_pending(o, "VUID-vkResetCommandBuffer-commandBuffer-00045");
	reset_buffer(o);
	fake_line_end();
	fake_unlock();
	return VK_SUCCESS;
}
