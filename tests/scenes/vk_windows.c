/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_windows.c - scenes that present: to an X11 window, and to no window. */
#include "scenes/vk/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef VK_SCENES_XCB
#include <xcb/xcb.h>
#include <vulkan/vulkan_xcb.h>
#endif

#define MAX_IMAGES 8

static VkSurfaceKHR surface;
static VkSwapchainKHR chain;
static VkFormat format;
static struct vk_picture pictures[MAX_IMAGES];
static VkFramebuffer framebuffers[MAX_IMAGES];
static VkRenderPass pass;
static VkPipeline pipeline;
static VkSemaphore acquired, rendered;
static struct vk_buffer out;

static void
make_framebuffers(struct vk_stage *s)
{
	VkImage images[MAX_IMAGES];
	uint32_t n = MAX_IMAGES;
	vk_check(vkGetSwapchainImagesKHR(s->device, chain, &n, images),
		 "vkGetSwapchainImagesKHR");
	for (uint32_t i = 0; i < n; i++) {
		pictures[i] = (struct vk_picture){
			.image = images[i],
			.format = format,
			.aspect = VK_IMAGE_ASPECT_COLOR_BIT,
			.width = VK_STAGE_WIDTH,
			.height = VK_STAGE_HEIGHT,
			.layers = 1,
		};
		vk_make_view(s, &pictures[i]);
		const struct vk_picture *one[] = { &pictures[i] };
		framebuffers[i] = vk_make_framebuffer(s, pass, 1, one);
	}
}

static void
make_chain(struct vk_stage *s)
{
	VkSurfaceFormatKHR formats[64];
	uint32_t n = 64;
	VkBool32 can = VK_FALSE;
	vkGetPhysicalDeviceSurfaceSupportKHR(s->physical, 0, surface, &can);
	if (!can || vkGetPhysicalDeviceSurfaceFormatsKHR(s->physical, surface, &n, formats) < 0)
		vk_skip("this device cannot present here");
	VkSurfaceCapabilitiesKHR able;
	vk_check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(s->physical, surface, &able),
		 "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
	VkSwapchainCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
		.surface = surface,
		.minImageCount = able.minImageCount,
		.imageFormat = formats[0].format,
		.imageColorSpace = formats[0].colorSpace,
		.imageExtent = { VK_STAGE_WIDTH, VK_STAGE_HEIGHT },
		.imageArrayLayers = 1,
		.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
			      VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
		.preTransform = able.currentTransform,
		.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
		.presentMode = VK_PRESENT_MODE_FIFO_KHR,
	};
	format = info.imageFormat;
	vk_check(vkCreateSwapchainKHR(s->device, &info, NULL, &chain), "vkCreateSwapchainKHR");
}

static void
present_init(struct vk_stage *s)
{
	make_chain(s);
	pass = vk_make_pass(s, &(struct vk_pass_wish){
				       .color = { format },
				       .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
			       });
	pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){ .pass = pass, .colors = 1 });
	make_framebuffers(s);
	acquired = vk_make_semaphore(s, VK_SEMAPHORE_TYPE_BINARY);
	rendered = vk_make_semaphore(s, VK_SEMAPHORE_TYPE_BINARY);
	out = vk_make_buffer(s, (VkDeviceSize)PIXELS * 4);
}

static void
present_frame(struct vk_stage *s, unsigned number)
{
	uint32_t at;
	vk_check(vkAcquireNextImageKHR(s->device, chain, UINT64_C(60000000000), acquired,
				       VK_NULL_HANDLE, &at),
		 "vkAcquireNextImageKHR");
	VkCommandBuffer commands = vk_begin(s, 0);
	vk_begin_pass(commands, pass, framebuffers[at], VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(s, commands, pipeline, 0.1F * (float)number, 3, 1);
	vkCmdEndRenderPass(commands);
	vk_copy_out(commands, &pictures[at], &out);
	vk_change_layout(commands, &pictures[at], VK_IMAGE_LAYOUT_GENERAL,
			 VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
	vk_end(commands);
	VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &acquired,
		.pWaitDstStageMask = &stage,
		.commandBufferCount = 1,
		.pCommandBuffers = &commands,
		.signalSemaphoreCount = 1,
		.pSignalSemaphores = &rendered,
	};
	vk_check(vkQueueSubmit(s->queue, 1, &submit, s->fence), "vkQueueSubmit");
	VkPresentInfoKHR present = {
		.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &rendered,
		.swapchainCount = 1,
		.pSwapchains = &chain,
		.pImageIndices = &at,
	};
	vk_check(vkQueuePresentKHR(s->queue, &present), "vkQueuePresentKHR");
	vk_wait(s);
	vk_free(s, commands);
	vk_read(s, &out);
}

static void
present_finish(struct vk_stage *s)
{
	vk_check(vkDeviceWaitIdle(s->device), "vkDeviceWaitIdle");
	const PFN_vkDestroyBuffer basic = (PFN_vkDestroyBuffer)vkDestroyPipelineLayout;
	while (s->n_owned && s->owned[s->n_owned - 1].destroy != basic)
		vk_stage_drop(s);
	vkDestroySwapchainKHR(s->device, chain, NULL);
	vkDestroySurfaceKHR(s->instance, surface, NULL);
}

static const struct expect_pass present_passes[] = {
	{ COVERED(1, 3, 1), .load = "clear", .store = "store" },
	COPY_OUT,
};

/* ---- headless: VK_EXT_headless_surface ---- */

static void
headless_init(struct vk_stage *s)
{
	VkHeadlessSurfaceCreateInfoEXT info = {
		.sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT,
	};
	PFN_vkCreateHeadlessSurfaceEXT create = (PFN_vkCreateHeadlessSurfaceEXT)
		vkGetInstanceProcAddr(s->instance, "vkCreateHeadlessSurfaceEXT");
	vk_check(create(s->instance, &info, NULL, &surface), "vkCreateHeadlessSurfaceEXT");
	present_init(s);
}

/* ---- window: X11 ---- */

static void
window_init(struct vk_stage *s)
{
#ifdef VK_SCENES_XCB
	xcb_connection_t *connection = xcb_connect(NULL, NULL);
	if (!connection || xcb_connection_has_error(connection))
		vk_skip("no X display here");
	xcb_screen_t *root = xcb_setup_roots_iterator(xcb_get_setup(connection)).data;
	xcb_window_t window = xcb_generate_id(connection);
	xcb_create_window(connection, XCB_COPY_FROM_PARENT, window, root->root, 0, 0,
			  VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
			  root->root_visual, 0, NULL);
	xcb_map_window(connection, window);
	xcb_flush(connection);
	VkXcbSurfaceCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_XCB_SURFACE_CREATE_INFO_KHR,
		.connection = connection,
		.window = window,
	};
	vk_check(vkCreateXcbSurfaceKHR(s->instance, &info, NULL, &surface),
		 "vkCreateXcbSurfaceKHR");
	present_init(s);
#else
	(void)s;
	vk_skip("built without xcb");
#endif
}

#define PRESENTS \
	.boundary = "present", .frame = present_frame, .finish = present_finish, .bare = true, \
	VK_PASSES(present_passes)

const struct vk_scene vk_window_scenes[] = {
	{ "window", .init = window_init, PRESENTS,
	  .wish = { .instance_extensions = { "VK_KHR_surface", "VK_KHR_xcb_surface" },
		    .device_extensions = { "VK_KHR_swapchain" } } },
	{ "headless", .init = headless_init, PRESENTS,
	  .wish = { .instance_extensions = { "VK_KHR_surface", "VK_EXT_headless_surface" },
		    .device_extensions = { "VK_KHR_swapchain" } } },
	{ 0 },
};
