/* SPDX-License-Identifier: MIT */
/* scenes/gl/targets.c - which target is drawn to, and when that makes a new pass. */
#include "scenes/gl/scenes.h"

#define SMALL 64

static GLuint framebuffers[4], textures[6], renderbuffers[4];
static GLuint depth_texture;

static void
clear_both(float grey)
{
	glClearColor(grey, grey, grey, 1.0f);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

/* Small colour targets 0 .. n - 1. */
static void
init_small(struct stage *s, int n)
{
	for (int i = 0; i < n; i++) {
		textures[i] = stage_texture(s->options.api == STAGE_GLES ? GL_RGBA : GL_RGBA8,
			SMALL,
					    SMALL, 1);
		framebuffers[i] = stage_framebuffer(textures[i], 0, 0);
	}
}

/* ---- forward: everything in the screen ---- */

static void
init_nothing(struct stage *s)
{
	(void)s;
}

static void
frame_forward(struct stage *s, unsigned number)
{
	(void)number;
	stage_target_screen(s);
	clear_both(0.1f);
	stage_draw(s, 0, 300, 1);
	stage_draw(s, 100, 600, 2);
	stage_draw(s, 300, 153, 3);
}

static const struct expect_pass forward_passes[] = {
	{ .kind = "render", .load = "clear", .draws = 3, .vertices = 1053, .instances = 3,
	  .primitives = 351, .shaded = 1053, .clears = 1 },
};

/* ---- shadow: a depth-only map, then the screen that samples it ---- */

static void
init_shadow(struct stage *s)
{
	(void)s;
	depth_texture = stage_texture(GL_DEPTH_COMPONENT24, 128, 128, 1);
	glGenFramebuffers(1, &framebuffers[0]);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depth_texture,
		0);
	glDrawBuffer(GL_NONE);
	glReadBuffer(GL_NONE);
}

static void
frame_shadow(struct stage *s, unsigned number)
{
	(void)number;
	stage_target(s, framebuffers[0], 128, 128);
	glEnable(GL_DEPTH_TEST);
	glClear(GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 300, 1);
	stage_draw(s, 200, 90, 1);
	glDisable(GL_DEPTH_TEST);
	stage_target_screen(s);
	clear_both(0.2f);
	stage_draw_textured(s, depth_texture);
	stage_draw(s, 0, 600, 2);
}

static const struct expect_pass shadow_passes[] = {
	{ .kind = "render",
	  .load = "clear",
	  .draws = 2,
	  .vertices = 390,
	  .instances = 2,
	  .primitives = 130,
	  .shaded = 390,
	  .clears = 1,
	  .width = 128,
	  .height = 128,
	  .colors = -1,
	  .depth = "DEPTH_COMPONENT24" },
	{ .kind = "render",
	  .load = "clear",
	  .draws = 2,
	  .vertices = 603,
	  .instances = 2,
	  .primitives = 201,
	  .shaded = 603,
	  .clears = 1 },
};

/* ---- deferred: three colour targets and depth ---- */

static void
init_deferred(struct stage *s)
{
	static const GLenum formats[3] = { GL_RGBA8, GL_RGBA16F, GL_RGB10_A2 };
	static const GLenum buffers[3] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1,
					   GL_COLOR_ATTACHMENT2 };
	int width = s->options.width, height = s->options.height;
	for (int i = 0; i < 3; i++)
		textures[i] = stage_texture(formats[i], width, height, 1);
	renderbuffers[0] = stage_renderbuffer(GL_DEPTH24_STENCIL8, 0, width, height);
	framebuffers[0] =
		stage_framebuffer(textures[0], renderbuffers[0], GL_DEPTH_STENCIL_ATTACHMENT);
	for (int i = 1; i < 3; i++)
		glFramebufferTexture2D(GL_FRAMEBUFFER, buffers[i], GL_TEXTURE_2D,
				       textures[i], 0);
	glDrawBuffers(3, buffers);
}

static void
frame_deferred(struct stage *s, unsigned number)
{
	(void)number;
	stage_target(s, framebuffers[0], s->options.width, s->options.height);
	clear_both(0.0f);
	stage_draw(s, 0, 900, 5);
	stage_target_screen(s);
	stage_draw_textured(s, textures[0]);
}

static const struct expect_pass deferred_passes[] = {
	{ .kind = "render",
	  .load = "clear",
	  .draws = 1,
	  .vertices = 900,
	  .instances = 1,
	  .primitives = 300,
	  .shaded = 900,
	  .clears = 1,
	  .colors = 3,
	  .depth = "DEPTH24_STENCIL8" },
	{ .kind = "render",
	  .draws = 1,
	  .vertices = 3,
	  .instances = 1,
	  .primitives = 1,
	  .shaded = 3 },
};

/* ---- pingpong: one framebuffer, its attachment switched without a bind ---- */

static void
init_pingpong(struct stage *s)
{
	init_small(s, 2);
}

static void
blur_step(struct stage *s, int to, bool fresh)
{
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[to],
		0);
	if (fresh)
		glClear(GL_COLOR_BUFFER_BIT);
	stage_draw_textured(s, textures[!to]);
}

static void
pingpong(struct stage *s, bool fresh)
{
	stage_target(s, framebuffers[0], SMALL, SMALL);
	for (int i = 0; i < 4; i++)
		blur_step(s, i % 2, fresh);
	stage_target_screen(s);
	clear_both(0.3f);
	stage_draw_textured(s, textures[1]);
}

static void
frame_pingpong(struct stage *s, unsigned number)
{
	(void)number;
	pingpong(s, true);
}

#define BLUR .kind = "render", .draws = 1, .vertices = 3, .instances = 1, .primitives = 1, \
	     .shaded = 3, .width = SMALL, .height = SMALL
#define SHOW .kind = "render", .draws = 1, .vertices = 3, .instances = 1, .primitives = 1, \
	     .shaded = 3, .clears = 1, .load = "clear"

/* Each step begins with a clear: four passes of the same shape, told apart by their ordinal. */
static const struct expect_pass pingpong_passes[] = {
	{ BLUR, .clears = 1, .load = "clear" }, { BLUR, .clears = 1, .load = "clear" },
	{ BLUR, .clears = 1, .load = "clear" }, { BLUR, .clears = 1, .load = "clear" },
	{ SHOW },
};

static void
frame_pingpong_load(struct stage *s, unsigned number)
{
	(void)number;
	pingpong(s, false);
}

/* Without a clear the third step goes on with what the first one left: segments. */
static const struct expect_pass pingpong_load_passes[] = {
	{ BLUR }, { BLUR }, { BLUR, .same_as = 1, .segment = 1 }, { BLUR, .same_as = 2,
	  .segment = 1 },
	{ SHOW },
};

/* ---- interrupted: A, B, A again ---- */

static void
init_two(struct stage *s)
{
	init_small(s, 2);
}

static void
frame_interrupted(struct stage *s, unsigned number)
{
	(void)number;
	stage_target(s, framebuffers[0], SMALL, SMALL);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(s, 0, 300, 1);
	stage_target(s, framebuffers[1], SMALL, SMALL);
	stage_draw(s, 0, 150, 2);
	stage_target(s, framebuffers[0], SMALL, SMALL);
	stage_draw(s, 100, 60, 3);
	stage_target_screen(s);
	clear_both(0.4f);
	stage_draw_textured(s, textures[0]);
}

static const struct expect_pass interrupted_passes[] = {
	{ .kind = "render", .load = "clear", .draws = 1, .vertices = 300, .instances = 1,
	  .primitives = 100, .shaded = 300, .clears = 1, .width = SMALL, .height = SMALL },
	{ .kind = "render", .draws = 1, .vertices = 150, .instances = 1, .primitives = 50,
	  .shaded = 150, .width = SMALL, .height = SMALL },
	{ .kind = "render", .draws = 1, .vertices = 60, .instances = 1, .primitives = 20,
	  .shaded = 60,
	  .width = SMALL, .height = SMALL, .same_as = 1, .segment = 1 },
	{ SHOW },
};

/* ---- clear_only ---- */

static void
frame_clear_only(struct stage *s, unsigned number)
{
	(void)number;
	stage_target(s, framebuffers[0], SMALL, SMALL);
	glClearColor(0.5f, 0.25f, 0.75f, 1.0f);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_target_screen(s);
	clear_both(0.5f);
	stage_draw_textured(s, textures[0]);
}

static const struct expect_pass clear_only_passes[] = {
	{ .kind = "render", .load = "clear", .clears = 1, .width = SMALL, .height = SMALL },
	{ SHOW },
};

/* ---- clear_buffer: the other ways to clear ---- */

static void
frame_clear_buffer(struct stage *s, unsigned number)
{
	static const float red[4] = { 1.0f, 0.0f, 0.0f, 1.0f };
	static const float one = 1.0f;
	(void)number;
	stage_target(s, framebuffers[0], SMALL, SMALL);
	glClearBufferfv(GL_COLOR, 0, red);
	stage_draw(s, 0, 30, 1);
	stage_target_screen(s);
	glClearBufferfv(GL_COLOR, 0, red);
	glClearBufferfv(GL_DEPTH, 0, &one);
	stage_draw(s, 0, 90, 2);
}

static const struct expect_pass clear_buffer_passes[] = {
	{ .kind = "render", .load = "clear", .draws = 1, .vertices = 30, .instances = 1,
	  .primitives = 10, .shaded = 30, .clears = 1, .width = SMALL, .height = SMALL },
	{ .kind = "render", .load = "clear", .draws = 1, .vertices = 90, .instances = 1,
	  .primitives = 30, .shaded = 90, .clears = 2 },
};

/* ---- bind_churn: what is bound but not drawn to makes no pass ---- */

static void
frame_bind_churn(struct stage *s, unsigned number)
{
	(void)number;
	stage_target(s, framebuffers[0], SMALL, SMALL);
	stage_target(s, framebuffers[1], SMALL, SMALL);
	stage_target(s, framebuffers[0], SMALL, SMALL);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(s, 0, 30, 1);
	stage_target(s, framebuffers[1], SMALL, SMALL);
	stage_target_screen(s);
	stage_target(s, framebuffers[0], SMALL, SMALL);
	stage_draw(s, 10, 60, 2);
	glFlush();
	stage_draw(s, 40, 90, 3);
	stage_target(s, framebuffers[1], SMALL, SMALL);
	stage_target_screen(s);
	clear_both(0.6f);
	stage_draw_textured(s, textures[0]);
}

static const struct expect_pass bind_churn_passes[] = {
	{ .kind = "render", .load = "clear", .draws = 3, .vertices = 180, .instances = 3,
	  .primitives = 60, .shaded = 180, .clears = 1, .width = SMALL, .height = SMALL },
	{ SHOW },
};

/* ---- draw_buffers: the same framebuffer, another choice of its targets ---- */

static void
init_draw_buffers(struct stage *s)
{
	init_small(s, 2);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_TEXTURE_2D,
			       textures[1], 0);
}

static void
frame_draw_buffers(struct stage *s, unsigned number)
{
	static const GLenum both[2] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1 };
	static const GLenum second[2] = { GL_NONE, GL_COLOR_ATTACHMENT1 };
	(void)number;
	stage_target(s, framebuffers[0], SMALL, SMALL);
	glDrawBuffers(1, both);
	stage_draw(s, 0, 30, 1);
	glDrawBuffers(2, second);
	stage_draw(s, 10, 60, 2);
	glDrawBuffers(2, both);
	stage_draw(s, 30, 90, 3);
	stage_target_screen(s);
	clear_both(0.7f);
	stage_draw_textured(s, textures[0]);
}

static const struct expect_pass draw_buffers_passes[] = {
	{ .kind = "render", .draws = 1, .vertices = 30, .instances = 1, .primitives = 10,
	  .shaded = 30,
	  .width = SMALL, .height = SMALL },
	{ .kind = "render", .draws = 1, .vertices = 60, .instances = 1, .primitives = 20,
	  .shaded = 60,
	  .width = SMALL, .height = SMALL },
	{ .kind = "render", .draws = 1, .vertices = 90, .instances = 1, .primitives = 30,
	  .shaded = 90,
	  .width = SMALL, .height = SMALL, .colors = 2 },
	{ SHOW },
};

/* ---- recycled: names deleted and made anew each frame ---- */

static void
frame_recycled(struct stage *s, unsigned number)
{
	(void)number;
	init_small(s, 2);
	for (int i = 0; i < 2; i++) {
		stage_target(s, framebuffers[i], SMALL, SMALL);
		glClear(GL_COLOR_BUFFER_BIT);
		stage_draw(s, i * 10, 30 + i * 30, 1);
	}
	stage_target_screen(s);
	clear_both(0.8f);
	stage_draw_textured(s, textures[0]);
	glDeleteFramebuffers(2, framebuffers);
	glDeleteTextures(2, textures);
}

static const struct expect_pass recycled_passes[] = {
	{ .kind = "render", .load = "clear", .draws = 1, .vertices = 30, .instances = 1,
	  .primitives = 10, .shaded = 30, .clears = 1, .width = SMALL, .height = SMALL },
	{ .kind = "render", .load = "clear", .draws = 1, .vertices = 60, .instances = 1,
	  .primitives = 20, .shaded = 60, .clears = 1, .width = SMALL, .height = SMALL },
	{ SHOW },
};

const struct scene target_scenes[] = {
	{ "forward", SCENE_ALL, .init = init_nothing, .frame = frame_forward,
	  SCENE_PASSES(forward_passes) },
	{ "shadow", SCENE_DESKTOP, .init = init_shadow, .frame = frame_shadow,
	  SCENE_PASSES(shadow_passes) },
	{ "deferred", SCENE_DESKTOP, .init = init_deferred, .frame = frame_deferred,
	  SCENE_PASSES(deferred_passes) },
	{ "pingpong", SCENE_ALL, .init = init_pingpong, .frame = frame_pingpong,
	  SCENE_PASSES(pingpong_passes) },
	{ "pingpong_load", SCENE_ALL, .init = init_pingpong, .frame = frame_pingpong_load,
	  SCENE_PASSES(pingpong_load_passes) },
	{ "interrupted", SCENE_ALL, .init = init_two, .frame = frame_interrupted,
	  SCENE_PASSES(interrupted_passes) },
	{ "clear_only", SCENE_ALL, .init = init_two, .frame = frame_clear_only,
	  SCENE_PASSES(clear_only_passes) },
	{ "clear_buffer", SCENE_ALL, .init = init_two, .frame = frame_clear_buffer,
	  SCENE_PASSES(clear_buffer_passes) },
	{ "bind_churn", SCENE_ALL, .init = init_two, .frame = frame_bind_churn,
	  SCENE_PASSES(bind_churn_passes) },
	{ "draw_buffers", SCENE_ALL, .init = init_draw_buffers, .frame = frame_draw_buffers,
	  SCENE_PASSES(draw_buffers_passes) },
	{ "recycled", SCENE_ALL, .init = init_nothing, .frame = frame_recycled,
	  SCENE_PASSES(recycled_passes) },
	{ 0 },
};
