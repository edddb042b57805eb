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

/* A render pass instance as it begins: one of the two is set, and what its target depends on,
 * which is the same as long as no object of its kind is destroyed. */
struct vk_begin {
	const VkRenderPassBeginInfo *pass;
	const VkRenderingInfo *rendering;
	uint64_t key, framebuffer; /* key 0: like no other */
	unsigned long generation;
};

static inline uint64_t
vk_mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static inline struct vk_begin
vk_begin_pass(const struct vk_device *d, const VkRenderPassBeginInfo *info)
{
	struct vk_device *any = (struct vk_device *)d;
	return (struct vk_begin){
		.pass = info,
		/* An imageless framebuffer gets its views by pNext. */
		.key = info->pNext ? 0 : VK_HANDLE_KEY(info->renderPass),
		.framebuffer = VK_HANDLE_KEY(info->framebuffer),
		.generation = atomic_load_explicit(&any->targets_generation,
						   memory_order_acquire),
	};
}

/* What a key of dynamic rendering begins with. Not 0, to which attachments that are absent would
 * add nothing. */
static inline uint64_t
vk_mix_layers(const VkRenderingInfo *info)
{
	return vk_mix((uint64_t)info->viewMask << 32 | info->layerCount,
		      ~(uint64_t)info->colorAttachmentCount);
}

static inline uint64_t
vk_mix_attachment(uint64_t key, const VkRenderingAttachmentInfo *info)
{
	if (!info || !info->imageView)
		return vk_mix(key, 0);
	key = vk_mix(key, VK_HANDLE_KEY(info->imageView));
	key = vk_mix(key, (uint64_t)info->loadOp << 32 | (uint32_t)info->storeOp);
	/* In bits that no pointer has: many handles are pointers or small numbers. */
	return vk_mix(key ^ (uint64_t)info->resolveMode << 57,
		      VK_HANDLE_KEY(info->resolveImageView));
}

/* An instance that suspends or resumes gets key 0. */
static inline struct vk_begin
vk_begin_rendering(const struct vk_device *d, const VkRenderingInfo *info)
{
	struct vk_device *any = (struct vk_device *)d;
	struct vk_begin begin = {
		.rendering = info,
		.generation = atomic_load_explicit(&any->views_generation, memory_order_acquire),
	};
	if (info->flags & (VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT))
		return begin;
	begin.key = vk_mix_layers(info);
	for (uint32_t i = 0; i < info->colorAttachmentCount; i++)
		begin.key = vk_mix_attachment(begin.key, &info->pColorAttachments[i]);
	begin.key = vk_mix_attachment(begin.key, info->pDepthAttachment);
	begin.key = vk_mix_attachment(begin.key, info->pStencilAttachment);
	return begin;
}

/* The answer of the last look-up, valid as long as the generation does not change. Zeroed: none.
 * Only targets.c and the functions below know what is in it. */
struct vk_target_cache {
	const struct vk_target_use *use;
	unsigned long generation;
	uint64_t key, framebuffer; /* key 0: no answer is cached */
};
/* Looks it up in the tables, and caches the answer where it lasts. */
const struct vk_target_use *vk_target_look_up(struct vk_device *d, const struct vk_begin *begin,
					      struct vk_target_cache *cache,
					      struct vk_target_use *scratch);
/* NULL: not in the cache. */
static inline const struct vk_target_use *
vk_target_cached(const struct vk_begin *begin, const struct vk_target_cache *cache)
{
	bool same = begin->key && cache->key == begin->key &&
		    cache->framebuffer == begin->framebuffer &&
		    cache->generation == begin->generation;
	return same ? cache->use : NULL;
}
/* The target of either; the answer is in `scratch`, or in what `cache` points to. */
static inline const struct vk_target_use *
vk_target_of(struct vk_device *d, const struct vk_begin *begin, struct vk_target_cache *cache,
	     struct vk_target_use *scratch)
{
	const struct vk_target_use *use = vk_target_cached(begin, cache);
	return use ? use : vk_target_look_up(d, begin, cache, scratch);
}
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
struct tally_extent vk_target_of_swapchain(struct vk_device *d, VkSwapchainKHR swapchain,
					   struct vk_presents *presents);

#endif
