/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_more.c - the scenes that only the tests draw. */
#include "scenes/vk/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct vk_scene vk_more_render_scenes[], vk_more_draw_scenes[];
extern const struct vk_scene vk_more_work_scenes[], vk_more_submit_scenes[];
extern const struct vk_scene vk_more_life_scenes[], vk_more_rendering_scenes[];
extern const struct vk_scene vk_device_scenes[], vk_window_scenes[], vk_more_label_scenes[];

const struct vk_scene *const vk_more_scenes[] = {
	vk_more_render_scenes, vk_more_draw_scenes, vk_more_work_scenes,
	vk_more_submit_scenes, vk_more_life_scenes, vk_more_rendering_scenes,
	vk_device_scenes,      vk_window_scenes,    vk_more_label_scenes,
	NULL,
};

/* VK_SCENES_SETTING="NAME=VALUE" as a setting for passtally. Its extension is newer than
 * Debian's headers, and than its loader, which refuses the name. */
const void *
vk_stage_setting(void)
{
	static const char layer[] = "VK_LAYER_PASSTALLY_capture";
	static char name[64];
	static const char *value;
	static struct {
		const char *layer, *name;
		int32_t type;
		uint32_t n;
		const void *values;
	} setting = { layer, name, 7, 1, &value };
	static struct {
		int32_t type;
		const void *next;
		uint32_t n;
		const void *all;
	} settings = { 1000496000, NULL, 1, &setting };
	const char *text = getenv("VK_SCENES_SETTING");
	value = text ? strchr(text, '=') : NULL;
	if (!value)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(value++ - text), text);
	return &settings;
}
