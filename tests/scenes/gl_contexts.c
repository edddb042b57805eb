/* SPDX-License-Identifier: MIT */
/* tests/scenes/gl_contexts.c - two contexts that share nothing. */
#include "scenes/gl/scenes.h"

/* ---- unshared: two contexts that share nothing, each with its own frames ---- */

static struct stage other;

static void
init_unshared(struct stage *s)
{
	scene_peers[0] = stage_peer_create(s, false);
	stage_peer_make_current(s, scene_peers[0]);
	/* Separate objects in a separate stage: only the window is common. */
	other = *s;
	glGenBuffers(1, &other.vertices);
	glGenBuffers(1, &other.indices);
	stage_peer_use_vertices(&other);
	static const float corners[6] = { -0.5f, -0.5f, 0.5f, -0.5f, -0.5f, 0.5f };
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	stage_make_program(&other);
	stage_peer_make_current(s, NULL);
}

static void
frame_unshared(struct stage *s)
{
	stage_peer_make_current(s, scene_peers[0]);
	stage_target_screen(&other);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(&other, 0, 3, 9);
	stage_peer_swap(s, scene_peers[0]);
	stage_peer_make_current(s, NULL);
	stage_target_screen(s);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(s, 0, 300, 2);
}

static const struct expect_pass unshared_passes[] = {
	{ DRAWN(1, 3), CLEARED, .device = 1, .context = 1 },
	{ DRAWN(1, 300), CLEARED },
};

const struct scene more_context_scenes[] = {
	SCENE(unshared, SCENE_ALL, .init = init_unshared, .finish = scene_finish_peers,
	      .devices = 2, .needs_surface = true),
	{ 0 },
};
