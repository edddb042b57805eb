/* vk_layer/device_features.h - the VkDeviceCreateInfo with the features that we need (R12-R20).
 *
 * Asks what is supported, then adds only that: to a copy. The game's memory is never written to.
 * A structure in the middle of a chain is replaced by cloning the chain up to it; one of unknown
 * size on the way means doing without (R16).
 */
#ifndef PASSTALLY_VK_LAYER_DEVICE_FEATURES_H
#define PASSTALLY_VK_LAYER_DEVICE_FEATURES_H

#include "vk_layer/state.h"

struct vk_patched {
	VkDeviceCreateInfo info;   /* what goes down; points into `memory` and the game's own */
	struct vk_enabled enabled; /* if this one is accepted */
	VkLayerDeviceCreateInfo *link; /* the loader's link node as it goes down: in the clone, or
					  the game's chain (R17) */
	char added[128]; /* the names of what was added, for people; "" = nothing */
	void *memory;	 /* free() */
};

/* False: out of memory, `out` is the game's request untouched. `performance`: with performance
 * queries, where there are any; drivers may refuse those alone. */
bool vk_features_patch(const struct vk_instance *instance, VkPhysicalDevice physical,
		       const VkDeviceCreateInfo *info, bool performance, struct vk_patched *out);
/* What the game's own request enables, and nothing else. */
void vk_features_of_game(const VkDeviceCreateInfo *info, struct vk_enabled *out);

/* The loader's node in a chain, or NULL. Not const: to be advanced in place is its protocol. */
VkLayerDeviceCreateInfo *vk_device_node(const VkDeviceCreateInfo *info, VkLayerFunction function);
/* Does the device offer an extension (of itself, not of a layer)? */
bool vk_offers(const struct vk_instance *instance, VkPhysicalDevice physical, const char *name);
/* The function to ask this device for detailed properties, or NULL where that is not allowed. */
PFN_vkGetPhysicalDeviceProperties2 vk_reads_properties2(const struct vk_instance *instance,
							const VkPhysicalDeviceProperties *device);

#endif
