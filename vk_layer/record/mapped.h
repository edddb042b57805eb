/* SPDX-License-Identifier: MIT */
/* vk_layer/record/mapped.h - buffers that the GPU copies to and the CPU reads, mapped as long
 * as they exist. Any thread; all calls the driver, without a lock.
 */
#ifndef PASSTALLY_VK_LAYER_RECORD_MAPPED_H
#define PASSTALLY_VK_LAYER_RECORD_MAPPED_H

#include "vk_layer/state.h"

/* Zeroed: none. */
struct vk_mapped {
	VkBuffer buffer;
	VkDeviceMemory memory;
	void *map;
};

/* False: the driver has no memory for it; it is to be freed all the same. */
bool vk_mapped_make(struct vk_device *d, VkDeviceSize bytes, struct vk_mapped *out);
void vk_mapped_free(struct vk_device *d, const struct vk_mapped *mapped);

/* The memory type of those allowed that has what it must, and what is better if there is
 * one. UINT32_MAX: there is none. */
uint32_t vk_memory_type(const struct vk_device *d, uint32_t allowed,
			VkMemoryPropertyFlags must, VkMemoryPropertyFlags better);

#endif
