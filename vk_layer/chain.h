/* SPDX-License-Identifier: MIT */
/* vk_layer/chain.h - creation and destruction of instances and devices, called from entry.c.
 *
 * A pure pass-through (PASSTALLY_DISABLE, or no configuration) takes part in the layer chain
 * and does nothing else. Any thread.
 */
#ifndef PASSTALLY_VK_LAYER_CHAIN_H
#define PASSTALLY_VK_LAYER_CHAIN_H

#include "vk_layer/state.h"

#include <string.h>

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

/* The loader's dispatch pointer, which all children of one instance or device share. */
static inline uint64_t
vk_dispatch_key(const void *handle)
{
	return (uint64_t)(uintptr_t)*(void *const *)handle;
}

/* The loader's node in the chain of an instance or a device, whose types begin alike; NULL: there
 * is none. It belongs to the loader, and the protocol is to advance it in place. */
static inline void *
vk_loader_node(const void *chain, int type, VkLayerFunction function)
{
	const VkLayerDeviceCreateInfo *node = vk_find_in_chain(chain, type);
	while (node && node->function != function)
		node = vk_find_in_chain(node->pNext, type);
	return (void *)(uintptr_t)node;
}

static inline bool
vk_lists(uint32_t n, const char *const *names, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

#endif
