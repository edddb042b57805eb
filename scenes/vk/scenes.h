/* SPDX-License-Identifier: MIT */
/* scenes/vk/scenes.h - a Vulkan scene: what is done, and what a perfect log contains for it.
 *
 * Expectations are those of scenes/expect.h. Every frame of a scene is like every other. One
 * thread, except for the scenes that start their own.
 */
#ifndef PASSTALLY_SCENES_VK_SCENES_H
#define PASSTALLY_SCENES_VK_SCENES_H

#include "scenes/expect.h"
#include "scenes/vk/stage.h"

#define PIXELS (VK_STAGE_WIDTH * VK_STAGE_HEIGHT)

struct vk_scene {
	const char *name;
	const char *boundary; /* option frame=; NULL: submit:1 */
	struct vk_wish wish;
	struct vk_pass_wish target; /* the screen; `load` 0: that of vk_make_screen_pass() */
	bool bare; /* no screen is made */
	void (*init)(struct vk_stage *s); /* called when there is one; may be NULL */
	void (*frame)(struct vk_stage *s, unsigned number);
	void (*finish)(struct vk_stage *s); /* may be NULL; may end the process */
	const struct expect_pass *passes;
	int n_passes;
	unsigned devices; /* 0 = 1 */
	unsigned submissions; /* a frame, on each device; 0 = 1 */
	bool ends_partial; /* no boundary ends a frame: one frame of all, flagged */
	bool ends_abruptly; /* no end line */
	bool varies; /* no frame is stated: the amount of drawing depends on the machine */
};

/* Members of a struct vk_pass_wish: one color, cleared. */
#define RGBA8 .color = { VK_FORMAT_R8G8B8A8_UNORM }, .load = VK_ATTACHMENT_LOAD_OP_CLEAR
#define VK_PASSES(table) .passes = table, .n_passes = (int)(sizeof(table) / sizeof(table[0]))
/* Rows of a table: scene NAME is drawn by NAME_frame() and its expected passes are in NAME_passes,
 * unless the row names others. Its init function follows, and what else the row needs. */
#define SCENE(name, ...) SCENE_AS(name, name##_frame, name##_passes, __VA_ARGS__)
#define SCENE_AS(name, draw, table, ...) \
	{ \
		#name, .frame = draw, VK_PASSES(table), .init = __VA_ARGS__ \
	}
/* ... of the usual scene. */
#define SCENE_PLAIN(name, ...) SCENE_AS(name, vk_plain_frame, vk_plain_passes, __VA_ARGS__)
/* The usual end of a frame: the image is copied to a buffer. */
#define COPY_OUT \
	{ \
		.kind = "transfer", .copies = 1 \
	}

/* One table per file, ended by a row without a name. */
extern const struct vk_scene vk_render_scenes[];
extern const struct vk_scene vk_rendering_scenes[];
extern const struct vk_scene vk_draw_scenes[];
extern const struct vk_scene vk_work_scenes[];
extern const struct vk_scene vk_secondary_scenes[];
extern const struct vk_scene vk_submit_scenes[];
extern const struct vk_scene vk_label_scenes[];
extern const struct vk_scene vk_measure_scenes[];
/* Only in the tests' program, which has more: those tables, up to NULL. */
extern const struct vk_scene *const vk_more_scenes[] __attribute__((weak));

/* Images to draw to, a render pass over them, a pipeline, and a buffer for the bytes of the
 * last color. */
struct vk_screen {
	struct vk_picture picture; /* the last color; without any color, the depth */
	VkRenderPass pass;
	VkFramebuffer framebuffer;
	VkPipeline pipeline;
	struct vk_buffer out;
};
/* The target of the process's one scene. */
extern struct vk_screen screen;
/* The images are as requested. With a view mask they have two layers. */
void vk_make_target(struct vk_stage *s, struct vk_screen *to, const struct vk_pass_wish *wish);
/* ... the usual: one color of the stage's size, cleared. */
void vk_make_screen_pass(struct vk_stage *s, struct vk_screen *to);
void vk_begin_screen(VkCommandBuffer commands, const struct vk_screen *to);
/* A whole render pass with one draw. */
void vk_screen_pass(struct vk_stage *s, VkCommandBuffer commands, const struct vk_screen *to,
		    float red, uint32_t vertices, uint32_t instances);
/* The pass of the usual scene, open and ready for a draw, and its end. */
VkCommandBuffer vk_open_pass(struct vk_stage *s, unsigned number);
void vk_close_pass(struct vk_stage *s, VkCommandBuffer commands);
/* A command buffer with such a pass, for a submission. */
VkCommandBuffer
vk_record(struct vk_stage *s, VkCommandBufferUsageFlags flags, float red, bool copies);
/* Copies the screen out, runs, and reads. */
void vk_finish(struct vk_stage *s, VkCommandBuffer commands);
/* When everything that was submitted with the stage's fence is done: frees, and reads. */
void vk_end_frame(struct vk_stage *s, uint32_t n, const VkCommandBuffer *commands);

/* For the scenes of tests: a part of dynamic rendering with depth, with one draw; words of labels,
 * with a name for the framebuffer; indices; images and buffers that are moved between. */
void vk_rendering_init(struct vk_stage *s);
void vk_rendering_piece(struct vk_stage *s, VkCommandBuffer commands, VkRenderingFlags flags,
			float red, uint32_t vertices, uint32_t instances);
void vk_labels_init(struct vk_stage *s);

static inline VkDebugUtilsLabelEXT
vk_label(const char *name)
{
	return (VkDebugUtilsLabelEXT){
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
		.pLabelName = name,
	};
}

struct vk_buffer vk_make_indices(struct vk_stage *s);
#define VK_ONE_LAYER { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 }
extern struct vk_picture vk_other, vk_many, vk_small;
extern struct vk_buffer vk_words, vk_copy;
void vk_transfers_init(struct vk_stage *s);
VkCommandBuffer vk_begin_transfers(struct vk_stage *s);
void vk_clear_images(VkCommandBuffer commands);

/* The usual scene: a screen, and a pass with one draw that differs in each frame. */
void vk_plain_frame(struct vk_stage *s, unsigned number);
extern const struct expect_pass vk_plain_passes[2];

/* The expectation for a pass on the screen. `COVERED`: n vertices, each triangle over all of
 * it. */
#define CLEARED .load = "clear", .store = "store", .color = "R8G8B8A8_UNORM"
#define COVERED(d, n, i) INSTANCED(d, n, i), .fragments = (n) / 3 * PIXELS
/* ... and of vk_screen_pass(). */
#define SCREEN_PASS(n, times) \
	COVERED(1, (n) * (times), times), CLEARED, .layers = 1, .samples = 1

#endif
