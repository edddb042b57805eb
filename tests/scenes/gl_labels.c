/* SPDX-License-Identifier: MIT */
/* tests/scenes/gl_labels.c - groups over passes and inside them, and the names of objects. */
#include "scenes/gl/scenes.h"

/* ---- group_over_passes ---- */

static void
frame_group_over_passes(struct stage *s)
{
	scene_push_group("Post");
	scene_draw_small(s, 0, 30);
	scene_draw_small(s, 1, 60);
	glPopDebugGroup();
	scene_draw_screen(s, 90);
}

static const struct expect_pass group_over_passes_passes[] = {
	{ SMALL_DRAWN(30), .label = "Post" },
	{ SMALL_DRAWN(60), .label = "Post" },
	{ DRAWN(1, 90), CLEARED },
};

/* ---- groups_in_pass: many groups in one framebuffer do not split it ---- */

static void
draw_in_groups(struct stage *s)
{
	scene_push_group("A");
	stage_draw(s, 0, 30, 1);
	glPopDebugGroup();
	scene_push_group("B");
	stage_draw(s, 20, 60, 2);
	glPopDebugGroup();
	scene_push_group("C");
	stage_draw(s, 50, 90, 3);
	glPopDebugGroup();
}

static void
frame_groups_in_pass(struct stage *s)
{
	scene_push_group("Scene");
	scene_small_target(s, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	draw_in_groups(s);
	glPopDebugGroup();
	stage_target_screen(s);
	draw_in_groups(s);
}

/* Only a group that covers the whole pass names it. */
static const struct expect_pass groups_in_pass_passes[] = {
	{ DRAWN(3, 180), CLEARED, IN_SMALL, .label = "Scene" },
	{ DRAWN(3, 180) },
};

/* ---- object_labels ---- */

static void
init_object_labels(struct stage *s)
{
	scene_make_small(s);
	glObjectLabel(GL_FRAMEBUFFER, scene_framebuffers[0], -1, "Bloom target");
	glObjectLabel(GL_TEXTURE, scene_textures[0], -1, "not this one");
	glObjectLabel(GL_TEXTURE, scene_textures[1], 4, "Halfway");
	glObjectLabel(GL_FRAMEBUFFER, scene_framebuffers[2], -1, "not this one");
}

static void
frame_object_labels(struct stage *s)
{
	scene_draw_small(s, 0, 30);
	scene_draw_small(s, 1, 60);
	scene_push_group("Group");
	scene_draw_small(s, 2, 90);
	glPopDebugGroup();
	scene_draw_screen(s, 120);
}

/* Group over framebuffer over texture. */
static const struct expect_pass object_labels_passes[] = {
	{ SMALL_DRAWN(30), .label = "Bloom target" },
	{ SMALL_DRAWN(60), .label = "Half" },
	{ SMALL_DRAWN(90), .label = "Group" },
	{ DRAWN(1, 120), CLEARED },
};

/* ---- unbalanced: one pop too many, and a group left open over the swap ---- */

static void
frame_unbalanced(struct stage *s)
{
	static bool pushed;
	if (!pushed) {
		glPopDebugGroup();
		glGetError();
		scene_push_group("Ever");
		pushed = true;
	}
	scene_draw_small(s, 0, 30);
	scene_draw_screen(s, 90);
}

static const struct expect_pass unbalanced_passes[] = {
	{ SMALL_DRAWN(30), .label = "Ever" },
	{ DRAWN(1, 90), CLEARED, .label = "Ever" },
};

#define GROUPS SCENE_DESKTOP, .major = 4, .minor = 3

const struct scene more_label_scenes[] = {
	SCENE(group_over_passes, GROUPS, .init = scene_make_small),
	SCENE(groups_in_pass, GROUPS, .init = scene_make_small),
	SCENE(object_labels, GROUPS, .init = init_object_labels),
	SCENE(unbalanced, GROUPS, .init = scene_make_small),
	{ 0 },
};
