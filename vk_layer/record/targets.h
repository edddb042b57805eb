/* SPDX-License-Identifier: MIT */
/* vk_layer/record/targets.h - what a render pass writes to: formats, sizes, load and store
 * operations.
 *
 * Records what the game specified when it created images, views, render passes, framebuffers
 * and swapchains; answers with an interned struct tally_target. Any thread; tables are read
 * without a lock (handles.h). If memory runs out, an object is unknown and its format is "?".
 */
#ifndef PASSTALLY_VK_LAYER_TARGETS_H
#define PASSTALLY_VK_LAYER_TARGETS_H

#include "vk_layer/state.h"

bool vk_targets_create(struct vk_device *d);
void vk_targets_destroy(struct vk_device *d);

struct vk_target_use {
	const struct tally_target *target; /* interned, NULL on OOM */
	enum tally_load_op load;
	enum tally_store_op store;
	int64_t surface; /* number of the swapchain, -1 = none */
	uint32_t views;	 /* popcount of the view masks' union, at least 1 */
	uint32_t subpasses;
};
/* The answer is in `scratch`, or kept with the framebuffer: valid as long as both. */
const struct vk_target_use *vk_target_of_render_pass(struct vk_device *d,
						     const VkRenderPassBeginInfo *info,
						     struct vk_target_use *scratch);
/* The same for dynamic rendering: kept with its first view. */
const struct vk_target_use *vk_target_of_rendering(struct vk_device *d, const VkRenderingInfo *info,
						   struct vk_target_use *scratch);

/* NULL when nothing is known about the image. */
const struct tally_target *vk_target_of_image(struct vk_device *d, VkImage image);

/* ---- after the driver created it, and before the driver destroys it ---- */

void vk_image_created(struct vk_device *d, const VkImageCreateInfo *info, VkImage handle);
void vk_view_created(struct vk_device *d, const VkImageViewCreateInfo *info, VkImageView handle);
void vk_render_pass_created(struct vk_device *d, const VkRenderPassCreateInfo *info,
			    VkRenderPass handle);
void vk_render_pass2_created(struct vk_device *d, const VkRenderPassCreateInfo2 *info,
			     VkRenderPass handle);
void vk_framebuffer_created(struct vk_device *d, const VkFramebufferCreateInfo *info,
			    VkFramebuffer handle);
void vk_swapchains_created(struct vk_device *d, uint32_t n, const VkSwapchainCreateInfoKHR *infos,
			   const VkSwapchainKHR *handles);
/* How much device memory is allocated. */
void vk_memory_allocated(struct vk_device *d, VkDeviceMemory handle, VkDeviceSize bytes);
void vk_memory_freed(struct vk_device *d, VkDeviceMemory handle);
enum vk_object {
	VK_IMAGES,
	VK_VIEWS,
	VK_RENDER_PASSES,
	VK_FRAMEBUFFERS,
	VK_SWAPCHAINS,
	VK_MODULES,
	VK_PIPELINES,
	VK_N_OBJECTS,
};
/* The game's name for one of them; NULL or "": none. `type`: a VkObjectType, or a
 * VkDebugReportObjectTypeEXT, which has the same values for these. */
void vk_object_named(struct vk_device *d, int type, uint64_t handle, const char *name);
/* `key`: VK_HANDLE_KEY() of it. */
void vk_object_destroyed(struct vk_device *d, enum vk_object what, uint64_t key);

/* Size of a swapchain, and how it presents; 0 x 0 when unknown. */
struct tally_presented
vk_target_of_swapchain(struct vk_device *d, VkSwapchainKHR swapchain,
		       struct vk_presents *presents);

#endif
