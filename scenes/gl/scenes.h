/* SPDX-License-Identifier: MIT */
/* scenes/gl/scenes.h - a scene: what is drawn, and what a perfect log contains for it.
 *
 * Expectations are those of scenes/expect.h. One thread, except for the scenes that start their
 * own.
 */
#ifndef PASSTALLY_SCENES_GL_SCENES_H
#define PASSTALLY_SCENES_GL_SCENES_H

#include "scenes/expect.h"
#include "scenes/gl/stage.h"

struct scene {
	const char *name;
	unsigned apis; /* bits 1 << enum stage_api */
	int major, minor;       /* desktop GL */
	int es_major, es_minor; /* OpenGL ES */
	void (*init)(struct stage *s); /* may be NULL */
	void (*frame)(struct stage *s);
	void (*finish)(struct stage *s); /* may be NULL */
	const struct expect_pass *passes;
	int n_passes;
	unsigned devices; /* share groups; 0 = 1 */
	bool needs_surface; /* not on --platform surfaceless */
	bool varies; /* no frame is stated: the amount of drawing depends on the machine */
};

#define SCENE_CORE (1u << STAGE_CORE)
#define SCENE_COMPAT (1u << STAGE_COMPAT)
#define SCENE_GLES (1u << STAGE_GLES)
#define SCENE_DESKTOP (SCENE_CORE | SCENE_COMPAT)
#define SCENE_ALL (SCENE_DESKTOP | SCENE_GLES)
/* Rows of a table: scene NAME is drawn by frame_NAME() and its expected passes are in NAME_passes,
 * unless the row names others. Its APIs follow, and what else the row needs. */
#define SCENE(name, ...) SCENE_AS(name, name##_passes, __VA_ARGS__)
#define SCENE_AS(name, table, ...) \
	{ \
		#name, .frame = frame_##name, .passes = table, \
		.n_passes = (int)(sizeof(table) / sizeof(table[0])), .apis = __VA_ARGS__ \
	}

/* One table per file, ended by a row without a name. */
extern const struct scene target_scenes[];
extern const struct scene transfer_scenes[];
extern const struct scene draw_scenes[];
extern const struct scene context_scenes[];
extern const struct scene measure_scenes[];
/* Only in the tests' program, which has more: those tables, up to NULL. */
extern const struct scene *const more_scenes[] __attribute__((weak));

/* Square color targets, and framebuffers over them, for the process's one scene. */
#define SMALL 64
#define N_SMALL 3
extern GLuint scene_textures[N_SMALL], scene_framebuffers[N_SMALL];
void scene_make_small(struct stage *s);
void scene_small_target(struct stage *s, int i);
/* A pass on the small target: a clear, and `count` vertices. */
void scene_draw_small(struct stage *s, int i, int count);
/* A vertex shader below the stage's head: one triangle covers the target. */
extern const char scene_cover_vertex[];
/* Clears color and depth of the screen, which becomes the target. */
void scene_clear_screen(struct stage *s);
/* ... then a draw of so many vertices. */
void scene_draw_screen(struct stage *s, int count);
/* ... then a triangle over all of it that samples `texture`. */
void scene_show(struct stage *s, GLuint texture);
/* Small targets of which two have depth, without what OpenGL ES 2 lacks. */
void scene_init_es2(struct stage *s);
/* Commands of indirect draws in a buffer. */
void scene_init_indirect(struct stage *s);
/* The other contexts of the process's one scene, and their end. */
extern struct stage_peer *scene_peers[2];
void scene_finish_peers(struct stage *s);
/* A debug group of the application. */
void scene_push_group(const char *name);

#define CLEARED .load = "clear", .clears = 1
#define IN_SMALL .width = SMALL, .height = SMALL
/* The expectation of scene_show() and scene_draw_small(). */
#define SHOWN DRAWN(1, 3), CLEARED
#define SMALL_DRAWN(n) DRAWN(1, n), CLEARED, IN_SMALL

#endif
