/* SPDX-License-Identifier: MIT */
/* tests/scenes/gl_targets.c - targets that are switched, recycled or only bound. */
#include "scenes/gl/scenes.h"

/* ---- pingpong: one framebuffer, its attachment switched without a bind ---- */

static void
blur_step(struct stage *s, int to, bool fresh)
{
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
			       scene_textures[to], 0);
	if (fresh)
		glClear(GL_COLOR_BUFFER_BIT);
	stage_draw_textured(s, scene_textures[!to]);
}

static void
pingpong(struct stage *s, bool fresh)
{
	scene_small_target(s, 0);
	for (int i = 0; i < 4; i++)
		blur_step(s, i % 2, fresh);
	scene_show(s, scene_textures[1]);
}

static void
frame_pingpong(struct stage *s)
{
	pingpong(s, true);
}

#define BLUR DRAWN(1, 3), IN_SMALL

/* Each step begins with a clear: four passes of the same shape, distinguished by their
 * ordinal. */
static const struct expect_pass pingpong_passes[] = {
	{ SMALL_DRAWN(3) }, { SMALL_DRAWN(3) }, { SMALL_DRAWN(3) },
	{ SMALL_DRAWN(3) }, { SHOWN },
};

static void
frame_pingpong_load(struct stage *s)
{
	pingpong(s, false);
}

/* Without a clear the third step continues with the contents that the first one left:
 * segments. */
static const struct expect_pass pingpong_load_passes[] = {
	{ BLUR },
	{ BLUR },
	{ BLUR, .same_as = 1, .segment = 1 },
	{ BLUR, .same_as = 2, .segment = 1 },
	{ SHOWN },
};

/* ---- bind_churn: a framebuffer that is bound but not drawn to makes no pass ---- */

static void
frame_bind_churn(struct stage *s)
{
	scene_small_target(s, 0);
	scene_small_target(s, 1);
	scene_draw_small(s, 0, 30);
	scene_small_target(s, 1);
	stage_target_screen(s);
	scene_small_target(s, 0);
	stage_draw(s, 10, 60, 2);
	glFlush();
	stage_draw(s, 40, 90, 3);
	scene_small_target(s, 1);
	scene_show(s, scene_textures[0]);
}

static const struct expect_pass bind_churn_passes[] = {
	{ DRAWN(3, 180), CLEARED, IN_SMALL },
	{ SHOWN },
};

/* ---- draw_buffers: the same framebuffer, another choice of its targets ---- */

static void
init_draw_buffers(struct stage *s)
{
	scene_make_small(s);
	glBindFramebuffer(GL_FRAMEBUFFER, scene_framebuffers[0]);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_TEXTURE_2D,
			       scene_textures[1], 0);
}

static void
frame_draw_buffers(struct stage *s)
{
	static const GLenum both[2] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1 };
	static const GLenum second[2] = { GL_NONE, GL_COLOR_ATTACHMENT1 };
	scene_small_target(s, 0);
	glDrawBuffers(1, both);
	stage_draw(s, 0, 30, 1);
	glDrawBuffers(2, second);
	stage_draw(s, 10, 60, 2);
	glDrawBuffers(2, both);
	stage_draw(s, 30, 90, 3);
	scene_show(s, scene_textures[0]);
}

static const struct expect_pass draw_buffers_passes[] = {
	{ DRAWN(1, 30), IN_SMALL },
	{ DRAWN(1, 60), IN_SMALL },
	{ DRAWN(1, 90), IN_SMALL, .colors = 2 },
	{ SHOWN },
};

/* ---- recycled: names deleted and created again each frame ---- */

static void
frame_recycled(struct stage *s)
{
	scene_make_small(s);
	scene_draw_small(s, 0, 30);
	scene_draw_small(s, 1, 60);
	scene_show(s, scene_textures[0]);
	glDeleteFramebuffers(N_SMALL, scene_framebuffers);
	glDeleteTextures(N_SMALL, scene_textures);
}

static const struct expect_pass recycled_passes[] = {
	{ SMALL_DRAWN(30) },
	{ SMALL_DRAWN(60) },
	{ SHOWN },
};

const struct scene more_target_scenes[] = {
	SCENE(pingpong, SCENE_ALL, .init = scene_make_small),
	SCENE(pingpong_load, SCENE_ALL, .init = scene_make_small),
	SCENE(bind_churn, SCENE_ALL, .init = scene_make_small),
	SCENE(draw_buffers, SCENE_ALL, .init = init_draw_buffers),
	SCENE(recycled, SCENE_ALL),
	{ 0 },
};
