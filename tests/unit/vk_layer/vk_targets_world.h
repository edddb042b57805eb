/* SPDX-License-Identifier: MIT */
/* tests/unit/vk_layer/vk_targets_world.h - a Vulkan driver whose handles are numbers, a
 * device of the layer on top of it, and short forms of the calls that create and begin render
 * passes.
 *
 * Handles are counted by each thread.
 */
#ifndef PASSTALLY_TESTS_UNIT_VK_TARGETS_WORLD_H
#define PASSTALLY_TESTS_UNIT_VK_TARGETS_WORLD_H

#include "vk_layer/record/targets.h"

#include <glib.h>
#include <string.h>

/* A driver whose handles are numbers, and a device of the layer on top of it. */
static _Thread_local uint64_t next_handle;
static struct vk_device device;

#define HANDLE(type, n) ((type)(uintptr_t)(n))

static inline void
setup(void)
{
	memset(&device, 0, sizeof(device));
	next_handle = 0x1000;
	g_assert_true(vk_targets_create(&device));
}

static inline void
teardown(void)
{
	vk_targets_destroy(&device);
	g_assert_null(device.targets);
}

/* make_image() and so on: what the driver does, and what we learn then. */
#define MAKER(name, Info, Handle) \
	static inline Handle make_##name(const Info *info) \
	{ \
		Handle out = HANDLE(Handle, next_handle++); \
		vk_##name##_created(&device, info, out); \
		return out; \
	}
MAKER(image, VkImageCreateInfo, VkImage)
MAKER(view, VkImageViewCreateInfo, VkImageView)
MAKER(render_pass, VkRenderPassCreateInfo, VkRenderPass)
MAKER(render_pass2, VkRenderPassCreateInfo2, VkRenderPass)
MAKER(framebuffer, VkFramebufferCreateInfo, VkFramebuffer)

#define DESTROY(what, handle) vk_object_destroyed(&device, what, VK_HANDLE_KEY(handle))

/* The handles of a swapchain's images are its own handle times 16, and the numbers after
 * that. */
static inline VKAPI_ATTR VkResult VKAPI_CALL
get_images(VkDevice dev, VkSwapchainKHR swapchain, uint32_t *n, VkImage *images)
{
	(void)dev;
	if (!images) {
		*n = 3;
		return VK_SUCCESS;
	}
	uint32_t room = *n;
	*n = MIN(room, 3);
	for (uint32_t i = 0; i < *n; i++)
		images[i] = HANDLE(VkImage, (uint64_t)(uintptr_t)swapchain * 16 + i);
	return room < 3 ? VK_INCOMPLETE : VK_SUCCESS;
}

/* ---- short forms ---- */

static inline VkImage
image(VkFormat format, uint32_t w, uint32_t h, uint32_t levels, uint32_t layers, int samples)
{
	VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = format,
		.extent = { w, h, 1 },
		.mipLevels = levels,
		.arrayLayers = layers,
		.samples = (VkSampleCountFlagBits)samples,
	};
	return make_image(&info);
}

static inline VkImageView
view_of(VkImage of, VkFormat format, uint32_t level, uint32_t layer, uint32_t layers)
{
	VkImageViewCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = of,
		.format = format,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, level, 1, layer, layers },
	};
	return make_view(&info);
}

static inline VkSwapchainKHR
swapchain(uintptr_t surface, uint32_t w, uint32_t h)
{
	VkSwapchainCreateInfoKHR info = {
		.surface = HANDLE(VkSurfaceKHR, surface),
		.imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
		.imageExtent = { w, h },
		.imageArrayLayers = 1,
		.minImageCount = 2,
		.presentMode = VK_PRESENT_MODE_MAILBOX_KHR,
	};
	VkSwapchainKHR out = HANDLE(VkSwapchainKHR, next_handle++);
	vk_swapchains_created(&device, 1, &info, &out);
	return out;
}

static inline VkFramebuffer
framebuffer(VkRenderPass pass, uint32_t n, const VkImageView *views, uint32_t w, uint32_t h,
	    uint32_t layers)
{
	VkFramebufferCreateInfo info = {
		.flags = views || !n ? 0 : VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT,
		.renderPass = pass,
		.attachmentCount = n,
		.pAttachments = views,
		.width = w,
		.height = h,
		.layers = layers,
	};
	return make_framebuffer(&info);
}

static inline struct vk_target_use
begin(VkRenderPass pass, VkFramebuffer fb, const void *chain)
{
	VkRenderPassBeginInfo info = {
		.pNext = chain,
		.renderPass = pass,
		.framebuffer = fb,
		.renderArea = { { 8, 4 }, { 40, 20 } },
	};
	struct vk_target_use use;
	/* The first answer is computed, the second is what the framebuffer kept of it. */
	for (int i = 0; i < 2; i++) {
		memset(&use, 0xa5, sizeof(use));
		use = *vk_target_of_render_pass(&device, &info, &use);
	}
	return use;
}

#define D24S8 VK_FORMAT_D24_UNORM_S8_UINT
#define RGBA8 VK_FORMAT_R8G8B8A8_UNORM
#define LOAD VK_ATTACHMENT_LOAD_OP_LOAD
#define CLEAR VK_ATTACHMENT_LOAD_OP_CLEAR
#define DONT_LOAD VK_ATTACHMENT_LOAD_OP_DONT_CARE
#define STORE VK_ATTACHMENT_STORE_OP_STORE
#define DONT_STORE VK_ATTACHMENT_STORE_OP_DONT_CARE

/* One subpass with one color attachment, and depth where requested. */
static inline VkRenderPass
simple_pass(VkAttachmentLoadOp load, VkAttachmentStoreOp store, VkFormat depth)
{
	VkAttachmentDescription attachments[2] = {
		{ .format = RGBA8, .samples = 1, .loadOp = load, .storeOp = store },
		{ .format = depth,
		  .samples = 1,
		  .loadOp = CLEAR,
		  .storeOp = DONT_STORE,
		  .stencilLoadOp = DONT_LOAD,
		  .stencilStoreOp = DONT_STORE },
	};
	VkAttachmentReference color = { 0, 0 }, ds = { 1, 0 };
	VkSubpassDescription subpass = {
		.colorAttachmentCount = 1,
		.pColorAttachments = &color,
		.pDepthStencilAttachment = depth ? &ds : NULL,
	};
	VkRenderPassCreateInfo info = {
		.attachmentCount = depth ? 2 : 1,
		.pAttachments = attachments,
		.subpassCount = 1,
		.pSubpasses = &subpass,
	};
	return make_render_pass(&info);
}

/* ---- dynamic rendering ---- */

static inline struct vk_target_use
render(uint32_t n, const VkRenderingAttachmentInfo *color,
       const VkRenderingAttachmentInfo *depth, const VkRenderingAttachmentInfo *stencil,
       uint32_t mask, uint32_t layers)
{
	VkRenderingInfo info = {
		.renderArea = { { 0, 0 }, { 24, 12 } },
		.layerCount = layers,
		.viewMask = mask,
		.colorAttachmentCount = n,
		.pColorAttachments = color,
		.pDepthAttachment = depth,
		.pStencilAttachment = stencil,
	};
	struct vk_target_use use, again;
	use = *vk_target_of_rendering(&device, &info, &use);
	again = *vk_target_of_rendering(&device, &info, &again);
	g_assert_true(use.target && use.target == again.target);
	g_assert_true(use.load == again.load && use.store == again.store);
	g_assert_true(use.surface == again.surface && use.views == again.views);
	return use;
}

#endif
