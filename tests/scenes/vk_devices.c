/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_devices.c - scenes about the creation of instances and devices. */
#include "scenes/vk/scenes.h"
#include "tests/scenes/vk_stage.h"

#include <string.h>

static struct vk_screen other_screen;
static struct vk_stage other;
static VkQueryPool queries;

/* ---- requests that must not be written to: they are in .rodata ---- */

static const VkPhysicalDeviceFeatures plain_features = { .samplerAnisotropy = VK_TRUE };
static const VkPhysicalDeviceFeatures counting_features = { .pipelineStatisticsQuery = VK_TRUE };

static const VkPhysicalDeviceVulkan12Features core12 = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
	.timelineSemaphore = VK_TRUE,
};
static const VkPhysicalDeviceFeatures2 core12_chain = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
	.pNext = (void *)&core12,
	.features = { .samplerAnisotropy = VK_TRUE },
};

/* The structure that has to be changed is at the end of the chain. */
static const VkPhysicalDeviceHostQueryResetFeatures no_reset = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
};
static const VkPhysicalDeviceFeatures2 last = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
	.pNext = (void *)&no_reset,
};
static const VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
	.pNext = (void *)&last,
	.timelineSemaphore = VK_TRUE,
};
static const VkPhysicalDeviceSynchronization2Features long_chain = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
	.pNext = (void *)&timelines,
	.synchronization2 = VK_TRUE,
};

/* ---- own_statistics: the scene counts in each pass, so passtally may not ---- */

static void
own_init(struct vk_stage *s)
{
	queries = vk_make_queries(
		s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 2,
		VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT |
			VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT);
}

/* The scene's own results are part of its checksum. */
static void
read_own(struct vk_stage *s, uint32_t query)
{
	uint64_t values[2] = { 0, 0 };
	vk_check(vkGetQueryPoolResults(s->device, queries, query, 1, sizeof(values), values,
				       sizeof(values), VK_QUERY_RESULT_64_BIT),
		 "vkGetQueryPoolResults");
	s->checksum += values[0] * 1000003 + values[1];
}

static void
own_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vkCmdResetQueryPool(commands, queries, 0, 2);
	vk_begin_screen(commands, &screen);
	vkCmdBeginQuery(commands, queries, 0, 0);
	vk_draw(s, commands, screen.pipeline, 0.1F * (float)number, 3, 1);
	vkCmdEndQuery(commands, queries, 0);
	vkCmdEndRenderPass(commands);
	vkCmdBeginQuery(commands, queries, 1, 0);
	vk_screen_pass(s, commands, &screen, 0.2F, 6, 1);
	vk_copy_out(commands, &screen.picture, &screen.out);
	vkCmdEndQuery(commands, queries, 1);
	vk_run(s, commands);
	vk_read(s, &screen.out);
	read_own(s, 0);
	read_own(s, 1);
}

#define UNCOUNTED .flags = "yielded", .unsure = EXPECT_NO_COUNTERS
static const struct expect_pass own_passes[] = {
	{ .kind = "render", CLEARED, .draws = 1, .vertices = 3, .instances = 1, UNCOUNTED },
	{ .kind = "render", CLEARED, .draws = 1, .vertices = 6, .instances = 1, UNCOUNTED },
	{ .kind = "transfer", .copies = 1, UNCOUNTED },
};

/* ---- two_devices: of one instance, drawing alternately ---- */

static void
two_init(struct vk_stage *s)
{
	other.instance = s->instance;
	vk_stage_open_device(&other, &(struct vk_wish){ 0 });
	vk_make_screen_pass(&other, &other_screen);
}

static void
two_frame(struct vk_stage *s, unsigned number)
{
	vk_plain_frame(s, number);
	VkCommandBuffer commands = vk_begin(&other, 0);
	vk_screen_pass(&other, commands, &other_screen, 0.7F, 9, 1);
	vk_run(&other, commands);
}

static void
two_finish(struct vk_stage *s)
{
	vk_stage_close(&other);
}

static const struct expect_pass two_passes[] = {
	{ SCREEN_PASS(3, 1) },
	COPY_OUT,
	{ SCREEN_PASS(9, 1), .device = 1 },
};

#define PLAIN(name, ...) \
	SCENE_PLAIN(name, NULL, .wish = __VA_ARGS__)

const struct vk_scene vk_device_scenes[] = {
	PLAIN(features, { .features = &plain_features }),
	PLAIN(features2, { .next = &core12_chain }),
	PLAIN(features_last, { .next = &long_chain }),
	PLAIN(vulkan10, { .no_application_info = true }),
	PLAIN(vulkan11, { .api = VK_API_VERSION_1_1, .features = &plain_features }),
	SCENE_AS(own_statistics, own_frame, own_passes, own_init,
		 .wish = { .features = &counting_features }),
	SCENE_AS(two_devices, two_frame, two_passes, two_init, .finish = two_finish, .devices = 2),
	{ 0 },
};
