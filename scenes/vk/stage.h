/* SPDX-License-Identifier: MIT */
/* scenes/vk/stage.h - a Vulkan device, and things to draw with whose counts are known.
 *
 * For passtally-scenes-vk: the objects that a scene needs are made here, stored, and destroyed
 * at the end. Images are in VK_IMAGE_LAYOUT_GENERAL, memory is the host's, so no scene needs a
 * separate submission to prepare. Anything that this machine does not have ends the program
 * with status 77 and one line on stderr; anything else that fails ends it with 99. A stage
 * belongs to one thread at a time.
 */
#ifndef PASSTALLY_SCENES_VK_STAGE_H
#define PASSTALLY_SCENES_VK_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#define VK_STAGE_WIDTH 256
#define VK_STAGE_HEIGHT 192

/* What a scene requires of its instance and device; zeroed: Vulkan 1.3 with dynamic rendering,
 * synchronization2, timeline semaphores and multiview. */
struct vk_wish {
	uint32_t api; /* 0: 1.3 */
	bool no_application_info;
	const char *instance_extensions[4];
	const char *device_extensions[4];
	const VkPhysicalDeviceFeatures *features; /* passed on unchanged, may be in .rodata */
	void *extra; /* structures at the end of the usual chain of vkCreateDevice */
	const void *next; /* replaces the usual chain; with `features`: no chain at all */
};

/* An object that the stage destroys. Handles and destroying functions are those of whatever type it
 * is: all that are not dispatchable have one representation. */
struct vk_owned {
	PFN_vkDestroyBuffer destroy;
	VkBuffer handle;
};

#define VK_STAGE_MAX_OWNED 512

struct vk_stage {
	VkInstance instance;
	bool own_instance; /* false: another stage's */
	VkPhysicalDevice physical;
	VkDevice device;
	VkQueue queue;
	VkCommandPool pool;
	VkPipelineLayout layout; /* one push constant: a color */
	VkFence fence; /* unsignaled between frames */
	struct vk_owned owned[VK_STAGE_MAX_OWNED];
	uint32_t n_owned;
	uint64_t checksum; /* of everything read back */
};

struct vk_buffer {
	VkBuffer handle;
	void *map;
	VkDeviceSize size;
};

struct vk_picture {
	VkImage image;
	VkImageView view;
	VkFormat format;
	VkImageAspectFlags aspect;
	uint32_t width, height, layers;
	VkSampleCountFlagBits samples;
};

/* These never return on failure. */
void vk_skip(const char *why);
void vk_check(VkResult result, const char *what);

/* For all stages: which physical device is opened (0 at first). */
void vk_stage_choose_device(uint32_t number);
/* Prints one line on stdout: the names that the device and its driver report. */
void vk_stage_describe(void);
/* Makes and destroys a device on each physical one; returns the exit status. */
int vk_stage_make_each(void);
/* Only in the tests' program: what the instance's creation is extended by; NULL = nothing. */
const void *vk_stage_setting(void) __attribute__((weak));
void vk_stage_open_instance(struct vk_stage *s, const struct vk_wish *wish);
void vk_stage_open_device(struct vk_stage *s, const struct vk_wish *wish);
/* Destroys the device and, if the stage made it, the instance; the device must be idle. */
void vk_stage_close(struct vk_stage *s);
/* Destroys the object that was made last. */
void vk_stage_drop(struct vk_stage *s);
void vk_stage_own(struct vk_stage *s, PFN_vkDestroyBuffer destroy, VkBuffer handle);
#define VK_STAGE_OWN(s, destroy, h) vk_stage_own(s, (PFN_vkDestroyBuffer)(destroy), (VkBuffer)(h))
/* Creates the object that `info` describes, a Vk##type, in *handle; the stage owns it. */
#define VK_STAGE_MAKE(s, type, info, handle) \
	do { \
		vk_check(vkCreate##type((s)->device, info, NULL, handle), "vkCreate" #type); \
		VK_STAGE_OWN(s, vkDestroy##type, *(handle)); \
	} while (0)

VkSemaphore vk_make_semaphore(struct vk_stage *s, VkSemaphoreType type);
/* With 16 bytes of push constants for these stages. VK_NULL_HANDLE: no descriptor sets. */
VkPipelineLayout vk_make_layout(struct vk_stage *s, VkShaderStageFlags stages,
				VkDescriptorSetLayout set_layout);
struct vk_buffer vk_make_buffer(struct vk_stage *s, VkDeviceSize size);
struct vk_buffer
vk_make_buffer_for(struct vk_stage *s, VkDeviceSize size, VkBufferUsageFlags usage);
struct vk_picture
vk_make_picture(struct vk_stage *s, VkFormat format, uint32_t width, uint32_t height,
		uint32_t layers, VkSampleCountFlagBits samples);
/* A view of an image that exists. */
void vk_make_view(struct vk_stage *s, struct vk_picture *picture);
/* The usual: VK_STAGE_WIDTH x VK_STAGE_HEIGHT, R8G8B8A8_UNORM, one layer and sample. */
struct vk_picture vk_make_screen(struct vk_stage *s);

/* A render pass of one subpass: colors in order, then depth, then resolve targets of the
 * colors. `load` for all attachments that are not resolved to. */
struct vk_pass_wish {
	VkFormat color[4], depth; /* VK_FORMAT_UNDEFINED: none */
	VkSampleCountFlagBits samples;
	bool resolve;
	VkAttachmentLoadOp load;
	VkAttachmentStoreOp store;
	uint32_t view_mask;
	uint32_t subpasses; /* 0: 1; all with the same attachments */
	bool second; /* vkCreateRenderPass2 */
	uint32_t width, height; /* for the images of vk_make_target(); 0: the stage's */
};
VkRenderPass vk_make_pass(struct vk_stage *s, const struct vk_pass_wish *wish);
VkFramebuffer vk_make_framebuffer(struct vk_stage *s, VkRenderPass pass, uint32_t n,
				  const struct vk_picture *const *pictures);

/* Shaders by enum, compiled at build time. */
enum vk_shader {
	VK_SHADER_COVER,
	VK_SHADER_VIEWS,
	VK_SHADER_FEEDBACK,
	VK_SHADER_SHADE,
	VK_SHADER_TWO,
	VK_SHADER_FILL
};
struct vk_pipeline_wish {
	VkRenderPass pass; /* VK_NULL_HANDLE: dynamic rendering */
	uint32_t subpass;
	uint32_t colors; /* 0: depth only */
	VkFormat color, depth; /* dynamic rendering */
	uint32_t view_mask; /* dynamic rendering */
	VkSampleCountFlagBits samples; /* 0: one */
	enum vk_shader vertex, fragment; /* fragment 0: VK_SHADER_SHADE */
	bool writes_depth;
};
VkPipeline vk_make_pipeline(struct vk_stage *s, const struct vk_pipeline_wish *wish);
/* fill.comp over one storage buffer; `layout` takes the set. */
struct vk_compute {
	VkPipeline pipeline;
	VkPipelineLayout layout;
	VkDescriptorSet set;
};
struct vk_compute vk_make_compute(struct vk_stage *s, const struct vk_buffer *buffer);

/* A command buffer of the stage's pool, begun. */
VkCommandBuffer vk_begin(struct vk_stage *s, VkCommandBufferUsageFlags flags);
/* A secondary one; inside `pass` if there is one. `next` extends what it inherits. */
VkCommandBuffer vk_begin_secondary(struct vk_stage *s, VkRenderPass pass, const void *next,
				   VkCommandBufferUsageFlags flags);
void vk_end(VkCommandBuffer commands);
void vk_free(struct vk_stage *s, VkCommandBuffer commands);
/* One batch of n command buffers. */
void vk_submit(struct vk_stage *s, uint32_t n, const VkCommandBuffer *commands, VkFence fence);
/* Waits until the stage's fence is signaled; then resets it. */
void vk_wait(struct vk_stage *s);
/* The same by querying the fence's state repeatedly, which no layer can notice. */
void vk_poll(struct vk_stage *s);
/* Ends, submits, waits, frees. */
void vk_run(struct vk_stage *s, VkCommandBuffer commands);

void vk_change_layout(VkCommandBuffer commands, const struct vk_picture *picture,
		      VkImageLayout from, VkImageLayout to);
/* UNDEFINED to GENERAL. */
void vk_take_picture(VkCommandBuffer commands, const struct vk_picture *picture);
/* Everything before is done and visible to everything after. */
void vk_barrier_all(VkCommandBuffer commands);
void vk_begin_pass(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer framebuffer,
		   uint32_t width, uint32_t height, VkSubpassContents contents);
/* Dynamic rendering over the whole images; `depth` may be NULL. */
void vk_begin_rendering(VkCommandBuffer commands, const struct vk_picture *color,
			const struct vk_picture *depth, VkAttachmentLoadOp load,
			uint32_t view_mask, VkRenderingFlags flags);
/* Sets viewport, pipeline and color, then calls vkCmdDraw. */
void vk_draw(struct vk_stage *s, VkCommandBuffer commands, VkPipeline pipeline, float red,
	     uint32_t vertices, uint32_t instances);
void vk_prepare_draw(struct vk_stage *s, VkCommandBuffer commands, VkPipeline pipeline,
		     float red, uint32_t width, uint32_t height);
void vk_dispatch(VkCommandBuffer commands, const struct vk_compute *compute, uint32_t groups);
/* One copy of a whole layered single-sampled color image; the buffer is large enough. */
void vk_copy_out(VkCommandBuffer commands, const struct vk_picture *picture,
		 const struct vk_buffer *buffer);
/* Adds the bytes to the stage's checksum. The copy is done. */
void vk_read(struct vk_stage *s, const struct vk_buffer *buffer);

#endif
