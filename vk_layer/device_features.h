/* vk_layer/device_features.h - the game's VkDeviceCreateInfo with the features that we need added (R12-R20).
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
	void *memory; /* free() */
};

/* False: out of memory, `out` is the game's request untouched. */
bool vk_features_patch(const struct vk_instance *instance, VkPhysicalDevice physical,
		       const VkDeviceCreateInfo *info, struct vk_patched *out);
/* What the game's own request enables, and nothing else. */
void vk_features_of_game(const VkDeviceCreateInfo *info, struct vk_enabled *out);

#endif
