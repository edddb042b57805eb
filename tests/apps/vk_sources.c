/* SPDX-License-Identifier: MIT */
/* tests/apps/vk_sources.c - the Vulkan sources against a real driver, without the layer.
 *
 * Counts what a known triangle and a known dispatch take, places it on CLOCK_MONOTONIC, submits
 * a command buffer a second time, works without host reset, and finds out whether the driver
 * waits when a result is read. Prints one line a finding. Exit status: 0; 77 where there is no
 * device to try; anything else for a failure. */
#include "scenes/vk/stage.h"

#include <glib.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "layer/base/clock.h"
#include "vk_layer/record/slots_copy.h"
#include "vk_layer/record/slots_read.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/submit/batch_intervals.h"

#define PIXELS (VK_STAGE_WIDTH * VK_STAGE_HEIGHT)
#define GROUPS 5u
#define N_COUNTERS 11u
#define HELD_NS UINT64_C(300000000)
/* The clock of a rasterizer differs from this program's, and a scheduler may come between the
 * readings. */
#define SLACK_NS UINT64_C(2000000)

static struct vk_stage stage;
static struct vk_device device;
static struct vk_instance instance;
static struct tally_config config;
static VkRenderPass pass;
static VkFramebuffer framebuffer;
static VkPipeline pipeline;
static struct vk_compute compute;

struct result {
	struct tally_value values[N_COUNTERS];
	uint64_t valid;
	struct tally_sample sample;
	enum tally_status status;
};

static void
open_device(void)
{
	/* Requests only what the device has. */
	VkPhysicalDeviceVulkan12Features v12 = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
	};
	VkPhysicalDeviceFeatures2 features = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v12
	};
	struct vk_wish wish = {
		.device_extensions = { VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME },
		.next = &features,
	};
	uint32_t n = 1;

	vk_stage_open_instance(&stage, &wish);
	if (vkEnumeratePhysicalDevices(stage.instance, &n, &stage.physical) < 0 || !n)
		vk_skip("no Vulkan device here");
	VkPhysicalDeviceVulkan12Features has12 = v12;
	VkPhysicalDeviceFeatures2 has = features;
	has.pNext = &has12;
	vkGetPhysicalDeviceFeatures2(stage.physical, &has);
	if (!has.features.pipelineStatisticsQuery || !has12.hostQueryReset ||
	    !has12.timelineSemaphore)
		vk_skip("the device has no statistics, host reset or timelines");
	features.features.pipelineStatisticsQuery = VK_TRUE;
	v12.hostQueryReset = v12.timelineSemaphore = VK_TRUE;
	vk_stage_open_device(&stage, &wish);
}

static void
describe_device(void)
{
	VkPhysicalDeviceDriverProperties driver = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES
	};
	VkPhysicalDeviceProperties2 properties = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver
	};
	VkQueueFamilyProperties families[VK_MAX_FAMILIES];

	vkGetPhysicalDeviceProperties2(stage.physical, &properties);
	device.properties = properties.properties;
	device.driver_id = driver.driverID;
	device.n_families = VK_MAX_FAMILIES;
	vkGetPhysicalDeviceQueueFamilyProperties(stage.physical, &device.n_families, families);
	for (uint32_t i = 0; i < device.n_families; i++)
		device.families[i] = (struct tally_vk_family){ families[i].queueFlags,
							       families[i].timestampValidBits };
	printf("device: %s, %s %s, %u bits at %g ns\n", device.properties.deviceName,
	       driver.driverName, driver.driverInfo, device.families[0].timestamp_bits,
	       (double)device.properties.limits.timestampPeriod);
}

/* A device as the layer sees it, but without the layer. */
static void
open_slots(bool host_reset)
{
	device.tracked = true;
	device.instance = &instance;
	device.handle = stage.device;
	device.physical = stage.physical;
	device.config = &config;
	device.enabled = (struct vk_enabled){
		.pipeline_statistics = true, .host_reset = host_reset, .calibrated = true
	};
	vk_instance_next_load(&instance.next, stage.instance, vkGetInstanceProcAddr);
	vk_device_next_load(&device.next, stage.device, vkGetDeviceProcAddr,
			    stage.instance, vkGetInstanceProcAddr);
	g_assert_true(vk_slots_create(&device));
	g_assert_true(vk_batch_intervals_create(&device));
	if (!vk_slots_cover(&device, 0, VK_MEASURE_TIME))
		vk_skip("the device keeps no time");
}

static void
close_slots(void)
{
	vk_batch_intervals_destroy(&device);
	vk_slots_destroy(&device);
}

static struct result
read_slot(const struct vk_slot *slot)
{
	struct result r = { .valid = 0 };
	uint32_t left = slot->sources;

	r.sample.values = r.values;
	r.sample.valid = &r.valid;
	pthread_mutex_lock(&device.lock);
	vk_slot_request(&device, slot, left);
	vk_slots_fetch(&device);
	r.status = vk_slot_read(&device, slot, &left, &r.sample);
	pthread_mutex_unlock(&device.lock);
	r.sample.values = NULL;
	r.sample.valid = NULL;
	return r;
}

/* It ran between two readings of CLOCK_MONOTONIC. */
static void
check_time(const struct result *r, uint64_t before_ns, uint64_t after_ns, const char *what)
{
	g_assert_cmpint(r->status, ==, TALLY_OK);
	g_assert_true(r->sample.has_time);
	g_assert_cmphex(r->sample.flags, ==, 0);
	printf("%s: %" PRIu64 " ns, begun %" PRIu64 " ns after it was submitted\n", what,
	       r->sample.end_ns - r->sample.begin_ns, r->sample.begin_ns - before_ns);
	g_assert_cmpuint(r->sample.begin_ns + SLACK_NS, >=, before_ns);
	g_assert_cmpuint(r->sample.end_ns, <=, after_ns + SLACK_NS);
	g_assert_cmpuint(r->sample.end_ns, >, r->sample.begin_ns);
}

/* Every available counter has a value. */
static void
check_count(const struct result *r, const char *key, uint64_t want)
{
	uint32_t n;
	const struct tally_counter *const *counters = vk_slots_counters(&device, &n);

	g_assert_cmphex(r->valid, ==, (UINT64_C(1) << n) - 1);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(counters[i]->key, key) == 0 && r->values[i].u64 != want)
			g_error("%s is %" PRIu64 ", not %" PRIu64, key, r->values[i].u64, want);
}

static void
check_triangle(const struct result *r)
{
	check_count(r, "vertices_submitted", 3);
	check_count(r, "primitives_submitted", 1);
	check_count(r, "vertex_shader_invocations", 3);
	check_count(r, "geometry_shader_invocations", 0);
	check_count(r, "clipping_input_primitives", 1);
	/* No edge of the triangle is inside, so that no GPU has helpers to shade. */
	check_count(r, "fragment_shader_invocations", PIXELS);
	check_count(r, "compute_shader_invocations", 0);
}

static void
record_triangle(VkCommandBuffer commands)
{
	vk_begin_pass(commands, pass, framebuffer, VK_STAGE_WIDTH, VK_STAGE_HEIGHT,
		      VK_SUBPASS_CONTENTS_INLINE);
	vk_draw(&stage, commands, pipeline, 0.5F, 3, 1);
	vkCmdEndRenderPass(commands);
}

/* A pass and a dispatch, three times in the same command buffer: three results. */
static void
try_passes(bool host_reset)
{
	struct vk_slot_runs runs = { .n = 0 };

	open_slots(host_reset);
	VkCommandBuffer commands = vk_begin(&stage, 0);
	struct vk_slot draw = vk_slots_take(&device, &runs, 0, VK_MEASURE_ALL, 1, true);
	vk_slot_begin(&device, commands, &draw, true);
	record_triangle(commands);
	vk_slot_end(&device, commands, &draw);
	struct vk_slot work = vk_slots_take(&device, &runs, 0, VK_MEASURE_ALL, 2, true);
	vk_slot_begin(&device, commands, &work, true);
	vk_dispatch(commands, &compute, GROUPS);
	vk_slot_end(&device, commands, &work);
	vk_slots_copy(&device, commands, &runs, &work);
	vk_end(commands);
	for (int run = 0; run < 3; run++) {
		uint64_t before = tally_clock_now_ns();
		vk_submit(&stage, 1, &commands, stage.fence);
		vk_wait(&stage);
		uint64_t after = tally_clock_now_ns();
		struct result r = read_slot(&draw);
		check_time(&r, before, after, host_reset ? "a pass" : "a pass, no host reset");
		check_triangle(&r);
		uint64_t drawn_ns = r.sample.end_ns;
		r = read_slot(&work);
		check_time(&r, before, after, "a dispatch");
		g_assert_cmpuint(r.sample.begin_ns, >=, drawn_ns);
		check_count(&r, "compute_shader_invocations", UINT64_C(64) * GROUPS);
		check_count(&r, "vertices_submitted", 0);
		pthread_mutex_lock(&device.lock);
		vk_slots_reset(&device, &runs);
		vk_slots_tick(&device, after);
		pthread_mutex_unlock(&device.lock);
		if (host_reset)
			g_assert_cmpint(read_slot(&draw).status, ==, TALLY_NOT_READY);
	}
	vk_free(&stage, commands);
	pthread_mutex_lock(&device.lock);
	vk_slots_release(&device, &runs);
	pthread_mutex_unlock(&device.lock);
	close_slots();
}

/* One of the game's command buffers between two of the test's, twice with the same pair. */
static void
try_batch_intervals(bool host_reset)
{
	open_slots(host_reset);
	VkCommandBuffer commands = vk_begin(&stage,
					    VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
	record_triangle(commands);
	vk_end(commands);
	struct vk_batch_interval *first = NULL;
	for (int run = 0; run < 2; run++) {
		struct vk_batch_interval *pair = vk_batch_intervals_take(&device, 0);
		g_assert_nonnull(pair);
		g_assert_true(!first || pair == first);
		first = pair;
		uint64_t before = tally_clock_now_ns();
		vk_submit(&stage, 3, (VkCommandBuffer[]){ pair->first, commands, pair->last },
			  stage.fence);
		vk_wait(&stage);
		struct result r = read_slot(&pair->slot);
		check_time(&r, before, tally_clock_now_ns(), "a batch");
		g_assert_cmphex(r.valid, ==, 0);
		pthread_mutex_lock(&device.lock);
		vk_batch_intervals_release(&device, 0, pair);
		pthread_mutex_unlock(&device.lock);
	}
	vk_free(&stage, commands);
	close_slots();
}

/* ---- does reading wait? ---- */

static VkSemaphore timeline;

static void *
signal_later(void *unused)
{
	const struct timespec held = { .tv_nsec = (long)HELD_NS };
	const VkSemaphoreSignalInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
		.semaphore = timeline,
		.value = 1
	};

	nanosleep(&held, NULL);
	vk_check(vkSignalSemaphore(stage.device, &info), "vkSignalSemaphore");
	return unused;
}

/* After work that is done, something waits for a timeline semaphore. */
static void
submit_held(VkCommandBuffer commands)
{
	const uint64_t value = 1;
	const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &value,
	};
	const VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &values,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &timeline,
		.pWaitDstStageMask = &stages,
		.commandBufferCount = 1,
		.pCommandBuffers = &commands,
	};

	vk_check(vkQueueSubmit(stage.queue, 1, &info, stage.fence), "vkQueueSubmit");
}

/* `asks`: for results, also of a driver that is known to wait then. */
static void
try_waiting(bool asks)
{
	VkDriverId driver = device.driver_id;
	uint32_t vendor = device.properties.vendorID;
	bool known = vk_slots_read_waits(&device);
	const VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	const VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type
	};
	struct vk_slot_runs runs = { .n = 0 }, more = { .n = 0 };
	pthread_t thread;

	if (asks)
		device.driver_id = device.properties.vendorID = 0;
	open_slots(true);
	vk_check(vkCreateSemaphore(stage.device, &info, NULL, &timeline), "vkCreateSemaphore");
	VkCommandBuffer done = vk_begin(&stage, 0), held = vk_begin(&stage, 0);
	struct vk_slot slot = vk_slots_take(&device, &runs, 0, VK_MEASURE_TIME, 1, true);
	vk_slot_begin(&device, done, &slot, true);
	record_triangle(done);
	vk_slot_end(&device, done, &slot);
	vk_slots_copy(&device, done, &runs, &slot);
	vk_end(done);
	record_triangle(held);
	vk_end(held);
	vk_submit(&stage, 1, &done, stage.fence);
	vk_wait(&stage);
	submit_held(held);
	g_assert_cmpint(pthread_create(&thread, NULL, signal_later, NULL), ==, 0);
	uint64_t before = tally_clock_now_ns();
	g_assert_nonnull(vk_slots_take(&device, &more, 0, VK_MEASURE_ALL, 1, true).page);
	uint64_t reset_ns = tally_clock_now_ns() - before;
	g_assert_cmpint(read_slot(&slot).status, ==, TALLY_OK);
	uint64_t read_ns = tally_clock_now_ns() - before - reset_ns;
	g_assert_cmpint(pthread_join(thread, NULL), ==, 0);
	vk_wait(&stage);
	bool waits = read_ns > HELD_NS / 2;
	printf("%s a finished slot while a later submission waits: %" PRIu64 " us, %s\n",
	       asks ? "asking for" : "reading", read_ns / 1000,
	       waits ? "the driver waits" : "no wait");
	if (asks && !waits && known)
		printf("vk_slots_read_waits() says otherwise: it may go for this version\n");
	g_assert_true(!waits || (asks && known));
	g_assert_cmpuint(reset_ns, <, HELD_NS / 2);
	pthread_mutex_lock(&device.lock);
	vk_slots_release(&device, &runs);
	vk_slots_release(&device, &more);
	pthread_mutex_unlock(&device.lock);
	vk_free(&stage, done);
	vk_free(&stage, held);
	vkDestroySemaphore(stage.device, timeline, NULL);
	close_slots();
	device.driver_id = driver;
	device.properties.vendorID = vendor;
}

static void
make_things(void)
{
	struct vk_picture picture = vk_make_screen(&stage);
	struct vk_buffer words = vk_make_buffer(&stage, GROUPS * 64 * 4);

	pass = vk_make_pass(&stage, &(struct vk_pass_wish){
					    .color = { picture.format },
					    .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
				    });
	framebuffer = vk_make_framebuffer(&stage, pass, 1,
					  (const struct vk_picture *[]){ &picture });
	pipeline = vk_make_pipeline(&stage,
				    &(struct vk_pipeline_wish){ .pass = pass, .colors = 1 });
	compute = vk_make_compute(&stage, &words);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	tally_config_init(&config);
	tally_config_set(&config, "counters", "all", TALLY_FROM_COMMAND_LINE, NULL, NULL);
	pthread_mutex_init(&device.lock, NULL);
	open_device();
	describe_device();
	make_things();
	try_passes(true);
	try_passes(false);
	try_batch_intervals(true);
	try_batch_intervals(false);
	try_waiting(true);
	try_waiting(false);
	vk_stage_close(&stage);
	pthread_mutex_destroy(&device.lock);
	tally_config_finish(&config);
	return 0;
}
