/* SPDX-License-Identifier: MIT */
/* scenes/gl/legacy.c - display lists, glBegin/glEnd and other calls of OpenGL 1. */
#include "scenes/gl/scenes.h"

static GLuint lists[3], fbo, texture;

#define SMALL 64

static void
begin_screen(struct stage *s)
{
	stage_target_screen(s);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

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
init_nothing(struct stage *s)
{
	(void)s;
}

static void
frame_immediate(struct stage *s, unsigned number)
{
	(void)number;
	begin_screen(s);
	glUseProgram(0);
	glColor3f(1.0f, 0.0f, 0.0f);
	emit_triangles(10, -0.75f);
	glColor3f(0.0f, 1.0f, 0.0f);
	emit_triangles(5, 0.25f);
}

static const struct expect_pass immediate_passes[] = {
	{ .kind = "render", .flags = "immediate", .load = "clear", .draws = 2, .instances = 2,
	  .primitives = 15, .shaded = 45, .clears = 1, .unsure = EXPECT_NO_VERTICES },
};

/* ---- lists ---- */

static void
init_lists(struct stage *s)
{
	(void)s;
	GLuint first = glGenLists(3);
	for (GLuint i = 0; i < 3; i++)
		lists[i] = first + i;
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
frame_lists(struct stage *s, unsigned number)
{
	const GLuint both[2] = { lists[0], lists[1] };
	(void)number;
	begin_screen(s);
	glUseProgram(0);
	glCallList(lists[0]);
	glCallLists(2, GL_UNSIGNED_INT, both);
}

/* 8 + 8 + 8 triangles. Mesa gives the vertices of a list indices of its own. The lists may hold
 * clears, so their number is not known. */
static const struct expect_pass lists_passes[] = {
	{ .kind = "render", .flags = "list", .load = "clear", .primitives = 24,
	  .unsure = EXPECT_NO_DRAWS | EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES |
		    EXPECT_ANY_SHADED },
};

/* ---- list_compiled: compiled in the middle of a frame, run while compiled, then called ---- */

static void
init_list_compiled(struct stage *s)
{
	(void)s;
	lists[0] = glGenLists(1);
	texture = stage_texture(GL_RGBA8, SMALL, SMALL, 1);
	fbo = stage_framebuffer(texture, 0, 0);
}

static void
frame_list_compiled(struct stage *s, unsigned number)
{
	(void)number;
	begin_screen(s);
	glUseProgram(0);
	glNewList(lists[0], GL_COMPILE);
	glColor3f(0.0f, 1.0f, 1.0f);
	emit_triangles(6, -0.25f);
	glEndList();
	stage_target(s, fbo, SMALL, SMALL);
	glCallList(lists[0]);
	stage_target_screen(s);
	stage_draw(s, 0, 30, 1);
}

/* What is compiled is not drawn; the first pass is the clear, resumed by the last draw. */
static const struct expect_pass list_compiled_passes[] = {
	{ .kind = "render", .load = "clear", .clears = 1 },
	{ .kind = "render", .flags = "list", .primitives = 6, .width = SMALL, .height = SMALL,
	  .unsure = EXPECT_NO_DRAWS | EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES |
		    EXPECT_ANY_SHADED },
	{ .kind = "render", .draws = 1, .vertices = 30, .instances = 1, .primitives = 10,
	  .shaded = 30,
	  .same_as = 1, .segment = 1 },
};

/* ---- select: nothing reaches the GPU ---- */

static void
frame_select(struct stage *s, unsigned number)
{
	static GLuint names[64];
	(void)number;
	begin_screen(s);
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
	{ .kind = "render",
	  .flags = "immediate select",
	  .load = "clear",
	  .draws = 2,
	  .instances = 2,
	  .clears = 1,
	  .unsure = EXPECT_NO_VERTICES | EXPECT_ANY_PRIMITIVES | EXPECT_ANY_SHADED },
};

/* ---- popped: attributes that are restored between two draws do not part them, nor does the way
 * in which the texture was attached ---- */

static GLuint other_fbo;

static void
init_popped(struct stage *s)
{
	(void)s;
	texture = stage_texture(GL_RGBA8, SMALL, SMALL, 1);
	fbo = stage_framebuffer(texture, 0, 0);
	glGenFramebuffers(1, &other_fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, other_fbo);
	glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0);
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
frame_popped(struct stage *s, unsigned number)
{
	(void)number;
	begin_screen(s);
	draw_popped(s, fbo);
	draw_popped(s, other_fbo);
	stage_target_screen(s);
	stage_draw(s, 0, 30, 1);
}

static const struct expect_pass popped_passes[] = {
	{ .kind = "render", .load = "clear", .clears = 1 },
	{ .kind = "render", .draws = 4, .vertices = 120, .instances = 4, .primitives = 40,
	  .shaded = 120, .width = SMALL, .height = SMALL },
	{ .kind = "render", .draws = 1, .vertices = 30, .instances = 1, .primitives = 10,
	  .shaded = 30, .same_as = 1, .segment = 1 },
};

const struct scene legacy_scenes[] = {
	{ "immediate", SCENE_COMPAT, .init = init_nothing, .frame = frame_immediate,
	  SCENE_PASSES(immediate_passes) },
	{ "lists", SCENE_COMPAT, .init = init_lists, .frame = frame_lists,
	  SCENE_PASSES(lists_passes) },
	{ "list_compiled", SCENE_COMPAT, .init = init_list_compiled,
	  .frame = frame_list_compiled, SCENE_PASSES(list_compiled_passes) },
	{ "select", SCENE_COMPAT, .init = init_nothing, .frame = frame_select,
	  SCENE_PASSES(select_passes) },
	{ "popped", SCENE_COMPAT, .init = init_popped, .frame = frame_popped,
	  SCENE_PASSES(popped_passes) },
	{ 0 },
};
