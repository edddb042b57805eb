/* SPDX-License-Identifier: MIT */
/* scenes/vk/labels.c - a scene of debug labels: nested, around, between and inside passes. */
#include "scenes/vk/scenes.h"

static PFN_vkCmdBeginDebugUtilsLabelEXT begin_label;
static PFN_vkCmdEndDebugUtilsLabelEXT end_label;
static PFN_vkCmdInsertDebugUtilsLabelEXT insert_label;

/* Looks a function up in the instance; false if it is missing. */
#define LOAD(function, command) \
	((function = (PFN_##command)vkGetInstanceProcAddr(s->instance, #command)) != NULL)

void
vk_labels_init(struct vk_stage *s)
{
	PFN_vkSetDebugUtilsObjectNameEXT set = (PFN_vkSetDebugUtilsObjectNameEXT)
		vkGetInstanceProcAddr(s->instance, "vkSetDebugUtilsObjectNameEXT");
	if (!set || !LOAD(begin_label, vkCmdBeginDebugUtilsLabelEXT) ||
	    !LOAD(end_label, vkCmdEndDebugUtilsLabelEXT) ||
	    !LOAD(insert_label, vkCmdInsertDebugUtilsLabelEXT))
		vk_skip("no debug labels here");
	VkDebugUtilsObjectNameInfoEXT name = {
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
		.objectType = VK_OBJECT_TYPE_FRAMEBUFFER,
		.objectHandle = (uint64_t)(uintptr_t)screen.framebuffer,
		.pObjectName = "screen",
	};
	set(s->device, &name);
}

static void
push(VkCommandBuffer commands, const char *name)
{
	VkDebugUtilsLabelEXT label = vk_label(name);
	begin_label(commands, &label);
}

/* ---- labels: around, between and inside passes ---- */

static void
labels_frame(struct vk_stage *s, unsigned number)
{
	VkDebugUtilsLabelEXT here = vk_label("here");
	VkCommandBuffer commands = vk_begin(s, 0);
	push(commands, "frame");
	push(commands, "shadows");
	vk_screen_pass(s, commands, &screen, 0.1F, 3, 1);
	end_label(commands);
	insert_label(commands, &here);
	push(commands, "opaque \"\xc3\xa4\"");
	vk_begin_screen(commands, &screen);
	push(commands, "inside");
	vk_draw(s, commands, screen.pipeline, 0.1F * (float)number, 6, 1);
	end_label(commands);
	vkCmdEndRenderPass(commands);
	end_label(commands);
	vk_screen_pass(s, commands, &screen, 0.3F, 9, 1);
	end_label(commands);
	vk_finish(s, commands);
}

static const struct expect_pass labels_passes[] = {
	{ SCREEN_PASS(3, 1), .label = "frame/shadows" },
	{ SCREEN_PASS(6, 1), .label = "frame/opaque \\\"\xc3\xa4\\\"" },
	{ SCREEN_PASS(9, 1), .label = "frame" },
	COPY_OUT,
};

#define UTILS .wish = { .instance_extensions = { "VK_EXT_debug_utils" } }

const struct vk_scene vk_label_scenes[] = {
	SCENE(labels, vk_labels_init, UTILS),
	{ 0 },
};
