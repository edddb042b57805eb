/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_labels.c - debug labels across command buffers, of the queue, unasked for, and of
 * the older extension. */
#include "scenes/vk/scenes.h"
#include "tests/scenes/vk_stage.h"

static struct {
	PFN_vkCmdBeginDebugUtilsLabelEXT begin;
	PFN_vkCmdEndDebugUtilsLabelEXT end;
	PFN_vkCmdInsertDebugUtilsLabelEXT insert;
	PFN_vkQueueBeginDebugUtilsLabelEXT queue_begin;
	PFN_vkQueueEndDebugUtilsLabelEXT queue_end;
	PFN_vkQueueInsertDebugUtilsLabelEXT queue_insert;
	PFN_vkCmdDebugMarkerBeginEXT marker_begin;
	PFN_vkCmdDebugMarkerEndEXT marker_end;
} calls;

/* Looks a function up in the device; false if it is missing. */
#define LOAD(member, command) \
	((calls.member = (PFN_##command)vkGetDeviceProcAddr(s->device, #command)) != NULL)

static bool
load_labels(struct vk_stage *s)
{
	return LOAD(begin, vkCmdBeginDebugUtilsLabelEXT) &&
	       LOAD(end, vkCmdEndDebugUtilsLabelEXT) &&
	       LOAD(insert, vkCmdInsertDebugUtilsLabelEXT) &&
	       LOAD(queue_begin, vkQueueBeginDebugUtilsLabelEXT) &&
	       LOAD(queue_end, vkQueueEndDebugUtilsLabelEXT) &&
	       LOAD(queue_insert, vkQueueInsertDebugUtilsLabelEXT);
}

static void
labels_init(struct vk_stage *s)
{
	vk_labels_init(s);
	load_labels(s);
}

static void
push(VkCommandBuffer commands, const char *name)
{
	VkDebugUtilsLabelEXT label = vk_label(name);
	calls.begin(commands, &label);
}

/* ---- labels_straddle: over two command buffers, two submits, and the queue's own ---- */

static void
labels_straddle_frame(struct vk_stage *s, unsigned number)
{
	VkDebugUtilsLabelEXT queue = vk_label("queue");
	VkCommandBuffer commands[3];
	for (int i = 0; i < 3; i++) {
		commands[i] = vk_begin(s, 0);
		if (i == 0)
			push(commands[i], "long");
		vk_screen_pass(s, commands[i], &screen, 0.1F * (float)number, 3, 1);
		if (i == 1)
			push(commands[i], "inner");
		if (i == 2) {
			calls.end(commands[i]);
			calls.end(commands[i]);
			vk_copy_out(commands[i], &screen.picture, &screen.out);
		}
		vk_end(commands[i]);
	}
	calls.queue_begin(s->queue, &queue);
	vk_submit(s, 2, commands, VK_NULL_HANDLE);
	vk_submit(s, 1, &commands[2], s->fence);
	calls.queue_end(s->queue);
	vk_end_frame(s, 3, commands);
}

static const struct expect_pass labels_straddle_passes[] = {
	{ SCREEN_PASS(3, 1), .label = "queue/long" },
	{ SCREEN_PASS(3, 1), .label = "queue/long" },
	{ SCREEN_PASS(3, 1), .label = "queue/long/inner", .submission = 1 },
	{ .kind = "transfer", .label = "queue", .copies = 1, .submission = 1 },
};

/* ---- label_frame: a label begins a frame (frame=label:tick) ---- */

static void
label_frame_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	push(commands, "tick");
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	vk_copy_out(commands, &screen.picture, &screen.out);
	calls.end(commands);
	vk_run(s, commands);
	vk_read(s, &screen.out);
}

static const struct expect_pass label_frame_passes[] = {
	{ SCREEN_PASS(3, 1), .label = "tick" },
	{ .kind = "transfer", .label = "tick", .copies = 1 },
};

/* ---- labels_unasked: the commands of a device whose instance did not enable the extension.
 * The loader still returns them, and a driver that has them executes them. ---- */

static void
unasked_init(struct vk_stage *s)
{
	if (!load_labels(s))
		vk_skip("this loader hands out no debug labels that were not asked for");
}

static void
labels_unasked_frame(struct vk_stage *s, unsigned number)
{
	VkDebugUtilsLabelEXT queue = vk_label("queue"), here = vk_label("here");
	VkCommandBuffer commands = vk_begin(s, 0);
	push(commands, "tick");
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	calls.insert(commands, &here);
	vk_copy_out(commands, &screen.picture, &screen.out);
	calls.end(commands);
	calls.queue_insert(s->queue, &here);
	calls.queue_begin(s->queue, &queue);
	vk_run(s, commands);
	calls.queue_end(s->queue);
	vk_read(s, &screen.out);
}

static const struct expect_pass labels_unasked_passes[] = {
	{ SCREEN_PASS(3, 1), .label = "queue/tick" },
	{ .kind = "transfer", .label = "queue/tick", .copies = 1 },
};

/* ---- markers: VK_EXT_debug_marker, which only other layers offer; RenderDoc's does, and hides
 * everything newer than Vulkan 1.2 ---- */

static const VkPhysicalDeviceFeatures no_features;

static void
markers_init(struct vk_stage *s)
{
	calls.marker_begin = VK_DEVICE_COMMAND(s, vkCmdDebugMarkerBeginEXT);
	calls.marker_end = VK_DEVICE_COMMAND(s, vkCmdDebugMarkerEndEXT);
}

static void
markers_frame(struct vk_stage *s, unsigned number)
{
	VkDebugMarkerMarkerInfoEXT tick = {
		.sType = VK_STRUCTURE_TYPE_DEBUG_MARKER_MARKER_INFO_EXT,
		.pMarkerName = "tick",
	};
	VkCommandBuffer commands = vk_begin(s, 0);
	calls.marker_begin(commands, &tick);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	vk_copy_out(commands, &screen.picture, &screen.out);
	calls.marker_end(commands);
	vk_run(s, commands);
	vk_read(s, &screen.out);
}

#define UTILS .wish = { .instance_extensions = { "VK_EXT_debug_utils" } }

const struct vk_scene vk_more_label_scenes[] = {
	SCENE(labels_straddle, labels_init, .boundary = "submit:2", .submissions = 2, UTILS),
	SCENE(label_frame, labels_init, .boundary = "label:tick", UTILS),
	SCENE(labels_unasked, unasked_init),
	SCENE_AS(markers, markers_frame, label_frame_passes, markers_init,
		 .wish = { .device_extensions = { "VK_EXT_debug_marker" },
			   .features = &no_features }),
	{ 0 },
};
