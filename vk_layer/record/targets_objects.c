/* SPDX-License-Identifier: MIT */
/* vk_layer/record/targets_objects.c - the game's images, views, render passes, framebuffers,
 * swapchains.
 *
 * Called after the driver created an object, and before it destroys it. When memory runs out,
 * the object is unknown.
 */
#include "layer/event/event.h"
#include "layer/frame/frame_part.h"
#include "layer/frame/intern.h"
#include "vk_layer/record/targets_internal.h"

#include <stdlib.h>
#include <string.h>

void *
vk_known_create(struct vk_targets *t, size_t size)
{
	struct vk_known *k = calloc(1, size);
	if (k)
		k->serial = atomic_fetch_add_explicit(&t->serial, 1, memory_order_relaxed) + 1;
	return k;
}

void
vk_known_remember(struct vk_targets *t, enum vk_object what, uint64_t key, void *object)
{
	if (!object || !key) {
		free(object);
		return;
	}
	pthread_mutex_lock(&t->lock);
	struct vk_known *old = vk_handles_find(&t->objects[what], key);
	bool stored = false;
	if (old)
		old->more++; /* the same handle again: the driver considers the objects equal */
	else
		stored = vk_handles_put(&t->objects[what], key, object);
	pthread_mutex_unlock(&t->lock);
	if (!stored)
		free(object);
}

/* Returns what the caller has to free, or NULL. */
static struct vk_known *
forget(struct vk_targets *t, enum vk_object what, uint64_t key)
{
	if (!key)
		return NULL;
	pthread_mutex_lock(&t->lock);
	struct vk_known *k = vk_handles_find(&t->objects[what], key);
	if (k && k->more) {
		k->more--;
		k = NULL;
	} else if (k) {
		vk_handles_remove(&t->objects[what], key);
	}
	pthread_mutex_unlock(&t->lock);
	return k;
}

/* Accepts NULL. */
static void
free_known(struct vk_known *known)
{
	struct vk_use *use = known ? atomic_load_explicit(&known->uses.first, memory_order_acquire)
				   : NULL;
	while (use) {
		struct vk_use *next = use->next;
		free(use);
		use = next;
	}
	free(known);
}

/* A swapchain's images: their handles become free as soon as its own does. */
static void
free_images(struct vk_targets *t, struct vk_image_known *image)
{
	while (image) {
		struct vk_image_known *next = image->next;
		vk_handles_remove(&t->objects[VK_IMAGES], VK_HANDLE_KEY(image->handle));
		free(image);
		image = next;
	}
}

void
vk_object_destroyed(struct vk_device *d, enum vk_object what, uint64_t key)
{
	struct vk_known *known = forget(d->targets, what, key);
	if (known && what == VK_SWAPCHAINS)
		free_images(d->targets, ((struct vk_swapchain_known *)known)->images);
	free_known(known);
}

/* ---- images and views ---- */

void
vk_image_created(struct vk_device *d, const VkImageCreateInfo *info, VkImage handle)
{
	struct vk_targets *t = d->targets;
	struct vk_image_known *image = vk_known_create(t, sizeof(*image));
	if (!image)
		return;
	image->format = info->format;
	image->width = info->extent.width;
	image->height = info->extent.height;
	image->depth = info->extent.depth;
	image->levels = info->mipLevels;
	image->layers = info->arrayLayers;
	image->samples = (uint32_t)info->samples;
	image->drawn_to = info->usage & (VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
					 VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
	image->usage = info->usage;
	image->flags = info->flags;
	image->tiling = info->tiling;
	image->type = info->imageType;
	image->surface = -1;
	const VkImageSwapchainCreateInfoKHR *of = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR);
	if (of && of->swapchain) {
		const struct vk_swapchain_known *chain = vk_handles_find(
			&t->objects[VK_SWAPCHAINS], VK_HANDLE_KEY(of->swapchain));
		image->surface = chain ? chain->surface : -1;
	}
	vk_known_remember(t, VK_IMAGES, VK_HANDLE_KEY(handle), image);
}

static uint32_t
at_level(uint32_t size, uint32_t level)
{
	uint32_t s = level < 32 ? size >> level : 0;
	return s || !size ? s : 1;
}

static struct vk_view_known *
learn_view(struct vk_targets *t, const VkImageViewCreateInfo *info)
{
	struct vk_view_known *view = vk_known_create(t, sizeof(*view));
	if (!view)
		return NULL;
	const struct vk_image_known *image = vk_handles_find(&t->objects[VK_IMAGES],
							     VK_HANDLE_KEY(info->image));
	const VkImageSubresourceRange *range = &info->subresourceRange;
	view->format = info->format;
	view->image = VK_HANDLE_KEY(info->image);
	view->level = range->baseMipLevel;
	view->layer = range->baseArrayLayer;
	view->layers = range->layerCount;
	view->surface = -1;
	if (!image) {
		if (view->layers == VK_REMAINING_ARRAY_LAYERS)
			view->layers = 0;
		return view;
	}
	view->width = at_level(image->width, range->baseMipLevel);
	view->height = at_level(image->height, range->baseMipLevel);
	view->samples = image->samples;
	view->surface = image->surface;
	if (view->layers == VK_REMAINING_ARRAY_LAYERS) {
		/* The slices of a 3D image are layers to a 2D view of it. */
		uint32_t all = image->depth > 1 ? at_level(image->depth, range->baseMipLevel)
						: image->layers;
		view->layers = all > range->baseArrayLayer ? all - range->baseArrayLayer : 1;
	}
	return view;
}

void
vk_view_created(struct vk_device *d, const VkImageViewCreateInfo *info, VkImageView handle)
{
	vk_known_remember(d->targets, VK_VIEWS, VK_HANDLE_KEY(handle),
			  learn_view(d->targets, info));
}

const char *
vk_view_name(struct vk_targets *t, const struct vk_view_known *view)
{
	const char *name = atomic_load_explicit(&view->base.name, memory_order_relaxed);
	if (name)
		return name;
	const struct vk_image_known *image =
		vk_handles_find(&t->objects[VK_IMAGES], view->image);
	return image ? atomic_load_explicit(&image->base.name, memory_order_relaxed) : NULL;
}

/* ---- render passes ---- */

static struct vk_render_pass_known *
render_pass_create(struct vk_targets *t, uint32_t n_attachments)
{
	struct vk_render_pass_known *pass = vk_known_create(
		t, sizeof(*pass) + n_attachments * sizeof(pass->attachments[0]));
	if (!pass)
		return NULL;
	pass->n_attachments = n_attachments;
	pass->depth = VK_ATTACHMENT_UNUSED;
	return pass;
}

static void
add_number(uint32_t *list, uint32_t *n, uint32_t number)
{
	if (number == VK_ATTACHMENT_UNUSED)
		return;
	for (uint32_t i = 0; i < *n; i++)
		if (list[i] == number)
			return;
	if (*n < TALLY_MAX_COLOR)
		list[(*n)++] = number;
}

static void
use_color(struct vk_render_pass_known *pass, uint32_t number)
{
	add_number(pass->color, &pass->n_color, number);
}

static void
use_resolve(struct vk_render_pass_known *pass, uint32_t from, uint32_t number)
{
	if (number != VK_ATTACHMENT_UNUSED && from < pass->n_attachments)
		pass->attachments[from].resolve = number;
	add_number(pass->resolve, &pass->n_resolve, number);
}

static void
use_depth(struct vk_render_pass_known *pass, uint32_t number)
{
	if (pass->depth == VK_ATTACHMENT_UNUSED)
		pass->depth = number;
}

static void
use_views(struct vk_render_pass_known *pass, uint32_t mask)
{
	pass->subpasses++;
	pass->view_mask |= mask;
}

/* Versions 1 and 2 of the structures differ in type alone. */
#define LEARN_ATTACHMENTS(pass, info) \
	for (uint32_t at = 0; at < (info)->attachmentCount; at++) \
		(pass)->attachments[at] = (struct vk_pass_attachment){ \
			.format = (info)->pAttachments[at].format, \
			.samples = (uint32_t)(info)->pAttachments[at].samples, \
			.load = (info)->pAttachments[at].loadOp, \
			.stencil_load = (info)->pAttachments[at].stencilLoadOp, \
			.store = (info)->pAttachments[at].storeOp, \
			.stencil_store = (info)->pAttachments[at].stencilStoreOp, \
			.initial = (info)->pAttachments[at].initialLayout, \
			.final = (info)->pAttachments[at].finalLayout, \
			.stencil_final = (info)->pAttachments[at].finalLayout, \
			.resolve = VK_ATTACHMENT_UNUSED, \
		}
#define LEARN_SUBPASS(pass, s) \
	do { \
		for (uint32_t at = 0; at < (s)->colorAttachmentCount; at++) { \
			use_color(pass, (s)->pColorAttachments[at].attachment); \
			if ((s)->pResolveAttachments) \
				use_resolve(pass, (s)->pColorAttachments[at].attachment, \
					    (s)->pResolveAttachments[at].attachment); \
		} \
		if ((s)->pDepthStencilAttachment) \
			use_depth(pass, (s)->pDepthStencilAttachment->attachment); \
	} while (0)

void
vk_render_pass_created(struct vk_device *d, const VkRenderPassCreateInfo *info,
		       VkRenderPass handle)
{
	struct vk_render_pass_known *pass =
		render_pass_create(d->targets, info->attachmentCount);
	if (!pass)
		return;
	LEARN_ATTACHMENTS(pass, info);
	const VkRenderPassMultiviewCreateInfo *views = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO);
	for (uint32_t i = 0; i < info->subpassCount; i++) {
		LEARN_SUBPASS(pass, &info->pSubpasses[i]);
		use_views(pass, views && i < views->subpassCount ? views->pViewMasks[i] : 0);
	}
	vk_known_remember(d->targets, VK_RENDER_PASSES, VK_HANDLE_KEY(handle), pass);
}

void
vk_render_pass2_created(struct vk_device *d, const VkRenderPassCreateInfo2 *info,
			VkRenderPass handle)
{
	struct vk_render_pass_known *pass =
		render_pass_create(d->targets, info->attachmentCount);
	if (!pass)
		return;
	LEARN_ATTACHMENTS(pass, info);
	for (uint32_t i = 0; i < info->attachmentCount; i++) {
		const VkAttachmentDescriptionStencilLayout *stencil = vk_find_in_chain(
			info->pAttachments[i].pNext,
			VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT);
		if (stencil)
			pass->attachments[i].stencil_final = stencil->stencilFinalLayout;
	}
	for (uint32_t i = 0; i < info->subpassCount; i++) {
		const VkSubpassDescription2 *s = &info->pSubpasses[i];
		LEARN_SUBPASS(pass, s);
		const VkSubpassDescriptionDepthStencilResolve *resolve = vk_find_in_chain(
			s->pNext, VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE);
		if (resolve && resolve->pDepthStencilResolveAttachment)
			use_resolve(pass, pass->depth,
				    resolve->pDepthStencilResolveAttachment->attachment);
		use_views(pass, s->viewMask);
	}
	vk_known_remember(d->targets, VK_RENDER_PASSES, VK_HANDLE_KEY(handle), pass);
}

/* ---- framebuffers ---- */

void
vk_framebuffer_created(struct vk_device *d, const VkFramebufferCreateInfo *info,
		       VkFramebuffer handle)
{
	struct vk_targets *t = d->targets;
	uint32_t n = info->attachmentCount;
	struct vk_framebuffer_known *fb = vk_known_create(t, sizeof(*fb) +
								     n * sizeof(fb->views[0]));
	if (!fb)
		return;
	fb->width = info->width;
	fb->height = info->height;
	fb->layers = info->layers;
	fb->imageless = info->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT;
	fb->n_attachments = n;
	for (uint32_t i = 0; i < n; i++) {
		const struct vk_view_known *view = NULL;
		if (!fb->imageless)
			view = vk_handles_find(&t->objects[VK_VIEWS],
					       VK_HANDLE_KEY(info->pAttachments[i]));
		fb->views[i].surface = view ? view->surface : -1;
		if (!fb->imageless)
			fb->views[i].view = info->pAttachments[i];
		if (view && !fb->name)
			fb->name = vk_view_name(t, view);
	}
	vk_known_remember(t, VK_FRAMEBUFFERS, VK_HANDLE_KEY(handle), fb);
}

/* ---- names ---- */

static enum vk_object
kind_of(int type)
{
	switch (type) {
	case VK_OBJECT_TYPE_IMAGE:
		return VK_IMAGES;
	case VK_OBJECT_TYPE_IMAGE_VIEW:
		return VK_VIEWS;
	case VK_OBJECT_TYPE_RENDER_PASS:
		return VK_RENDER_PASSES;
	case VK_OBJECT_TYPE_FRAMEBUFFER:
		return VK_FRAMEBUFFERS;
	case VK_OBJECT_TYPE_PIPELINE:
		return VK_PIPELINES;
	default:
		return VK_N_OBJECTS;
	}
}

void
vk_object_named(struct vk_device *d, int type, uint64_t handle, const char *name)
{
	enum vk_object what = kind_of(type);
	struct vk_known *known = what != VK_N_OBJECTS && handle
					 ? vk_handles_find(&d->targets->objects[what], handle)
					 : NULL;
	if (!known)
		return;
	if (what == VK_PIPELINES) {
		struct tally_pipeline *pipeline = ((struct vk_pipeline_known *)known)->pipeline;
		const char *text = name && *name && pipeline ? tally_intern_name(name) : NULL;
		const char *before = text ? atomic_exchange(&known->name, text) : NULL;
		if (text)
			tally_pipeline_set_name(pipeline, before, text, strlen(text));
		return;
	}
	/* Thousands of textures have names that no pass needs. */
	if (what == VK_IMAGES && !((struct vk_image_known *)known)->drawn_to)
		return;
	atomic_store_explicit(&known->name, name && *name ? tally_intern_name(name) : NULL,
			      memory_order_relaxed);
}

/* ---- swapchains ---- */

/* A window keeps its number when its swapchain is recreated, as in a resize. */
static int64_t
surface_number(struct vk_targets *t, VkSurfaceKHR surface)
{
	if (!surface)
		return -1;
	pthread_mutex_lock(&t->lock);
	uintptr_t number =
		(uintptr_t)vk_handles_find(&t->surfaces, VK_HANDLE_KEY(surface));
	if (!number) {
		number = ++t->n_surfaces;
		vk_handles_put(&t->surfaces, VK_HANDLE_KEY(surface), (void *)number);
	}
	pthread_mutex_unlock(&t->lock);
	return (int64_t)number - 1;
}

/* Until the device line is written; from then on what is presented counts. */
static void
expect_presents(struct vk_device *d, struct vk_presents presents)
{
	pthread_mutex_lock(&d->lock);
	if (!d->tally)
		d->presents = presents;
	pthread_mutex_unlock(&d->lock);
}

static void
learn_swapchain(struct vk_device *d, const VkSwapchainCreateInfoKHR *info,
		VkSwapchainKHR handle)
{
	struct vk_targets *t = d->targets;
	struct vk_swapchain_known *chain = vk_known_create(t, sizeof(*chain));
	if (!chain)
		return;
	chain->surface = surface_number(t, info->surface);
	chain->format = info->imageFormat;
	chain->width = info->imageExtent.width;
	chain->height = info->imageExtent.height;
	chain->layers = info->imageArrayLayers;
	chain->usage = info->imageUsage;
	chain->presents = (struct vk_presents){ info->presentMode, info->minImageCount };
	expect_presents(d, chain->presents);
	vk_known_remember(t, VK_SWAPCHAINS, VK_HANDLE_KEY(handle), chain);
}

void
vk_swapchains_created(struct vk_device *d, uint32_t n, const VkSwapchainCreateInfoKHR *infos,
		      const VkSwapchainKHR *handles)
{
	for (uint32_t i = 0; i < n; i++)
		learn_swapchain(d, &infos[i], handles[i]);
}

/* With t->lock held. */
static void
learn_swapchain_image(struct vk_targets *t, struct vk_swapchain_known *chain, VkImage handle)
{
	if (vk_handles_find(&t->objects[VK_IMAGES], VK_HANDLE_KEY(handle)))
		return; /* queried before */
	struct vk_image_known *image = vk_known_create(t, sizeof(*image));
	if (!image)
		return;
	image->format = chain->format;
	image->width = chain->width;
	image->height = chain->height;
	image->depth = image->levels = image->samples = 1;
	image->layers = chain->layers;
	image->surface = chain->surface;
	image->handle = handle;
	image->usage = chain->usage;
	image->base.usage_added = chain->base.usage_added;
	image->type = VK_IMAGE_TYPE_2D;
	if (!vk_handles_put(&t->objects[VK_IMAGES], VK_HANDLE_KEY(handle), image)) {
		free(image);
		return;
	}
	image->next = chain->images;
	chain->images = image;
}

VkResult
vk_get_swapchain_images(struct vk_device *d, PFN_vkGetSwapchainImagesKHR next, VkDevice device,
			VkSwapchainKHR swapchain, uint32_t *n, VkImage *images)
{
	VkResult result = next(device, swapchain, n, images);
	struct vk_targets *t = d->targets;
	if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || !images)
		return result;
	struct vk_swapchain_known *chain = vk_handles_find(&t->objects[VK_SWAPCHAINS],
							   VK_HANDLE_KEY(swapchain));
	pthread_mutex_lock(&t->lock);
	for (uint32_t i = 0; chain && i < *n; i++)
		learn_swapchain_image(t, chain, images[i]);
	if (chain && result == VK_SUCCESS)
		chain->presents.images = *n;
	pthread_mutex_unlock(&t->lock);
	if (chain)
		expect_presents(d, chain->presents);
	return result;
}

/* ---- memory ---- */

#define BUDGET_EVERY (16u << 20) /* bytes allocated: a driver may ask its kernel */

static void
read_budget(struct vk_device *d)
{
	VkPhysicalDeviceMemoryBudgetPropertiesEXT of = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
	};
	VkPhysicalDeviceMemoryProperties2 all = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
		.pNext = &of,
	};
	d->read_memory(d->physical, &all);
	uint32_t n = all.memoryProperties.memoryHeapCount;
	n = n < VK_MAX_MEMORY_HEAPS ? n : VK_MAX_MEMORY_HEAPS;
	for (uint32_t i = 0; i < n; i++)
		tally_event_budget(of.heapUsage[i], of.heapBudget[i]);
}

static void
look_at_budget(struct vk_device *d, VkDeviceSize bytes)
{
	VkDeviceSize all = atomic_fetch_add_explicit(&d->allocated, bytes, memory_order_relaxed);
	if (all + bytes < BUDGET_EVERY)
		return;
	atomic_store_explicit(&d->allocated, 0, memory_order_relaxed);
	read_budget(d);
}

void
vk_memory_allocated(struct vk_device *d, VkDeviceMemory handle, VkDeviceSize bytes)
{
	if (bytes <= INTPTR_MAX &&
	    vk_handles_put(&d->memory, VK_HANDLE_KEY(handle), (void *)(uintptr_t)bytes))
		tally_event_memory((int64_t)bytes);
	if (d->read_memory && !vk_device_idles(d))
		look_at_budget(d, bytes);
}

void
vk_memory_freed(struct vk_device *d, VkDeviceMemory handle)
{
	uintptr_t bytes = handle ? (uintptr_t)vk_handles_remove(&d->memory, VK_HANDLE_KEY(handle))
				 : 0;
	if (bytes)
		tally_event_memory(-(int64_t)bytes);
}

static void
forget_memory(void *value, void *data)
{
	(void)data;
	tally_event_memory(-(int64_t)(uintptr_t)value);
}

/* ---- the device ---- */

bool
vk_targets_create(struct vk_device *d)
{
	d->targets = calloc(1, sizeof(*d->targets));
	if (!d->targets)
		return false;
	if (pthread_mutex_init(&d->targets->lock, NULL) != 0) {
		free(d->targets);
		d->targets = NULL;
		return false;
	}
	return true;
}

static void
visit_known(void *value, void *data)
{
	(void)data;
	free_known(value);
}

void
vk_targets_destroy(struct vk_device *d)
{
	struct vk_targets *t = d->targets;
	if (!t)
		return;
	d->targets = NULL;
	vk_handles_each(&d->memory, forget_memory, NULL);
	vk_handles_finish(&d->memory);
	/* A swapchain's images are in `images` too, and are freed with those. */
	for (size_t i = 0; i < VK_N_OBJECTS; i++) {
		vk_handles_each(&t->objects[i], visit_known, NULL);
		vk_handles_finish(&t->objects[i]);
	}
	vk_handles_finish(&t->surfaces);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
