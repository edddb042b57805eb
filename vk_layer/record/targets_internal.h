/* SPDX-License-Identifier: MIT */
/* vk_layer/record/targets_internal.h - the data kept about images, views, render passes and
 * framebuffers.
 *
 * Written by targets_objects.c while an object is created, and constant from then on except for
 * the lists of answers and the count of equal handles; read by targets.c without a lock. An
 * object lives until the game destroys it, when no thread may use it. A `serial` is never
 * reused, unlike a handle, so answers are cached by serial. A framebuffer keeps the data that
 * it needs of its views.
 */
#ifndef PASSTALLY_VK_LAYER_TARGETS_INTERNAL_H
#define PASSTALLY_VK_LAYER_TARGETS_INTERNAL_H

#include "vk_layer/record/handles.h"
#include "vk_layer/record/targets.h"

/* One answer, cached by the object that it is about. */
struct vk_use {
	struct vk_use *next;
	uint64_t key;
	struct vk_target_use use;
};

#define VK_MAX_USES 16
/* Threads that begin the same pass at once all push at the front, so an answer
 * may be listed twice. */
struct vk_uses {
	struct vk_use *_Atomic first;
	atomic_uint n;
};

/* The first members of every object. */
struct vk_known {
	uint64_t serial;
	uint32_t more; /* equal objects may share a handle: destroys still to come */
	bool usage_added; /* picture/usage.c added VK_IMAGE_USAGE_TRANSFER_SRC_BIT */
	const char *_Atomic name; /* the program's, interned; NULL = none */
	/* Answers for passes in this framebuffer, or for dynamic rendering that begins with this
	 * view. */
	struct vk_uses uses;
};

struct vk_image_known {
	struct vk_known base;
	VkFormat format;
	uint32_t width, height, depth, levels, layers, samples;
	int64_t surface; /* -1: not of a swapchain */
	VkImage handle;
	bool drawn_to; /* it may be an attachment */
	/* For pictures; of a swapchain's images only `usage`. */
	VkImageUsageFlags usage;
	VkImageCreateFlags flags;
	VkImageTiling tiling;
	VkImageType type;
	struct vk_image_known *next; /* the next image of the same swapchain */
	const struct tally_target *_Atomic target; /* NULL: not queried yet */
};

struct vk_view_known {
	struct vk_known base;
	VkFormat format;
	uint32_t width, height, layers, samples; /* 0: unknown */
	int64_t surface;
	uint64_t image; /* key of its handle */
	uint32_t level, layer; /* the first */
};

struct vk_pass_attachment {
	VkFormat format;
	uint32_t samples;
	VkAttachmentLoadOp load, stencil_load;
	VkAttachmentStoreOp store, stencil_store;
	VkImageLayout initial, final, stencil_final;
	uint32_t resolve; /* what it is resolved into, or VK_ATTACHMENT_UNUSED */
};

struct vk_render_pass_known {
	struct vk_known base;
	uint32_t color[TALLY_MAX_COLOR], n_color; /* indices of attachments, by first use */
	uint32_t resolve[TALLY_MAX_COLOR], n_resolve;
	uint32_t depth; /* VK_ATTACHMENT_UNUSED: none */
	uint32_t view_mask; /* of all subpasses */
	uint32_t subpasses;
	uint32_t n_attachments;
	struct vk_pass_attachment attachments[];
};

struct vk_framebuffer_known {
	struct vk_known base;
	uint32_t width, height, layers;
	bool imageless; /* the views are given at the beginning of a pass */
	uint32_t n_attachments;
	const char *name; /* of the first attachment that had one */
	struct vk_framebuffer_view {
		int64_t surface; /* -1: none */
		VkImageView view; /* not of an imageless one */
	} views[];
};

struct vk_swapchain_known {
	struct vk_known base;
	int64_t surface;
	VkFormat format;
	uint32_t width, height, layers;
	VkImageUsageFlags usage;
	struct vk_presents presents; /* `images`: asked for, then those that it has */
	struct vk_image_known *images; /* with vk_targets.lock */
};

struct vk_module_known {
	struct vk_known base;
	uint64_t code, bytes; /* FNV-1a of its code, and its length */
};

struct vk_pipeline_known {
	struct vk_known base;
	struct tally_pipeline *pipeline; /* NULL: it has stages whose code is not known */
};

struct vk_targets {
	struct vk_handles objects[VK_N_OBJECTS];
	struct vk_handles surfaces; /* maps VkSurfaceKHR to number + 1 */
	atomic_uint_fast64_t serial;
	/* Guards what creation and destruction do apart from a table's own lock, which is
	 * taken after it: `more`, a swapchain's images, surfaces. Never held across a
	 * call into the driver. */
	pthread_mutex_t lock;
	uint32_t n_surfaces;
};

/* A zeroed object of `size` bytes that begins with struct vk_known; NULL on OOM. */
void *vk_known_create(struct vk_targets *t, size_t size);
/* The program's name for the view, else for its image; NULL = none. */
const char *vk_view_name(struct vk_targets *t, const struct vk_view_known *view);
/* Takes ownership of `object`; NULL: nothing is learned. */
void vk_known_remember(struct vk_targets *t, enum vk_object what, uint64_t key, void *object);

#endif
