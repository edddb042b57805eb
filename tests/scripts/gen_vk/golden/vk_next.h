/* vk_next.h - the next layer's functions.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef PASSTALLY_VK_NEXT_H
#define PASSTALLY_VK_NEXT_H

#include "vk_layer/vk_types.h"

/* Newer than the oldest headers that we build with. */
typedef void (VKAPI_PTR *PFN_newer_CmdEnd2TOY)(VkCommandBuffer commandBuffer, const void *pInfo);
typedef VkResult (VKAPI_PTR *PFN_newer_GetToyEXT)(VkPhysicalDevice physicalDevice);

/* Our own calls, each under the first spelling found; NULL when there is none. What
 * is in Vulkan 1.0 is never NULL: see below. */
struct vk_instance_next {
	PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
	PFN_vkGetToy GetToy;
	PFN_vkGetToyKHR GetToyKHR;
};

/* What is hooked, one member a spelling: never NULL once loaded. What the next layer
 * does not have is a function that does nothing and fails where it can. In `use` our
 * own calls: NULL where the device has none, but for what is in Vulkan 1.0. */
struct vk_device_next {
	PFN_vkGetDeviceProcAddr GetDeviceProcAddr;
	PFN_vkBreakToy BreakToy;
	PFN_vkCmdBegin CmdBegin;
	PFN_vkCmdDraw CmdDraw;
	PFN_vkCmdDrawKHR CmdDrawKHR;
	PFN_vkCmdEnd CmdEnd;
	PFN_newer_CmdEnd2TOY CmdEnd2TOY;
	PFN_vkDestroyToy DestroyToy;
	PFN_vkMakeToy MakeToy;
	PFN_vkQueueSubmit QueueSubmit;
	struct {
		PFN_vkCmdDraw CmdDraw;
		PFN_vkDestroyToy DestroyToy;
	} use;
};

void vk_instance_next_load(struct vk_instance_next *next, VkInstance instance,
			   PFN_vkGetInstanceProcAddr get);
/* Commands of an extension of the instance are there without it being enabled: the
 * loader (1.3.204 to 1.4.328) hands out what the instance's look-up finds, so that is
 * asked where the device's finds nothing. */
void vk_device_next_load(struct vk_device_next *next, VkDevice device,
			 PFN_vkGetDeviceProcAddr get, VkInstance instance,
			 PFN_vkGetInstanceProcAddr get_of_instance);

/* The hooks that are written by hand. Each forwards the call itself, to `next`: the
 * function of the spelling that the game called. */
struct vk_device;
void toy_destroy(struct vk_device *d, PFN_vkDestroyToy next, VkDevice device);

#endif
