/* vk_next.c - fills the tables of the next layer's functions.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#include "vk_next.h"

#include <stddef.h>
#include <string.h>

struct row {
	uint16_t offset;
	const char *name;
};

static const struct row device_rows[] = {
	{ offsetof(struct vk_device_next, CmdBegin), "vkCmdBegin" },
	{ offsetof(struct vk_device_next, CmdDraw), "vkCmdDraw" },
	{ offsetof(struct vk_device_next, CmdDrawKHR), "vkCmdDrawKHR" },
	{ offsetof(struct vk_device_next, CmdEnd), "vkCmdEnd" },
	{ offsetof(struct vk_device_next, CmdEnd2TOY), "vkCmdEnd2TOY" },
	{ offsetof(struct vk_device_next, DestroyToy), "vkDestroyToy" },
	{ offsetof(struct vk_device_next, QueueSubmit), "vkQueueSubmit" },
	{ offsetof(struct vk_device_next, use.CmdDraw), "vkCmdDraw" },
	{ offsetof(struct vk_device_next, use.CmdDraw), "vkCmdDrawKHR" },
	{ offsetof(struct vk_device_next, use.DestroyToy), "vkDestroyToy" },
};

static const struct row instance_rows[] = {
	{ offsetof(struct vk_instance_next, GetToy), "vkGetToy" },
	{ offsetof(struct vk_instance_next, GetToy), "vkGetToyEXT" },
	{ offsetof(struct vk_instance_next, GetToy), "vkGetToyKHR" },
	{ offsetof(struct vk_instance_next, GetToyKHR), "vkGetToyKHR" },
	{ offsetof(struct vk_instance_next, GetToyKHR), "vkGetToy" },
	{ offsetof(struct vk_instance_next, GetToyKHR), "vkGetToyEXT" },
};

static void
fill(void *table, const struct row *row, PFN_vkVoidFunction found)
{
	char *member = (char *)table + row->offset;
	PFN_vkVoidFunction there;
	memcpy(&there, member, sizeof(there));
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
		    PFN_vkGetDeviceProcAddr get)
{
	memset(next, 0, sizeof(*next));
	next->GetDeviceProcAddr = get;
	for (size_t i = 0; i < sizeof(device_rows) / sizeof(device_rows[0]); i++)
		fill(next, &device_rows[i], get(device, device_rows[i].name));
}
