/* SPDX-License-Identifier: MIT */
/* scenes/vk/life.c - a scene about the end of a program. */
#include "scenes/vk/scenes.h"

#include <stdlib.h>

/* ---- exit without any teardown ---- */

static void
exit_finish(struct vk_stage *s)
{
	exit(7);
}

const struct vk_scene vk_life_scenes[] = {
	SCENE_PLAIN(exit, NULL, .finish = exit_finish),
	{ 0 },
};
