/* SPDX-License-Identifier: MIT */
/* scenes/vk/scenes.h - a Vulkan scene: what is done, and what a perfect log says of it.
 *
 * The expectation stands beside the code and is written by hand from the counts in the calls;
 * nothing in it is computed from what passtally says. `passtally-scenes-vk --expect` prints it
 * as JSON for passtally selftest and tests/live/vk_scenes.py. Every frame of a scene is like every
 * other. One thread, but for the scenes that start their own.
 */
#ifndef PASSTALLY_SCENES_VK_SCENES_H
#define PASSTALLY_SCENES_VK_SCENES_H

#include "scenes/vk/stage.h"

#define PIXELS (VK_STAGE_WIDTH * VK_STAGE_HEIGHT)

/* What the log must leave out of a pass, or what this table cannot state. */
enum {
	EXPECT_NO_DRAWS = 1 << 0, /* `draws` absent from the log */
	EXPECT_NO_VERTICES = 1 << 1, /* ... `vertices` and `instances` */
	EXPECT_NO_COUNTERS = 1 << 2, /* no statistic; with granularity draw: as the row says */
	EXPECT_ANY_COUNTERS = 1 << 3,
	EXPECT_ANY_SHADED = 1 << 4, /* vertex shader invocations not stated (indexed draws) */
	EXPECT_ANY_FRAGMENTS = 1 << 5, /* fragment shader invocations not stated */
	EXPECT_ANY_WORKLOADS = 1 << 6, /* number of workloads not stated */
	EXPECT_NO_TIME = 1 << 7, /* no time of its own */
	EXPECT_ANY_TIME = 1 << 8,
};

struct vk_expect {
	const char *kind; /* "render", "compute", "transfer" */
	const char *label; /* NULL: none */
	const char *flags; /* the words that must be there, and no others; blanks between */
	const char *load; /* NULL: not stated */
	const char *store;
	int draws, vertices, instances;
	int primitives, shaded, fragments, computed; /* statistics */
	int dispatches, copies, clears;
	int width, height; /* 0: the screen's, of a render pass; -1: no size */
	int layers, samples; /* 0: not stated */
	const char *color; /* formats with blanks between; NULL: not stated */
	const char *depth; /* format, NULL: not stated */
	int workloads; /* with granularity draw; 0: draws, dispatches, copies and clears */
	int submission; /* which of the frame's submissions */
	int device; /* in order of first use */
	unsigned unsure;
};

struct vk_scene {
	const char *name;
	const char *boundary; /* option frame=; NULL: submit:1 */
	struct vk_wish wish;
	void (*init)(struct vk_stage *s);
	void (*frame)(struct vk_stage *s, unsigned number);
	void (*finish)(struct vk_stage *s); /* may be NULL; may end the process */
	const struct vk_expect *passes;
	int n_passes;
	unsigned devices; /* 0 = 1 */
	unsigned submissions; /* a frame, on each device; 0 = 1 */
	bool ends_partial; /* no boundary ends a frame: one frame of all, flagged */
	bool ends_abruptly; /* no end line */
	bool varies; /* no frame is stated: how much is drawn is up to the machine */
	bool uncounted; /* --count cannot say anything of it */
};

#define VK_PASSES(table) .passes = table, .n_passes = (int)(sizeof(table) / sizeof(table[0]))
/* How most frames end: the picture is copied to a buffer. */
#define COPY_OUT \
	{ \
		.kind = "transfer", .copies = 1 \
	}

/* One table a file, ended by a row without a name. */
extern const struct vk_scene vk_render_scenes[];
extern const struct vk_scene vk_rendering_scenes[];
extern const struct vk_scene vk_draw_scenes[];
extern const struct vk_scene vk_work_scenes[];
extern const struct vk_scene vk_secondary_scenes[];
extern const struct vk_scene vk_submit_scenes[];
extern const struct vk_scene vk_label_scenes[];
extern const struct vk_scene vk_device_scenes[];
extern const struct vk_scene vk_life_scenes[];
extern const struct vk_scene vk_window_scenes[];
extern const struct vk_scene vk_measure_scenes[];

/* A screen, a render pass that clears it, a pipeline, and a buffer for its bytes. */
struct vk_screen {
	struct vk_picture picture;
	VkRenderPass pass;
	VkFramebuffer framebuffer;
	VkPipeline pipeline;
	struct vk_buffer out;
};
void vk_make_screen_pass(struct vk_stage *s, struct vk_screen *screen);
/* A whole render pass with one draw. */
void vk_screen_pass(struct vk_stage *s, VkCommandBuffer commands, const struct vk_screen *screen,
		    float red, uint32_t vertices, uint32_t instances);
/* What such a pass must say. */
#define SCREEN_PASS(n, times) \
	.kind = "render", .load = "clear", .store = "store", .draws = 1, \
	.vertices = (n) * (times), .instances = (times), .primitives = (n) / 3 * (times), \
	.shaded = (n) * (times), .fragments = (n) / 3 * (times)*PIXELS, .color = "R8G8B8A8_UNORM", \
	.layers = 1, .samples = 1

/* The expectation as one JSON object on stdout. */
void vk_expect_print(const struct vk_scene *scene, unsigned frames);

#endif
