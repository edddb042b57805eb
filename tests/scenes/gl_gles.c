/* SPDX-License-Identifier: MIT */
/* tests/scenes/gl_gles.c - invalidate and discard, indirect draws of OpenGL ES 3.1. */
#include "scenes/gl/scenes.h"

static GLuint indirect_buffer;

/* ---- invalidate: after a pass it is not stored, before one nothing is loaded ---- */

static void
frame_invalidate(struct stage *s)
{
	static const GLenum depth = GL_DEPTH_ATTACHMENT;
	static const GLenum both[2] = { GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT };
	scene_small_target(s, 0);
	glInvalidateFramebuffer(GL_FRAMEBUFFER, 2, both);
	stage_draw(s, 0, 300, 1);
	glInvalidateFramebuffer(GL_FRAMEBUFFER, 1, &depth);
	scene_show(s, scene_textures[0]);
}

static const struct expect_pass invalidate_passes[] = {
	{ DRAWN(1, 300), IN_SMALL, .load = "dontcare" },
	{ SHOWN },
};

/* ---- discard: the same before OpenGL ES 3 ---- */

static void
frame_discard(struct stage *s)
{
	static const GLenum both[2] = { GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT };
	scene_small_target(s, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 300, 1);
	glDiscardFramebufferEXT(GL_FRAMEBUFFER, 2, both);
	scene_clear_screen(s);
	stage_draw(s, 0, 90, 2);
}

static const struct expect_pass discard_passes[] = {
	{ SMALL_DRAWN(300), .store = "discard" },
	{ DRAWN(1, 90), CLEARED },
};

/* ---- es31_indirect ---- */

static void
init_es31(struct stage *s)
{
	static const GLuint command[4] = { 300, 1, 0, 0 };
	glGenBuffers(1, &indirect_buffer);
	glBindBuffer(GL_DRAW_INDIRECT_BUFFER, indirect_buffer);
	glBufferData(GL_DRAW_INDIRECT_BUFFER, sizeof(command), command, GL_STATIC_DRAW);
}

static void
frame_es31_indirect(struct stage *s)
{
	scene_clear_screen(s);
	stage_paint(s, 3);
	glDrawArraysIndirect(GL_TRIANGLES, NULL);
}

static const struct expect_pass es31_indirect_passes[] = {
	{ .kind = "render",
	  .flags = "indirect",
	  .load = "clear",
	  .draws = 1,
	  .clears = 1,
	  .unsure = EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES },
};

const struct scene more_gles_scenes[] = {
	SCENE(invalidate, SCENE_CORE | SCENE_GLES, .major = 4, .minor = 3,
	      .init = scene_init_es2),
	SCENE(discard, SCENE_GLES, .es_major = 2, .init = scene_init_es2),
	SCENE(es31_indirect, SCENE_GLES, .es_major = 3, .es_minor = 1, .init = init_es31),
	{ 0 },
};
