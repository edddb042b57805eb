/* SPDX-License-Identifier: MIT */
/* tests/scenes/gl_more.c - the scenes that only the tests draw. */
#include "scenes/gl/scenes.h"

extern const struct scene more_target_scenes[], more_transfer_scenes[],
	more_draw_scenes[], more_context_scenes[];
extern const struct scene legacy_scenes[], more_label_scenes[], more_gles_scenes[];

const struct scene *const more_scenes[] = {
	more_target_scenes,
	more_transfer_scenes,
	more_draw_scenes,
	legacy_scenes,
	more_label_scenes,
	more_gles_scenes,
	more_context_scenes,
	NULL,
};
