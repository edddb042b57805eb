/* vk_next.c - fills the tables of the next layer's functions.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#include "vk_next.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Stand-ins ignore what they are given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static VKAPI_ATTR void VKAPI_CALL
no_BreakToy(VkDevice device)
{
}

static VKAPI_ATTR void VKAPI_CALL
no_CmdBegin(VkCommandBuffer commandBuffer, const VkToyInfo *pInfo, const float *color)
{
}

static VKAPI_ATTR void VKAPI_CALL
no_CmdDraw(VkCommandBuffer commandBuffer, uint32_t vertexCount)
{
}

static VKAPI_ATTR void VKAPI_CALL
no_CmdDrawKHR(VkCommandBuffer commandBuffer, uint32_t vertexCount)
{
}

static VKAPI_ATTR void VKAPI_CALL
no_CmdEnd(VkCommandBuffer commandBuffer)
{
}

static VKAPI_ATTR void VKAPI_CALL
no_CmdEnd2TOY(VkCommandBuffer commandBuffer, const void *pInfo)
{
}

static VKAPI_ATTR void VKAPI_CALL
no_DestroyToy(VkDevice device)
{
}

static VKAPI_ATTR VkResult VKAPI_CALL
no_GetToy(VkPhysicalDevice physicalDevice)
{
	return VK_ERROR_EXTENSION_NOT_PRESENT;
}

static VKAPI_ATTR VkResult VKAPI_CALL
no_MakeToy(VkDevice device, uint32_t *pToy)
{
	return VK_ERROR_EXTENSION_NOT_PRESENT;
}

static VKAPI_ATTR VkResult VKAPI_CALL
no_QueueSubmit(VkQueue queue, const char *const *ppNames)
{
	return VK_ERROR_EXTENSION_NOT_PRESENT;
}

struct row {
	uint16_t offset;
	const char *name;
	PFN_vkVoidFunction stand_in; /* NULL: the member may be NULL */
	bool by_instance;	     /* of an extension of the instance */
};

static const struct row hooked_rows[] = {
	{ offsetof(struct vk_device_next, BreakToy), "vkBreakToy",
	  (PFN_vkVoidFunction)no_BreakToy, false },
	{ offsetof(struct vk_device_next, CmdBegin), "vkCmdBegin",
	  (PFN_vkVoidFunction)no_CmdBegin, true },
	{ offsetof(struct vk_device_next, CmdDraw), "vkCmdDraw",
	  (PFN_vkVoidFunction)no_CmdDraw, false },
	{ offsetof(struct vk_device_next, CmdDrawKHR), "vkCmdDrawKHR",
	  (PFN_vkVoidFunction)no_CmdDrawKHR, false },
	{ offsetof(struct vk_device_next, CmdEnd), "vkCmdEnd",
	  (PFN_vkVoidFunction)no_CmdEnd, false },
	{ offsetof(struct vk_device_next, CmdEnd2TOY), "vkCmdEnd2TOY",
	  (PFN_vkVoidFunction)no_CmdEnd2TOY, false },
	{ offsetof(struct vk_device_next, DestroyToy), "vkDestroyToy",
	  (PFN_vkVoidFunction)no_DestroyToy, false },
	{ offsetof(struct vk_device_next, MakeToy), "vkMakeToy",
	  (PFN_vkVoidFunction)no_MakeToy, false },
	{ offsetof(struct vk_device_next, QueueSubmit), "vkQueueSubmit",
	  (PFN_vkVoidFunction)no_QueueSubmit, false },
};

static const struct row used_rows[] = {
	{ offsetof(struct vk_device_next, use.CmdDraw), "vkCmdDraw",
	  (PFN_vkVoidFunction)no_CmdDraw, false },
	{ offsetof(struct vk_device_next, use.CmdDraw), "vkCmdDrawKHR",
	  NULL, false },
	{ offsetof(struct vk_device_next, use.DestroyToy), "vkDestroyToy",
	  NULL, false },
};

static const struct row instance_rows[] = {
	{ offsetof(struct vk_instance_next, GetToy), "vkGetToy",
	  (PFN_vkVoidFunction)no_GetToy, false },
	{ offsetof(struct vk_instance_next, GetToy), "vkGetToyEXT",
	  NULL, false },
	{ offsetof(struct vk_instance_next, GetToy), "vkGetToyKHR",
	  NULL, false },
	{ offsetof(struct vk_instance_next, GetToyKHR), "vkGetToyKHR",
	  NULL, false },
	{ offsetof(struct vk_instance_next, GetToyKHR), "vkGetToy",
	  (PFN_vkVoidFunction)no_GetToy, false },
	{ offsetof(struct vk_instance_next, GetToyKHR), "vkGetToyEXT",
	  NULL, false },
};

static void
fill(void *table, const struct row *row, PFN_vkVoidFunction found)
{
	char *member = (char *)table + row->offset;
	PFN_vkVoidFunction there;
	memcpy(&there, member, sizeof(there));
	if (!found)
		found = row->stand_in;
	if (!there)
		memcpy(member, &found, sizeof(found));
}

void
vk_instance_next_load(struct vk_instance_next *next, VkInstance instance,
		      PFN_vkGetInstanceProcAddr get)
{
	memset(next, 0, sizeof(*next));
	next->GetInstanceProcAddr = get;
	for (size_t i = 0; i < sizeof(instance_rows) / sizeof(instance_rows[0]); i++)
		fill(next, &instance_rows[i], get(instance, instance_rows[i].name));
}

void
vk_device_next_load(struct vk_device_next *next, VkDevice device,
		    PFN_vkGetDeviceProcAddr get, VkInstance instance,
		    PFN_vkGetInstanceProcAddr get_of_instance)
{
	memset(next, 0, sizeof(*next));
	next->GetDeviceProcAddr = get;
	for (size_t i = 0; i < sizeof(used_rows) / sizeof(used_rows[0]); i++)
		fill(next, &used_rows[i], get(device, used_rows[i].name));
	for (size_t i = 0; i < sizeof(hooked_rows) / sizeof(hooked_rows[0]); i++) {
		const struct row *row = &hooked_rows[i];
		PFN_vkVoidFunction found = get(device, row->name);
		if (!found && row->by_instance)
			found = get_of_instance(instance, row->name);
		fill(next, row, found);
	}
}
