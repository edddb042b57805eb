/* vk_wrappers.c - what the game calls instead of the next layer.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#include "vk_names.h"
#include "vk_layer/record/counted.h"
#include "vk_layer/record/workloads.h"
#include "vk_layer/submit/submission.h"
#include "vk_layer/record/targets.h"
#include "vk_layer/exact/semaphores.h"
#include "vk_layer/submit/frames.h"

static VKAPI_ATTR void VKAPI_CALL
hook_BreakToy(VkDevice device)
{
	struct vk_device *d = vk_device_find(device);
	if (d->tracked)
		breaks(d);
	d->next.BreakToy(device);
}

static VKAPI_ATTR void VKAPI_CALL
hook_CmdBegin(VkCommandBuffer commandBuffer, const VkToyInfo *pInfo, const float *color)
{
	struct vk_command *c = vk_command_find(commandBuffer);
	if (__builtin_expect(!c, 0)) {
		vk_device_find(commandBuffer)->next.CmdBegin(commandBuffer, pInfo, color);
		return;
	}
	begin(c, pInfo->sType, color);
	c->next->CmdBegin(commandBuffer, pInfo, color);
	begun(c);
}

static __attribute__((noinline, cold)) void
slow_CmdDraw(VkCommandBuffer commandBuffer, uint32_t vertexCount)
{
	struct vk_command *c = vk_command_find(commandBuffer);
	if (!c) {
		vk_device_find(commandBuffer)->next.CmdDraw(commandBuffer, vertexCount);
		return;
	}
	bool counts = c->counts;
	if (!counts)
		vk_draw_begin(c);
	COUNT(c, vertexCount, 1);
	c->next->CmdDraw(commandBuffer, vertexCount);
	if (!counts)
		vk_workload_end(c);
}

static VKAPI_ATTR void VKAPI_CALL
hook_CmdDraw(VkCommandBuffer commandBuffer, uint32_t vertexCount)
{
	struct vk_command *c = vk_last_command;
	if (__builtin_expect(vk_command_is(c, commandBuffer) && c->counts, 1)) {
		COUNT(c, vertexCount, 1);
		c->next->CmdDraw(commandBuffer, vertexCount);
		return;
	}
	slow_CmdDraw(commandBuffer, vertexCount);
}

static __attribute__((noinline, cold)) void
slow_CmdDrawKHR(VkCommandBuffer commandBuffer, uint32_t vertexCount)
{
	struct vk_command *c = vk_command_find(commandBuffer);
	if (!c) {
		vk_device_find(commandBuffer)->next.CmdDrawKHR(commandBuffer, vertexCount);
		return;
	}
	bool counts = c->counts;
	if (!counts)
		vk_draw_begin(c);
	COUNT(c, vertexCount, 1);
	c->next->CmdDrawKHR(commandBuffer, vertexCount);
	if (!counts)
		vk_workload_end(c);
}

static VKAPI_ATTR void VKAPI_CALL
hook_CmdDrawKHR(VkCommandBuffer commandBuffer, uint32_t vertexCount)
{
	struct vk_command *c = vk_last_command;
	if (__builtin_expect(vk_command_is(c, commandBuffer) && c->counts, 1)) {
		COUNT(c, vertexCount, 1);
		c->next->CmdDrawKHR(commandBuffer, vertexCount);
		return;
	}
	slow_CmdDrawKHR(commandBuffer, vertexCount);
}

static __attribute__((noinline)) void
slow_CmdEnd(VkCommandBuffer commandBuffer)
{
	struct vk_command *c = vk_command_find(commandBuffer);
	if (__builtin_expect(!c, 0)) {
		vk_device_find(commandBuffer)->next.CmdEnd(commandBuffer);
		return;
	}
	c->next->CmdEnd(commandBuffer);
	ended(c);
}

static VKAPI_ATTR void VKAPI_CALL
hook_CmdEnd(VkCommandBuffer commandBuffer)
{
	struct vk_command *c = vk_last_command;
	if (vk_command_is(c, commandBuffer) && quick(c))
		c->next->CmdEnd(commandBuffer);
	else
		slow_CmdEnd(commandBuffer);
}

static __attribute__((noinline)) void
slow_CmdEnd2TOY(VkCommandBuffer commandBuffer, const void *pInfo)
{
	struct vk_command *c = vk_command_find(commandBuffer);
	if (__builtin_expect(!c, 0)) {
		vk_device_find(commandBuffer)->next.CmdEnd2TOY(commandBuffer, pInfo);
		return;
	}
	c->next->CmdEnd2TOY(commandBuffer, pInfo);
	ended(c);
}

static VKAPI_ATTR void VKAPI_CALL
hook_CmdEnd2TOY(VkCommandBuffer commandBuffer, const void *pInfo)
{
	struct vk_command *c = vk_last_command;
	if (vk_command_is(c, commandBuffer) && quick(c))
		c->next->CmdEnd2TOY(commandBuffer, pInfo);
	else
		slow_CmdEnd2TOY(commandBuffer, pInfo);
}

static VKAPI_ATTR void VKAPI_CALL
hook_DestroyToy(VkDevice device)
{
	struct vk_device *d = vk_device_find(device);
	if (__builtin_expect(!d->tracked, 0)) {
		d->next.DestroyToy(device);
		return;
	}
	toy_destroy(d, d->next.DestroyToy, device);
}

static VKAPI_ATTR VkResult VKAPI_CALL
hook_MakeToy(VkDevice device, uint32_t *pToy)
{
	struct vk_device *d = vk_device_find(device);
	struct tally_event event = vk_event_begin(d, TALLY_EVENT_SHADER, "vkMakeToy");
	VkResult result = d->next.MakeToy(device, pToy);
	if (d->tracked && result == VK_SUCCESS) {
		vk_event_end(&event, 1, 0);
		made(d, pToy);
	}
	return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
hook_QueueSubmit(VkQueue queue, const char *const *ppNames)
{
	struct vk_device *d = vk_device_find(queue);
	if (__builtin_expect(!d->tracked, 0))
		return d->next.QueueSubmit(queue, ppNames);
	struct tally_clock_wait wait = vk_wait_begin(d);
	VkResult result = d->next.QueueSubmit(queue, ppNames);
	vk_wait_end(d, &wait, result, TALLY_EVENT_FENCE, "vkQueueSubmit");
	if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR)
		waited(d, queue);
	return result;
}

const struct vk_hook vk_hooks[VK_N_HOOKS] = {
	{ "vkBreakToy", (PFN_vkVoidFunction)hook_BreakToy },
	{ "vkCmdBegin", (PFN_vkVoidFunction)hook_CmdBegin },
	{ "vkCmdDraw", (PFN_vkVoidFunction)hook_CmdDraw },
	{ "vkCmdDrawKHR", (PFN_vkVoidFunction)hook_CmdDrawKHR },
	{ "vkCmdEnd", (PFN_vkVoidFunction)hook_CmdEnd },
	{ "vkCmdEnd2TOY", (PFN_vkVoidFunction)hook_CmdEnd2TOY },
	{ "vkDestroyToy", (PFN_vkVoidFunction)hook_DestroyToy },
	{ "vkMakeToy", (PFN_vkVoidFunction)hook_MakeToy },
	{ "vkQueueSubmit", (PFN_vkVoidFunction)hook_QueueSubmit },
};
