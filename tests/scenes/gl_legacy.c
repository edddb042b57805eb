/* SPDX-License-Identifier: MIT */
/* tests/scenes/gl_legacy.c - display lists, glBegin/glEnd and other calls of OpenGL 1. */
#include "scenes/gl/scenes.h"

static GLuint lists[2];

static void
emit_triangles(int n, float left)
{
	glBegin(GL_TRIANGLES);
	for (int i = 0; i < n; i++) {
		float low = -1.0f + (float)i * 0.125f;
		glVertex2f(left, low);
		glVertex2f(left + 0.5f, low);
		glVertex2f(left, low + 0.125f);
	}
	glEnd();
}

/* ---- immediate ---- */

static void
frame_immediate(struct stage *s)
{
	scene_clear_screen(s);
	glUseProgram(0);
	glColor3f(1.0f, 0.0f, 0.0f);
	emit_triangles(10, -0.75f);
	glColor3f(0.0f, 1.0f, 0.0f);
	emit_triangles(5, 0.25f);
}

static const struct expect_pass immediate_passes[] = {
	{ DRAWN(2, 45), CLEARED, .flags = "immediate", .unsure = EXPECT_NO_VERTICES },
};

/* ---- lists ---- */

static void
init_lists(struct stage *s)
{
	lists[0] = glGenLists(2);
	lists[1] = lists[0] + 1;
	glUseProgram(0);
	glNewList(lists[0], GL_COMPILE);
	glColor3f(0.0f, 0.0f, 1.0f);
	emit_triangles(8, -0.5f);
	glEndList();
	glNewList(lists[1], GL_COMPILE);
	glColor3f(1.0f, 1.0f, 0.0f);
	emit_triangles(4, 0.0f);
	emit_triangles(4, 0.5f);
	glEndList();
}

static void
frame_lists(struct stage *s)
{
	scene_clear_screen(s);
	glUseProgram(0);
	glCallList(lists[0]);
	glCallLists(2, GL_UNSIGNED_INT, lists);
}

/* 8 + 8 + 8 triangles. Mesa gives the vertices of a list separate indices. The lists may
 * contain clears, so their number is not known. */
static const struct expect_pass lists_passes[] = {
	{ .kind = "render", .flags = "list", .load = "clear", .primitives = 24,
	  .unsure = EXPECT_NO_DRAWS | EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES |
		    EXPECT_ANY_SHADED },
};

/* ---- list_compiled: compiled in the middle of a frame, run while compiled, then called ---- */

static void
init_list_compiled(struct stage *s)
{
	lists[0] = glGenLists(1);
	scene_make_small(s);
}

static void
frame_list_compiled(struct stage *s)
{
	scene_clear_screen(s);
	glUseProgram(0);
	glNewList(lists[0], GL_COMPILE);
	glColor3f(0.0f, 1.0f, 1.0f);
	emit_triangles(6, -0.25f);
	glEndList();
	scene_small_target(s, 0);
	glCallList(lists[0]);
	stage_target_screen(s);
	stage_draw(s, 0, 30, 1);
}

/* What is only compiled is not drawn; the first pass is the clear, resumed by the last draw. */
static const struct expect_pass list_compiled_passes[] = {
	{ .kind = "render", CLEARED },
	{ .kind = "render", .flags = "list", .primitives = 6, IN_SMALL,
	  .unsure = EXPECT_NO_DRAWS | EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES |
		    EXPECT_ANY_SHADED },
	{ DRAWN(1, 30), .same_as = 1, .segment = 1 },
};

/* ---- select: nothing reaches the GPU ---- */

static void
frame_select(struct stage *s)
{
	static GLuint names[64];
	scene_clear_screen(s);
	glUseProgram(0);
	emit_triangles(3, 0.0f);
	glSelectBuffer(64, names);
	glRenderMode(GL_SELECT);
	glInitNames();
	glPushName(1);
	emit_triangles(4, -0.5f);
	glRenderMode(GL_RENDER);
}

static const struct expect_pass select_passes[] = {
	{ .kind = "render", CLEARED, .flags = "immediate select", .draws = 2, .instances = 2,
	  .unsure = EXPECT_NO_VERTICES | EXPECT_ANY_PRIMITIVES | EXPECT_ANY_SHADED },
};

/* ---- popped: attributes that are restored between two draws do not separate them, nor does
 * the way in which the texture was attached ---- */

static GLuint other_fbo;

static void
init_popped(struct stage *s)
{
	scene_make_small(s);
	glGenFramebuffers(1, &other_fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, other_fbo);
	glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, scene_textures[0], 0);
}

static void
draw_popped(struct stage *s, GLuint framebuffer)
{
	stage_target(s, framebuffer, SMALL, SMALL);
	stage_draw(s, 0, 30, 1);
	glPushAttrib(GL_COLOR_BUFFER_BIT);
	glPopAttrib();
	stage_draw(s, 0, 30, 1);
}

static void
frame_popped(struct stage *s)
{
	scene_clear_screen(s);
	draw_popped(s, scene_framebuffers[0]);
	draw_popped(s, other_fbo);
	stage_target_screen(s);
	stage_draw(s, 0, 30, 1);
}

static const struct expect_pass popped_passes[] = {
	{ .kind = "render", CLEARED },
	{ DRAWN(4, 120), IN_SMALL },
	{ DRAWN(1, 30), .same_as = 1, .segment = 1 },
};

const struct scene legacy_scenes[] = {
	SCENE(immediate, SCENE_COMPAT),
	SCENE(lists, SCENE_COMPAT, .init = init_lists),
	SCENE(list_compiled, SCENE_COMPAT, .init = init_list_compiled),
	SCENE(select, SCENE_COMPAT),
	SCENE(popped, SCENE_COMPAT, .init = init_popped),
	{ 0 },
};
