/* SPDX-License-Identifier: MIT */
/* scenes/gl/gles.c - OpenGL ES 2 to 3.1, and invalidate or discard in both APIs. */
#include "scenes/gl/scenes.h"

#define SMALL 64

static GLuint framebuffers[2], textures[2], depths[2], indirect_buffer;

#define DRAWN(n) .kind = "render", .load = "clear", .clears = 1, .draws = 1, .vertices = (n), \
		 .instances = 1, .primitives = (n) / 3, .shaded = (n)

static void
init_es2(struct stage *s)
{
	(void)s;
	for (int i = 0; i < 2; i++) {
		textures[i] = stage_texture(GL_RGBA, SMALL, SMALL, 1);
		depths[i] = stage_renderbuffer(GL_DEPTH_COMPONENT16, 0, SMALL, SMALL);
		framebuffers[i] = stage_framebuffer(textures[i], depths[i], GL_DEPTH_ATTACHMENT);
	}
}

static void
show(struct stage *s, GLuint texture)
{
	stage_target_screen(s);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw_textured(s, texture);
}

static void
frame_es2(struct stage *s, unsigned number)
{
	(void)number;
	stage_target(s, framebuffers[0], SMALL, SMALL);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 300, 1);
	stage_paint(s, 2);
	glDrawElements(GL_TRIANGLES, 60, GL_UNSIGNED_SHORT, (const void *)600);
	show(s, textures[0]);
}

static const struct expect_pass es2_passes[] = {
	{ .kind = "render", .load = "clear", .clears = 1, .draws = 2, .vertices = 360,
	  .instances = 2,
	  .width = SMALL, .height = SMALL, .colors = 1, .depth = "DEPTH_COMPONENT16" },
	{ DRAWN(3) },
};

/* ---- invalidate: after a pass it is not stored, before one nothing is loaded ---- */

static void
frame_invalidate(struct stage *s, unsigned number)
{
	static const GLenum depth = GL_DEPTH_ATTACHMENT;
	static const GLenum both[2] = { GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT };
	(void)number;
	stage_target(s, framebuffers[0], SMALL, SMALL);
	glInvalidateFramebuffer(GL_FRAMEBUFFER, 2, both);
	stage_draw(s, 0, 300, 1);
	glInvalidateFramebuffer(GL_FRAMEBUFFER, 1, &depth);
	show(s, textures[0]);
}

static const struct expect_pass invalidate_passes[] = {
	{ .kind = "render", .load = "dontcare", .draws = 1, .vertices = 300, .instances = 1,
	  .primitives = 100, .shaded = 300, .width = SMALL, .height = SMALL },
	{ DRAWN(3) },
};

/* ---- discard: the same before OpenGL ES 3 ---- */

static void
frame_discard(struct stage *s, unsigned number)
{
	static const GLenum both[2] = { GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT };
	(void)number;
	stage_target(s, framebuffers[1], SMALL, SMALL);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 300, 1);
	glDiscardFramebufferEXT(GL_FRAMEBUFFER, 2, both);
	stage_target_screen(s);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 90, 2);
}

static const struct expect_pass discard_passes[] = {
	{ .kind = "render", .load = "clear", .store = "discard", .clears = 1, .draws = 1,
	  .vertices = 300, .instances = 1, .width = SMALL, .height = SMALL },
	{ DRAWN(90) },
};

/* ---- es31_indirect ---- */

static void
init_es31(struct stage *s)
{
	static const GLuint command[4] = { 300, 1, 0, 0 };
	(void)s;
	glGenBuffers(1, &indirect_buffer);
	glBindBuffer(GL_DRAW_INDIRECT_BUFFER, indirect_buffer);
	glBufferData(GL_DRAW_INDIRECT_BUFFER, sizeof(command), command, GL_STATIC_DRAW);
}

static void
frame_es31(struct stage *s, unsigned number)
{
	(void)number;
	stage_target_screen(s);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_paint(s, 3);
	glDrawArraysIndirect(GL_TRIANGLES, NULL);
}

static const struct expect_pass es31_passes[] = {
	{ .kind = "render", .flags = "indirect", .load = "clear", .draws = 1, .clears = 1,
	  .unsure = EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES },
};

const struct scene gles_scenes[] = {
	{ "es2", SCENE_GLES, .es_major = 2, .init = init_es2, .frame = frame_es2,
	  SCENE_PASSES(es2_passes) },
	{ "invalidate", SCENE_CORE | SCENE_GLES, .major = 4, .minor = 3, .init = init_es2,
	  .frame = frame_invalidate, SCENE_PASSES(invalidate_passes) },
	{ "discard", SCENE_GLES, .es_major = 2, .init = init_es2, .frame = frame_discard,
	  SCENE_PASSES(discard_passes) },
	{ "es31_indirect", SCENE_GLES, .es_major = 3, .es_minor = 1, .init = init_es31,
	  .frame = frame_es31, SCENE_PASSES(es31_passes) },
	{ 0 },
};
