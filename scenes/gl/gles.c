/* SPDX-License-Identifier: MIT */
/* scenes/gl/gles.c - OpenGL ES 2. */
#include "scenes/gl/scenes.h"

void
scene_init_es2(struct stage *s)
{
	scene_make_small(s);
	for (int i = 0; i < 2; i++) {
		GLuint depth = stage_renderbuffer(GL_DEPTH_COMPONENT16, 0, SMALL, SMALL);
		glBindFramebuffer(GL_FRAMEBUFFER, scene_framebuffers[i]);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
					  depth);
	}
}

static void
frame_es2(struct stage *s)
{
	scene_small_target(s, 0);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 300, 1);
	stage_paint(s, 2);
	glDrawElements(GL_TRIANGLES, 60, GL_UNSIGNED_SHORT, (const void *)600);
	scene_show(s, scene_textures[0]);
}

static const struct expect_pass es2_passes[] = {
	{ DRAWN(2, 360), CLEARED, IN_SMALL, .colors = 1, .depth = "DEPTH_COMPONENT16",
	  .unsure = EXPECT_ANY_SHADED },
	{ SHOWN },
};

const struct scene gles_scenes[] = {
	SCENE(es2, SCENE_GLES, .es_major = 2, .init = scene_init_es2),
	{ 0 },
};
