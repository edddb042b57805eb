/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/mapped.h"

uint32_t
vk_memory_type(const struct vk_device *d, uint32_t allowed, VkMemoryPropertyFlags must,
	       VkMemoryPropertyFlags better)
{
	const VkMemoryPropertyFlags never = VK_MEMORY_PROPERTY_PROTECTED_BIT |
					    VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |
					    VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
	VkPhysicalDeviceMemoryProperties has;
	uint32_t found = UINT32_MAX;
	if (!d->instance)
		return found;
	d->instance->next.GetPhysicalDeviceMemoryProperties(d->physical, &has);
	for (uint32_t i = has.memoryTypeCount; i-- > 0;) {
		VkMemoryPropertyFlags flags = has.memoryTypes[i].propertyFlags;
		if (!(allowed >> i & 1) || (flags & (must | never)) != must)
			continue;
		if (found == UINT32_MAX || (flags & better) == better)
			found = i;
	}
	return found;
}

bool
vk_mapped_make(struct vk_device *d, VkDeviceSize bytes, struct vk_mapped *out)
{
	const VkMemoryPropertyFlags must = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
					   VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = bytes,
		.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryAllocateInfo memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	const struct vk_device_next *next = &d->next;
	VkMemoryRequirements needs;
	if (next->use.CreateBuffer(d->handle, &info, NULL, &out->buffer) != VK_SUCCESS) {
		out->buffer = VK_NULL_HANDLE;
		return false;
	}
	next->use.GetBufferMemoryRequirements(d->handle, out->buffer, &needs);
	memory.allocationSize = needs.size;
	memory.memoryTypeIndex = vk_memory_type(d, needs.memoryTypeBits, must,
						VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
	if (memory.memoryTypeIndex == UINT32_MAX ||
	    next->use.AllocateMemory(d->handle, &memory, NULL, &out->memory) != VK_SUCCESS) {
		out->memory = VK_NULL_HANDLE;
		return false;
	}
	VkResult result = next->use.BindBufferMemory(d->handle, out->buffer, out->memory, 0);
	if (result == VK_SUCCESS)
		result = next->use.MapMemory(d->handle, out->memory, 0, VK_WHOLE_SIZE, 0,
					     &out->map);
	return result == VK_SUCCESS;
}

void
vk_mapped_free(struct vk_device *d, const struct vk_mapped *mapped)
{
	if (mapped->buffer)
		d->next.use.DestroyBuffer(d->handle, mapped->buffer, NULL);
	if (mapped->memory)
		d->next.use.FreeMemory(d->handle, mapped->memory, NULL);
}
