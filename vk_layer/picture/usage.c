/* SPDX-License-Identifier: MIT */
/* vk_layer/picture/usage.c - images that passes draw to may be copied from, where --pictures asks
 * for that.
 *
 * Otherwise, and where the driver would refuse it, the program's own request is passed on. Its
 * views keep the usage that it asked for, which imageless framebuffers compare.
 */
#include "vk_layer/picture/picture.h"
#include "vk_layer/record/targets_internal.h"

#include "vk_formats.h" /* generated */

#define DRAWN_TO \
	(VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | \
	 VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT)
#define SPECIAL \
	(VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_PROTECTED_BIT | \
	 VK_IMAGE_CREATE_SUBSAMPLED_BIT_EXT)

static bool
asked(const struct vk_device *d)
{
	return d->config->pictures.kind != TALLY_TRIGGER_NONE && vk_device_runs(d);
}

static bool
driver_allows(const struct vk_device *d, const VkImageCreateInfo *info)
{
	VkImageFormatProperties can;
	VkResult result = d->instance->next.GetPhysicalDeviceImageFormatProperties(
		d->physical, info->format, info->imageType, info->tiling,
		info->usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, info->flags, &can);
	return result == VK_SUCCESS && info->extent.width <= can.maxExtent.width &&
	       info->extent.height <= can.maxExtent.height &&
	       info->mipLevels <= can.maxMipLevels &&
	       info->arrayLayers <= can.maxArrayLayers &&
	       (can.sampleCounts & info->samples);
}

/* What else a chain asks for may not go together with the usage, or replace it: another API's
 * memory, a stencil's own usage, a video profile. */
static bool
asks_more(const VkImageCreateInfo *info)
{
	for (const VkBaseInStructure *in = info->pNext; in; in = in->pNext)
		if (in->sType != VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO)
			return true;
	return false;
}

/* Whether the image is to get the usage: it depends on nothing but this, so that what the memory
 * was asked for and the image are the same. */
static bool
wants_usage(const struct vk_device *d, const VkImageCreateInfo *info)
{
	bool drawn = info->usage & DRAWN_TO;
	const VkImageSwapchainCreateInfoKHR *of = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR);
	/* An image that is bound to a swapchain's memory is as its images are. */
	if (of) {
		const struct vk_swapchain_known *chain = vk_handles_find(
			&d->targets->objects[VK_SWAPCHAINS], VK_HANDLE_KEY(of->swapchain));
		return chain && chain->base.usage_added;
	}
	if (!asked(d) || !drawn ||
	    (info->usage & (VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT |
			    VK_IMAGE_USAGE_TRANSFER_SRC_BIT)) ||
	    (info->flags & SPECIAL) || info->tiling != VK_IMAGE_TILING_OPTIMAL ||
	    info->imageType == VK_IMAGE_TYPE_1D ||
	    (info->samples > VK_SAMPLE_COUNT_1_BIT && vk_format_has_depth(info->format)))
		return false;
	return !asks_more(info) && driver_allows(d, info);
}

static void
note_usage(struct vk_device *d, enum vk_object what, uint64_t key, bool adds)
{
	struct vk_known *known =
		adds ? vk_handles_find(&d->targets->objects[what], key) : NULL;
	if (known)
		known->usage_added = true;
}

VkResult
vk_create_image(struct vk_device *d, PFN_vkCreateImage next, VkDevice device,
		const VkImageCreateInfo *info, const VkAllocationCallbacks *allocator,
		VkImage *out)
{
	bool adds = wants_usage(d, info);
	VkImageCreateInfo copy = *info;
	copy.usage |= adds ? VK_IMAGE_USAGE_TRANSFER_SRC_BIT : 0u;
	VkResult result = next(device, adds ? &copy : info, allocator, out);
	if (adds && result != VK_SUCCESS) {
		adds = false;
		result = next(device, info, allocator, out);
	}
	if (result != VK_SUCCESS)
		return result;
	vk_image_created(d, info, *out);
	note_usage(d, VK_IMAGES, VK_HANDLE_KEY(*out), adds);
	return result;
}

void
vk_device_image_memory(struct vk_device *d, PFN_vkGetDeviceImageMemoryRequirements next,
		       VkDevice device, const VkDeviceImageMemoryRequirements *info,
		       VkMemoryRequirements2 *out)
{
	if (!wants_usage(d, info->pCreateInfo)) {
		next(device, info, out);
		return;
	}
	VkImageCreateInfo copy = *info->pCreateInfo;
	VkDeviceImageMemoryRequirements asks = *info;
	copy.usage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
	asks.pCreateInfo = &copy;
	next(device, &asks, out);
}

VkResult
vk_create_image_view(struct vk_device *d, PFN_vkCreateImageView next, VkDevice device,
		     const VkImageViewCreateInfo *info,
		     const VkAllocationCallbacks *allocator, VkImageView *out)
{
	const struct vk_image_known *image = NULL;
	if (asked(d) && d->instance->api_version >= VK_API_VERSION_1_1 &&
	    d->properties.apiVersion >= VK_API_VERSION_1_1)
		image = vk_handles_find(&d->targets->objects[VK_IMAGES],
					VK_HANDLE_KEY(info->image));
	const VkStructureType type = VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO;
	bool limits = image && image->base.usage_added && !vk_find_in_chain(info->pNext, type);
	VkImageViewUsageCreateInfo usage = {
		.sType = type,
		.pNext = info->pNext,
		.usage = limits ? image->usage : 0,
	};
	VkImageViewCreateInfo copy = *info;
	copy.pNext = &usage;
	VkResult result = next(device, limits ? &copy : info, allocator, out);
	if (result == VK_SUCCESS)
		vk_view_created(d, info, *out);
	return result;
}

static bool
surface_allows(const struct vk_device *d, const VkSwapchainCreateInfoKHR *info)
{
	VkSurfaceCapabilitiesKHR can;
	if (!asked(d))
		return false;
	PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR ask =
		d->instance->next.GetPhysicalDeviceSurfaceCapabilitiesKHR;
	return ask && !(info->imageUsage & VK_IMAGE_USAGE_TRANSFER_SRC_BIT) &&
	       !(info->flags & VK_SWAPCHAIN_CREATE_PROTECTED_BIT_KHR) &&
	       info->presentMode < VK_PRESENT_MODE_SHARED_DEMAND_REFRESH_KHR &&
	       ask(d->physical, info->surface, &can) == VK_SUCCESS &&
	       (can.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
}

VkResult
vk_create_swapchain(struct vk_device *d, PFN_vkCreateSwapchainKHR next, VkDevice device,
		    const VkSwapchainCreateInfoKHR *info,
		    const VkAllocationCallbacks *allocator, VkSwapchainKHR *out)
{
	bool adds = surface_allows(d, info);
	VkSwapchainCreateInfoKHR copy = *info;
	copy.imageUsage |= adds ? VK_IMAGE_USAGE_TRANSFER_SRC_BIT : 0u;
	VkResult result = next(device, adds ? &copy : info, allocator, out);
	if (adds && result != VK_SUCCESS) {
		adds = false;
		copy = *info;
		copy.oldSwapchain = VK_NULL_HANDLE; /* the failed call has retired it */
		result = next(device, &copy, allocator, out);
	}
	if (result != VK_SUCCESS)
		return result;
	vk_swapchains_created(d, 1, info, out);
	note_usage(d, VK_SWAPCHAINS, VK_HANDLE_KEY(*out), adds);
	return result;
}
