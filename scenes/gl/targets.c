/* SPDX-License-Identifier: MIT */
/* scenes/gl/targets.c - which target is drawn to, when that makes a new pass, and debug groups, the
 * names of passes. */
#include "scenes/gl/scenes.h"

static GLuint framebuffer, textures[3], depth_texture;

/* ---- forward: everything in the screen ---- */

static void
frame_forward(struct stage *s)
{
	scene_clear_screen(s);
	stage_draw(s, 0, 300, 1);
	stage_draw(s, 100, 600, 2);
	stage_draw(s, 300, 153, 3);
}

static const struct expect_pass forward_passes[] = {
	{ DRAWN(3, 1053), CLEARED },
};

/* ---- shadow: a depth-only map, then the screen that samples it ---- */

static void
init_shadow(struct stage *s)
{
	depth_texture = stage_texture(GL_DEPTH_COMPONENT24, 128, 128, 1);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depth_texture,
		0);
	glDrawBuffer(GL_NONE);
	glReadBuffer(GL_NONE);
}

static void
frame_shadow(struct stage *s)
{
	stage_target(s, framebuffer, 128, 128);
	glEnable(GL_DEPTH_TEST);
	glClear(GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 300, 1);
	stage_draw(s, 200, 90, 1);
	glDisable(GL_DEPTH_TEST);
	scene_show(s, depth_texture);
	stage_draw(s, 0, 600, 2);
}

static const struct expect_pass shadow_passes[] = {
	{ DRAWN(2, 390), CLEARED, .width = 128, .height = 128, .colors = -1,
	  .depth = "DEPTH_COMPONENT24" },
	{ DRAWN(2, 603), CLEARED },
};

/* ---- deferred: three color targets and depth ---- */

static void
init_deferred(struct stage *s)
{
	static const GLenum formats[3] = { GL_RGBA8, GL_RGBA16F, GL_RGB10_A2 };
	static const GLenum buffers[3] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1,
					   GL_COLOR_ATTACHMENT2 };
	int width = s->options.width, height = s->options.height;
	for (int i = 0; i < 3; i++)
		textures[i] = stage_texture(formats[i], width, height, 1);
	framebuffer = stage_framebuffer(textures[0],
					stage_renderbuffer(GL_DEPTH24_STENCIL8, 0, width, height),
					GL_DEPTH_STENCIL_ATTACHMENT);
	for (int i = 1; i < 3; i++)
		glFramebufferTexture2D(GL_FRAMEBUFFER, buffers[i], GL_TEXTURE_2D,
				       textures[i], 0);
	glDrawBuffers(3, buffers);
}

static void
frame_deferred(struct stage *s)
{
	stage_target(s, framebuffer, s->options.width, s->options.height);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 900, 5);
	stage_target_screen(s);
	stage_draw_textured(s, textures[0]);
}

static const struct expect_pass deferred_passes[] = {
	{ DRAWN(1, 900), CLEARED, .colors = 3, .depth = "DEPTH24_STENCIL8" },
	{ DRAWN(1, 3) },
};

/* ---- interrupted: A, B, A again ---- */

static void
frame_interrupted(struct stage *s)
{
	scene_draw_small(s, 0, 300);
	scene_small_target(s, 1);
	stage_draw(s, 0, 150, 2);
	scene_small_target(s, 0);
	stage_draw(s, 100, 60, 3);
	scene_show(s, scene_textures[0]);
}

static const struct expect_pass interrupted_passes[] = {
	{ SMALL_DRAWN(300) },
	{ DRAWN(1, 150), IN_SMALL },
	{ DRAWN(1, 60), IN_SMALL, .same_as = 1, .segment = 1 },
	{ SHOWN },
};

/* ---- clear_only ---- */

static void
frame_clear_only(struct stage *s)
{
	scene_small_target(s, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	scene_show(s, scene_textures[0]);
}

static const struct expect_pass clear_only_passes[] = {
	{ .kind = "render", CLEARED, IN_SMALL },
	{ SHOWN },
};

/* ---- clear_buffer: the other ways to clear ---- */

static void
frame_clear_buffer(struct stage *s)
{
	static const float red[4] = { 1.0f, 0.0f, 0.0f, 1.0f };
	static const float one = 1.0f;
	scene_small_target(s, 0);
	glClearBufferfv(GL_COLOR, 0, red);
	stage_draw(s, 0, 30, 1);
	stage_target_screen(s);
	glClearBufferfv(GL_COLOR, 0, red);
	glClearBufferfv(GL_DEPTH, 0, &one);
	stage_draw(s, 0, 90, 2);
}

static const struct expect_pass clear_buffer_passes[] = {
	{ SMALL_DRAWN(30) },
	{ DRAWN(1, 90), .load = "clear", .clears = 2 },
};

void
scene_push_group(const char *name)
{
	glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 7, -1, name);
}

void
scene_draw_screen(struct stage *s, int count)
{
	scene_clear_screen(s);
	stage_draw(s, 0, count, 5);
}

/* ---- groups: nested, one per pass; the pop comes after the last draw ---- */

static void
frame_groups(struct stage *s)
{
	scene_push_group("Frame");
	scene_push_group("Shadows");
	scene_draw_small(s, 0, 30);
	glPopDebugGroup();
	glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 7, 4, "Blur and more");
	scene_draw_small(s, 1, 60);
	glPopDebugGroup();
	scene_push_group("Main");
	scene_push_group("Opaque");
	scene_draw_screen(s, 90);
	glPopDebugGroup();
	glPopDebugGroup();
	glPopDebugGroup();
}

static const struct expect_pass groups_passes[] = {
	{ SMALL_DRAWN(30), .label = "Frame/Shadows" },
	{ SMALL_DRAWN(60), .label = "Frame/Blur" },
	{ DRAWN(1, 90), CLEARED, .label = "Frame/Main/Opaque" },
};

/* ---- es2: OpenGL ES 2 ---- */

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

const struct scene target_scenes[] = {
	SCENE(forward, SCENE_ALL),
	SCENE(shadow, SCENE_DESKTOP, .init = init_shadow),
	SCENE(deferred, SCENE_DESKTOP, .init = init_deferred),
	SCENE(interrupted, SCENE_ALL, .init = scene_make_small),
	SCENE(clear_only, SCENE_ALL, .init = scene_make_small),
	SCENE(clear_buffer, SCENE_ALL, .init = scene_make_small),
	SCENE(groups, SCENE_DESKTOP, .major = 4, .minor = 3, .init = scene_make_small),
	SCENE(es2, SCENE_GLES, .es_major = 2, .init = scene_init_es2),
	{ 0 },
};
