/* SPDX-License-Identifier: MIT */
#include "vk_layer/picture/memory.h"

/* Of the GPU's memory, of one device; mapped, which a 32-bit program has little room for. */
#define MAX_BYTES ((size_t)(sizeof(void *) > 4 ? 256 : 64) << 20)

/* A driver has room for some 4000 allocations, which are the program's. */
static size_t
counted(VkDeviceSize bytes)
{
	const size_t least = (size_t)256 << 10;
	return bytes > least ? (size_t)bytes : least;
}

static const char no_memory[] = "the driver has no memory for it";

/* Returns NULL, or why there is none; then it is counted. */
static const char *
reserve(struct vk_device *d, VkDeviceSize bytes)
{
	if (bytes > MAX_BYTES || atomic_load(&d->picture_bytes) > MAX_BYTES - counted(bytes))
		return "there are too many in the frame, or too large ones";
	atomic_fetch_add(&d->picture_bytes, counted(bytes));
	return NULL;
}

static void
release(struct vk_device *d, VkDeviceSize bytes)
{
	if (bytes)
		atomic_fetch_sub(&d->picture_bytes, counted(bytes));
}

static bool
allocate(struct vk_device *d, const VkMemoryRequirements *needs, VkDeviceMemory *memory)
{
	VkMemoryAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = needs->size,
	};
	info.memoryTypeIndex = vk_memory_type(d, needs->memoryTypeBits, 0,
					      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
	if (info.memoryTypeIndex != UINT32_MAX &&
	    d->next.use.AllocateMemory(d->handle, &info, NULL, memory) == VK_SUCCESS)
		return true;
	*memory = VK_NULL_HANDLE;
	return false;
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
		return no_memory;
	}
	d->next.use.GetImageMemoryRequirements(d->handle, out->handle, &needs);
	const char *why = reserve(d, needs.size);
	if (why)
		return why;
	if (allocate(d, &needs, &out->memory) &&
	    d->next.use.BindImageMemory(d->handle, out->handle, out->memory, 0) ==
		    VK_SUCCESS) {
		out->bytes = (size_t)needs.size;
		return NULL;
	}
	release(d, needs.size);
	return no_memory;
}

void
vk_picture_free_image(struct vk_device *d, const struct vk_picture_image *image)
{
	d->next.use.DestroyImage(d->handle, image->handle, NULL);
	if (image->memory)
		d->next.use.FreeMemory(d->handle, image->memory, NULL);
	release(d, image->bytes);
}

const char *
vk_picture_make_buffer(struct vk_device *d, struct vk_picture_copy *c)
{
	size_t bytes = (size_t)tally_pixels_size(c->pixels) * c->width * c->height;
	const char *why = reserve(d, bytes);
	if (why)
		return why;
	c->bytes = bytes;
	return vk_mapped_make(d, bytes, &c->mapped) ? NULL : no_memory;
}

void
vk_picture_free_buffer(struct vk_device *d, const struct vk_picture_copy *c)
{
	vk_mapped_free(d, &c->mapped);
	release(d, c->bytes);
}
