/* SPDX-License-Identifier: MIT */
/* vk_layer/chain.h - creation and destruction of instances and devices, called from entry.c.
 *
 * A pure pass-through (PASSTALLY_DISABLE, or no configuration) takes part in the layer chain
 * and does nothing else. Any thread.
 */
#ifndef PASSTALLY_VK_LAYER_CHAIN_H
#define PASSTALLY_VK_LAYER_CHAIN_H

#include "vk_layer/state.h"

#define VK_LAYER_OF_OURS "VK_LAYER_PASSTALLY_capture"

VKAPI_ATTR VkResult VKAPI_CALL vk_instance_create(const VkInstanceCreateInfo *info,
						  const VkAllocationCallbacks *allocator,
						  VkInstance *out);
VKAPI_ATTR void VKAPI_CALL vk_instance_destroy(VkInstance instance,
					       const VkAllocationCallbacks *allocator);
VKAPI_ATTR VkResult VKAPI_CALL vk_device_create(VkPhysicalDevice physical,
						const VkDeviceCreateInfo *info,
						const VkAllocationCallbacks *allocator,
						VkDevice *out);
VKAPI_ATTR void VKAPI_CALL vk_device_destroy(VkDevice device,
					     const VkAllocationCallbacks *allocator);

/* The instance is about to be destroyed while the game has left some of its devices
 * undestroyed: their results are read as far as they are ready, and from then on their
 * calls are only forwarded. */
void vk_devices_abandon(struct vk_instance *instance);

/* The loader's dispatch pointer, which all children of one instance or device share. */
static inline uint64_t
vk_dispatch_key(const void *handle)
{
	return (uint64_t)(uintptr_t)*(void *const *)handle;
}

#endif
