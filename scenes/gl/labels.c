/* SPDX-License-Identifier: MIT */
/* scenes/gl/labels.c - debug groups and object labels: how a pass gets its name. */
#include "scenes/gl/scenes.h"

#define SMALL 64

static GLuint framebuffers[3], textures[3];

static void
init_small(struct stage *s)
{
	(void)s;
	for (int i = 0; i < 3; i++) {
		textures[i] = stage_texture(GL_RGBA8, SMALL, SMALL, 1);
		framebuffers[i] = stage_framebuffer(textures[i], 0, 0);
	}
}

static void
push(const char *name)
{
	glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 7, -1, name);
}

static void
draw_small(struct stage *s, int i, int count)
{
	stage_target(s, framebuffers[i], SMALL, SMALL);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(s, 0, count, 4);
}

static void
draw_screen(struct stage *s, int count)
{
	stage_target_screen(s);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, count, 5);
}

#define DRAWN(n) .kind = "render", .load = "clear", .clears = 1, .draws = 1, .vertices = (n), \
		 .instances = 1, .primitives = (n) / 3, .shaded = (n)
#define SMALL_DRAWN(n) DRAWN(n), .width = SMALL, .height = SMALL

/* ---- groups: nested, one a pass; the pop comes after the last draw ---- */

static void
frame_groups(struct stage *s, unsigned number)
{
	(void)number;
	push("Frame");
	push("Shadows");
	draw_small(s, 0, 30);
	glPopDebugGroup();
	glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 7, 4, "Blur and more");
	draw_small(s, 1, 60);
	glPopDebugGroup();
	push("Main");
	push("Opaque");
	draw_screen(s, 90);
	glPopDebugGroup();
	glPopDebugGroup();
	glPopDebugGroup();
}

static const struct expect_pass groups_passes[] = {
	{ SMALL_DRAWN(30), .label = "Frame/Shadows" },
	{ SMALL_DRAWN(60), .label = "Frame/Blur" },
	{ DRAWN(90), .label = "Frame/Main/Opaque" },
};

/* ---- group_over_passes ---- */

static void
frame_group_over_passes(struct stage *s, unsigned number)
{
	(void)number;
	push("Post");
	draw_small(s, 0, 30);
	draw_small(s, 1, 60);
	glPopDebugGroup();
	draw_screen(s, 90);
}

static const struct expect_pass group_over_passes_passes[] = {
	{ SMALL_DRAWN(30), .label = "Post" },
	{ SMALL_DRAWN(60), .label = "Post" },
	{ DRAWN(90) },
};

/* ---- groups_in_pass: many groups in one framebuffer do not part it ---- */

static void
draw_in_groups(struct stage *s)
{
	push("A");
	stage_draw(s, 0, 30, 1);
	glPopDebugGroup();
	push("B");
	stage_draw(s, 20, 60, 2);
	glPopDebugGroup();
	push("C");
	stage_draw(s, 50, 90, 3);
	glPopDebugGroup();
}

static void
frame_groups_in_pass(struct stage *s, unsigned number)
{
	(void)number;
	push("Scene");
	stage_target(s, framebuffers[0], SMALL, SMALL);
	glClear(GL_COLOR_BUFFER_BIT);
	draw_in_groups(s);
	glPopDebugGroup();
	stage_target_screen(s);
	draw_in_groups(s);
}

/* Only what covers the whole pass names it. */
static const struct expect_pass groups_in_pass_passes[] = {
	{ .kind = "render", .label = "Scene", .load = "clear", .clears = 1, .draws = 3,
	  .vertices = 180, .instances = 3, .primitives = 60, .shaded = 180, .width = SMALL,
	  .height = SMALL },
	{ .kind = "render", .draws = 3, .vertices = 180, .instances = 3, .primitives = 60,
	  .shaded = 180 },
};

/* ---- object_labels ---- */

static void
init_object_labels(struct stage *s)
{
	init_small(s);
	glObjectLabel(GL_FRAMEBUFFER, framebuffers[0], -1, "Bloom target");
	glObjectLabel(GL_TEXTURE, textures[0], -1, "not this one");
	glObjectLabel(GL_TEXTURE, textures[1], 4, "Halfway");
	glObjectLabel(GL_FRAMEBUFFER, framebuffers[2], -1, "not this one");
}

static void
frame_object_labels(struct stage *s, unsigned number)
{
	(void)number;
	draw_small(s, 0, 30);
	draw_small(s, 1, 60);
	push("Group");
	draw_small(s, 2, 90);
	glPopDebugGroup();
	draw_screen(s, 120);
}

/* Group over framebuffer over texture. */
static const struct expect_pass object_labels_passes[] = {
	{ SMALL_DRAWN(30), .label = "Bloom target" },
	{ SMALL_DRAWN(60), .label = "Half" },
	{ SMALL_DRAWN(90), .label = "Group" },
	{ DRAWN(120) },
};

/* ---- unbalanced: a pop too many, and a group left open over the swap ---- */

static void
frame_unbalanced(struct stage *s, unsigned number)
{
	if (number == 0) {
		glPopDebugGroup();
		glGetError();
		push("Ever");
	}
	draw_small(s, 0, 30);
	draw_screen(s, 90);
}

static const struct expect_pass unbalanced_passes[] = {
	{ SMALL_DRAWN(30), .label = "Ever" },
	{ DRAWN(90), .label = "Ever" },
};

const struct scene label_scenes[] = {
	{ "groups", SCENE_DESKTOP, .major = 4, .minor = 3, .init = init_small,
	  .frame = frame_groups,
	  SCENE_PASSES(groups_passes) },
	{ "group_over_passes", SCENE_DESKTOP, .major = 4, .minor = 3, .init = init_small,
	  .frame = frame_group_over_passes, SCENE_PASSES(group_over_passes_passes) },
	{ "groups_in_pass", SCENE_DESKTOP, .major = 4, .minor = 3, .init = init_small,
	  .frame = frame_groups_in_pass, SCENE_PASSES(groups_in_pass_passes) },
	{ "object_labels", SCENE_DESKTOP, .major = 4, .minor = 3, .init = init_object_labels,
	  .frame = frame_object_labels, SCENE_PASSES(object_labels_passes) },
	{ "unbalanced", SCENE_DESKTOP, .major = 4, .minor = 3, .init = init_small,
	  .frame = frame_unbalanced, SCENE_PASSES(unbalanced_passes) },
	{ 0 },
};
