/* SPDX-License-Identifier: MIT */
/* scenes/gl/labels.c - debug groups and object labels: the names of passes. */
#include "scenes/gl/scenes.h"

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

#define GROUPS SCENE_DESKTOP, .major = 4, .minor = 3

const struct scene label_scenes[] = {
	SCENE(groups, GROUPS, .init = scene_make_small),
	{ 0 },
};
