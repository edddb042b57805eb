/* SPDX-License-Identifier: MIT */
/* vk_layer/device_features.h - the VkDeviceCreateInfo with the features that the layer needs
 * (R12-R20).
 *
 * Queries what is supported, then adds only that, in a copy. The game's memory is never written
 * to. A structure in the middle of a chain is replaced by cloning the chain up to it. If a
 * structure of unknown size comes before it, the feature is not enabled (R16).
 */
#ifndef PASSTALLY_VK_LAYER_DEVICE_FEATURES_H
#define PASSTALLY_VK_LAYER_DEVICE_FEATURES_H

#include "vk_layer/state.h"

struct vk_patched {
	VkDeviceCreateInfo info;   /* passed on; points into `memory` and the game's own */
	struct vk_enabled enabled; /* if this create info is accepted */
	VkLayerDeviceCreateInfo *link; /* the loader's node: a clone, or the game's (R17) */
	bool adds;    /* something to what the game requested */
	void *memory; /* to be freed by free() */
};

/* The extensions of the device itself, not of a layer. */
struct vk_extensions {
	VkExtensionProperties *rows; /* to be freed by free() */
	uint32_t n;
};
struct vk_extensions
vk_extensions_read(const struct vk_instance *instance, VkPhysicalDevice physical);
bool vk_extensions_have(const struct vk_extensions *all, const char *name);

/* False: out of memory, and `out` is the game's request unchanged. `performance`: include
 * performance queries where they are supported; drivers may refuse those alone. */
bool vk_features_patch(const struct vk_instance *instance, VkPhysicalDevice physical,
		       const struct vk_extensions *all, const VkDeviceCreateInfo *info,
		       bool performance, struct vk_patched *out);
/* Whether creation feedback may be chained. In the extension before Vulkan 1.3 a structure had to
 * have feedback for each stage, and drivers of that time may write it without looking at the
 * count. */
bool vk_features_feedback(const struct vk_instance *instance,
			  const VkPhysicalDeviceProperties *device);
/* What the game's own request enables, without our additions. */
void vk_features_of_game(const VkDeviceCreateInfo *info, struct vk_enabled *out);

VkLayerDeviceCreateInfo *
vk_device_node(const VkDeviceCreateInfo *info, VkLayerFunction function);
/* The function that queries detailed properties of this device, or NULL where
 * that is not allowed. */
PFN_vkGetPhysicalDeviceProperties2
vk_reads_properties2(const struct vk_instance *instance,
		     const VkPhysicalDeviceProperties *device);

#endif
