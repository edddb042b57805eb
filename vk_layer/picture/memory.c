/* SPDX-License-Identifier: MIT */
#include "vk_layer/picture/memory.h"

/* Of the GPU's memory, of one device; mapped, which a 32-bit program has little room for. */
#define MAX_BYTES ((size_t)(sizeof(void *) > 4 ? 256 : 64) << 20)

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

/* A driver has room for some 4000 allocations, which are the program's. */
static size_t
counted(VkDeviceSize bytes)
{
	const size_t least = (size_t)256 << 10;
	return bytes > least ? (size_t)bytes : least;
}

/* Returns NULL, or why there is none. */
static const char *
allocate(struct vk_device *d, const VkMemoryRequirements *needs,
	 VkMemoryPropertyFlags must, VkMemoryPropertyFlags better, VkDeviceMemory *memory)
{
	VkMemoryAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = needs->size,
	};
	if (needs->size > MAX_BYTES ||
	    atomic_load(&d->picture_bytes) > MAX_BYTES - counted(needs->size))
		return "there are too many in the frame, or too large ones";
	info.memoryTypeIndex = vk_memory_type(d, needs->memoryTypeBits, must, better);
	if (info.memoryTypeIndex == UINT32_MAX ||
	    d->next.use.AllocateMemory(d->handle, &info, NULL, memory) != VK_SUCCESS) {
		*memory = VK_NULL_HANDLE;
		return "the driver has no memory for it";
	}
	atomic_fetch_add(&d->picture_bytes, counted(needs->size));
	return NULL;
}

static void
release(struct vk_device *d, VkDeviceMemory memory, size_t bytes)
{
	if (!memory)
		return;
	d->next.use.FreeMemory(d->handle, memory, NULL);
	atomic_fetch_sub(&d->picture_bytes, counted(bytes));
}

const char *
vk_picture_make_image(struct vk_device *d, VkFormat format, uint32_t width,
		      uint32_t height, VkImageUsageFlags usage,
		      struct vk_picture_image *out)
{
	VkMemoryRequirements needs;
	VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = format,
		.extent = { width, height, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
			 VK_IMAGE_USAGE_TRANSFER_DST_BIT | usage,
	};
	if (d->next.use.CreateImage(d->handle, &info, NULL, &out->handle) != VK_SUCCESS) {
		out->handle = VK_NULL_HANDLE;
		return "the driver has no memory for it";
	}
	d->next.use.GetImageMemoryRequirements(d->handle, out->handle, &needs);
	const char *why = allocate(d, &needs, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
				   &out->memory);
	if (why)
		return why;
	out->bytes = (size_t)needs.size;
	if (d->next.use.BindImageMemory(d->handle, out->handle, out->memory, 0) ==
	    VK_SUCCESS)
		return NULL;
	release(d, out->memory, out->bytes);
	out->memory = VK_NULL_HANDLE;
	out->bytes = 0; /* it is not used */
	return "the driver has no memory for it";
}

void
vk_picture_free_image(struct vk_device *d, const struct vk_picture_image *image)
{
	d->next.use.DestroyImage(d->handle, image->handle, NULL);
	release(d, image->memory, image->bytes);
}

const char *
vk_picture_make_buffer(struct vk_device *d, struct vk_picture_copy *c)
{
	const VkMemoryPropertyFlags must = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
					   VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkMemoryRequirements needs;
	VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = (VkDeviceSize)tally_pixels_size(c->pixels) * c->width * c->height,
		.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	void *map = NULL;
	if (d->next.use.CreateBuffer(d->handle, &info, NULL, &c->buffer) != VK_SUCCESS) {
		c->buffer = VK_NULL_HANDLE;
		return "the driver has no memory for it";
	}
	d->next.use.GetBufferMemoryRequirements(d->handle, c->buffer, &needs);
	const char *why = allocate(d, &needs, must, VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
				   &c->memory);
	if (why)
		return why;
	c->bytes = (size_t)needs.size;
	if (d->next.use.BindBufferMemory(d->handle, c->buffer, c->memory, 0) !=
		    VK_SUCCESS ||
	    d->next.use.MapMemory(d->handle, c->memory, 0, VK_WHOLE_SIZE, 0, &map) !=
		    VK_SUCCESS)
		return "the driver has no memory for it";
	c->map = map;
	return NULL;
}

void
vk_picture_free_buffer(struct vk_device *d, const struct vk_picture_copy *c)
{
	d->next.use.DestroyBuffer(d->handle, c->buffer, NULL);
	release(d, c->memory, c->bytes);
}
