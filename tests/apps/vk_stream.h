/* SPDX-License-Identifier: MIT */
/* tests/apps/vk_stream.h - small Vulkan programs for tests/fake_vk, without pixels.
 *
 * Each scene makes what it needs, records and submits; struct stream keeps what has to be
 * destroyed. Every object is made with allocation callbacks, by which the fake driver tells the
 * program's objects from a layer's. A call that fails is printed and ends the scene in order,
 * with status 3. One thread.
 */
#ifndef PASSTALLY_TESTS_VK_STREAM_H
#define PASSTALLY_TESTS_VK_STREAM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define COLOUR VK_FORMAT_R8G8B8A8_UNORM

enum { MAX_FAMILIES = 4, MAX_KEPT = 512 };

/* What a scene requests of its device. */
enum {
	WISH_STATISTICS = 1 << 0,
	WISH_VULKAN10 = 1 << 1,	 /* apiVersion 1.0 */
	WISH_NO_INFO = 1 << 2,	 /* pApplicationInfo NULL */
	WISH_SURFACE = 1 << 3,
	WISH_MESH = 1 << 4,
	WISH_RAYS = 1 << 5,
	WISH_NESTED = 1 << 6,
	WISH_CONDITIONAL = 1 << 7,
	WISH_MARKERS = 1 << 8,
	WISH_BOUNDARY = 1 << 9,
	WISH_GROUP = 1 << 10,
	WISH_PROTECTED = 1 << 11,
	WISH_VIDEO = 1 << 12,
	WISH_CORE = 1 << 13,	  /* features in pEnabledFeatures, in read-only memory */
	WISH_FEATURES2 = 1 << 14, /* VkPhysicalDeviceFeatures2 alone */
	WISH_TWICE = 1 << 15,	  /* an extension named twice */
	WISH_LABELS = 1 << 16,
	WISH_SPARSE = 1 << 17,
	WISH_SEPARATE = 1 << 18, /* the features of 1.2 and 1.3 in structures of their own */
	WISH_FEEDBACK = 1 << 19,
	WISH_INHERITED = 1 << 20, /* inheritedQueries */
};

enum kept_kind {
	KEPT_POOL,
	KEPT_QUERIES,
	KEPT_FENCE,
	KEPT_SEMAPHORE,
	KEPT_PASS,
	KEPT_FRAMEBUFFER,
	KEPT_VIEW,
	KEPT_IMAGE,
	KEPT_BUFFER,
	KEPT_MEMORY,
	KEPT_SWAPCHAIN,
	KEPT_SURFACE,
	KEPT_SESSION,
};

struct kept {
	enum kept_kind kind;
	uint64_t handle;
};

struct stream {
	unsigned wishes;
	unsigned frames;
	VkInstance instance;
	VkPhysicalDevice physical;
	VkDevice device;
	uint32_t n_families;
	VkQueueFamilyProperties families[8];
	VkQueue queues[8][2];
	VkCommandPool pools[8];
	VkQueue queue; /* graphics */
	uint32_t version; /* 10 to 13: of the device as the program uses it */
	uint32_t graphics, compute, transfer, video; /* families; UINT32_MAX: none */
	VkFence fence;
	struct kept kept[MAX_KEPT];
	uint32_t n_kept;
	jmp_buf out;
};

struct scene {
	const char *name;
	unsigned wishes;
	void (*run)(struct stream *s);
};
extern const struct scene stream_passes[], stream_work[], stream_submits[], stream_odd[],
	stream_rules[];

extern const VkAllocationCallbacks *const allocator;

void stream_open(struct stream *s);
void stream_close(struct stream *s);
/* The scene cannot run here: status 77. */
void stream_skip(struct stream *s, const char *why) __attribute__((noreturn));
/* Prints a failure and ends the scene. */
void stream_check(struct stream *s, VkResult result, const char *what);
#define CHECK(call) stream_check(s, call, #call)
void stream_keep(struct stream *s, enum kept_kind kind, uint64_t handle);
/* Destroyed by the scene itself. */
void stream_drop(struct stream *s, uint64_t handle);
#define KEEP(kind, handle) stream_keep(s, kind, (uint64_t)(handle))

/* Returns a function by name; NULL when the device does not have it. */
PFN_vkVoidFunction stream_find(struct stream *s, const char *name);
/* `FUNCTION(vkCmdX)` declares a variable x of the right type. */
#define FUNCTION(name) PFN_##name p_##name = (PFN_##name)stream_find(s, #name)

/* Commands that are not in Vulkan 1.0: of the core, else as VK_KHR_*; else the scene is skipped. */
PFN_vkVoidFunction stream_newer(const char *name);
#define NEWER(name) ((PFN_##name)stream_newer(#name))
#define vkCmdBeginRendering NEWER(vkCmdBeginRendering)
#define vkCmdEndRendering NEWER(vkCmdEndRendering)
#define vkCmdBeginRenderPass2 NEWER(vkCmdBeginRenderPass2)
#define vkCmdNextSubpass2 NEWER(vkCmdNextSubpass2)
#define vkCmdEndRenderPass2 NEWER(vkCmdEndRenderPass2)
#define vkCmdDrawIndirectCount NEWER(vkCmdDrawIndirectCount)
#define vkCmdDispatchBase NEWER(vkCmdDispatchBase)
#define vkCmdSetDeviceMask NEWER(vkCmdSetDeviceMask)
#define vkCmdWriteTimestamp2 NEWER(vkCmdWriteTimestamp2)
#define vkQueueSubmit2 NEWER(vkQueueSubmit2)
#define vkSignalSemaphore NEWER(vkSignalSemaphore)
#define vkGetSemaphoreCounterValue NEWER(vkGetSemaphoreCounterValue)

VkCommandBuffer stream_buffer(struct stream *s, uint32_t family, bool secondary);
void stream_begin(struct stream *s, VkCommandBuffer cb, VkCommandBufferUsageFlags flags);
void stream_end(struct stream *s, VkCommandBuffer cb);
void stream_begin_inside(struct stream *s, VkCommandBuffer cb, VkRenderPass pass,
			 VkFramebuffer framebuffer, VkCommandBufferUsageFlags flags);
/* Submits and waits. */
void stream_run(struct stream *s, VkQueue queue, uint32_t n, const VkCommandBuffer *buffers);
void stream_submit(struct stream *s, VkQueue queue, const VkSubmitInfo *info, VkFence fence);
void stream_wait(struct stream *s, VkFence fence);
VkFence stream_fence(struct stream *s);
VkSemaphore stream_semaphore(struct stream *s, bool timeline);
VkQueryPool stream_queries(struct stream *s, VkQueryType type, uint32_t n);
VkBuffer stream_make_buffer(struct stream *s, VkDeviceSize size, VkDeviceMemory *memory);
VkImage stream_image(struct stream *s, uint32_t width, uint32_t height);
VkImageView stream_view(struct stream *s, VkImage image);

struct target {
	VkRenderPass pass;
	VkFramebuffer framebuffer;
	VkImageView view;
	uint32_t width, height;
};
/* `masks`: view masks of the subpasses, or NULL. */
struct target stream_target(struct stream *s, uint32_t n_subpasses, const uint32_t *masks);
void stream_begin_pass(VkCommandBuffer cb, const struct target *t, VkSubpassContents contents);
void stream_begin_rendering(VkCommandBuffer cb, const struct target *t, VkRenderingFlags flags,
			    uint32_t mask);
/* A whole render pass of so many draws of three vertices. */
void stream_draw_pass(VkCommandBuffer cb, const struct target *t, uint32_t draws);

#endif
