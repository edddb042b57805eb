/* SPDX-License-Identifier: MIT */
/* scenes/gl/draws.c - every kind of draw call, counted. */
#include "scenes/gl/scenes.h"

#include <stddef.h>
#include <stdint.h>

static GLuint indirect_buffer;

static const void *
index_at(int i)
{
	return (const void *)((size_t)i * sizeof(uint16_t));
}

/* ---- indexed ---- */

static void
frame_indexed(struct stage *s)
{
	scene_clear_screen(s);
	stage_paint(s, 1);
	glDrawElements(GL_TRIANGLES, 300, GL_UNSIGNED_SHORT, index_at(0));
	stage_paint(s, 2);
	glDrawRangeElements(GL_TRIANGLES, 300, 449, 150, GL_UNSIGNED_SHORT, index_at(300));
	stage_paint(s, 3);
	glDrawElementsBaseVertex(GL_TRIANGLES, 60, GL_UNSIGNED_SHORT, index_at(0), 600);
}

static const struct expect_pass indexed_passes[] = {
	{ DRAWN(3, 510), CLEARED, .unsure = EXPECT_ANY_SHADED },
};

/* ---- strips: primitives are not vertices over three ---- */

static void
frame_strips(struct stage *s)
{
	scene_clear_screen(s);
	stage_paint(s, 1);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 50);
	glDrawArrays(GL_TRIANGLE_FAN, 60, 20);
	glDrawArrays(GL_LINES, 90, 40);
	glDrawArrays(GL_LINE_STRIP, 150, 30);
	glDrawArrays(GL_POINTS, 210, 25);
}

/* 48 + 18 triangles, 20 + 29 lines, 25 points. */
static const struct expect_pass strips_passes[] = {
	{ .kind = "render", CLEARED, .draws = 5, .vertices = 165, .instances = 5,
	  .primitives = 140, .shaded = 165 },
};

/* ---- multi ---- */

static void
frame_multi(struct stage *s)
{
	static const GLint first[4] = { 0, 30, 60, 90 };
	static const GLsizei counts[4] = { 3, 6, 9, 12 };
	static const GLint bases[3] = { 0, 30, 60 };
	const void *offsets[3] = { index_at(150), index_at(180), index_at(210) };
	scene_clear_screen(s);
	stage_paint(s, 1);
	glMultiDrawArrays(GL_TRIANGLES, first, counts, 4);
	stage_paint(s, 2);
	glMultiDrawElements(GL_TRIANGLES, counts, GL_UNSIGNED_SHORT, offsets, 3);
	stage_paint(s, 3);
	glMultiDrawElementsBaseVertex(GL_TRIANGLES, counts, GL_UNSIGNED_SHORT, offsets, 2,
				      bases);
	glMultiDrawArrays(GL_TRIANGLES, first, counts, 0);
}

/* 4 + 3 + 2 + 0 draws of 30 + 18 + 9 vertices. */
static const struct expect_pass multi_passes[] = {
	{ DRAWN(9, 57), CLEARED, .unsure = EXPECT_ANY_SHADED },
};

/* ---- instanced ---- */

static void
frame_instanced(struct stage *s)
{
	scene_clear_screen(s);
	stage_paint(s, 1);
	glDrawArraysInstanced(GL_TRIANGLES, 0, 12, 5);
	stage_paint(s, 2);
	glDrawArraysInstanced(GL_TRIANGLES, 30, 30, 1);
	glDrawArraysInstanced(GL_TRIANGLES, 60, 9, 0);
}

/* A draw without instances is a draw: 60 + 30 + 0 vertices. */
static const struct expect_pass instanced_passes[] = {
	{ INSTANCED(3, 90, 6), CLEARED },
};

/* ---- indirect ---- */

struct arrays_command {
	GLuint count, instances, first, base_instance;
};

static const struct arrays_command commands[4] = {
	{ 300, 1, 0, 0 }, { 30, 2, 300, 0 }, { 60, 1, 600, 0 }, { 90, 1, 900, 0 }
};

void
scene_init_indirect(struct stage *s)
{
	glGenBuffers(1, &indirect_buffer);
	glBindBuffer(GL_DRAW_INDIRECT_BUFFER, indirect_buffer);
	glBufferData(GL_DRAW_INDIRECT_BUFFER, sizeof(commands), commands, GL_STATIC_DRAW);
}

static void
frame_indirect(struct stage *s)
{
	scene_clear_screen(s);
	stage_draw(s, 0, 3, 1);
	glDrawArraysIndirect(GL_TRIANGLES, NULL);
	stage_paint(s, 2);
	glMultiDrawArraysIndirect(GL_TRIANGLES,
				  (const void *)sizeof(struct arrays_command), 3, 0);
}

/* 3 + 300 + 60 + 60 + 90 vertices, of which the calls give only 3. */
static const struct expect_pass indirect_passes[] = {
	{ DRAWN(5, 513), CLEARED, .flags = "indirect",
	  .unsure = EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES },
};

const struct scene draw_scenes[] = {
	SCENE(indexed, SCENE_DESKTOP),
	SCENE(strips, SCENE_ALL),
	SCENE(multi, SCENE_DESKTOP),
	SCENE(instanced, SCENE_ALL),
	SCENE(indirect, SCENE_DESKTOP, .major = 4, .minor = 3, .init = scene_init_indirect),
	{ 0 },
};
